/* SPDX-License-Identifier: MIT
 *
 * mask.h: who sees whom, dense and as intervals of columns.
 */
#ifndef PE_LAYOUT_MASK_H
#define PE_LAYOUT_MASK_H

#include "layout/form.h"
#include "layout/slots.h"

/* Finds where each branch ends. Does nothing for a form without branches. Errors: NO_MEMORY. */
enum pe_error pe__branch_ends(struct pe__form *);

/* Writes elements of mask [B,W,W], one byte each. */
void pe__mask(const struct pe__form *, int64_t first, int64_t count, unsigned char *out);

/* Appends elements of startend_row_indices [B,W,1 or 2]. */
void pe__columns(const struct pe__form *, int64_t first, int64_t count, struct pe__sink *);

#endif
