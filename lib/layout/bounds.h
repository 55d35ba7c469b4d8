/* SPDX-License-Identifier: MIT
 *
 * bounds.h: the projections of a form that have a value for each sequence, row or segment, or one
 * in all.
 */
#ifndef PE_LAYOUT_BOUNDS_H
#define PE_LAYOUT_BOUNDS_H

#include "layout/form.h"

/* The shape of any tensor of a form: returns its rank. */
unsigned pe__form_shape(const struct pe__form *, enum pe_out, uint64_t shape[4]);

/* Element i of one of those tensors. */
int64_t pe__bound(const struct pe__form *, enum pe_out, uint64_t i);

/* The largest of seqlens; with `past` of past + seqlens. 0 without sequences. */
int64_t pe__longest(const struct pe__form *, bool past);

#endif
