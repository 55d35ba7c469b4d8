/* SPDX-License-Identifier: MIT
 *
 * decimal_avx2.c: rows of decimals with digits of four numbers at once.
 *
 * Invariant: same bytes as number by number.
 */
#if defined(__x86_64__)

#pragma GCC target("avx2,bmi,bmi2,lzcnt")

#define DECIMAL_LANES 4
#include "decimal_rows.h"
#include "decimal_vector.h"

size_t pe__decimal_row_f32_avx2(const float *values, size_t count, char *out)
{
    return put_row((struct row){values, count, false}, out, put_each);
}

size_t pe__decimal_row_f64_avx2(const double *values, size_t count, char *out)
{
    return put_row((struct row){values, count, true}, out, put_each);
}

#else

/* No other processor has this form: decimal_row.c does not ask for it. */
typedef int pe__decimal_avx2_is_empty;

#endif
