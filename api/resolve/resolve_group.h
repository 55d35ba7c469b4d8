/* SPDX-License-Identifier: MIT
 *
 * resolve_group.h: what comes out: groups of layers, each with a table, or with the reason why not.
 */
#ifndef API_RESOLVE_GROUP_H
#define API_RESOLVE_GROUP_H

#include "resolve_layers.h"

enum api__group_kind {
    API__GROUP_TABLE,
    API__GROUP_NONE,
    API__GROUP_LEARNED,
    API__GROUP_UNSUPPORTED
};

struct api__group {
    const char *name;
    const bool *mask; /* as in api__layers */
    int64_t layers;   /* how many the mask has where this side has layers of its own, else 0 */
    enum api__group_kind kind;
    struct pe_spec spec;        /* TABLE: checked */
    int64_t rows, width, start; /* LEARNED */
    struct api__notes notes;
};

struct api__groups {
    int64_t total; /* layers of each mask; -1: not said */
    struct api__group at[API__MAX_GROUPS];
    size_t count;
};

/* A new group of kind NONE. */
struct api__group *api__add_group(struct api__groups *, const char *name, const bool *mask);

/* Makes a group UNSUPPORTED; the note's key may be NULL. */
__attribute__((format(printf, 4, 5))) void api__unsupported(struct api__config *,
                                                            struct api__group *, const char *key,
                                                            const char *format, ...);

/* Whether a value stands in the spec by the client's choice; marks it as such. */
bool api__given(const struct pe_spec *, enum pe_param);
void api__give(struct pe_spec *, enum pe_param);

/* Checks the spec of a TABLE; what it cannot be is refused, blaming the key that said so. */
void api__check_group(struct api__config *, struct api__group *);

/* Rows for which positions are asked: what the config says, else `rows` with a note where it is not
 * 0, else 2048 with a note. */
int64_t api__table_length(struct api__config *, struct api__group *, int64_t rows);

#endif
