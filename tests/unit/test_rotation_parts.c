/* SPDX-License-Identifier: MIT
 *
 * test_rotation_parts.c: the tables behind a rotor against MPFR, to the errors that parts.c claims,
 * on every instruction set; what rotors share, and that nothing of it shows in their rows; which
 * digits and tops are made for which positions.
 */
#include "test_rotation_reference.h"

#include "rotation/tables.h"

#include <math.h>

#define PAIRS 20

static mpfr_t frequency[PAIRS];
static mpfr_t amplitude;

/* Of all sizes: a ladder, then one that is far beyond a turn, a tiny one, a negative one, zero. */
static struct pe__clocks *make_clocks_of(const char *base)
{
    struct pe__clocks *clocks = NULL;
    uint64_t seed = 5;
    for (unsigned r = 0; r < PAIRS; r++)
        ladder(frequency[r], base, r, 2 * PAIRS);
    draw_real(&seed, frequency[1], 40);
    draw_real(&seed, frequency[2], -700);
    mpfr_neg(frequency[3], frequency[3], MPFR_RNDN);
    mpfr_set_zero(frequency[4], 1);
    draw_real(&seed, frequency[5], -950);
    assert_int_equal(pe__clocks_create((const mpfr_t *)frequency, PAIRS, amplitude, &clocks),
                     PE_OK);
    return clocks;
}

static struct pe__clocks *make_clocks(void)
{
    return make_clocks_of("10000");
}

static bool carried(unsigned pair)
{
    return pair != 5;
}

/* Holds two doubles each for cos and sin at `at` + k * part against z(n), whose error is to be
 * below bound * S. */
static void hold(unsigned pair, int64_t n, const double part[4], double bound)
{
    mpfr_t x, want[2], size;
    mpfr_inits2(600, x, want[0], want[1], size, (mpfr_ptr)NULL);
    mpfr_mul_si(x, frequency[pair], n, MPFR_RNDN);
    mpfr_sin_cos(want[1], want[0], x, MPFR_RNDN);
    mpfr_abs(size, x, MPFR_RNDN);
    if (mpfr_cmp_ui(size, 1) > 0)
        mpfr_set_ui(size, 1, MPFR_RNDN);
    for (unsigned i = 0; i < 2; i++) {
        mpfr_sub_d(x, want[i], part[2 * i], MPFR_RNDN);
        mpfr_sub_d(x, x, part[2 * i + 1], MPFR_RNDN);
        mpfr_div_d(x, x, bound, MPFR_RNDN);
        if (i == 0 ? mpfr_cmpabs_ui(x, 1) >= 0 : mpfr_cmpabs(x, size) >= 0 && !mpfr_zero_p(x))
            fail_msg("pair %u, z(%lld), part %u: %g", pair, (long long)n, i,
                     mpfr_get_d(x, MPFR_RNDN));
    }
    mpfr_clears(x, want[0], want[1], size, (mpfr_ptr)NULL);
}

static void take(const double *at, size_t padded, size_t i, double out[4])
{
    for (unsigned part = 0; part < 4; part++)
        out[part] = at[part * padded + i];
}

static void hold_digits(const struct pe__choice *c)
{
    struct pe__part *digit[PE__MAX_LEVELS];
    for (unsigned level = 0; level < PE__MAX_LEVELS; level++) {
        digit[level] = pe__digits_create(c, level, level ? digit[level - 1] : NULL);
        assert_non_null(digit[level]);
        for (unsigned v = 1; v < PE__DIGITS; v++)
            for (size_t i = 0; i < c->pairs; i++) {
                int64_t n = (int64_t)v << (5 + PE__DIGIT_BITS * level);
                double steps = level < 2 ? (double)n : v, z[4];
                unsigned pair = (unsigned)pe__chosen(c, i);
                take(pe__digit_entry(digit[level], c->padded, v, i).at, c->padded, 0, z);
                if (carried(pair) && n <= PE_POSITION_END)
                    hold(pair, n, z, 3 * steps * 0x1p-100);
            }
    }
    for (unsigned level = 0; level < PE__MAX_LEVELS; level++)
        pe__part_drop(&digit[level]);
}

/* Without an amplitude: four parts are two doubles, two parts are their sums. */
static void hold_rows(const struct pe__choice *c)
{
    struct pe__part *wide = pe__rows_create(c, PE_DTYPE_F64, 1);
    struct pe__part *narrow = pe__rows_create(c, PE_DTYPE_BF16, 1);
    assert_true(wide && narrow);
    for (unsigned j = 0; j < PE__ROW_ENTRIES; j++)
        for (size_t i = 0; i < c->pairs; i++) {
            unsigned pair = (unsigned)pe__chosen(c, i);
            double z[4], s[4] = {narrow->at[2 * j * c->padded + i], 0,
                                 narrow->at[(2 * j + 1) * c->padded + i], 0};
            take(wide->at + 4 * j * c->padded, c->padded, i, z);
            assert_true(pe__first_bits(z[0], 27) == z[0] && pe__first_bits(z[2], 27) == z[2]);
            if (!carried(pair))
                continue;
            hold(pair, j, z, 0x1p-80 + 3 * j * 0x1p-100);
            hold(pair, j, s, 0x1p-53 + 3 * j * 0x1p-100);
        }
    pe__part_drop(&wide);
    pe__part_drop(&narrow);
}

static void test_tables(void **state)
{
    static const char *const isas[] = {"portable", "avx2", "avx512"};
    static const size_t chosen[][3] = {{0, 1, PAIRS}, {1, 3, 6}, {19, 1, 1}, {2, 1, 16}};
    struct pe__clocks *clocks = make_clocks();
    (void)state;
    for (unsigned k = 0; k < 3; k++)
        for (unsigned i = 0; i < 4; i++) {
            struct pe__choice c = {.clocks = clocks,
                                   .kernel = pe__isa_limited(isas[k]),
                                   .first = chosen[i][0],
                                   .step = chosen[i][1],
                                   .pairs = chosen[i][2],
                                   .padded = (chosen[i][2] + 7) / 8 * 8};
            hold_digits(&c);
            hold_rows(&c);
        }
    pe__clocks_destroy(&clocks);
}

/* ---------------------------------------------------------------- what is made */

static struct pe__rotor *rotor(struct pe__rotor_spec spec, const struct pe__rotor *like)
{
    struct pe__rotor *r = NULL;
    spec.step = spec.step ? spec.step : 1;
    spec.pairs = spec.pairs ? spec.pairs : PAIRS;
    spec.like = like;
    assert_int_equal(pe__rotor_create(&spec, &r), PE_OK);
    return r;
}

static void hold_shape(struct pe__rotor *r, unsigned levels, unsigned tops, uint64_t first)
{
    assert_int_equal(r->levels, levels);
    assert_int_equal(r->tops, tops);
    if (tops)
        assert_int_equal(r->top_is[0], first);
    for (unsigned i = 1; i < r->tops; i++)
        assert_true(r->top_is[i - 1] < r->top_is[i]);
    pe__rotor_destroy(&r);
}

#define OF(...) OF_DTYPE(PE_DTYPE_F32, __VA_ARGS__)
#define OF_DTYPE(type, ...) ((struct pe__rotor_spec){.clocks = clocks, .dtype = type, __VA_ARGS__})

static void test_shapes(void **state)
{
    struct pe__clocks *clocks = make_clocks();
    const int64_t far = INT64_C(1) << 40;
    const int64_t few[] = {5, -far, 77, far, far + 1}, near[] = {5, 1000, 77, 4000};
    int64_t many[40], out[] = {0, INT64_MAX};
    (void)state;
    for (int i = 0; i < 40; i++)
        many[i] = i * far / 64;
    hold_shape(rotor(OF(.span = 1), NULL), 0, 0, 0);
    hold_shape(rotor(OF(.span = 8192 - PE__REACH), NULL), 2, 0, 0);
    hold_shape(rotor(OF(.span = 8192), NULL), 2, 1, 1);
    hold_shape(rotor(OF(.span = 8193), NULL), 3, 0, 0);
    hold_shape(rotor(OF(.span = 8192, .first = 8192), NULL), 2, 2, 1);
    hold_shape(rotor(OF(.span = 8000, .first = 8192), NULL), 2, 1, 1);
    hold_shape(rotor(OF(.span = 20, .first = -far), NULL), 0, 2, (uint64_t)far / 32 - 1);
    hold_shape(rotor(OF(.span = 1, .first = far + 40), NULL), 0, 1, (uint64_t)far / 32 + 1);
    hold_shape(rotor(OF(.span = UINT64_MAX, .first = INT64_MIN), NULL), PE__MAX_LEVELS, 0, 0);
    /* far positions that are few get tops of their own, near or many ones digits */
    uint64_t span = 2 * (uint64_t)far + 2;
    hold_shape(rotor(OF(.span = span, .first = -far, .list = few, .count = 5), NULL), 0, 2, 2);
    hold_shape(rotor(OF(.span = 3996, .first = 5, .list = near, .count = 4), NULL), 2, 0, 0);
    hold_shape(rotor(OF(.span = span, .list = many, .count = 40), NULL), 10, 0, 0);
    hold_shape(rotor(OF(.span = UINT64_MAX, .list = out, .count = 2), NULL), PE__MAX_LEVELS, 0, 0);
    pe__clocks_destroy(&clocks);
}

/* ---------------------------------------------------------------- what is shared */

static void hold_equal(const struct pe__rotor *a, const struct pe__rotor *b, int64_t first)
{
    enum { ROWS = 90 };
    static double x[3][ROWS * PAIRS], y[3][ROWS * PAIRS];
    size_t stride = PAIRS * sizeof(double);
    pe__rotor_rows(a, first, ROWS, x[0], x[1], stride);
    pe__rotor_phases(a, first, ROWS, x[2], stride);
    pe__rotor_rows(b, first, ROWS, y[0], y[1], stride);
    pe__rotor_phases(b, first, ROWS, y[2], stride);
    assert_memory_equal(x, y, sizeof x);
}

/* Each of many rotors like the one before it; the one before it is destroyed first. */
/* All tops that a rotor holds, to the error that is left for anchors. */
static void hold_tops(const struct pe__rotor *r)
{
    for (unsigned t = 0; t < r->tops; t++)
        for (unsigned pair = 0; pair < r->of.pairs; pair++) {
            double z[4];
            unsigned chosen = (unsigned)pe__chosen(&r->of, pair);
            int64_t n = (int64_t)(r->top_is[t] << (5 + PE__DIGIT_BITS * r->levels));
            take(pe__tables_top(r, r->top_is[t], pair).at, r->of.padded, 0, z);
            if (carried(chosen))
                hold(chosen, n, z, 0x1p-85);
        }
}

static void test_chains(void **state)
{
    struct pe__clocks *others = make_clocks_of("500"), *clocks = make_clocks();
    uint64_t seed = 77, shared_digits = 0, shared_rows = 0;
    struct pe__rotor *last = NULL;
    (void)state;
    for (unsigned i = 0; i < 800; i++) {
        int64_t list[5], first = draw_position(&seed, 1 + draw(&seed) % 52);
        for (unsigned k = 0; k < 5; k++)
            list[k] = draw(&seed) % 2 ? first : draw_position(&seed, 53);
        struct pe__rotor_spec spec = OF(.inverse = draw(&seed) % 2, .first = first);
        spec.dtype = real_dtypes[draw(&seed) % REAL_DTYPES];
        spec.span = (draw(&seed) >> 20) >> draw(&seed) % 44;
        spec.list = list;
        spec.count = draw(&seed) % 3 ? 0 : 5;
        if (draw(&seed) % 8 == 0)
            spec.clocks = others;
        if (draw(&seed) % 4 == 0) {
            spec.first_pair = draw(&seed) % 4;
            spec.step = 1 + draw(&seed) % 3;
            spec.pairs = 5;
        }
        struct pe__rotor *next = rotor(spec, last), *alone = rotor(spec, NULL);
        for (unsigned level = 0; last && level < next->levels && level < last->levels; level++)
            shared_digits += next->digit[level] == last->digit[level];
        shared_rows += last && next->row == last->row;
        if (next->of.clocks == clocks)
            hold_tops(next);
        pe__rotor_destroy(&last);
        hold_equal(next, alone, first - 40);
        for (unsigned k = 0; k < spec.count; k++)
            hold_equal(next, alone, list[k]);
        pe__rotor_destroy(&alone);
        last = next;
    }
    pe__rotor_destroy(&last);
    assert_true(shared_digits > 500 && shared_rows > 60);
    pe__clocks_destroy(&clocks);
    pe__clocks_destroy(&others);
}

/* Rows of a type with a zero frequency hold the amplitude as that type has it. */
static void test_shared_rows(void **state)
{
    (void)state;
    for (unsigned unit = 0; unit < 2; unit++) {
        mpfr_set_d(amplitude, unit ? 1 : 1.1, MPFR_RNDN);
        struct pe__clocks *clocks = make_clocks();
        struct pe__rotor *f32 = rotor(OF(.span = 9), NULL), *bf16, *f64, *again;
        bf16 = rotor(OF_DTYPE(PE_DTYPE_BF16, .span = 9), f32);
        f64 = rotor(OF_DTYPE(PE_DTYPE_F64, .span = 9), f32);
        again = rotor(OF(.span = 99, .inverse = true), f32);
        assert_int_equal(bf16->row == f32->row, unit);
        assert_true(f64->row != f32->row && again->row == f32->row);
        assert_true(pe__rotor_bytes(again) > pe__rotor_bytes(f32));
        pe__rotor_destroy(&f32);
        pe__rotor_destroy(&bf16);
        pe__rotor_destroy(&f64);
        pe__rotor_destroy(&again);
        pe__clocks_destroy(&clocks);
    }
    mpfr_set_ui(amplitude, 1, MPFR_RNDN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_shared_rows),
    };
    for (size_t i = 0; i < PAIRS; i++)
        mpfr_init2(frequency[i], 384);
    mpfr_init2(amplitude, 53);
    mpfr_set_ui(amplitude, 1, MPFR_RNDN);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t i = 0; i < PAIRS; i++)
        mpfr_clear(frequency[i]);
    mpfr_clear(amplitude);
    mpfr_free_cache();
    return failed;
}
