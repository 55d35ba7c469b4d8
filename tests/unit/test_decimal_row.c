/* SPDX-License-Identifier: MIT
 *
 * test_decimal_row.c: rows of decimals, in the form that is chosen and in each vector form that
 * this processor runs: the same bytes as number by number with commas, for every length of a row
 * and values of all sorts, and nothing touched behind the room.
 *
 * usage: test_decimal_row [ROUNDS]     random rows of each sort; by hand, for hours
 */
#include "posenc_decimal.h"
#include "decimal/decimal_vector.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LONGEST = 300, GUARD = 256 };

static long rounds = 3000;
static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static bool runs_always(void)
{
    return true;
}

static const struct form {
    const char *name;
    bool (*runs)(void);
    size_t (*row_f64)(const double *, size_t, char *);
    size_t (*row_f32)(const float *, size_t, char *);
} forms[] = {
    {"chosen", runs_always, pe_decimal_row_f64, pe_decimal_row_f32},
#if defined(__x86_64__)
    {"avx2", pe__decimal_runs_avx2, pe__decimal_row_f64_avx2, pe__decimal_row_f32_avx2},
    {"avx512", pe__decimal_runs_avx512, pe__decimal_row_f64_avx512, pe__decimal_row_f32_avx512},
#endif
};

static char want[LONGEST * 32], got[LONGEST * 32 + GUARD];

/* `written` bytes of `got` are those of `want`, which has a comma too many, and nothing behind the
 * room is changed. */
static void check(const char *form, size_t written, const char *end, size_t room)
{
    const size_t length = end > want ? (size_t)(end - want) - 1 : 0;
    if (written != length || memcmp(got, want, length))
        fail_msg("%s: \"%.*s\" and not \"%.*s\"", form, (int)written, got, (int)length, want);
    for (size_t i = room; i < room + GUARD; i++)
        if ((unsigned char)got[i] != 0xa5)
            fail_msg("%s: byte %zu of a room of %zu is touched", form, i, room);
}

static void check_f64(const double *values, size_t count)
{
    const size_t room = count * (PE_DECIMAL_F64_MAX + 1) + PE_DECIMAL_ROOM;
    char *at = want;
    for (size_t i = 0; i < count; i++) {
        at += pe_decimal_f64(values[i], at);
        *at++ = ',';
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!forms[i].runs())
            continue;
        memset(got, 0xa5, room + GUARD);
        check(forms[i].name, forms[i].row_f64(values, count, got), at, room);
    }
}

static void check_f32(const float *values, size_t count)
{
    const size_t room = count * (PE_DECIMAL_F32_MAX + 1) + PE_DECIMAL_ROOM;
    char *at = want;
    for (size_t i = 0; i < count; i++) {
        at += pe_decimal_f32(values[i], at);
        *at++ = ',';
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (!forms[i].runs())
            continue;
        memset(got, 0xa5, room + GUARD);
        check(forms[i].name, forms[i].row_f32(values, count, got), at, room);
    }
}

/* A row of a sort's values, which lie anywhere in memory: nothing behind them is read, as far as a
 * sanitizer sees. */
static void check_row(double (*value)(size_t), size_t count)
{
    double *f64 = malloc(count * sizeof *f64 + 1);
    float *f32 = malloc(count * sizeof *f32 + 1);
    assert_non_null(f64);
    assert_non_null(f32);
    for (size_t i = 0; i < count; i++) {
        f64[i] = value(i);
        f32[i] = isfinite((float)f64[i]) ? (float)f64[i] : -3;
    }
    check_f64(f64, count);
    check_f32(f32, count);
    free(f64);
    free(f32);
}

static double any(size_t i)
{
    (void)i;
    const uint64_t bits = random_bits();
    double v;
    memcpy(&v, &bits, sizeof v);
    return isfinite(v) ? v : 1;
}

/* So that an f32 of it is any f32. */
static double any_f32(size_t i)
{
    (void)i;
    const uint32_t bits = (uint32_t)random_bits();
    float v;
    memcpy(&v, &bits, sizeof v);
    return isfinite(v) ? (double)v : 1;
}

/* Elements of tables: angles of all sizes, read off. */
static double table(size_t i)
{
    const double angle = (double)(random_bits() % 100000) * pow(500000, -(double)(i % 64) / 64);
    return i % 2 ? cos(angle) : sin(angle);
}

static double bf16(size_t i)
{
    float v = (float)table(i);
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits &= 0xffff0000;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

static double integer(size_t i)
{
    (void)i;
    return (double)(int64_t)(random_bits() >> (random_bits() % 64)) - 5;
}

/* Few digits, at all exponents that a text writes in another way. */
static double short_decimal(size_t i)
{
    char text[64];
    snprintf(text, sizeof text, "%s%de%d", i % 3 ? "" : "-", (int)(random_bits() % 1000),
             (int)(random_bits() % 44) - 22);
    return strtod(text, NULL);
}

static double mixed(size_t i)
{
    static double (*const sort[])(size_t) = {any, table, integer, short_decimal};
    return random_bits() % 16 ? table(i) : sort[random_bits() % 4](i);
}

static double zero(size_t i)
{
    return i % 5 == 4 ? -0.0 : 0.0;
}

/* The longest texts: what has the least room to spare. */
static double longest(size_t i)
{
    return i % 2 ? -1.2345678901234567e-308 : -1.2345678901234567e-4;
}

static double (*const sorts[])(size_t) = {any,           any_f32, table, bf16,   integer,
                                          short_decimal, mixed,   zero,  longest};

static void every_length(void **unused)
{
    (void)unused;
    for (size_t s = 0; s < sizeof sorts / sizeof *sorts; s++)
        for (size_t count = 0; count <= 70; count++)
            for (int i = 0; i < 10; i++)
                check_row(sorts[s], count);
}

static void random_rows(void **unused)
{
    (void)unused;
    for (long round = 0; round < rounds; round++)
        for (size_t s = 0; s < sizeof sorts / sizeof *sorts; s++)
            check_row(sorts[s], random_bits() % LONGEST);
}

/* Each exponent: powers of two and the numbers beside them, alone among others that are plain. */
static void every_exponent(void **unused)
{
    (void)unused;
    for (int e = -1074; e < 1024; e++) {
        const double power = ldexp(1, e);
        double f64[11];
        float f32[11];
        for (size_t i = 0; i < 11; i++)
            f64[i] = 0.3 + (double)i;
        f64[e & 7] = power;
        f64[(e + 1) & 7] = -nextafter(power, 0);
        f64[(e + 5) & 7] = nextafter(power, 2 * power);
        f64[9] = -power;
        f64[10] = power + power / 2;
        check_f64(f64, 11);
        if (e < -149 || e > 126)
            continue;
        for (size_t i = 0; i < 11; i++)
            f32[i] = (float)f64[i];
        f32[(e + 1) & 7] = -nextafterf((float)power, 0);
        f32[(e + 5) & 7] = nextafterf((float)power, INFINITY);
        check_f32(f32, 11);
    }
}

/* Where the text changes its form: each power of ten and the numbers beside it. */
static void every_power_of_ten(void **unused)
{
    (void)unused;
    for (int e = -40; e < 38; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        const double power = strtod(text, NULL);
        const double f64[9] = {power,
                               -nextafter(power, 0),
                               nextafter(power, 1e308),
                               1,
                               9.999999999999999 * power,
                               -1,
                               0.5,
                               1.5 * power,
                               0};
        float f32[9];
        for (size_t i = 0; i < 9; i++)
            f32[i] = (float)f64[i];
        f32[1] = -nextafterf(f32[0], 0);
        f32[2] = nextafterf(f32[0], INFINITY);
        for (size_t i = 0; i < 9; i++) {
            check_f64(f64 + i, 9 - i);
            check_f32(f32 + i, 9 - i);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length),
        cmocka_unit_test(random_rows),
        cmocka_unit_test(every_exponent),
        cmocka_unit_test(every_power_of_ten),
    };
    if (argc > 1)
        rounds = atol(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
