/* SPDX-License-Identifier: MIT
 *
 * test_convert.c: pe_convert against the definition: exact where nothing is lost, else the nearer
 * of the two neighbours, the even one of a tie.
 */
#include "dtype.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

static const enum pe_dtype real[] = {PE_DTYPE_F64, PE_DTYPE_F32, PE_DTYPE_F16, PE_DTYPE_BF16};

static double value(const void *at, enum pe_dtype dtype)
{
    double v;
    assert_int_equal(pe_convert(dtype, at, PE_DTYPE_F64, &v, 1), PE_OK);
    return v;
}

/* Every pattern of 16 bits goes through every wider type unharmed. */
static void short_patterns_round_trip(void **state)
{
    (void)state;
    static uint16_t in[65536], out[65536];
    static double wide[65536];
    for (unsigned i = 0; i < 65536; i++)
        in[i] = (uint16_t)i;
    for (int s = 2; s < 4; s++)
        for (int via = 0; via < 2; via++) {
            const unsigned exponents = real[s] == PE_DTYPE_F16 ? 0x7c00 : 0x7f80;
            assert_int_equal(pe_convert(real[s], in, real[via], wide, 65536), PE_OK);
            assert_int_equal(pe_convert(real[via], wide, real[s], out, 65536), PE_OK);
            for (unsigned i = 0; i < 65536; i++)
                if ((i & exponents) != exponents)
                    assert_int_equal(out[i], i);
        }
}

/* Bits of a type with `digits` of significand and its largest finite pattern. */
struct type {
    enum pe_dtype dtype;
    unsigned last;
};

/* Around each finite f16 or bf16: the value, the middle to the next one, and the doubles beside it.
 */
static void nearest_of_two(void **state)
{
    (void)state;
    static const struct type types[] = {{PE_DTYPE_F16, 0x7bff}, {PE_DTYPE_BF16, 0x7f7f}};
    for (int t = 0; t < 2; t++)
        for (unsigned i = 0; i < types[t].last; i++) {
            uint16_t low = (uint16_t)i, high = (uint16_t)(i + 1), got[6];
            double a = value(&low, types[t].dtype), b = value(&high, types[t].dtype),
                   middle = (a + b) / 2;
            double in[] = {
                a, nextafter(middle, a), middle, nextafter(middle, b), nextafter(a, b), -middle};
            uint16_t even = i % 2 ? high : low;
            assert_int_equal(pe_convert(PE_DTYPE_F64, in, types[t].dtype, got, 6), PE_OK);
            assert_int_equal(got[0], low);
            assert_int_equal(got[1], low);
            assert_int_equal(got[2], even);
            assert_int_equal(got[3], high);
            assert_int_equal(got[4], low);
            assert_int_equal(got[5], even | 0x8000);
        }
}

/* A double just above a tie of f16 is a tie in f32: two roundings would lose it. */
static void one_rounding(void **state)
{
    (void)state;
    double v = 1 + 0x1p-11 + 0x1p-40;
    uint16_t half;
    float single = (float)v;
    pe_convert(PE_DTYPE_F64, &v, PE_DTYPE_F16, &half, 1);
    assert_int_equal(half, 0x3c01);
    assert_true(single == 1 + 0x1p-11f);
    pe_convert(PE_DTYPE_F32, &single, PE_DTYPE_F16, &half, 1);
    assert_int_equal(half, 0x3c00);
}

/* Against the one rounding routine of the library, on doubles of every size: near ties of each
 * type, beside them by a last bit, subnormal in it, and as they come. */
static void as_the_library_rounds(void **state)
{
    (void)state;
    static const enum pe_dtype to[] = {PE_DTYPE_F32, PE_DTYPE_F16, PE_DTYPE_BF16,
                                       PE_DTYPE_BF16_AS_F32};
    static const int kept[] = {24, 11, 8, 8};
    uint64_t z = 1;
    for (int i = 0; i < 400000; i++) {
        z = z * 6364136223846793005u + 1442695040888963407u;
        const int t = i % 4, exponent = (int)(z >> 33) % 340 - 170;
        double v = ldexp(1 + (double)(z >> 12 & 0xfffffffff) * 0x1p-36, exponent);
        if (i & 4) { /* a tie: one bit beyond those that are kept */
            v = ldexp(floor(ldexp(1 + (double)(z >> 40) * 0x1p-24, kept[t])) + 0.5,
                      exponent - kept[t]);
            v = i & 8 ? nextafter(v, i & 16 ? 0 : INFINITY) : v;
        }
        v = i & 32 ? -v : v;
        unsigned char got[8] = {0}, want[8] = {0};
        pe_convert(PE_DTYPE_F64, &v, to[t], got, 1);
        pe__store_f64(v, to[t], want);
        if (memcmp(got, want, 8))
            fail_msg("%a as %s", v, pe_dtype_name(to[t]));
        const float single = (float)v;
        pe_convert(PE_DTYPE_F32, &single, to[t], got, 1);
        pe__store_f64(single, to[t], want);
        if (memcmp(got, want, 8))
            fail_msg("%a (f32) as %s", (double)single, pe_dtype_name(to[t]));
    }
}

static void not_a_number(void **state)
{
    (void)state;
    double in[] = {NAN, INFINITY, -INFINITY}, back[3];
    for (int t = 1; t < 4; t++) {
        unsigned char out[24];
        pe_convert(PE_DTYPE_F64, in, real[t], out, 3);
        pe_convert(real[t], out, PE_DTYPE_F64, back, 3);
        assert_true(isnan(back[0]));
        assert_true(back[1] == INFINITY && back[2] == -INFINITY);
    }
}

static void too_large_and_signs(void **state)
{
    (void)state;
    double in[] = {65519.99, 65520, -1e300, -0.0, 1e-300, -5e-324}, back;
    uint16_t half[6];
    float single[6];
    assert_int_equal(pe_convert(PE_DTYPE_F64, in, PE_DTYPE_F16, half, 6), PE_OK);
    assert_int_equal(half[0], 0x7bff);
    assert_int_equal(half[1], 0x7c00);
    assert_int_equal(half[2], 0xfc00);
    assert_int_equal(half[3], 0x8000);
    assert_int_equal(half[4], 0);
    assert_int_equal(half[5], 0x8000);
    assert_int_equal(pe_convert(PE_DTYPE_F64, in, PE_DTYPE_F32, single, 6), PE_OK);
    assert_true(isinf(single[2]) && single[2] < 0);
    assert_true(single[3] == 0 && signbit(single[3]));
    pe_convert(PE_DTYPE_F32, &single[5], PE_DTYPE_F64, &back, 1);
    assert_true(back == 0 && signbit(back));
}

static void any_alignment(void **state)
{
    (void)state;
    unsigned char in[8 * 16 + 7], out[8 * 16 + 7];
    double v[16], back[16];
    for (int i = 0; i < 16; i++)
        v[i] = i / 8.0 - 1;
    for (size_t shift = 0; shift < 8; shift++)
        for (int s = 0; s < 4; s++)
            for (int t = 0; t < 4; t++) {
                pe_convert(PE_DTYPE_F64, v, real[s], in + shift, 16);
                assert_int_equal(pe_convert(real[s], in + shift, real[t], out + 7 - shift, 16),
                                 PE_OK);
                pe_convert(real[t], out + 7 - shift, PE_DTYPE_F64, back, 16);
                assert_memory_equal(back, v, sizeof v);
            }
}

static void bf16_in_f32(void **state)
{
    (void)state;
    double v[] = {1.00390625 + 0x1p-30, -3.0};
    float out[2];
    assert_int_equal(pe_convert(PE_DTYPE_F64, v, PE_DTYPE_BF16_AS_F32, out, 2), PE_OK);
    assert_true(out[0] == 1.0078125f && out[1] == -3.0f);
}

static void integers_are_refused(void **state)
{
    (void)state;
    int32_t in = 1, out = 7;
    assert_int_equal(pe_convert(PE_DTYPE_I32, &in, PE_DTYPE_F32, &out, 1), PE_INVALID);
    assert_int_equal(pe_convert(PE_DTYPE_F32, &in, PE_DTYPE_I32, &out, 1), PE_INVALID);
    assert_int_equal(out, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_patterns_round_trip),
        cmocka_unit_test(nearest_of_two),
        cmocka_unit_test(one_rounding),
        cmocka_unit_test(too_large_and_signs),
        cmocka_unit_test(any_alignment),
        cmocka_unit_test(bf16_in_f32),
        cmocka_unit_test(integers_are_refused),
        cmocka_unit_test(as_the_library_rounds),
        cmocka_unit_test(not_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
