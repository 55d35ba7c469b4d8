/* SPDX-License-Identifier: MIT
 *
 * decimal_avx2.h: rows of decimals four numbers at a time, on x86-64 with AVX2, BMI and LZCNT. Same
 * contract and same bytes as pe_decimal_row_f64 and pe_decimal_row_f32, which choose.
 */
#ifndef PE_DECIMAL_AVX2_H
#define PE_DECIMAL_AVX2_H

#include <stddef.h>

size_t pe__decimal_row_f64_avx2(const double *values, size_t count, char *out);
size_t pe__decimal_row_f32_avx2(const float *values, size_t count, char *out);

#endif
