/* SPDX-License-Identifier: MIT
 *
 * verify.c: compares values of random tables with MPFR until it is stopped.
 *
 *     verify [SECONDS]
 *
 * Each round makes a random table of the next kind, looks through thousands of its values for those
 * that lie nearest to a rounding boundary, and checks these and some random ones against the
 * formulas. Ctrl-C or the end of the time prints the count. Exit code 1 if any bit was wrong; the
 * table is printed then.
 */
#include "kit/random.h"
#include "kit/spec.h"

#include "dtype.h"
#include "must.h"
#include "precision/precision_exact.h"

#include <gmp.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define EXACT_BITS 256
#define HARD 24    /* of a tensor: nearest to a boundary */
#define ORDINARY 8 /* of a tensor: anywhere */

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

struct tally {
    uint64_t tables, looked_at, checked, wrong;
    double nearest; /* to a boundary, in ulps */
};

/* ---------------------------------------------------------------- buckets, in integers only */

/* T5 (Raffel et al. 2020): linear up to half, then the greatest k with (max/m)^k <= (a/m)^(n-m). */
static int64_t t5_bucket(const struct pe_spec *s, int64_t distance)
{
    int64_t n = s->num_buckets, out = 0, a = distance;
    if (s->bidirectional) {
        n /= 2;
        out = distance > 0 ? n : 0;
        a = llabs(distance);
    } else {
        a = distance < 0 ? -distance : 0;
    }
    int64_t m = n / 2, k = 0;
    if (a < m)
        return out + a;
    if (a >= s->max_distance)
        return out + n - 1;
    mpz_t left, right, power;
    mpz_inits(left, right, power, NULL);
    for (;; k++) {
        mpz_ui_pow_ui(left, (unsigned long)s->max_distance, (unsigned long)k + 1);
        mpz_ui_pow_ui(power, (unsigned long)m, (unsigned long)(n - m));
        mpz_mul(left, left, power);
        mpz_ui_pow_ui(right, (unsigned long)a, (unsigned long)(n - m));
        mpz_ui_pow_ui(power, (unsigned long)m, (unsigned long)k + 1);
        mpz_mul(right, right, power);
        if (mpz_cmp(left, right) > 0)
            break;
    }
    mpz_clears(left, right, power, NULL);
    return out + (m + k < n - 1 ? m + k : n - 1);
}

/* DeBERTa (He et al. 2021): the least k with (top/mid)^k >= (a/mid)^(mid-1). */
static int64_t deberta_bucket(const struct pe_spec *s, int64_t distance)
{
    int64_t mid = s->position_buckets / 2, top = s->max_relative_positions - 1, a = llabs(distance),
            k = 0;
    if (a <= mid)
        return distance;
    mpz_t left, right, power;
    mpz_inits(left, right, power, NULL);
    for (;; k++) {
        mpz_ui_pow_ui(left, (unsigned long)top, (unsigned long)k);
        mpz_ui_pow_ui(power, (unsigned long)mid, (unsigned long)mid - 1);
        mpz_mul(left, left, power);
        mpz_ui_pow_ui(right, (unsigned long)a, (unsigned long)mid - 1);
        mpz_ui_pow_ui(power, (unsigned long)mid, (unsigned long)k);
        mpz_mul(right, right, power);
        if (mpz_cmp(left, right) >= 0)
            break;
    }
    mpz_clears(left, right, power, NULL);
    return distance > 0 ? k + mid : -(k + mid);
}

/* ---------------------------------------------------------------- checking */

struct table {
    struct kit_spec text;
    const struct kit_line *line;
    struct pe_tensor tensors[PE_MAX_TENSORS];
    void *values[PE_MAX_TENSORS];
    double *finer[PE_MAX_TENSORS]; /* the same in binary64 */
};

static void report(struct tally *tally, const struct table *t, unsigned i, uint64_t flat,
                   const void *want)
{
    const struct pe_tensor *tensor = &t->tensors[i];
    size_t size = pe_dtype_size(tensor->dtype);
    uint64_t came = 0, right = 0;
    memcpy(&came, (char *)t->values[i] + flat * size, size);
    memcpy(&right, want, size);
    uint64_t zero = UINT64_C(1) << (8 * size - 1);
    if (came == right || (pe__dtype_real(tensor->dtype) && (came | right) == zero))
        return; /* zeros of either sign */
    tally->wrong++;
    printf("WRONG %s: %s row %llu element %llu is %llx, not %llx\n", t->line->text, tensor->name,
           (unsigned long long)(flat / tensor->row_elements),
           (unsigned long long)(flat % tensor->row_elements), (unsigned long long)came,
           (unsigned long long)right);
    fflush(stdout);
}

/* Distance of a double from the nearest boundary between two values of the dtype, in ulps of the
 * latter. */
static double to_boundary(double x, enum pe_dtype dtype)
{
    int bits = dtype == PE_DTYPE_F32 ? 24 : dtype == PE_DTYPE_F16 ? 11 : 8;
    int least = dtype == PE_DTYPE_F16 ? -14 : -126, e = x == 0 || !isfinite(x) ? least : ilogb(x);
    double ulps = ldexp(fabs(x), bits - 1 - (e < least ? least : e));
    double off = fabs(ulps - floor(ulps) - 0.5);
    return off == 0 ? 0.5 : off; /* exactly half way: a tie, which needs no search */
}

struct candidate {
    double off;
    uint64_t flat;
};

/* Keeps the HARD least in a sorted list. */
static void keep(struct candidate *list, double off, uint64_t flat)
{
    int at = HARD;
    while (at > 0 && off < list[at - 1].off)
        at--;
    if (at == HARD)
        return;
    memmove(list + at + 1, list + at, (size_t)(HARD - 1 - at) * sizeof *list);
    list[at] = (struct candidate){off, flat};
}

static void check(struct tally *tally, struct table *t, struct pe__exact_table *exact, unsigned i,
                  uint64_t flat)
{
    const struct pe_tensor *tensor = &t->tensors[i];
    struct pe__place place = {i, flat / tensor->row_elements, flat % tensor->row_elements};
    unsigned char want[8];
    mpfr_t x;
    mpfr_init2(x, EXACT_BITS);
    pe__exact_value(exact, &place, x);
    pe__store_mpfr(x, tensor->dtype, want);
    mpfr_clear(x);
    tally->checked++;
    report(tally, t, i, flat, want);
}

static void check_tensor(struct tally *tally, struct table *t, struct pe__exact_table *exact,
                         unsigned i)
{
    const struct pe_tensor *tensor = &t->tensors[i];
    uint64_t count = tensor->rows * tensor->row_elements;
    struct candidate hard[HARD];
    for (int k = 0; k < HARD; k++)
        hard[k] = (struct candidate){1, kit_below(count)};
    if (tensor->dtype != PE_DTYPE_F64)
        for (uint64_t flat = 0; flat < count; flat++)
            keep(hard, to_boundary(t->finer[i][flat], tensor->dtype), flat);
    tally->looked_at += count;
    tally->nearest = hard[0].off < tally->nearest ? hard[0].off : tally->nearest;
    for (int k = 0; k < HARD; k++)
        check(tally, t, exact, i, hard[k].flat);
    for (int k = 0; k < ORDINARY; k++)
        check(tally, t, exact, i, kit_below(count));
}

static void check_buckets(struct tally *tally, const struct table *t)
{
    const struct pe_spec *s = &t->text.spec;
    for (int64_t query = 0; query < s->queries; query++)
        for (int64_t key = 0; key < s->length; key++) {
            int64_t distance = key - (s->offset + query);
            int32_t want = (int32_t)(s->kind == PE_KIND_T5 ? t5_bucket(s, distance)
                                                           : deberta_bucket(s, -distance));
            tally->checked++;
            tally->looked_at++;
            report(tally, t, 0, (uint64_t)(query * s->length + key), &want);
        }
}

static void fill(const struct pe_spec *s, unsigned count, const struct pe_tensor *tensors,
                 void *const out[])
{
    struct pe_plan *plan;
    must(pe_plan_create(s, &plan) == PE_OK);
    for (unsigned i = 0; i < count; i++) {
        void *one[PE_MAX_TENSORS] = {NULL};
        one[i] = out[i];
        must(pe_fill(plan, 0, tensors[i].rows, one) == PE_OK);
    }
    pe_plan_destroy(&plan);
}

static void check_table(struct tally *tally, struct table *t)
{
    struct pe_spec finer = t->text.spec;
    struct pe__exact_table *exact = NULL;
    unsigned count = pe_spec_tensors(&t->text.spec, t->tensors);
    bool real_values = t->text.spec.kind != PE_KIND_T5 && t->text.spec.kind != PE_KIND_DEBERTA;
    for (unsigned i = 0; i < count; i++) {
        t->values[i] = malloc(t->tensors[i].bytes);
        t->finer[i] = malloc(t->tensors[i].rows * t->tensors[i].row_elements * sizeof(double));
        must(t->values[i] && t->finer[i]);
    }
    fill(&t->text.spec, count, t->tensors, t->values);
    if (real_values) {
        finer.dtype = PE_DTYPE_F64;
        fill(&finer, count, t->tensors, (void *const *)t->finer);
        must(pe__exact_table_create(&t->text.spec, &exact) == PE_OK);
        for (unsigned i = 0; i < count; i++)
            check_tensor(tally, t, exact, i);
        pe__exact_table_destroy(&exact);
    } else {
        check_buckets(tally, t);
    }
    for (unsigned i = 0; i < count; i++) {
        free(t->values[i]);
        free(t->finer[i]);
    }
    tally->tables++;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : INFINITY;
    struct timespec start, now;
    struct tally tally = {.nearest = 0.5};
    clock_gettime(CLOCK_MONOTONIC, &start);
    uint64_t seed = (uint64_t)start.tv_nsec ^ (uint64_t)start.tv_sec << 32;
    kit_seed(seed);
    printf("%s kernels, seed %llx\n", pe_instruction_set(), (unsigned long long)seed);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    for (size_t round = 0; !stopped; round++) {
        struct kit_line line;
        struct table t = {.line = &line};
        struct pe_fault fault;
        kit_random_line(round, &line);
        if (kit_spec(&t.text, line.text, &fault))
            check_table(&tally, &t);
        else if (fault.error != PE_RANGE && fault.error != PE_CONFLICT) {
            printf("WRONG %s: refused: %s\n", line.text, fault.text);
            tally.wrong++;
        }
        kit_spec_clear(&t.text);
        clock_gettime(CLOCK_MONOTONIC, &now);
        stopped = stopped || difftime(now.tv_sec, start.tv_sec) >= seconds;
    }
    mpfr_free_cache();
    printf("%llu tables, %llu values looked at, %llu checked (nearest to a boundary: %.1e ulp), "
           "%llu wrong\n",
           (unsigned long long)tally.tables, (unsigned long long)tally.looked_at,
           (unsigned long long)tally.checked, tally.nearest, (unsigned long long)tally.wrong);
    return tally.wrong != 0;
}
