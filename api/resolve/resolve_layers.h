/* SPDX-License-Identifier: MIT
 *
 * resolve_layers.h: which layers of a model share their positions: by layer type, by what a
 * family's class does where the config does not say, and by the lists of layers that do not rotate.
 */
#ifndef API_RESOLVE_LAYERS_H
#define API_RESOLVE_LAYERS_H

#include "resolve_fact.h"
#include "resolve_family.h"

/* No config has more; a number that a client merely wrote down must not make a long answer. */
#define API__MAX_LAYERS 4096
#define API__MAX_GROUPS 24

enum api__treatment {
    API__ROTATES,
    API__ROTATES_LOCAL,    /* its base is LOCAL_BASE, and the block of all layers is not for it */
    API__ROTATES_PLAIN,    /* the block of all layers is not for it */
    API__ROTATES_GLOBAL,   /* its heads are GLOBAL_HEAD_DIM wide, where that is there */
    API__ROTATES_COMPRESS, /* its base is COMPRESS_BASE */
    API__STANDS_STILL,
    API__NOT_KNOWN /* a layer type that nothing says anything about */
};

struct api__layers {
    const char *name;
    const bool *mask; /* one for each layer; NULL: all of them, or nobody says which */
    enum api__treatment how;
    const char *scope; /* its entry in the block, or NULL */
};

struct api__layer_set {
    int64_t total; /* -1: not said */
    struct api__layers at[API__MAX_GROUPS];
    size_t count;
};

/* How many layers there are: -1 where the config does not say. */
int64_t api__count_layers(struct api__config *, enum api__meaning);

/* A mask that is true everywhere, or NULL where the number is not known. */
const bool *api__all_layers(struct api__config *, int64_t total);

/* The groups of a family that rotates. May refuse. */
void api__split_layers(struct api__config *, const struct api__family *, struct api__layer_set *);

#endif
