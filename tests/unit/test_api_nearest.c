/* SPDX-License-Identifier: MIT
 *
 * test_api_nearest.c: nearest.c: slips, and what is near enough to be suggested.
 */
#include "test_api_kit.h"
#include "request/nearest.h"
#include "text.h"

static void slips(void **unused)
{
    (void)unused;
    static const struct {
        const char *a, *b;
        size_t slips;
    } cases[] = {{"", "", 0},
                 {"length", "length", 0},
                 {"lenght", "length", 1},
                 {"lngth", "length", 1},
                 {"lengthh", "length", 1},
                 {"lemgth", "length", 1},
                 {"LENGTH", "length", 0},
                 {"", "abc", 3},
                 {"abc", "xyz", 3},
                 {"ca", "abc", 3},
                 {"hetgln", "length", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(api__slips(api__bytes(cases[i].a), api__bytes(cases[i].b), 9),
                         cases[i].slips);
        assert_int_equal(api__slips(api__bytes(cases[i].b), api__bytes(cases[i].a), 9),
                         cases[i].slips);
    }
    assert_int_equal(api__slips(api__bytes("abc"), api__bytes("xyz"), 1), 2);
    char huge[200];
    memset(huge, 'a', sizeof huge);
    assert_int_equal(api__slips((struct api_bytes){huge, sizeof huge}, api__bytes("a"), 3), 4);
}

static void suggestions(void **unused)
{
    (void)unused;
    static const char *const names[] = {"length", "width", "base", "dtype",
                                        "partial_rotary_factor"};
    static const struct {
        const char *text, *name;
    } cases[] = {{"lenght", "length"},
                 {"Length", "length"},
                 {"length ", "length"},
                 {"widht", "width"},
                 {"bases", "base"},
                 {"foo", NULL},
                 {"", NULL},
                 {"d_model", NULL},
                 {"type", "dtype"},
                 {"partial_rotari_facter", "partial_rotary_factor"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *near = api__nearest(api__bytes(cases[i].text), names, 5);
        if (!cases[i].name)
            assert_null(near);
        else
            assert_string_equal(near, cases[i].name);
    }
    assert_null(api__nearest(api__bytes("length"), NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slips), cmocka_unit_test(suggestions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
