/* SPDX-License-Identifier: MIT
 *
 * test_rotation_exact.c: wide numbers and the exact path against MPFR, to the accuracy that their
 * headers claim; and the kernels' products in two doubles to theirs.
 */
#include "test_rotation_reference.h"

#include "rotation/exact.h"
#include "rotation/kernel.h"
#include "rotation/seed.h"

#include <math.h>

static void to_mpfr(mpfr_ptr r, const struct pe__wide *x)
{
    mpfr_set_zero(r, 1);
    for (int i = PE__LIMBS - 1; i >= 0; i--) {
        mpfr_mul_2ui(r, r, 64, MPFR_RNDN);
        mpfr_add_ui(r, r, x->m[i], MPFR_RNDN);
    }
    mpfr_mul_2si(r, r, (long)x->exp - 64 * PE__LIMBS, MPFR_RNDN);
    if (x->negative)
        mpfr_neg(r, r, MPFR_RNDN);
}

/* The exponent of the relative error: the error is below 2^that. */
static long relative_error(const struct pe__wide *came, mpfr_srcptr want)
{
    mpfr_t x;
    mpfr_init2(x, 4200);
    to_mpfr(x, came);
    mpfr_sub(x, x, want, MPFR_RNDN);
    long e = mpfr_zero_p(x) ? -100000 : (long)(mpfr_get_exp(x) - mpfr_get_exp(want) + 1);
    mpfr_clear(x);
    return e;
}

static void test_wide(void **state)
{
    (void)state;
    uint64_t seed = 3;
    mpfr_t a, b, c;
    mpfr_inits2(300, a, b, (mpfr_ptr)NULL);
    mpfr_init2(c, 700);
    for (unsigned i = 0; i < 2000; i++) {
        struct pe__wide x, y, z;
        draw_real(&seed, a, (long)(draw(&seed) % 3000) - 1500);
        draw_real(&seed, b, (long)(draw(&seed) % 3000) - 1500);
        if (i & 1)
            mpfr_neg(a, a, MPFR_RNDN);
        pe__wide_from_mpfr(&x, a);
        pe__wide_from_mpfr(&y, b);
        assert_true(relative_error(&x, a) <= -254);
        pe__wide_mul(&z, &x, &y);
        mpfr_mul(c, a, b, MPFR_RNDN);
        assert_true(relative_error(&z, c) <= -252);
        uint64_t k = draw(&seed) >> draw(&seed) % 64 | 1;
        pe__wide_mul_u64(&z, &x, k);
        mpfr_mul_ui(c, a, k, MPFR_RNDN);
        assert_true(relative_error(&z, c) <= -253);
        z = x;
        z.exp = (int64_t)(draw(&seed) % 1800) - 900;
        double dd[2];
        pe__wide_to_dd(&z, dd);
        to_mpfr(c, &z);
        assert_true(mpfr_cmpabs_ui(c, 0) > 0);
        double above = pe__wide_above(&z);
        assert_true(above > fabs(dd[0]) * (1 - 0x1p-52) && above <= fabs(dd[0]) * (1 + 0x1p-51));
        assert_true(dd[0] + dd[1] == dd[0]);
        mpfr_sub_d(c, c, dd[0], MPFR_RNDN);
        mpfr_sub_d(c, c, dd[1], MPFR_RNDN);
        assert_true(mpfr_zero_p(c) || mpfr_get_exp(c) <= z.exp - 105);
    }
    struct pe__wide zero, product;
    mpfr_set_zero(a, 1);
    pe__wide_from_mpfr(&zero, a);
    assert_true(pe__wide_is_zero(&zero));
    pe__wide_from_mpfr(&product, b);
    pe__wide_mul(&product, &product, &zero);
    assert_true(pe__wide_is_zero(&product));
    assert_true(pe__wide_above(&zero) == 0);
    mpfr_clears(a, b, c, (mpfr_ptr)NULL);
}

static uint64_t wide_bits(const struct pe__wide *x, bool below, enum pe_dtype dtype)
{
    unsigned char out[8];
    pe__wide_store(x, below, dtype, out);
    return reference_bits(out, dtype);
}

static void test_wide_store(void **state)
{
    (void)state;
    const uint64_t tie = UINT64_C(0x8010000000000000); /* of f16, between 0x3c00 and 0x3c01 */
    const uint64_t ones = UINT64_MAX;
    struct pe__wide x = {{0, 0, 0, tie}, 1, false};
    assert_int_equal(wide_bits(&x, false, PE_DTYPE_F16), 0x3c00);
    assert_int_equal(wide_bits(&x, true, PE_DTYPE_F16), 0x3c00);
    x = (struct pe__wide){{ones, 3, 0, tie}, 1, false}; /* within the error of the tie */
    assert_int_equal(wide_bits(&x, true, PE_DTYPE_F16), 0x3c00);
    assert_int_equal(wide_bits(&x, false, PE_DTYPE_F16), 0x3c00);
    x = (struct pe__wide){{0, 4, 0, tie}, 1, false}; /* outside */
    assert_int_equal(wide_bits(&x, true, PE_DTYPE_F16), 0x3c01);
    x = (struct pe__wide){{0, ones - 3, ones, tie - 1}, 1, false};
    assert_int_equal(wide_bits(&x, true, PE_DTYPE_F16), 0x3c00);
    x = (struct pe__wide){
        {0, 0, 0, UINT64_C(0x8030000000000000)}, 1, true}; /* between 0x3c01 and 0x3c02 */
    assert_int_equal(wide_bits(&x, false, PE_DTYPE_F16), 0xbc02);
    assert_int_equal(wide_bits(&x, true, PE_DTYPE_F16), 0xbc01);
    x = (struct pe__wide){{ones, ones, ones, ones}, 0, false}; /* 1 but for an error */
    assert_int_equal(wide_bits(&x, true, PE_DTYPE_F64), UINT64_C(0x3ff0000000000000));
}

/* cos and sin at frequencies and positions of every size. */
static void hold_exact(mpfr_srcptr w, int64_t p)
{
    mpfr_t x, c, s;
    mpfr_init2(x, mpfr_get_prec(w) + 64);
    mpfr_inits2(700, c, s, (mpfr_ptr)NULL);
    mpfr_mul_si(x, w, p, MPFR_RNDN);
    mpfr_sin_cos(s, c, x, MPFR_RNDN);
    struct pe__freq f;
    assert_true(pe__freq_init(&f, w));
    for (unsigned limbs = 2; limbs <= 4; limbs += 2) {
        struct pe__wide cos, sin, alone;
        long enough = limbs == 2 ? -115 : -240;
        pe__exact_cos_sin(&f, p, limbs, &cos, &sin);
        assert_true(relative_error(&cos, c) < enough);
        assert_true(relative_error(&sin, s) < enough);
        pe__exact_cos_sin(&f, p, limbs, &alone, NULL);
        assert_memory_equal(alone.m, cos.m, sizeof alone.m);
        pe__exact_cos_sin(&f, p, limbs, NULL, &alone);
        assert_memory_equal(alone.m, sin.m, sizeof alone.m);
    }
    mpfr_clears(x, c, s, (mpfr_ptr)NULL);
}

static void test_exact(void **state)
{
    (void)state;
    uint64_t seed = 11;
    mpfr_t w;
    mpfr_init2(w, 320);
    for (unsigned i = 0; i < 3000; i++) {
        long e = i % 3 == 0 ? (long)(draw(&seed) % 4000) - 1801 : -(long)(draw(&seed) % 45);
        mpfr_set_prec(w, 320 + (e > 0 ? e : 0));
        draw_real(&seed, w, e);
        if (i % 5 == 0)
            mpfr_neg(w, w, MPFR_RNDN);
        int64_t p = draw_position(&seed, 53);
        hold_exact(w, p ? p : 1);
    }
    /* Few bits, far in front of the point. */
    for (unsigned i = 0; i < 500; i++) {
        mpfr_set_prec(w, 2 + (mpfr_prec_t)(draw(&seed) % 200));
        draw_real(&seed, w, 100 + (long)(draw(&seed) % 2090));
        int64_t p = draw_position(&seed, 53);
        hold_exact(w, p ? p : 1);
    }
    /* Near multiples of pi / 2: as near as 320 bits come. */
    mpfr_set_prec(w, 320);
    for (int k = 0; k < 12; k++) {
        mpfr_const_pi(w, MPFR_RNDN);
        mpfr_div_2ui(w, w, (unsigned long)k, MPFR_RNDN);
        for (int64_t p = 1; p < 40; p++)
            hold_exact(w, p);
        hold_exact(w, PE_POSITION_END);
        hold_exact(w, -(INT64_C(1) << 40));
    }
    mpfr_clear(w);
    mpfr_free_cache();
}

static void test_edges(void **state)
{
    (void)state;
    mpfr_t w;
    mpfr_init2(w, 320);
    struct pe__freq f;
    struct pe__wide c, s;
    mpfr_set_zero(w, 1);
    assert_true(pe__freq_init(&f, w));
    pe__exact_cos_sin(&f, -5, 4, &c, &s);
    assert_int_equal(wide_bits(&c, false, PE_DTYPE_F32), 0x3f800000);
    assert_int_equal(wide_bits(&s, false, PE_DTYPE_F32), 0);
    mpfr_set_ui(w, 1, MPFR_RNDN);
    assert_true(pe__freq_init(&f, w));
    pe__exact_cos_sin(&f, 0, 4, &c, &s);
    assert_int_equal(wide_bits(&c, false, PE_DTYPE_F32), 0x3f800000);
    assert_int_equal(wide_bits(&s, false, PE_DTYPE_F32), 0);
    mpfr_set_ui_2exp(w, 1, PE__FREQ_MAX_EXP - 1, MPFR_RNDN);
    assert_true(pe__freq_init(&f, w));
    mpfr_set_ui_2exp(w, 1, PE__FREQ_MAX_EXP, MPFR_RNDN);
    assert_false(pe__freq_init(&f, w));
    mpfr_set_inf(w, -1);
    assert_false(pe__freq_init(&f, w));
    mpfr_set_ui_2exp(w, 1, -5000, MPFR_RNDN);
    hold_exact(w, PE_POSITION_END);
    mpfr_clear(w);
}

/* ---------------------------------------------------------------- seeds */

/* Both functions in two doubles, of which the first is their rounded sum. */
static void hold_seed(mpfr_srcptr w, int64_t p)
{
    mpfr_t x, want[2];
    struct pe__freq f;
    double z[4];
    mpfr_init2(x, mpfr_get_prec(w) + 64);
    mpfr_inits2(700, want[0], want[1], (mpfr_ptr)NULL);
    mpfr_mul_si(x, w, p, MPFR_RNDN);
    mpfr_sin_cos(want[1], want[0], x, MPFR_RNDN);
    assert_true(pe__freq_init(&f, w));
    pe__seed(&f, p, z);
    for (unsigned i = 0; i < 2; i++) {
        const double *part = z + 2 * i;
        assert_true(part[0] + part[1] == part[0]);
        mpfr_set_prec(x, 700);
        mpfr_sub_d(x, want[i], part[0], MPFR_RNDN);
        mpfr_sub_d(x, x, part[1], MPFR_RNDN);
        mpfr_mul_2ui(x, x, 104, MPFR_RNDN);
        if (mpfr_cmpabs(x, want[i]) >= 0)
            fail_msg("w = %.17g (2^%ld), p = %lld, part %u", mpfr_get_d(w, MPFR_RNDN),
                     (long)mpfr_get_exp(w), (long long)p, i);
    }
    mpfr_clears(x, want[0], want[1], (mpfr_ptr)NULL);
}

static void test_seeds(void **state)
{
    (void)state;
    uint64_t seed = 23;
    mpfr_t w, gap;
    mpfr_inits2(448, w, gap, (mpfr_ptr)NULL);
    for (unsigned i = 0; i < 60000; i++) {
        long e = i % 3 == 0 ? (long)(draw(&seed) % 2800) - 899 : -(long)(draw(&seed) % 45);
        mpfr_set_prec(w, 448 + (e > 0 ? e : 0));
        draw_real(&seed, w, e);
        if (i % 5 == 0)
            mpfr_neg(w, w, MPFR_RNDN);
        int64_t p = i % 4 ? draw_position(&seed, 53) : 1;
        hold_seed(w, p ? p : 1);
    }
    /* As near to multiples of pi / 2 as one likes, also where only the exact path sees the rest;
     * and around multiples of 1/64. */
    mpfr_set_prec(w, 448);
    for (unsigned i = 0; i < 20000; i++) {
        unsigned long by = draw(&seed) % 60;
        draw_real(&seed, gap, -(long)(draw(&seed) % 400));
        mpfr_const_pi(w, MPFR_RNDN);
        if (i % 2)
            mpfr_set_ui(w, draw(&seed) % 64, MPFR_RNDN);
        mpfr_add(w, w, gap, MPFR_RNDN);
        mpfr_div_2ui(w, w, by, MPFR_RNDN);
        hold_seed(w, (int64_t)1 << draw(&seed) % 53);
        hold_seed(w, -(int64_t)(1 + draw(&seed) % 99));
    }
    mpfr_clears(w, gap, (mpfr_ptr)NULL);
    mpfr_free_cache();
}

/* ---------------------------------------------------------------- the products of the kernels */

static void unit_turn(uint64_t *seed, double at[4], double scale)
{
    double angle = (double)(int64_t)draw(seed) * 0x1p-62 * scale;
    at[0] = cos(angle);
    at[1] = at[0] * 0x1p-54 * ((double)(draw(seed) >> 11) * 0x1p-53);
    at[2] = sin(angle);
    at[3] = at[2] * 0x1p-54 * ((double)(draw(seed) >> 11) * 0x1p-53);
}

static void dd_product(mpfr_ptr r, const double *a, const double *b)
{
    mpfr_t x;
    mpfr_init2(x, 300);
    mpfr_set_d(r, a[0], MPFR_RNDN);
    mpfr_add_d(r, r, a[1], MPFR_RNDN);
    mpfr_set_d(x, b[0], MPFR_RNDN);
    mpfr_add_d(x, x, b[1], MPFR_RNDN);
    mpfr_mul(r, r, x, MPFR_RNDN);
    mpfr_clear(x);
}

static void test_compose(void **state)
{
    (void)state;
    static const char *const isas[] = {"portable", "avx2", "avx512"};
    uint64_t seed = 17;
    mpfr_t p, q, sum, size;
    mpfr_inits2(600, p, q, sum, size, (mpfr_ptr)NULL);
    for (size_t k = 0; k < 3; k++) {
        const struct pe__kernel *kernel = pe__isa_limited(isas[k]);
        for (unsigned round = 0; round < 300; round++) {
            double a[4][8], b[4][8], out[4][8];
            for (size_t i = 0; i < 8; i++) {
                double x[4], y[4];
                double scale = ldexp(1, round % 3 ? 0 : -(int)(draw(&seed) % 400));
                unit_turn(&seed, x, scale);
                unit_turn(&seed, y, scale);
                for (unsigned part = 0; part < 4; part++) {
                    a[part][i] = x[part];
                    b[part][i] = y[part];
                }
            }
            kernel->compose((struct pe__turns){a[0], 8}, (struct pe__turns){b[0], 8},
                            (struct pe__turns){out[0], 8}, 8);
            for (size_t i = 0; i < 8; i++) {
                double ac[2] = {a[0][i], a[1][i]}, as[2] = {a[2][i], a[3][i]};
                double bc[2] = {b[0][i], b[1][i]}, bs[2] = {b[2][i], b[3][i]};
                for (unsigned part = 0; part < 4; part += 2) {
                    dd_product(p, part ? as : ac, bc);
                    dd_product(q, part ? ac : as, bs);
                    if (!part)
                        mpfr_neg(q, q, MPFR_RNDN);
                    mpfr_add(sum, p, q, MPFR_RNDN);
                    mpfr_abs(p, p, MPFR_RNDN);
                    mpfr_abs(q, q, MPFR_RNDN);
                    mpfr_add(size, p, q, MPFR_RNDN);
                    mpfr_sub_d(sum, sum, out[part][i], MPFR_RNDN);
                    mpfr_sub_d(sum, sum, out[part + 1][i], MPFR_RNDN);
                    mpfr_div_2ui(size, size, 100, MPFR_RNDN);
                    assert_true(mpfr_cmpabs(sum, size) < 0);
                    assert_true(out[part][i] + out[part + 1][i] == out[part][i]);
                }
            }
        }
    }
    mpfr_clears(p, q, sum, size, (mpfr_ptr)NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide),  cmocka_unit_test(test_wide_store),
        cmocka_unit_test(test_exact), cmocka_unit_test(test_edges),
        cmocka_unit_test(test_seeds), cmocka_unit_test(test_compose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
