/* SPDX-License-Identifier: MIT
 *
 * resolve_scaling.h: rope_type and its parameters, from the words of each dialect.
 */
#ifndef API_RESOLVE_SCALING_H
#define API_RESOLVE_SCALING_H

#include "resolve_group.h"

/* One group on its way. */
struct api__turn {
    struct api__config *config;
    const struct api__family *family;
    const struct api__layers *layers;
    struct api__group *group;
    struct api__where
        own; /* of scaling: the entry, or the block unless it is not for these layers */
    struct api__where any; /* of all else */
    bool mrope;            /* mrope_section is needed */
};

/* Reads rope_type: an index of PE_CHOICE ROPE_TYPE, or -1 where the group has become UNSUPPORTED or
 * the config is refused. Sets turn->mrope for the old type `mrope`. */
int api__scaling_type(struct api__turn *);

/* Takes the parameters of spec->rope_type. spec->length is set. */
void api__scaling_params(struct api__turn *, struct pe_spec *);

#endif
