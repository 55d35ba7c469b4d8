/* SPDX-License-Identifier: MIT
 *
 * test_dtype.c: every way into an element rounds once, to nearest even, as MPFR's own rounding to
 * that format does; every bit pattern of 16 bits survives the way out and in.
 */
#include "test_rotation_reference.h"

#include "dtype.h"

#include <math.h>

static uint64_t stored(mpfr_srcptr v, enum pe_dtype dtype)
{
    unsigned char out[8];
    pe__store_mpfr(v, dtype, out);
    return reference_bits(out, dtype);
}

static uint64_t stored_f64(double v, enum pe_dtype dtype)
{
    unsigned char out[8];
    pe__store_f64(v, dtype, out);
    return reference_bits(out, dtype);
}

static void test_which_are_real(void **state)
{
    (void)state;
    unsigned real = 0;
    for (int d = 0; d < PE_DTYPES; d++)
        real += pe__dtype_real((enum pe_dtype)d);
    assert_int_equal(real, REAL_DTYPES);
    for (size_t d = 0; d < REAL_DTYPES; d++)
        assert_true(pe__dtype_real(real_dtypes[d]));
}

/* Numbers of all exponents, and their neighbourhood of ties: 12 bits and a far one more or less. */
static void test_mpfr(void **state)
{
    (void)state;
    uint64_t seed = 99;
    mpfr_t v, far;
    mpfr_init2(v, 4000);
    mpfr_init2(far, 64);
    for (unsigned i = 0; i < 20000; i++) {
        long e = i % 2 ? (long)(draw(&seed) % 60) - 40 : (long)(draw(&seed) % 2300) - 1150;
        unsigned bits = 1 + (unsigned)(draw(&seed) % 56);
        mpfr_set_ui_2exp(v, draw(&seed) >> (64 - bits) | 1, e - (long)bits, MPFR_RNDN);
        if (i % 3) {
            mpfr_set_ui_2exp(far, 1, e - 70 - (long)(draw(&seed) % 2000), MPFR_RNDN);
            if (i % 3 == 1)
                mpfr_add(v, v, far, MPFR_RNDN);
            else
                mpfr_sub(v, v, far, MPFR_RNDN);
        }
        if (draw(&seed) & 1)
            mpfr_neg(v, v, MPFR_RNDN);
        for (size_t d = 0; d < REAL_DTYPES; d++)
            assert_int_equal(stored(v, real_dtypes[d]), reference_round(v, real_dtypes[d]));
    }
    mpfr_clears(v, far, (mpfr_ptr)NULL);
}

static void test_doubles(void **state)
{
    (void)state;
    uint64_t seed = 7;
    mpfr_t v;
    mpfr_init2(v, 53);
    for (unsigned i = 0; i < 50000; i++) {
        uint64_t bits = draw(&seed);
        if (i % 4 == 0) /* few bits, for ties */
            bits &= UINT64_MAX << (30 + draw(&seed) % 20);
        if (i % 4 == 1) /* exponents of f16 */
            bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (1023 - 26 + draw(&seed) % 44) << 52;
        double d;
        memcpy(&d, &bits, 8);
        if (isnan(d))
            continue;
        mpfr_set_d(v, d, MPFR_RNDN);
        for (size_t t = 0; t < REAL_DTYPES; t++) {
            assert_int_equal(stored_f64(d, real_dtypes[t]), reference_round(v, real_dtypes[t]));
            assert_int_equal(stored(v, real_dtypes[t]), stored_f64(d, real_dtypes[t]));
        }
        float f = (float)d;
        uint32_t word;
        memcpy(&word, &f, 4);
        assert_int_equal(stored_f64(d, PE_DTYPE_F32), word);
    }
    mpfr_clear(v);
}

static void test_special(void **state)
{
    (void)state;
    static const struct {
        double v;
        uint64_t f32, f16, bf16;
    } cases[] = {
        {0.0, 0, 0, 0},
        {-0.0, 0x80000000, 0x8000, 0x8000},
        {INFINITY, 0x7f800000, 0x7c00, 0x7f80},
        {-INFINITY, 0xff800000, 0xfc00, 0xff80},
        {NAN, 0x7fc00000, 0x7e00, 0x7fc0},
        {65504, 0x477fe000, 0x7bff, 0x4780},
        {0x1.ffdffep15, 0x477fefff, 0x7bff, 0x4780},
        {65520, 0x477ff000, 0x7c00, 0x4780},
        {0x1p-24, 0x33800000, 0x0001, 0x3380},
        {0x1p-25, 0x33000000, 0x0000, 0x3300},
        {0x1.8p-24, 0x33c00000, 0x0002, 0x33c0},
        {-0x1p-1074, 0x80000000, 0x8000, 0x8000},
        {0x1.ffffffp127, 0x7f800000, 0x7c00, 0x7f80},
        {0x1.fep127, 0x7f7f0000, 0x7c00, 0x7f7f},
        {0x1.ffp127, 0x7f7f8000, 0x7c00, 0x7f80},
        {0x1p-133, 0x00010000, 0x0000, 0x0001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(stored_f64(cases[i].v, PE_DTYPE_F32), cases[i].f32);
        assert_int_equal(stored_f64(cases[i].v, PE_DTYPE_F16), cases[i].f16);
        assert_int_equal(stored_f64(cases[i].v, PE_DTYPE_BF16), cases[i].bf16);
        assert_int_equal(stored_f64(cases[i].v, PE_DTYPE_BF16_AS_F32), cases[i].bf16 << 16);
    }
    mpfr_t v;
    mpfr_init2(v, 53);
    mpfr_set_inf(v, -1);
    assert_int_equal(stored(v, PE_DTYPE_F16), 0xfc00);
    mpfr_set_nan(v);
    assert_int_equal(stored(v, PE_DTYPE_F64), UINT64_C(0x7ff8000000000000));
    mpfr_set_zero(v, -1);
    assert_int_equal(stored(v, PE_DTYPE_BF16), 0x8000);
    mpfr_clear(v);
}

static void test_hints_of_the_rest(void **state)
{
    (void)state;
    /* 1 + 2^-11 is a tie of f16: the rest decides, and evenness where there is none. */
    struct pe__binary tie = {UINT64_C(0x8010000000000000), 1, 0, false};
    static const uint64_t want[] = {0x3c00, 0x3c00, 0x3c01};
    for (int rest = -1; rest <= 1; rest++) {
        uint16_t out;
        tie.rest = rest;
        pe__store_binary(&tie, PE_DTYPE_F16, &out);
        assert_int_equal(out, want[rest + 1]);
    }
    /* Half of the least subnormal, and the last number before infinity. */
    static const uint64_t least[] = {0, 0, 1}, greatest[] = {0x7bff, 0x7c00, 0x7c00};
    for (int rest = -1; rest <= 1; rest++) {
        struct pe__binary small = {UINT64_C(1) << 63, -24, rest, false};
        struct pe__binary large = {UINT64_C(0xfff) << 52, 16, rest, false};
        uint16_t out;
        pe__store_binary(&small, PE_DTYPE_F16, &out);
        assert_int_equal(out, least[rest + 1]);
        pe__store_binary(&large, PE_DTYPE_F16, &out);
        assert_int_equal(out, greatest[rest + 1]);
    }
}

static void test_what_vanishes(void **state)
{
    (void)state;
    for (size_t d = 0; d < REAL_DTYPES; d++) {
        int64_t exp = 0;
        while (!pe__dtype_vanishes(real_dtypes[d], exp))
            exp--;
        struct pe__binary below = {UINT64_MAX, exp, 1, false},
                          above = {UINT64_MAX, exp + 1, 1, false};
        unsigned char out[8];
        pe__store_binary(&below, real_dtypes[d], out);
        assert_int_equal(reference_bits(out, real_dtypes[d]), 0);
        pe__store_binary(&above, real_dtypes[d], out);
        assert_true(reference_bits(out, real_dtypes[d]) != 0);
    }
}

static void test_all_of_16_bits(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < 0x10000; b++) {
        uint16_t in = (uint16_t)b, out;
        for (int k = 0; k < 2; k++) {
            enum pe_dtype dtype = k ? PE_DTYPE_F16 : PE_DTYPE_BF16;
            double v = pe__load_f64(&in, dtype);
            if (isnan(v))
                continue;
            pe__store_f64(v, dtype, &out);
            assert_int_equal(out, in);
        }
    }
    float f = 0.1f;
    double d = 0.1;
    assert_true(pe__load_f64(&f, PE_DTYPE_F32) == (double)f);
    assert_true(pe__load_f64(&d, PE_DTYPE_F64) == d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_are_real),    cmocka_unit_test(test_mpfr),
        cmocka_unit_test(test_doubles),           cmocka_unit_test(test_special),
        cmocka_unit_test(test_hints_of_the_rest), cmocka_unit_test(test_what_vanishes),
        cmocka_unit_test(test_all_of_16_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
