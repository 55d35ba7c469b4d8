/* SPDX-License-Identifier: MIT
 *
 * decimal_vector.h: rows of decimals in vectors, on x86-64. Same contract and same bytes as
 * pe_decimal_row_f64 and pe_decimal_row_f32, which choose among them.
 */
#ifndef PE_DECIMAL_VECTOR_H
#define PE_DECIMAL_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

/* Four numbers at a time, with AVX2, BMI1, BMI2 and LZCNT. */
bool pe__decimal_runs_avx2(void);
size_t pe__decimal_row_f64_avx2(const double *values, size_t count, char *out);
size_t pe__decimal_row_f32_avx2(const float *values, size_t count, char *out);

/* Eight at a time, with these, POPCNT and AVX-512 F, DQ, BW, VL, CD, VBMI and VBMI2. */
bool pe__decimal_runs_avx512(void);
size_t pe__decimal_row_f64_avx512(const double *values, size_t count, char *out);
size_t pe__decimal_row_f32_avx512(const float *values, size_t count, char *out);

#endif
