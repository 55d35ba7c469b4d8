/* SPDX-License-Identifier: MIT
 *
 * cells.h: what the text formats share: numbers as text, and the walk over the lines of a tensor. A
 * line is a run of neighbours along the last axis.
 */
#ifndef API_CELLS_H
#define API_CELLS_H

#include "format.h"

/* How the same values are spelled: JSON has null for what is not finite and true and false for
 * bool; the other has inf, -inf, nan, 1 and 0. Reals of both are the shortest decimals of their
 * dtype (f16 and bf16: of their f32), with a point or an exponent; integers have neither. */
enum api__spelling { API__JSON, API__PLAIN };

/* Bytes that a value of this type takes at most, with one more for what stands behind it. */
size_t api__cell_max(enum pe_dtype);

/* Appends `count` values with commas between them; returns the new end. `data` is aligned for the
 * type, and `out` has room for count * api__cell_max(dtype) + API__CELL_SLACK bytes. */
#define API__CELL_SLACK 40
char *api__cells(char *out, enum pe_dtype, enum api__spelling, const void *data, size_t count);

/* Elements of a line: the last axis, or 1 of a scalar. */
uint64_t api__line_length(const struct pe_tensor *);

/* Steps writer->index over the axes but the last to the next line and sets writer->rolled: how many
 * of these axes began anew. At the end of the tensor that is all of them. */
void api__next_line(struct api_writer *, const struct pe_tensor *);

/* a * b + c, or SIZE_MAX. */
size_t api__room(uint64_t a, uint64_t b, uint64_t c);

#endif
