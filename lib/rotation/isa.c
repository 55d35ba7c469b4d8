/* SPDX-License-Identifier: MIT
 *
 * isa.c: chooses the kernel. The choice is a pure function of the processor and of one environment
 * variable; it is kept in an atomic pointer, so that a race at the first call only repeats the
 * work.
 */
#include "rotation/kernel.h"
#include "rotation/rotor.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#ifdef __x86_64__
/* The half-precision conversions have no word of their own in every compiler's run-time library. */
static bool runs_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool runs_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && runs_f16c();
}

static bool runs_avx512(void)
{
    return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif

const struct pe__kernel *pe__isa_limited(const char *most)
{
#ifdef __x86_64__
    bool portable = most && strcmp(most, "portable") == 0;
    bool avx2 = most && strcmp(most, "avx2") == 0;
    if (!portable && !avx2 && runs_avx512())
        return &pe__kernel_avx512;
    if (!portable && runs_avx2())
        return &pe__kernel_avx2;
#else
    (void)most;
#endif
    return &pe__kernel_portable;
}

const struct pe__kernel *pe__isa_kernel(void)
{
    static _Atomic(const struct pe__kernel *) chosen;
    const struct pe__kernel *kernel = atomic_load_explicit(&chosen, memory_order_acquire);
    if (!kernel) {
        kernel = pe__isa_limited(getenv("POSENC_ISA"));
        atomic_store_explicit(&chosen, kernel, memory_order_release);
    }
    return kernel;
}

const char *pe__isa_name(void)
{
    return pe__isa_kernel()->name;
}
