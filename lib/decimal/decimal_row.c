/* SPDX-License-Identifier: MIT
 *
 * decimal_row.c: rows of decimals: the vector form where the processor has it and the row is long
 * enough to gain by it, else one number after the other. Same bytes either way.
 */
#include "posenc_decimal.h"

#if defined(__x86_64__)
#include "decimal_avx2.h"
#include "rotation/rotor.h"

#include <stdbool.h>
#include <string.h>

enum { FEW = 4 };

/* POSENC_ISA=portable holds here too. */
static bool vectors(size_t count)
{
    return count > FEW && strncmp(pe__isa_name(), "avx", 3) == 0 &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt");
}
#endif

size_t pe_decimal_row_f64(const double *values, size_t count, char *out)
{
#if defined(__x86_64__)
    if (vectors(count))
        return pe__decimal_row_f64_avx2(values, count, out);
#endif
    char *at = out;
    for (size_t i = 0; i < count; i++) {
        at += pe_decimal_f64(values[i], at);
        *at++ = ',';
    }
    return count ? (size_t)(at - out) - 1 : 0;
}

size_t pe_decimal_row_f32(const float *values, size_t count, char *out)
{
#if defined(__x86_64__)
    if (vectors(count))
        return pe__decimal_row_f32_avx2(values, count, out);
#endif
    char *at = out;
    for (size_t i = 0; i < count; i++) {
        at += pe_decimal_f32(values[i], at);
        *at++ = ',';
    }
    return count ? (size_t)(at - out) - 1 : 0;
}
