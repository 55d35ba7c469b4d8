/* SPDX-License-Identifier: MIT
 *
 * walk.h: which position each row of a table stands for.
 */
#ifndef PE_WALK_H
#define PE_WALK_H

#include "posenc.h"

/* Rows that positions of one axis run through together: `rows` of them from `position` on, `step`
 * (0 or 1) apart. */
struct pe__run {
    int64_t position;
    uint64_t rows;
    unsigned step;
};

/* How many axes have positions of their own: 1, 2 (grid, axial_rope: height, columns), 3 (mrope: t,
 * h, w; 1 where they are all equal). */
unsigned pe__axes(const struct pe_spec *);

/* The longest run from `row` on, of at most `rows` rows. The row of cls_token is not counted: row 0
 * is the first position. The spec is a checked one of a table with positions. */
struct pe__run pe__walk(const struct pe_spec *, unsigned axis, uint64_t row, uint64_t rows);

/* The positions of all rows and axes lie in low .. low + span - 1. */
void pe__walk_range(const struct pe_spec *, int64_t *low, uint64_t *span);

#endif
