/* SPDX-License-Identifier: MIT
 *
 * decimal_row.c: rows of decimals: a vector form where the processor has it and the row is long
 * enough to gain by it, else one number after the other. Same bytes either way.
 */
#include "posenc_decimal.h"

#if defined(__x86_64__)
#include "decimal_vector.h"
#include "rotation/rotor.h"

#include <string.h>

enum { FEW = 4 };

bool pe__decimal_runs_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt");
}

bool pe__decimal_runs_avx512(void)
{
    return pe__decimal_runs_avx2() && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2");
}

/* POSENC_ISA holds here too. */
static bool uses_avx512(size_t count)
{
    return count > FEW && strcmp(pe__isa_name(), "avx512") == 0 && pe__decimal_runs_avx512();
}

static bool uses_avx2(size_t count)
{
    return count > FEW && strncmp(pe__isa_name(), "avx", 3) == 0 && pe__decimal_runs_avx2();
}
#endif

size_t pe_decimal_row_f64(const double *values, size_t count, char *out)
{
#if defined(__x86_64__)
    if (uses_avx512(count))
        return pe__decimal_row_f64_avx512(values, count, out);
    if (uses_avx2(count))
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
    if (uses_avx512(count))
        return pe__decimal_row_f32_avx512(values, count, out);
    if (uses_avx2(count))
        return pe__decimal_row_f32_avx2(values, count, out);
#endif
    char *at = out;
    for (size_t i = 0; i < count; i++) {
        at += pe_decimal_f32(values[i], at);
        *at++ = ',';
    }
    return count ? (size_t)(at - out) - 1 : 0;
}
