/* SPDX-License-Identifier: MIT
 *
 * test_rotation.c: every value of a rotor is the real number rounded once, on every instruction set
 * that runs here, at all magnitudes of frequency, position and amplitude; and nothing depends on
 * how rows are split, on the hints, or on which plane is asked for.
 */
#include "kit/kit.h"
#include "test_rotation_reference.h"

#include "rotation/tables.h"

#include <stdio.h>

static const char *const isas[] = {"portable", "avx2", "avx512"};
#define ISAS (sizeof isas / sizeof *isas)

/* The kernels that run here, each once. */
static size_t kernels(const struct pe__kernel *out[ISAS])
{
    size_t n = 0;
    for (size_t i = 0; i < ISAS; i++) {
        const struct pe__kernel *k = pe__isa_limited(isas[i]);
        if (strcmp(k->name, isas[i]) == 0)
            out[n++] = k;
    }
    assert_true(n >= 1);
    return n;
}

#define MOST_PAIRS 200

static mpfr_t frequency[MOST_PAIRS];
static mpfr_t amplitude;

static struct pe__clocks *clocks_of(size_t pairs)
{
    struct pe__clocks *clocks = NULL;
    assert_int_equal(pe__clocks_create((const mpfr_t *)frequency, pairs, amplitude, &clocks),
                     PE_OK);
    return clocks;
}

/* A rotor of all pairs with clocks of its own, which go with it. */
static struct pe__rotor *make_of(struct pe__rotor_spec spec, const struct pe__kernel *kernel)
{
    struct pe__rotor *r = NULL;
    spec.clocks = clocks_of(spec.pairs);
    spec.step = 1;
    assert_int_equal(pe__rotor_create_on(&spec, kernel, &r), PE_OK);
    assert_non_null(r);
    return r;
}

static void unmake(struct pe__rotor **r)
{
    struct pe__clocks *clocks = (struct pe__clocks *)(*r)->of.clocks;
    pe__rotor_destroy(r);
    pe__clocks_destroy(&clocks);
}

static struct pe__rotor *make(size_t pairs, enum pe_dtype dtype, const struct pe__kernel *kernel,
                              int64_t first, uint64_t span)
{
    return make_of(
        (struct pe__rotor_spec){.pairs = pairs, .dtype = dtype, .span = span, .first = first},
        kernel);
}

static void hold(size_t pair, int64_t p, enum reference_function f, enum pe_dtype dtype,
                 const void *came)
{
    uint64_t want = reference(frequency[pair], p, amplitude, f, dtype);
    uint64_t got = reference_bits(came, dtype);
    if (want != got)
        fail_msg("dtype %d, pair %zu, w = %.17g (2^%ld), A = %.17g, p = %lld, function %d: %llx, "
                 "not %llx",
                 (int)dtype, pair, mpfr_get_d(frequency[pair], MPFR_RNDN),
                 (long)mpfr_get_exp(frequency[pair]), mpfr_get_d(amplitude, MPFR_RNDN),
                 (long long)p, (int)f, (unsigned long long)got, (unsigned long long)want);
}

/* Rows first .. of a rotor in one call, compared with another array of the same, or (expected ==
 * NULL) all held against the reference. */
struct rows {
    int64_t first;
    size_t rows, pairs;
    enum pe_dtype dtype;
    unsigned char *cos, *sin, *phase;
};

static struct rows fill(const struct pe__rotor *r, int64_t first, size_t rows, size_t pairs,
                        enum pe_dtype dtype)
{
    size_t stride = pairs * reference_size(dtype);
    struct rows t = {first,
                     rows,
                     pairs,
                     dtype,
                     malloc(rows * stride),
                     malloc(rows * stride),
                     malloc(rows * stride)};
    assert_true(t.cos && t.sin && t.phase);
    pe__rotor_rows(r, first, rows, t.cos, t.sin, stride);
    pe__rotor_phases(r, first, rows, t.phase, stride);
    return t;
}

static void drop(struct rows *t)
{
    free(t->cos);
    free(t->sin);
    free(t->phase);
}

static void hold_all(const struct rows *t)
{
    size_t size = reference_size(t->dtype);
    for (size_t i = 0; i < t->rows; i++) {
        for (size_t pair = 0; pair < t->pairs; pair++) {
            size_t at = (i * t->pairs + pair) * size;
            int64_t p = t->first + (int64_t)i;
            hold(pair, p, REFERENCE_COS, t->dtype, t->cos + at);
            hold(pair, p, REFERENCE_SIN, t->dtype, t->sin + at);
            hold(pair, p, REFERENCE_PHASE, t->dtype, t->phase + at);
        }
    }
}

static void same(const struct rows *a, const struct rows *b)
{
    size_t bytes = a->rows * a->pairs * reference_size(a->dtype);
    assert_memory_equal(a->cos, b->cos, bytes);
    assert_memory_equal(a->sin, b->sin, bytes);
    assert_memory_equal(a->phase, b->phase, bytes);
}

/* All dtypes, all kernels: the first against the reference, the others against the first. */
static void check(size_t pairs, int64_t first, size_t rows, uint64_t span)
{
    const struct pe__kernel *kernel[ISAS];
    size_t n = kernels(kernel);
    for (size_t d = 0; d < REAL_DTYPES; d++) {
        struct rows best = {0};
        for (size_t k = n; k-- > 0;) {
            struct pe__rotor *r = make(pairs, real_dtypes[d], kernel[k], first, span);
            struct rows t = fill(r, first, rows, pairs, real_dtypes[d]);
            if (k == n - 1) {
                hold_all(&t);
                best = t;
            } else {
                same(&best, &t);
                drop(&t);
            }
            unmake(&r);
            assert_null(r);
        }
        drop(&best);
    }
}

static void amplitude_is(double a)
{
    mpfr_set_d(amplitude, a, MPFR_RNDN);
}

static void geometric(size_t pairs, const char *base)
{
    for (size_t i = 0; i < pairs; i++) {
        mpfr_set_prec(frequency[i], 384);
        ladder(frequency[i], base, (unsigned)i, (unsigned)(2 * pairs));
    }
}

/* ---------------------------------------------------------------- values */

static void test_common_tables(void **state)
{
    (void)state;
    amplitude_is(1);
    geometric(19, "10000");
    check(19, -40, 80, 80);
    check(19, 131000, 70, 1 << 20);
    check(19, PE_POSITION_END - 40, 40, 40);
    check(19, -PE_POSITION_END, 40, 40);
    geometric(16, "1.7e308");
    check(16, -3, 40, 0);
    amplitude_is(1.2079441541679836);
    geometric(8, "500000");
    check(8, 100000, 40, 1000);
}

static void test_hard_cases(void **state)
{
    (void)state;
    char *text = kit_file("golden/rotation_hard.tsv", NULL);
    unsigned cases = 0;
    amplitude_is(1);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char dtype[8], base[32], function[8];
        unsigned width, r;
        long long p;
        unsigned long long bits;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%7s %u %31s %u %7s %lld %llx", dtype, &width, base, &r,
                                function, &p, &bits),
                         7);
        enum pe_dtype d = strcmp(dtype, "f64") == 0 ? PE_DTYPE_F64 : PE_DTYPE_F32;
        mpfr_set_prec(frequency[0], 384);
        ladder(frequency[0], base, r, width);
        const struct pe__kernel *kernel[ISAS];
        size_t n = kernels(kernel);
        for (size_t k = 0; k < n; k++) {
            struct pe__rotor *rotor = make(1, d, kernel[k], 0, 1 << 20);
            unsigned char out[8];
            bool cos = strcmp(function, "cos") == 0;
            pe__rotor_rows(rotor, p, 1, cos ? out : NULL, cos ? NULL : out, 8);
            assert_int_equal(reference_bits(out, d), bits);
            unmake(&rotor);
        }
        cases++;
    }
    assert_true(cases > 40);
    free(text);
}

/* Frequencies and positions of every magnitude, precise enough for their size. */
static void test_random(void **state)
{
    (void)state;
    uint64_t seed = 20240229;
    static const double amplitudes[] = {1,     1,    0.75,   1.0693147180559945, 3e-5,
                                        65000, 1e30, 1e-290, 0x1p-1073,          1.7e308};
    for (unsigned round = 0; round < 120; round++) {
        for (size_t i = 0; i < 9; i++) {
            long e =
                draw(&seed) % 4 == 0 ? (long)(draw(&seed) % 1200) - 600 : -(long)(draw(&seed) % 40);
            mpfr_set_prec(frequency[i], e > 0 ? 400 + e : 400);
            draw_real(&seed, frequency[i], e);
        }
        amplitude_is(amplitudes[draw(&seed) % (sizeof amplitudes / sizeof *amplitudes)]);
        int64_t first = draw_position(&seed, 53);
        check(9,
              first < 4 - PE_POSITION_END   ? 4 - PE_POSITION_END
              : first > PE_POSITION_END - 4 ? 0
                                            : first,
              1 + draw(&seed) % 4, draw(&seed) % 3 ? UINT64_C(1) << draw(&seed) % 54 : 0);
    }
}

/* The exact value is a number of the dtype or a tie, or lies below one by less than any fixed
 * precision sees. */
static void test_ties(void **state)
{
    (void)state;
    static const struct {
        double w;
        double a;
    } cases[] = {
        {0x1p-1074, 1},
        {0x3p-1075, 1},
        {0x1.8p-140, 1},
        {0x1p-26, 1},
        {0x1.8p-27, 1},
        {0x1p-300, 1 + 0x1p-11},
        {0x1p-200, 1 + 0x1p-24},
        {0x1p-900, 1 + 0x1p-8},
        {0x1.004p-20, 1},
        {0x1.0008p-30, 3},
        {0x1p-150, 1},
        {0x1p-25, 1},
        {0x1p-134, 1},
        {0, 1 + 0x1p-11},
        {0, 1 + 0x1p-8},
        {0, 65520},
        {0, 1e39},
        {0, 0x1p-1074},
        {0x1p-40, 65520},
        {0x1p-60, 0x1.fffffep127 + 0x1p103},
        {0x1.0000004p-100, 1},
        {0x1p-10, 0x1p-1074},
        {0x1p-500, 0x1p-500},
        {0x1p-40, 0x1.8p-1073},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mpfr_set_prec(frequency[0], 320);
        mpfr_set_d(frequency[0], cases[i].w, MPFR_RNDN);
        /* Half of the least double, for the ties among subnormals. */
        if (cases[i].w == 0x1p-1074)
            mpfr_div_2ui(frequency[0], frequency[0], 1, MPFR_RNDN);
        amplitude_is(cases[i].a);
        check(1, -20, 40, 40);
        check(1, (INT64_C(1) << 24) - 3, 6, 6);
        check(1, PE_POSITION_END - 6, 6, 6);
        check(1, 4097 - 8, 16, 16);
    }
}

static void test_phases_that_tie(void **state)
{
    (void)state;
    amplitude_is(1);
    mpfr_set_prec(frequency[0], 384);
    mpfr_set_ui(frequency[0], 1, MPFR_RNDN);
    mpfr_set_prec(frequency[1], 384);
    mpfr_set_d(frequency[1], 0.5, MPFR_RNDN);
    mpfr_set_prec(frequency[2], 384);
    mpfr_set_d(frequency[2], 1e300, MPFR_RNDN);
    check(3, 2040, 60, 60);
    check(3, 65500, 40, 40);
    check(3, 16777210, 12, 12);
    /* 1/10 is the frequency, not its rounding to 384 bits: 5 * 2049 / 10 is a tie for f16. */
    mpfr_set_prec(frequency[0], 384);
    mpfr_set_ui(frequency[0], 1, MPFR_RNDN);
    mpfr_div_ui(frequency[0], frequency[0], 10, MPFR_RNDU);
    const struct pe__kernel *kernel[ISAS];
    struct pe__rotor *r = make(1, PE_DTYPE_F16, kernel[kernels(kernel) - 1], 0, 0);
    uint16_t half;
    pe__rotor_phases(r, 10 * 2049, 1, &half, 2);
    assert_int_equal(half, 0x6800); /* 2048 */
    unmake(&r);
}

/* ---------------------------------------------------------------- shape of the calls */

static void test_splits(void **state)
{
    (void)state;
    const struct pe__kernel *kernel[ISAS];
    size_t n = kernels(kernel);
    uint64_t seed = 5;
    amplitude_is(1);
    geometric(131, "1000000");
    const size_t rows = 9000, pairs = 131;
    const int64_t first = -4200;
    for (size_t d = 0; d < REAL_DTYPES; d++) {
        enum pe_dtype dtype = real_dtypes[d];
        size_t size = reference_size(dtype), stride = pairs * size;
        struct pe__rotor *whole = make(pairs, dtype, kernel[n - 1], first, rows);
        struct rows t = fill(whole, first, rows, pairs, dtype);
        struct rows u = fill(whole, first, rows, pairs, dtype);
        for (size_t k = 0; k < n; k++) {
            /* Hints that do not fit: no level at all, or the wrong place. */
            struct pe__rotor *r =
                make(pairs, dtype, kernel[k], k ? 1 << 30 : first, k == 1 ? 0 : 1000);
            memset(u.cos, 0xee, rows * stride);
            memset(u.sin, 0xee, rows * stride);
            memset(u.phase, 0xee, rows * stride);
            for (size_t i = 0; i < rows;) {
                size_t some = 1 + draw(&seed) % (draw(&seed) % 4 ? 40 : 3000);
                some = some < rows - i ? some : rows - i;
                int64_t p = first + (int64_t)i;
                pe__rotor_rows(r, p, some, u.cos + i * stride, NULL, stride);
                pe__rotor_rows(r, p, some, NULL, u.sin + i * stride, stride);
                pe__rotor_phases(r, p, some, u.phase + i * stride, stride);
                i += some;
            }
            same(&t, &u);
            unmake(&r);
        }
        for (unsigned i = 0; i < 60; i++) {
            size_t row = draw(&seed) % rows, pair = draw(&seed) % pairs,
                   at = row * stride + pair * size;
            hold(pair, first + (int64_t)row, REFERENCE_COS, dtype, t.cos + at);
            hold(pair, first + (int64_t)row, REFERENCE_SIN, dtype, t.sin + at);
        }
        drop(&t);
        drop(&u);
        unmake(&whole);
    }
}

/* A wider stride, an odd address, and a row count of zero: other bytes keep what they held. */
static void test_other_bytes_are_left_alone(void **state)
{
    (void)state;
    const struct pe__kernel *kernel[ISAS];
    size_t n = kernels(kernel);
    amplitude_is(1);
    geometric(13, "100");
    for (size_t d = 0; d < REAL_DTYPES; d++) {
        enum pe_dtype dtype = real_dtypes[d];
        size_t size = reference_size(dtype), row = 13 * size, stride = 2 * row + 5;
        for (size_t k = 0; k < n; k++) {
            struct pe__rotor *r = make(13, dtype, kernel[k], 0, 50);
            struct rows t = fill(r, -9, 50, 13, dtype);
            unsigned char *wide = malloc(51 * stride + 1), *expected = malloc(51 * stride + 1);
            memset(wide, 0x5a, 51 * stride + 1);
            memset(expected, 0x5a, 51 * stride + 1);
            for (size_t i = 0; i < 50; i++) {
                memcpy(expected + 1 + i * stride, t.cos + i * row, row);
                memcpy(expected + 1 + i * stride + row + 2, t.sin + i * row, row);
            }
            pe__rotor_rows(r, -9, 50, wide + 1, wide + 1 + row + 2, stride);
            pe__rotor_rows(r, 7, 0, wide, wide, stride);
            pe__rotor_rows(r, 7, 3, NULL, NULL, stride);
            assert_memory_equal(wide, expected, 51 * stride + 1);
            free(wide);
            free(expected);
            drop(&t);
            unmake(&r);
        }
    }
}

static void test_inverse(void **state)
{
    (void)state;
    const struct pe__kernel *kernel[ISAS];
    size_t n = kernels(kernel);
    amplitude_is(1.25);
    geometric(20, "10000");
    mpfr_set_ui(frequency[7], 0, MPFR_RNDN);
    for (size_t d = 0; d < REAL_DTYPES; d++) {
        enum pe_dtype dtype = real_dtypes[d];
        size_t size = reference_size(dtype), stride = 20 * size;
        for (size_t k = 0; k < n; k++) {
            struct pe__rotor *r = make(20, dtype, kernel[k], 0, 50);
            struct pe__rotor_spec spec = {
                .pairs = 20, .dtype = dtype, .inverse = true, .span = 100};
            struct pe__rotor *inverse = make_of(spec, kernel[k]);
            for (int64_t first = -70; first < 70; first += 13) {
                struct rows t = fill(r, -first - 40, 41, 20, dtype);
                struct rows u = fill(inverse, first, 41, 20, dtype);
                struct rows plain = fill(r, first, 41, 20, dtype);
                for (size_t i = 0; i < 41; i++) {
                    assert_memory_equal(u.cos + i * stride, t.cos + (40 - i) * stride, stride);
                    assert_memory_equal(u.sin + i * stride, t.sin + (40 - i) * stride, stride);
                }
                assert_memory_equal(u.phase, plain.phase, 41 * stride);
                drop(&t);
                drop(&u);
                drop(&plain);
            }
            unmake(&r);
            unmake(&inverse);
        }
    }
}

/* Cosines and sines side by side are those of the planes, in either order, of a rotor and of its
 * inverse, for any split, at an odd address; other bytes keep what they held. */
static void hold_woven(const struct pe__rotor *r, size_t pairs, enum pe_dtype dtype)
{
    enum { ROWS = 75 };
    const int64_t first = -40;
    size_t size = reference_size(dtype), row = pairs * size, stride = 2 * row + 3;
    struct rows t = fill(r, first, ROWS, pairs, dtype);
    unsigned char *woven = malloc(ROWS * stride + 1), *expected = malloc(ROWS * stride + 1);
    for (unsigned cos_first = 0; cos_first < 2; cos_first++) {
        memset(woven, 0x5a, ROWS * stride + 1);
        memset(expected, 0x5a, ROWS * stride + 1);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t k = 0; k < pairs; k++) {
                unsigned char *at = expected + 1 + i * stride + 2 * k * size;
                memcpy(at + (cos_first ? 0 : size), t.cos + i * row + k * size, size);
                memcpy(at + (cos_first ? size : 0), t.sin + i * row + k * size, size);
            }
        for (size_t i = 0, some; i < ROWS; i += some) {
            some = ROWS - i < 1 + i % 37 ? ROWS - i : 1 + i % 37;
            pe__rotor_woven(r, first + (int64_t)i, some,
                            &(struct pe__woven){woven + 1 + i * stride, stride, cos_first});
        }
        assert_memory_equal(woven, expected, ROWS * stride + 1);
    }
    free(woven);
    free(expected);
    drop(&t);
}

static void test_woven(void **state)
{
    (void)state;
    static const size_t widths[] = {1, 3, 8, 29, 64, 65, 131};
    const struct pe__kernel *kernel[ISAS];
    size_t n = kernels(kernel);
    amplitude_is(1.25);
    geometric(131, "1e40"); /* some sines so small that they take the exact path */
    for (size_t d = 0; d < REAL_DTYPES; d++)
        for (size_t k = 0; k < n; k++)
            for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
                for (unsigned inverse = 0; inverse < 2; inverse++) {
                    struct pe__rotor_spec spec = {.pairs = widths[w],
                                                  .dtype = real_dtypes[d],
                                                  .inverse = inverse,
                                                  .span = 100,
                                                  .first = -40};
                    struct pe__rotor *r = make_of(spec, kernel[k]);
                    hold_woven(r, widths[w], real_dtypes[d]);
                    unmake(&r);
                }
}

static void test_frequencies_of_zero(void **state)
{
    (void)state;
    static const double amplitudes[] = {1, 0.1, 65519.9, 70000, 1e200};
    for (size_t a = 0; a < 5; a++) {
        amplitude_is(amplitudes[a]);
        geometric(12, "10000");
        for (size_t i = 3; i < 12; i++)
            mpfr_set_ui(frequency[i], 0, MPFR_RNDN);
        check(12, -20, 40, 0);
        check(12, INT64_C(1) << 40, 20, 0);
    }
}

/* ---------------------------------------------------------------- the rest of the interface */

static void test_what_is_refused(void **state)
{
    (void)state;
    amplitude_is(1);
    geometric(3, "10000");
    struct pe__clocks *clocks = clocks_of(3), *none = NULL;
    struct pe__rotor_spec good = {
        .clocks = clocks, .step = 1, .pairs = 3, .dtype = PE_DTYPE_F32, .span = 8};
    struct pe__rotor *r = NULL;
    assert_int_equal(pe__rotor_create(&good, &r), PE_OK);
    assert_true(pe__rotor_bytes(r) > 3 * 100);
    pe__rotor_destroy(&r);
    pe__rotor_destroy(&r);

    struct pe__rotor_spec empty = good;
    empty.pairs = 0;
    unsigned char untouched = 0x5a;
    assert_int_equal(pe__rotor_create(&empty, &r), PE_OK);
    pe__rotor_rows(r, -5, 100, &untouched, &untouched, 0);
    pe__rotor_phases(r, -5, 100, &untouched, 0);
    assert_int_equal(untouched, 0x5a);
    pe__rotor_destroy(&r);

    struct pe__rotor_spec bad = good;
    bad.dtype = PE_DTYPE_I32;
    assert_int_equal(pe__rotor_create(&bad, &r), PE_INVALID);
    assert_null(r);
    static const size_t beyond[][3] = {{0, 1, 4},        {1, 1, 3}, {0, 2, 3},       {3, 1, 1},
                                       {2, SIZE_MAX, 2}, {0, 0, 1}, {0, 1, SIZE_MAX}};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        bad = good;
        bad.first_pair = beyond[i][0];
        bad.step = beyond[i][1];
        bad.pairs = beyond[i][2];
        assert_int_equal(pe__rotor_create(&bad, &r), PE_INVALID);
    }
    pe__clocks_destroy(&clocks);
    pe__clocks_destroy(&clocks);

    const mpfr_t *w = (const mpfr_t *)frequency;
    mpfr_set_inf(frequency[1], 1);
    assert_int_equal(pe__clocks_create(w, 3, amplitude, &none), PE_INVALID);
    assert_null(none);
    mpfr_set_nan(frequency[1]);
    assert_int_equal(pe__clocks_create(w, 3, amplitude, &none), PE_INVALID);
    mpfr_set_ui_2exp(frequency[1], 1, 2300, MPFR_RNDN);
    assert_int_equal(pe__clocks_create(w, 3, amplitude, &none), PE_INVALID);
    geometric(3, "10000");
    static const double amplitudes[] = {0, -1, __builtin_inf(), __builtin_nan("")};
    for (size_t i = 0; i < 4; i++) {
        amplitude_is(amplitudes[i]);
        assert_int_equal(pe__clocks_create(w, 3, amplitude, &none), PE_INVALID);
    }
    amplitude_is(1);
    assert_int_equal(pe__clocks_create(w, SIZE_MAX / 2, amplitude, &none), PE_NO_MEMORY);
    assert_null(none);
}

static void test_tables_grow_slowly(void **state)
{
    (void)state;
    amplitude_is(1);
    geometric(64, "10000");
    const struct pe__kernel *kernel[ISAS];
    kernels(kernel);
    struct pe__rotor *small = make(64, PE_DTYPE_F64, kernel[0], 0, 1);
    struct pe__rotor *large = make(64, PE_DTYPE_F64, kernel[0], 0, UINT64_MAX);
    assert_true(pe__rotor_bytes(small) < 64 * 900);
    assert_true(pe__rotor_bytes(large) < 64 * 8000);
    unmake(&small);
    unmake(&large);
}

static void test_the_choice_of_a_kernel(void **state)
{
    (void)state;
    assert_string_equal(pe__isa_limited("portable")->name, "portable");
    assert_ptr_equal(pe__isa_limited("avx512"), pe__isa_limited(NULL));
    assert_ptr_equal(pe__isa_limited("anything"), pe__isa_limited(NULL));
    assert_true(strcmp(pe__isa_limited("avx2")->name, "avx512") != 0);
    assert_string_equal(pe__isa_name(), pe__isa_kernel()->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_tables),
        cmocka_unit_test(test_hard_cases),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_phases_that_tie),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_other_bytes_are_left_alone),
        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_woven),
        cmocka_unit_test(test_frequencies_of_zero),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_tables_grow_slowly),
        cmocka_unit_test(test_the_choice_of_a_kernel),
    };
    for (size_t i = 0; i < MOST_PAIRS; i++)
        mpfr_init2(frequency[i], 384);
    mpfr_init2(amplitude, 53);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t i = 0; i < MOST_PAIRS; i++)
        mpfr_clear(frequency[i]);
    mpfr_clear(amplitude);
    mpfr_free_cache();
    return failed;
}
