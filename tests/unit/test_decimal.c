/* SPDX-License-Identifier: MIT
 *
 * test_decimal.c: every text is compared with one made from the C library's printf and strtod: the
 * fewest digits for which printf's rounding reads back, which for a symmetric interval are the
 * shortest and nearest decimal. Where the interval is not symmetric (powers of two) the neighbours
 * of that decimal are tried too.
 */
#include "posenc_decimal.h"
#include "decimal/decimal_powers.h"

#include <gmp.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double f64_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static float f32_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Digits and exponent as they stand in the text "d.ddde+xx" of printf, laid out as decimal.h says.
 */
static void lay_out(const char *science, char *out)
{
    const bool negative = *science == '-';
    char digits[32] = {0};
    size_t n = 0;
    const char *at = science + negative;
    for (; *at != 'e'; at++)
        if (*at != '.')
            digits[n++] = *at;
    const int e = atoi(at + 1);
    while (n > 1 && digits[n - 1] == '0')
        digits[--n] = 0;
    out += sprintf(out, "%s", negative ? "-" : "");
    if (digits[0] == '0')
        sprintf(out, "0.0");
    else if (e < -4 || e >= 16)
        sprintf(out, "%c%s%se%c%02d", digits[0], n > 1 ? "." : "", digits + 1, e < 0 ? '-' : '+',
                abs(e));
    else if (e < 0)
        sprintf(out, "0.%.*s%s", -1 - e, "000", digits);
    else if (n <= (size_t)e + 1)
        sprintf(out, "%s%.*s.0", digits, e + 1 - (int)n, "000000000000000");
    else
        sprintf(out, "%.*s.%s", e + 1, digits, digits + e + 1);
}

/* The same text with one unit more or less in its last digit. */
static void step(const char *science, int by, char *out)
{
    char digits[32];
    size_t n = 0;
    const char *at = science + (*science == '-');
    for (; *at != 'e'; at++)
        if (*at != '.')
            digits[n++] = *at;
    digits[n] = 0;
    const int last = atoi(at + 1) - (int)(n - 1);
    const int length = sprintf(digits, "%lld", strtoll(digits, NULL, 10) + by);
    sprintf(out, "%s%c.%se%d", *science == '-' ? "-" : "", digits[0], digits + 1,
            last + length - 1);
}

static bool reads_f64(const char *text, double v)
{
    const double back = strtod(text, NULL);
    return memcmp(&back, &v, sizeof v) == 0;
}

static bool reads_f32(const char *text, double v)
{
    const float back = strtof(text, NULL), want = (float)v;
    return memcmp(&back, &want, sizeof want) == 0;
}

static void expected(double v, bool (*reads)(const char *, double), char *out)
{
    char science[64], other[64];
    for (int digits = 1; digits <= 17; digits++) {
        sprintf(science, "%.*e", digits - 1, v);
        if (reads(science, v))
            break;
        step(science, 1, other);
        if (reads(other, v)) {
            strcpy(science, other);
            break;
        }
        step(science, -1, other);
        if (reads(other, v)) {
            strcpy(science, other);
            break;
        }
    }
    lay_out(science, out);
}

static void check_f64(double v)
{
    char want[64], got[PE_DECIMAL_ROOM + 1];
    expected(v, reads_f64, want);
    const size_t n = pe_decimal_f64(v, got);
    assert_true(n <= PE_DECIMAL_F64_MAX);
    got[n] = 0;
    assert_string_equal(got, want);
}

static void check_f32(float v)
{
    char want[64], got[PE_DECIMAL_ROOM + 1];
    expected(v, reads_f32, want);
    const size_t n = pe_decimal_f32(v, got);
    assert_true(n <= PE_DECIMAL_F32_MAX);
    got[n] = 0;
    assert_string_equal(got, want);
}

static void powers_are_those_of_gmp(void **unused)
{
    (void)unused;
    mpz_t value, word;
    mpz_inits(value, word, NULL);
    for (int e = PE__FIRST_POWER; e <= PE__LAST_POWER; e++) {
        const int log2 = pe__log2_of_power_of_10(e);
        mpz_ui_pow_ui(value, 10, (unsigned long)abs(e));
        if (e >= 0) {
            if (log2 <= 127)
                mpz_mul_2exp(value, value, (mp_bitcnt_t)(127 - log2));
            else
                mpz_fdiv_q_2exp(value, value, (mp_bitcnt_t)(log2 - 127));
        } else {
            mpz_set_ui(word, 1);
            mpz_mul_2exp(word, word, (mp_bitcnt_t)(127 - log2));
            mpz_fdiv_q(value, word, value);
        }
        assert_int_equal(mpz_sizeinbase(value, 2), 128);
        const struct pe__power *p = &pe__powers[e - PE__FIRST_POWER];
        mpz_set_ui(word, p->high);
        mpz_mul_2exp(word, word, 64);
        mpz_add_ui(word, word, p->low);
        assert_int_equal(mpz_cmp(value, word), 0);
    }
    mpz_clears(value, word, NULL);
}

static void known_texts(void **unused)
{
    (void)unused;
    static const struct {
        double value;
        const char *f64, *f32;
    } known[] = {
        {0.0, "0.0", "0.0"},
        {-0.0, "-0.0", "-0.0"},
        {1.0, "1.0", "1.0"},
        {-1.0, "-1.0", "-1.0"},
        {0.1, "0.1", "0.1"},
        {10000.0, "10000.0", "10000.0"},
        {0.0001, "0.0001", "0.0001"},
        {0.00001, "1e-05", "1e-05"},
        {1.5e-7, "1.5e-07", "1.5e-07"},
        {1e15, "1000000000000000.0", "1000000000000000.0"},
        {1e16, "1e+16", "1e+16"},
        {2.0 / 3, "0.6666666666666666", "0.6666667"},
        {0x1p-149, "1.401298464324817e-45", "1e-45"},
        {0x1.fffffep127, "3.4028234663852886e+38", "3.4028235e+38"},
        {123456.75, "123456.75", "123456.75"},
        {16777216.0, "16777216.0", "16777216.0"},
    };
    char got[PE_DECIMAL_ROOM + 1];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        got[pe_decimal_f64(known[i].value, got)] = 0;
        assert_string_equal(got, known[i].f64);
        got[pe_decimal_f32((float)known[i].value, got)] = 0;
        assert_string_equal(got, known[i].f32);
    }
    static const struct {
        double value;
        const char *text;
    } edge[] = {
        {0x1p-1074, "5e-324"},
        {0x1.fffffffffffffp1023, "1.7976931348623157e+308"},
        {0x1p-1022, "2.2250738585072014e-308"},
        {9007199254740993.0, "9007199254740992.0"},
        {281474976710656.125, "281474976710656.1"},
        {1e23, "1e+23"},
        {9.5367431640625e-7, "9.5367431640625e-07"},
        {-1.2345678901234567e-308, "-1.2345678901234567e-308"},
    };
    for (size_t i = 0; i < sizeof edge / sizeof *edge; i++) {
        got[pe_decimal_f64(edge[i].value, got)] = 0;
        assert_string_equal(got, edge[i].text);
    }
}

/* Each exponent: the least significand (whose neighbour below is nearer), those beside it, the
 * greatest. */
static void every_exponent(void **unused)
{
    (void)unused;
    for (uint64_t field = 0; field < 2047; field++)
        for (int64_t d = field ? -3 : 0; d <= 3; d++)
            check_f64(f64_of((field << 52) + (uint64_t)d));
    for (uint32_t field = 0; field < 255; field++)
        for (int32_t d = field ? -3 : 0; d <= 3; d++)
            check_f32(f32_of((field << 23) + (uint32_t)d));
}

static void random_f64(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        const double any = f64_of(random_bits());
        if (isfinite(any))
            check_f64(any);
        check_f64((double)(int64_t)random_bits() * 0x1p-63); /* [-1, 1] */
        check_f64(sin((double)(random_bits() >> 40)));
    }
}

/* Decimals of few digits, halves of units, integers: where ends of intervals and ties meet exactly.
 */
static void exact_cases(void **unused)
{
    (void)unused;
    char text[64];
    for (int i = 0; i < 8000; i++) {
        sprintf(text, "%" PRIu64 "e%d", random_bits() % 1000000, (int)(random_bits() % 600) - 300);
        check_f64(strtod(text, NULL));
        check_f64((double)(random_bits() >> (random_bits() % 64)));
        check_f64((double)(random_bits() >> 11) * 0x1p-5);
        check_f64((double)(random_bits() % 4096) * 0x1p-7);
        sprintf(text, "%" PRIu64 "e%d", random_bits() % 10000, (int)(random_bits() % 74) - 40);
        check_f32(strtof(text, NULL));
        check_f32((float)(random_bits() >> (random_bits() % 64)));
    }
}

static void strided_f32(void **unused)
{
    (void)unused;
    for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 60013) {
        const float v = f32_of((uint32_t)bits);
        if (isfinite(v))
            check_f32(v);
    }
}

/* Values of all sorts. */
static double mixed(void)
{
    switch (random_bits() % 8) {
    case 0:
        return 0;
    case 1:
        return ldexp(1, (int)(random_bits() % 40) - 20);
    case 2:
        return (double)(random_bits() % 100000) * 0x1p-4;
    case 3:
        return 1e-310 * (double)(random_bits() % 100);
    case 4:
        return (double)random_bits() * 0x1p20;
    default:
        return (double)(int64_t)random_bits() * 0x1p-63;
    }
}

/* No call writes past its room, nor before its start. */
static void stays_in_its_room(void **unused)
{
    (void)unused;
    unsigned char guarded[1 + PE_DECIMAL_ROOM + 1];
    for (int i = 0; i < 200000; i++) {
        const double v = i % 2 ? f64_of(random_bits()) : mixed();
        if (!isfinite(v))
            continue;
        memset(guarded, 0xa5, sizeof guarded);
        pe_decimal_f64(v, (char *)guarded + 1);
        if (isfinite((float)v))
            pe_decimal_f32((float)v, (char *)guarded + 1);
        assert_int_equal(guarded[0], 0xa5);
        assert_int_equal(guarded[sizeof guarded - 1], 0xa5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_are_those_of_gmp),
        cmocka_unit_test(known_texts),
        cmocka_unit_test(every_exponent),
        cmocka_unit_test(random_f64),
        cmocka_unit_test(exact_cases),
        cmocka_unit_test(strided_f32),
        cmocka_unit_test(stays_in_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
