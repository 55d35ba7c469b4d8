/* SPDX-License-Identifier: MIT
 *
 * precision.h: how far the values of a table are from the exact ones.
 */
#ifndef PE_PRECISION_H
#define PE_PRECISION_H

#include "posenc.h"

/* |value - exact| in units in the last place of the dtype at the exact value: 2^(e - p + 1) for
 * 2^e <= |exact| < 2^(e+1) and p significant bits, but not less than the least subnormal. */
double pe__ulps(double error, double exact, enum pe_dtype);

/* Which row the i-th of n examined ones is: all in order where n == rows, else spread evenly from
 * the first to the last. */
uint64_t pe__examined_row(uint64_t i, uint64_t n, uint64_t rows);

#endif
