/* SPDX-License-Identifier: MIT
 *
 * resolve_rope.h: the rotary table of one group of layers.
 */
#ifndef API_RESOLVE_ROPE_H
#define API_RESOLVE_ROPE_H

#include "resolve_group.h"

/* Fills in a group for layers that rotate: kind rope or mrope, or UNSUPPORTED. May refuse. */
void api__resolve_rope(struct api__config *, const struct api__family *, const struct api__layers *,
                       struct api__group *);

#endif
