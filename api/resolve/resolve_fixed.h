/* SPDX-License-Identifier: MIT
 *
 * resolve_fixed.h: positions that do not rotate: tables of sines, learned tables, ALiBi, buckets.
 */
#ifndef API_RESOLVE_FIXED_H
#define API_RESOLVE_FIXED_H

#include "resolve_group.h"

/* Each adds the groups of a whole model, and may refuse. `both_ways`: an encoder, which looks ahead
 * as well. */
void api__resolve_alibi(struct api__config *, struct api__groups *, bool both_ways);
void api__resolve_learned(struct api__config *, const struct api__family *, struct api__groups *);
void api__resolve_sinusoidal(struct api__config *, const struct api__family *,
                             struct api__groups *);
void api__resolve_sides(struct api__config *, const struct api__family *, struct api__groups *);
void api__resolve_t5(struct api__config *, struct api__groups *);
void api__resolve_deberta(struct api__config *, const struct api__family *, struct api__groups *);

#endif
