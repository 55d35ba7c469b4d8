/* SPDX-License-Identifier: MIT
 *
 * test_server_value.c: texts of options: what is read, what is refused, and what a refusal says.
 */
#include "config/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void amounts_are_read(void **state)
{
    static const struct {
        enum value_type type;
        const char *text;
        uint64_t value;
    } good[] = {
        {VALUE_COUNT, "0", 0},
        {VALUE_COUNT, "0017", 17},
        {VALUE_SIZE, "512", 512},
        {VALUE_SIZE, "64KiB", 65536},
        {VALUE_SIZE, "512MiB", UINT64_C(512) << 20},
        {VALUE_SIZE, "3GiB", UINT64_C(3) << 30},
        {VALUE_DURATION, "250ms", 250},
        {VALUE_DURATION, "30s", 30000},
        {VALUE_DURATION, "2m", 120000},
        {VALUE_WORD_LEVEL, "warn", 1},
        {VALUE_WORD_FORMAT, "auto", 2},
    };
    char wrong[160];
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t got = 99;
        assert_true(value_number(good[i].type, good[i].text, 0, INT64_MAX, &got, wrong));
        assert_int_equal(got, good[i].value);
    }
}

static void amounts_are_refused(void **state)
{
    static const struct {
        enum value_type type;
        const char *text;
        const char *says;
    } bad[] = {
        {VALUE_COUNT, "", "decimal digits"},
        {VALUE_COUNT, "-1", "decimal digits"},
        {VALUE_COUNT, "+1", "decimal digits"},
        {VALUE_COUNT, " 1", "decimal digits"},
        {VALUE_COUNT, "1e3", "decimal digits"},
        {VALUE_COUNT, "0x10", "decimal digits"},
        {VALUE_SIZE, "12parsecs", "KiB, MiB or GiB"},
        {VALUE_SIZE, "1kib", "KiB, MiB or GiB"},
        {VALUE_SIZE, "1.5GiB", "KiB, MiB or GiB"},
        {VALUE_SIZE, "MiB", "KiB, MiB or GiB"},
        {VALUE_DURATION, "30", "ms, s or m"},
        {VALUE_DURATION, "30 s", "ms, s or m"},
        {VALUE_SIZE, "99999999999999999999GiB", "at most"},
        {VALUE_SIZE, "18446744073709551615GiB", "at most"},
        {VALUE_WORD_LEVEL, "loud", "error, warn, info, debug"},
        {VALUE_WORD_FORMAT, "yaml", "text, json, auto"},
        {VALUE_WORD_LEVEL, "INFO", "error, warn, info, debug"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t got;
        char wrong[160] = "";
        assert_false(value_number(bad[i].type, bad[i].text, 0, INT64_C(1) << 50, &got, wrong));
        if (!strstr(wrong, bad[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].text, wrong, bad[i].says);
    }
}

static void bounds_name_themselves(void **state)
{
    uint64_t got;
    char wrong[160];
    (void)state;
    assert_false(value_number(VALUE_COUNT, "0", 1, 256, &got, wrong));
    assert_string_equal(wrong, "at least 1");
    assert_false(value_number(VALUE_COUNT, "257", 1, 256, &got, wrong));
    assert_string_equal(wrong, "at most 256");
    assert_false(value_number(VALUE_SIZE, "3MiB", 0, 2 << 20, &got, wrong));
    assert_string_equal(wrong, "at most 2MiB");
    assert_false(value_number(VALUE_DURATION, "10ms", 60000, 120000, &got, wrong));
    assert_string_equal(wrong, "at least 1m");
}

static void addresses_go_there_and_back(void **state)
{
    static const char *const texts[] = {"127.0.0.1:8080", "0.0.0.0:0", "[::]:80", "[::1]:65535"};
    char wrong[160], url[160], expected[160];
    struct value_address a;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(value_address(texts[i], &a, wrong));
        value_url(&a, url, sizeof url);
        snprintf(expected, sizeof expected, "http://%s", texts[i]);
        assert_string_equal(url, expected);
    }
    assert_true(value_address("localhost:7", &a, wrong));
    value_url(&a, url, sizeof url);
    assert_string_equal(url, "http://127.0.0.1:7");
    assert_true(value_address("unix:/tmp/p.sock", &a, wrong));
    assert_int_equal(a.at.any.sa_family, AF_UNIX);
    value_url(&a, url, sizeof url);
    assert_string_equal(url, "unix:/tmp/p.sock");
}

static void addresses_are_refused(void **state)
{
    static const char *const texts[] = {
        "",      "nonsense", "127.0.0.1",   "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:-1",
        ":8080", "1.2.3:80", "[::1:80",     "::1:80",     "[zz]:80",         "example.org:80",
        "unix:", "[]:80",    "1.2.3.4:80x",
    };
    char wrong[160];
    char path[256] = "unix:";
    struct value_address a;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *wrong = 0;
        assert_false(value_address(texts[i], &a, wrong));
        assert_true(strlen(wrong) > 10);
    }
    memset(path + 5, 'x', 200);
    assert_false(value_address(path, &a, wrong));
}

static void slips_are_understood(void **state)
{
    static const char *const names[] = {"cache-size", "threads", "listen", NULL};
    (void)state;
    assert_string_equal(value_nearest("cache-sise", names), "cache-size");
    assert_string_equal(value_nearest("cahce-size", names), "cache-size");
    assert_string_equal(value_nearest("thread", names), "threads");
    assert_string_equal(value_nearest("lsiten", names), "listen");
    assert_null(value_nearest("frobnicate", names));
    assert_null(value_nearest("", names));
    char longest[400];
    memset(longest, 'a', sizeof longest);
    longest[399] = 0;
    assert_null(value_nearest(longest, names));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_read),       cmocka_unit_test(amounts_are_refused),
        cmocka_unit_test(bounds_name_themselves), cmocka_unit_test(addresses_go_there_and_back),
        cmocka_unit_test(addresses_are_refused),  cmocka_unit_test(slips_are_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
