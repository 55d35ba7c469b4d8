/* SPDX-License-Identifier: MIT
 *
 * bench_rotation.c: nanoseconds a value of pe__rotor_rows for each element type and each
 * instruction set that runs here, both planes, 8192 x 128 and 131072 x 128 numbers; and what a plan
 * takes. Processor time, best of several runs; "row" makes single rows at scattered positions.
 */
#include "rotation/clocks.h"
#include "rotation/kernel.h"
#include "rotation/rotor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAIRS = 64, SHORT = 8192, LONG = 131072, RUNS = 4, SCATTERED = 64 };

static mpfr_t frequency[PAIRS], one;
static unsigned char *planes[2];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void geometric(double base)
{
    for (unsigned r = 0; r < PAIRS; r++) {
        mpfr_t exponent;
        mpfr_init2(exponent, 64);
        mpfr_init2(frequency[r], 384);
        mpfr_set_d(frequency[r], base, MPFR_RNDN);
        mpfr_set_d(exponent, -(double)r / PAIRS, MPFR_RNDN);
        mpfr_pow(frequency[r], frequency[r], exponent, MPFR_RNDN);
        mpfr_clear(exponent);
    }
    mpfr_init2(one, 53);
    mpfr_set_ui(one, 1, MPFR_RNDN);
}

/* Best time of a call of rows, in nanoseconds for each of its values. */
static double time_rows(const struct pe__rotor *r, size_t rows, size_t stride, int runs)
{
    double best = INFINITY;
    for (int i = 0; i < runs; i++) {
        double start = now();
        pe__rotor_rows(r, 0, rows, planes[0], planes[1], stride);
        best = fmin(best, now() - start);
    }
    return best / (double)(rows * PAIRS * 2) * 1e9;
}

static double time_scattered(const struct pe__rotor *r, size_t stride)
{
    double start = now();
    for (int64_t i = 0; i < SCATTERED; i++)
        pe__rotor_rows(r, i * 7919 % SHORT, 1, planes[0], planes[1], stride);
    return (now() - start) / (SCATTERED * PAIRS * 2) * 1e9;
}

static void measure(const struct pe__kernel *kernel, enum pe_dtype dtype)
{
    struct pe__clocks *clocks = NULL;
    struct pe__rotor *r = NULL;
    double plan = INFINITY;
    for (int i = 0; i < RUNS; i++) {
        pe__rotor_destroy(&r);
        pe__clocks_destroy(&clocks);
        double start = now();
        if (pe__clocks_create((const mpfr_t *)frequency, PAIRS, one, &clocks) != PE_OK)
            abort();
        struct pe__rotor_spec spec = {
            .clocks = clocks, .step = 1, .pairs = PAIRS, .dtype = dtype, .span = LONG};
        if (pe__rotor_create_on(&spec, kernel, &r) != PE_OK)
            abort();
        plan = fmin(plan, now() - start);
    }
    size_t stride = PAIRS * pe_dtype_size(dtype);
    double eight = time_rows(r, SHORT, stride, 2 * RUNS);
    double many = time_rows(r, LONG, stride, 2);
    printf("%-9s %-12s %8.3f %12.3f %12.3f %8.2f\n", kernel->name, pe_dtype_name(dtype), plan * 1e3,
           eight, many, time_scattered(r, stride));
    pe__rotor_destroy(&r);
    pe__clocks_destroy(&clocks);
}

int main(void)
{
    static const char *const isas[] = {"portable", "avx2", "avx512"};
    static const enum pe_dtype dtypes[] = {PE_DTYPE_F64, PE_DTYPE_F32, PE_DTYPE_BF16, PE_DTYPE_F16};
    geometric(10000);
    for (int i = 0; i < 2; i++) {
        planes[i] = malloc((size_t)LONG * PAIRS * 8);
        if (!planes[i])
            return 1;
        memset(planes[i], 0, (size_t)LONG * PAIRS * 8);
    }
    printf("%-9s %-12s %8s %12s %12s %8s\n", "kernel", "dtype", "plan ms", "8192 ns", "131072 ns",
           "row ns");
    for (size_t k = 0; k < sizeof isas / sizeof *isas; k++) {
        const struct pe__kernel *kernel = pe__isa_limited(isas[k]);
        if (strcmp(kernel->name, isas[k]) != 0)
            continue;
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
            measure(kernel, dtypes[d]);
    }
    free(planes[0]);
    free(planes[1]);
    return 0;
}
