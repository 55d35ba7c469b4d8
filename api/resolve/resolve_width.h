/* SPDX-License-Identifier: MIT
 *
 * resolve_width.h: sizes of heads and of what rotates in them. All may refuse; they give 0 then.
 */
#ifndef API_RESOLVE_WIDTH_H
#define API_RESOLVE_WIDTH_H

#include "resolve_group.h"

int64_t api__head_count(struct api__config *);
int64_t api__hidden_width(struct api__config *);

/* The width of a whole head: head_dim (`global`: global_head_dim before it), else the class's
 * default, else hidden_size / heads. */
int64_t api__head_width(struct api__config *, const struct api__family *, bool global);

/* Sets width, or for `proportional` head_dim and partial_rotary_factor. spec->rope_type is set. */
void api__rotary_width(struct api__config *, const struct api__family *, struct api__where,
                       bool global, struct pe_spec *);

#endif
