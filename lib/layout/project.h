/* SPDX-License-Identifier: MIT
 *
 * project.h: every tensor of a form: shape, values, and whether they fit into 32 bits.
 */
#ifndef PE_LAYOUT_PROJECT_H
#define PE_LAYOUT_PROJECT_H

#include "layout/form.h"

/* The dtype that a tensor has under the options of a request. */
enum pe_dtype pe__dtype(const struct pe_layout_request *, enum pe_out);

/* Shape with the slice applied; returns the rank. */
unsigned pe__shape(const struct pe__form *, enum pe_out, uint64_t shape[4]);

/* Writes elements, in the tensor's dtype. */
void pe__project(const struct pe__form *, enum pe_out, uint64_t first, uint64_t count, void *out);

/* What the options demand of a tensor that is asked for: the slice inside the rows, input_ids for
 * loss_skip=eos, no branches in two-sided columns, values that fit. Errors: RANGE, CONFLICT,
 * MISSING. */
enum pe_error pe__allowed(const struct pe__form *, enum pe_out, struct pe_layout_fault *);

/* Refuses values outside of int32 where the dtype is i32; blames index_dtype or offset_dtype. */
enum pe_error pe__fits(const struct pe_layout_request *, enum pe_out, int64_t least, int64_t most,
                       struct pe_layout_fault *);

/* position_ids as i64. */
void pe__positions(const struct pe__form *, uint64_t first, uint64_t count, int64_t *out);

#endif
