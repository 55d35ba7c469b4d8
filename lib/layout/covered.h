/* SPDX-License-Identifier: MIT
 *
 * covered.h: the arrays that list slots: unpadding, repadding, and lengths at the head of each row.
 */
#ifndef PE_LAYOUT_COVERED_H
#define PE_LAYOUT_COVERED_H

#include "layout/form.h"
#include "layout/sink.h"

/* Appends elements first .. first+count-1 of indices, padding_offset, token_offset or
 * attention_mask_in_length. */
void pe__listed(const struct pe__form *, enum pe_out, int64_t first, int64_t count,
                struct pe__sink *);

/* The last covered flat slot, -1 where there is none. */
int64_t pe__last_covered(const struct pe__form *);

#endif
