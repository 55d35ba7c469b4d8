/* SPDX-License-Identifier: MIT
 *
 * posenc_decimal.h: the shortest decimal that reads back to the same number.
 *
 * Of all decimals that a correct reader (round to nearest, ties to even) turns back into the value,
 * the one with the fewest digits; among several of these the one nearest to the value; of two
 * equally near the one whose last digit is even. The text is a JSON number that always has a point
 * or an exponent: 0.0, -0.0, 10000.0, 0.0001, 1e-05, 1.5e-07, 1e+16. An exponent is written where
 * the value is below 1e-4 or at least 1e16, with a sign and two or three digits.
 *
 * All functions are thread-safe, know no locale and allocate nothing. Values are finite: that is
 * the caller's duty. No NUL is written; the result is the length of the text.
 */
#ifndef PE_DECIMAL_H
#define PE_DECIMAL_H

#include <stddef.h>

/* Longest texts: "-1.2345678901234567e-308", "-1234567900000000.0". */
#define PE_DECIMAL_F64_MAX 24
#define PE_DECIMAL_F32_MAX 19

/* Bytes that one call may touch, whatever the length of its text. */
#define PE_DECIMAL_ROOM 32

size_t pe_decimal_f64(double value, char out[PE_DECIMAL_ROOM]);
size_t pe_decimal_f32(float value, char out[PE_DECIMAL_ROOM]);

/* `count` numbers with commas between them: "a,b,c"; nothing for 0. `out` has room for
 * count * (PE_DECIMAL_..._MAX + 1) + PE_DECIMAL_ROOM bytes. */
size_t pe_decimal_row_f64(const double *values, size_t count, char *out);
size_t pe_decimal_row_f32(const float *values, size_t count, char *out);

#endif
