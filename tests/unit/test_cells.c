/* SPDX-License-Identifier: MIT
 *
 * test_cells.c: values of each dtype as text, all halves and all bfloat16 among them.
 */
#include "format/cells.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(enum pe_dtype dtype, enum api__spelling spelling, const void *data, size_t count,
                  const char *want)
{
    char out[1024];
    *api__cells(out, dtype, spelling, data, count) = 0;
    assert_string_equal(out, want);
}

static void every_dtype(void **unused)
{
    (void)unused;
    const double f64[] = {0.1, -INFINITY, NAN, 1e300};
    const float f32[] = {0.1f, INFINITY, -0.0f};
    const uint16_t f16[] = {0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x2e66};
    const uint16_t bf16[] = {0x3f80, 0xbe00, 0x3dcd, 0xff80, 0x0001};
    const int64_t i64[] = {INT64_MIN, INT64_MAX, 0, -1};
    const int32_t i32[] = {INT32_MIN, INT32_MAX, 10};
    const uint8_t u8[] = {0, 255}, flags[] = {0, 1};
    check(PE_DTYPE_F64, API__JSON, f64, 4, "0.1,null,null,1e+300");
    check(PE_DTYPE_F64, API__PLAIN, f64, 4, "0.1,-inf,nan,1e+300");
    check(PE_DTYPE_F32, API__JSON, f32, 3, "0.1,null,-0.0");
    check(PE_DTYPE_BF16_AS_F32, API__PLAIN, f32, 3, "0.1,inf,-0.0");
    check(PE_DTYPE_F16, API__PLAIN, f16, 8,
          "1.0,-2.0,5.9604645e-08,65504.0,inf,-inf,nan,0.099975586");
    check(PE_DTYPE_BF16, API__JSON, bf16, 5, "1.0,-0.125,0.100097656,null,9.1835e-41");
    check(PE_DTYPE_I64, API__JSON, i64, 4, "-9223372036854775808,9223372036854775807,0,-1");
    check(PE_DTYPE_I32, API__PLAIN, i32, 3, "-2147483648,2147483647,10");
    check(PE_DTYPE_U8, API__JSON, u8, 2, "0,255");
    check(PE_DTYPE_BOOL, API__JSON, flags, 2, "false,true");
    check(PE_DTYPE_BOOL, API__PLAIN, flags, 2, "0,1");
    check(PE_DTYPE_F64, API__JSON, f64, 0, "");
}

/* The value of a pattern of 16 bits with `fraction` bits of fraction, by its definition. */
static double value_of(unsigned bits, int fraction, int bias)
{
    const int field = (int)(bits & 0x7fff) >> fraction, part = (int)bits & ((1 << fraction) - 1);
    const double size = field ? ldexp(part + (1 << fraction), field - bias - fraction)
                              : ldexp(part, 1 - bias - fraction);
    return bits & 0x8000 ? -size : size;
}

static void all_patterns_of_16_bits(void **unused)
{
    (void)unused;
    char out[64];
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const uint16_t half = (uint16_t)bits;
        if ((bits & 0x7c00) != 0x7c00) {
            *api__cells(out, PE_DTYPE_F16, API__JSON, &half, 1) = 0;
            const float want = (float)value_of(bits, 10, 15), got = strtof(out, NULL);
            assert_memory_equal(&got, &want, sizeof want);
        }
        if ((bits & 0x7f80) != 0x7f80) {
            *api__cells(out, PE_DTYPE_BF16, API__JSON, &half, 1) = 0;
            const float want = (float)value_of(bits, 7, 127), got = strtof(out, NULL);
            assert_memory_equal(&got, &want, sizeof want);
        }
    }
}

/* A block with something that is not finite in it is spelled as any other. */
static void blocks_agree(void **unused)
{
    (void)unused;
    static float values[500];
    static char row[500 * 24], one[64];
    for (int i = 0; i < 500; i++)
        values[i] = i % 131 == 130 ? INFINITY : sinf((float)i);
    *api__cells(row, PE_DTYPE_F32, API__JSON, values, 500) = 0;
    char *at = row;
    for (int i = 0; i < 500; i++) {
        *api__cells(one, PE_DTYPE_F32, API__JSON, &values[i], 1) = 0;
        const char *token = strsep(&at, ",");
        assert_string_equal(token, one);
    }
    assert_null(at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype),
        cmocka_unit_test(all_patterns_of_16_bits),
        cmocka_unit_test(blocks_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
