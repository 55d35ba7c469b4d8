/* SPDX-License-Identifier: MIT
 *
 * verify.c: compares values of random tables with MPFR until it is stopped.
 *
 *     verify [SECONDS]
 *
 * Each round makes a random table of the next kind, looks through thousands of its values for those that
 * lie nearest to a rounding boundary, and checks these and some random ones against the formulas. Ctrl-C or
 * the end of the time prints the count. Exit code 1 if any bit was wrong; the table is printed then.
 */
#include "kit/spec.h"

#include "dtype.h"
#include "must.h"
#include "precision_exact.h"

#include <gmp.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
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

/* ---------------------------------------------------------------- chance */

static uint64_t chance_state;

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t chance(void)
{
    uint64_t z = chance_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t n)
{
    return chance() % n;
}

static double real(double lo, double hi)
{
    return lo + (hi - lo) * (double)(chance() >> 11) * 0x1p-53;
}

/* A number of any size up to 2^bits. */
static uint64_t sized(unsigned bits)
{
    return chance() >> (64 - 1 - below(bits));
}

struct line {
    char text[8192];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    l->len += (size_t)vsnprintf(l->text + l->len, sizeof l->text - l->len, format, args);
    va_end(args);
    must(l->len < sizeof l->text);
}

static const char *pick(const char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    return words[below(n)];
}

#define PICK(...) pick((const char *const[]){__VA_ARGS__, NULL})

/* ---------------------------------------------------------------- random tables */

static void put_rows(struct line *l)
{
    unsigned bits = (unsigned)below(53) + 1;
    if (below(4)) {
        uint64_t offset = sized(53);
        put(l, "&offset=%llu&length=%llu", (unsigned long long)(offset < (1ull << 52) ? offset : offset / 2),
            1 + (unsigned long long)below(200));
        return;
    }
    put(l, "&positions=");
    for (uint64_t i = 0, n = 1 + below(20); i < n; i++)
        put(l, "%s%s%llu", i ? "," : "", below(2) ? "-" : "", (unsigned long long)sized(bits));
}

static void put_common(struct line *l)
{
    switch (below(4)) {
    case 0:
        put(l, "&base=10000");
        break;
    case 1:
        put(l, "&base=%llu", (unsigned long long)below(10000000) + 2);
        break;
    default:
        put(l, "&base=%.17g", exp(real(log(1.01), log(1e8))));
    }
    put(l, "&dtype=%s", PICK("f32", "f32", "f64", "f16", "bf16"));
}

static unsigned put_width(struct line *l, unsigned multiple, const char *name)
{
    unsigned width = multiple * (unsigned)(1 + below(below(2) ? 8 : 64));
    put(l, "&%s=%u", name, width);
    return width;
}

static void put_list(struct line *l, const char *name, unsigned count, double hi)
{
    put(l, "&%s=", name);
    for (unsigned i = 0; i < count; i++)
        put(l, "%s%.9g", i ? "," : "", real(1, hi));
}

/* Parameters of a rope_type; `pairs` are those of one ladder. */
static void put_scaling(struct line *l, unsigned pairs)
{
    const char *type = PICK("default", "linear", "dynamic", "ntk", "yarn", "longrope", "llama3");
    if (pairs < 2 && (strcmp(type, "ntk") == 0 || strcmp(type, "dynamic") == 0))
        type = "linear";
    put(l, "&rope_type=%s", type);
    if (strcmp(type, "default") != 0)
        put(l, "&factor=%.17g", real(1, 50));
    if (strcmp(type, "dynamic") == 0)
        put(l, "&max_position_embeddings=%d&sequence_length=%llu", 1024 << below(4),
            1 + (unsigned long long)sized(30));
    if (strcmp(type, "yarn") == 0 || strcmp(type, "longrope") == 0 || strcmp(type, "llama3") == 0)
        put(l, "&original_max_position_embeddings=%d", 1024 << below(6));
    if (strcmp(type, "yarn") == 0 && below(2))
        put(l, "&truncate=%s&beta_fast=%.3g", PICK("true", "false"), real(16, 64));
    if (strcmp(type, "yarn") == 0 && below(2))
        put(l, "&mscale=%.5g&mscale_all_dim=%.5g", real(0.5, 2), real(0.5, 2));
    if (strcmp(type, "longrope") == 0) {
        put(l, "&sequence_length=%llu", 1 + (unsigned long long)sized(20));
        put_list(l, "short_factor", pairs, 3);
        put_list(l, "long_factor", pairs, 60);
    }
    if (strcmp(type, "llama3") == 0)
        put(l, "&low_freq_factor=%.6g&high_freq_factor=%.6g", real(0.5, 2), real(2, 8));
}

static void sinusoidal_line(struct line *l)
{
    unsigned width = 2 * (1 + (unsigned)below(70)) + !below(4);
    put(l, "sinusoidal?width=%u", width);
    if (width % 2)
        put(l, "&odd=%s", PICK("zero", "sine"));
    put(l, "&layout=%s&ladder=%s&order=%s", PICK("interleaved", "split"), PICK("open", "closed"), PICK("sin", "cos"));
    if (!below(3))
        put(l, "&scale=%.17g", real(-1000, 1000));
    if (!below(3))
        put(l, "&padding_idx=%d", (int)below(100));
    put_common(l);
    put_rows(l);
}

static void rope_line(struct line *l)
{
    put(l, "rope?inverse=false");
    if (below(6)) {
        unsigned width = put_width(l, 2, "width");
        put_scaling(l, width / 2);
    } else {
        put_width(l, 2, "head_dim");
        put(l, "&rope_type=proportional&partial_rotary_factor=%.3g&factor=%.17g", real(0.1, 1), real(1, 9));
    }
    put(l, "&layout=%s", PICK("pairs", "split", "interleaved", "cos_sin", "complex", "matrix", "phase"));
    put_common(l);
    put_rows(l);
}

static void mrope_line(struct line *l)
{
    unsigned t = 1 + (unsigned)below(20), h = (unsigned)below(t + 1), w = (unsigned)below(t + 1);
    bool woven = below(2) && h <= t && w <= t && (h == w || h == w + 1);
    put(l, "mrope?width=%u&mrope_section=%u,%u,%u", 2 * (t + h + w), t, h, w);
    if (woven)
        put(l, "&mrope_interleaved=true");
    put_scaling(l, t + h + w);
    put(l, "&layout=%s&inverse=%s", PICK("pairs", "split", "interleaved"), PICK("true", "false"));
    put_common(l);
    put(l, "&positions=");
    uint64_t n = 3 * (1 + below(12));
    for (uint64_t i = 0; i < n; i++)
        put(l, "%s%llu", i ? "," : "", (unsigned long long)sized(40));
}

static void axial_line(struct line *l)
{
    put(l, "axial_rope?inverse=%s", PICK("true", "false"));
    unsigned width = put_width(l, 4, "width");
    put_scaling(l, width / 4);
    put(l, "&layout=%s", PICK("pairs", "split", "interleaved"));
    put_common(l);
    put(l, "&height=%llu&columns=%llu", 1 + (unsigned long long)below(20), 1 + (unsigned long long)below(20));
}

static void xpos_line(struct line *l)
{
    put(l, "xpos?scale_base=%.6g", real(100, 1000));
    put_width(l, 2, "width");
    put(l, "&layout=%s", PICK("pairs", "split", "interleaved"));
    put_common(l);
    put(l, "&offset=%llu&length=%llu", (unsigned long long)sized(16), 1 + (unsigned long long)below(100));
}

static void grid_line(struct line *l)
{
    put(l, "grid?order=%s&cls_token=%s", PICK("hw", "wh"), PICK("true", "false"));
    put_width(l, 4, "width");
    put_common(l);
    put(l, "&height=%llu&columns=%llu", 1 + (unsigned long long)below(20), 1 + (unsigned long long)below(20));
}

static void alibi_line(struct line *l)
{
    unsigned length = 1 + (unsigned)below(64), queries = 1 + (unsigned)below(length);
    put(l, "alibi?width=%llu&length=%u&queries=%u", 1 + (unsigned long long)below(40), length, queries);
    put(l, "&dtype=%s&symmetric=%s", PICK("f32", "f64", "f16", "bf16"), PICK("true", "false"));
    if (below(2))
        put(l, "&alibi_bias_max=%.17g", real(0.5, 20));
    if (below(2))
        put(l, "&offset=%llu", (unsigned long long)sized(50));
}

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
    int64_t mid = s->position_buckets / 2, top = s->max_relative_positions - 1, a = llabs(distance), k = 0;
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

static void t5_line(struct line *l)
{
    put(l, "t5?length=%llu&queries=3&num_buckets=%llu&max_distance=%llu&bidirectional=%s",
        3 + (unsigned long long)below(300), 4 * (1 + (unsigned long long)below(16)),
        64 + (unsigned long long)below(1000), PICK("true", "false"));
}

static void deberta_line(struct line *l)
{
    unsigned long long buckets = 2 * (2 + (unsigned long long)below(40));
    put(l, "deberta?length=%llu&queries=3&position_buckets=%llu&max_relative_positions=%llu",
        3 + (unsigned long long)below(300), buckets, buckets + (unsigned long long)below(1000));
}

/* ---------------------------------------------------------------- checking */

struct table {
    struct kit_spec text;
    const struct line *line;
    struct pe_tensor tensors[PE_MAX_TENSORS];
    void *values[PE_MAX_TENSORS];
    double *finer[PE_MAX_TENSORS]; /* the same in binary64 */
};

static void report(struct tally *tally, const struct table *t, unsigned i, uint64_t flat, const void *want)
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
           (unsigned long long)(flat / tensor->row_elements), (unsigned long long)(flat % tensor->row_elements),
           (unsigned long long)came, (unsigned long long)right);
    fflush(stdout);
}

/* Distance of a double from the nearest boundary between two values of the dtype, in ulps of the latter. */
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

static void check(struct tally *tally, struct table *t, struct pe__exact_table *exact, unsigned i, uint64_t flat)
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

static void check_tensor(struct tally *tally, struct table *t, struct pe__exact_table *exact, unsigned i)
{
    const struct pe_tensor *tensor = &t->tensors[i];
    uint64_t count = tensor->rows * tensor->row_elements;
    struct candidate hard[HARD];
    for (int k = 0; k < HARD; k++)
        hard[k] = (struct candidate){1, below(count)};
    if (tensor->dtype != PE_DTYPE_F64)
        for (uint64_t flat = 0; flat < count; flat++)
            keep(hard, to_boundary(t->finer[i][flat], tensor->dtype), flat);
    tally->looked_at += count;
    tally->nearest = hard[0].off < tally->nearest ? hard[0].off : tally->nearest;
    for (int k = 0; k < HARD; k++)
        check(tally, t, exact, i, hard[k].flat);
    for (int k = 0; k < ORDINARY; k++)
        check(tally, t, exact, i, below(count));
}

static void check_buckets(struct tally *tally, const struct table *t)
{
    const struct pe_spec *s = &t->text.spec;
    for (int64_t query = 0; query < s->queries; query++)
        for (int64_t key = 0; key < s->length; key++) {
            int64_t distance = key - (s->offset + query);
            int32_t want = (int32_t)(s->kind == PE_KIND_T5 ? t5_bucket(s, distance) : deberta_bucket(s, -distance));
            tally->checked++;
            tally->looked_at++;
            report(tally, t, 0, (uint64_t)(query * s->length + key), &want);
        }
}

static void fill(const struct pe_spec *s, unsigned count, const struct pe_tensor *tensors, void *const out[])
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
    static void (*const lines[])(struct line *) = {sinusoidal_line, rope_line,  mrope_line, axial_line, xpos_line,
                                                   grid_line,       alibi_line, rope_line,  t5_line,    deberta_line};
    double seconds = argc > 1 ? strtod(argv[1], NULL) : INFINITY;
    struct timespec start, now;
    struct tally tally = {.nearest = 0.5};
    clock_gettime(CLOCK_MONOTONIC, &start);
    chance_state = (uint64_t)start.tv_nsec ^ (uint64_t)start.tv_sec << 32;
    printf("%s kernels, seed %llx\n", pe_instruction_set(), (unsigned long long)chance_state);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    for (size_t round = 0; !stopped; round++) {
        struct line line = {.len = 0};
        struct table t = {.line = &line};
        struct pe_fault fault;
        lines[round % (sizeof lines / sizeof *lines)](&line);
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
    printf("%llu tables, %llu values looked at, %llu checked (nearest to a boundary: %.1e ulp), %llu wrong\n",
           (unsigned long long)tally.tables, (unsigned long long)tally.looked_at,
           (unsigned long long)tally.checked, tally.nearest, (unsigned long long)tally.wrong);
    return tally.wrong != 0;
}
