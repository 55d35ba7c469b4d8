/* SPDX-License-Identifier: MIT
 *
 * test_api_decode.c: decode.c: escapes, UTF-8, integers and reals, to the letter of their grammars.
 */
#include "test_api_kit.h"
#include "request/decode.h"
#include "text.h"

#include <float.h>

static void utf8(void **unused)
{
    (void)unused;
    static const char *const good[] = {"",
                                       "a",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xe2\x82",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "a\xff",
                                      "\xc2\x41"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(api__utf8(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(api__utf8(bad[i], strlen(bad[i])));
}

static void escapes(void **unused)
{
    (void)unused;
    struct api__arena *a = api__arena_new();
    struct api_bytes out;
    assert_int_equal(api__unescape(a, api__bytes("a%20b+%2B%e2%82%ac"), &out), API__DECODED);
    assert_true(api__equal(out, "a b++\xe2\x82\xac"));
    struct api_bytes plain = api__bytes("plain");
    assert_int_equal(api__unescape(a, plain, &out), API__DECODED);
    assert_ptr_equal(out.at, plain.at);
    static const struct {
        const char *text;
        enum api__decoded fault;
    } bad[] = {{"%", API__BROKEN_ESCAPE},    {"%2", API__BROKEN_ESCAPE},
               {"%zz", API__BROKEN_ESCAPE},  {"%2g", API__BROKEN_ESCAPE},
               {"%%20", API__BROKEN_ESCAPE}, {"%00", API__NUL_INSIDE},
               {"%ff", API__NOT_UTF8},       {"%ed%a0%80", API__NOT_UTF8}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(api__unescape(a, api__bytes(bad[i].text), &out), bad[i].fault);
    /* what ends before its escape does must not be read beyond */
    char *tight = malloc(2);
    memcpy(tight, "%4", 2);
    assert_int_equal(api__unescape(a, (struct api_bytes){tight, 2}, &out), API__BROKEN_ESCAPE);
    free(tight);
    api__arena_free(&a);
}

static void integers(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"7", 7},
                {"-1", -1},
                {"-0", 0},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const none[] = {"",    "-",   "+1",  " 1",  "1 ",  "01",      "-01",
                                       "1.0", "1e3", "0x1", "1_0", "one", "\xd9\xa4"};
    static const char *const large[] = {"9223372036854775808", "-9223372036854775809",
                                        "99999999999999999999999999999"};
    int64_t value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(api__integer(api__bytes(good[i].text), &value), API__NUMBER);
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(api__integer(api__bytes(none[i]), &value), API__NO_NUMBER);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        assert_int_equal(api__integer(api__bytes(large[i]), &value), API__NUMBER_TOO_LARGE);
}

static void reals(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},
                {"10000", 1e4},
                {"1e4", 1e4},
                {"1E+4", 1e4},
                {"100000e-1", 1e4},
                {"3.7", 3.7},
                {"-2.5", -2.5},
                {"1.7976931348623157e308", DBL_MAX},
                {"4.9406564584124654e-324", DBL_TRUE_MIN},
                {"1e-400", 0},
                {"9007199254740993", 9007199254740992.0},
                {"9007199254740993.0000000000000001", 9007199254740994.0}};
    static const char *const none[] = {"",    "-",   ".5",    "5.",       "+1",   "01",  "1e",
                                       "1e+", "nan", "inf",   "Infinity", "0x10", "1,5", " 1",
                                       "1 ",  "1d4", "1e1.5", "--1",      "1.e5"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(api__real(api__bytes(good[i].text), &value), API__NUMBER);
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(api__real(api__bytes(none[i]), &value), API__NO_NUMBER);
    assert_int_equal(api__real(api__bytes("1e400"), &value), API__NUMBER_TOO_LARGE);
    assert_int_equal(api__real(api__bytes("-1e309"), &value), API__NUMBER_TOO_LARGE);
    char digits[500];
    memset(digits, '1', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    digits[1] = '.';
    assert_int_equal(api__real(api__bytes(digits), &value), API__NUMBER);
    assert_true(value == 1.1111111111111112);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(utf8), cmocka_unit_test(escapes),
                                       cmocka_unit_test(integers), cmocka_unit_test(reals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
