/* SPDX-License-Identifier: MIT
 *
 * test_api_arena.c: arena.c and text.c: alignment, growth, the way out of exhaustion, spellings.
 */
#include "test_api_kit.h"
#include "arena.h"
#include "text.h"

#include <stdalign.h>

static void takes_are_apart(void **unused)
{
    (void)unused;
    struct api__arena *a = api__arena_new();
    unsigned char *taken[600];
    for (size_t i = 0; i < 600; i++) {
        taken[i] = api__arena_take(a, i * 7 % 4000);
        assert_int_equal((uintptr_t)taken[i] % alignof(max_align_t), 0);
        memset(taken[i], (int)i, i * 7 % 4000);
    }
    for (size_t i = 0; i < 600; i++)
        for (size_t j = 0; j < i * 7 % 4000; j++)
            assert_true(taken[i][j] == (unsigned char)i);
    char *copy = api__arena_copy(a, "ab\0c", 4);
    assert_memory_equal(copy, "ab\0c", 5);
    api__arena_free(&a);
    assert_null(a);
    api__arena_free(&a);
}

static void exhausts(size_t count)
{
    struct api__arena *a = api__arena_new();
    if (setjmp(*api__arena_exit(a)) == 0) {
        api__arena_array(a, count, 8);
        fail_msg("%zu came back", count);
    }
    api__arena_free(&a);
}

static void exhaustion_jumps(void **unused)
{
    (void)unused;
    exhausts(SIZE_MAX);
    exhausts(SIZE_MAX / 2);
    exhausts(SIZE_MAX / 8 + 1);
    exhausts(SIZE_MAX / 16);
}

static void texts(void **unused)
{
    (void)unused;
    struct api__arena *a = api__arena_new();
    struct api__text t;
    api__text_init(&t, a, 0);
    for (int i = 0; i < 1000; i++)
        api__text_print(&t, "%d,", i);
    struct api_bytes done = api__text_done(&t);
    assert_int_equal(done.len, strlen(done.at));
    assert_int_equal(done.len, 10 * 2 + 90 * 3 + 900 * 4);
    assert_memory_equal(done.at + done.len - 8, "998,999,", 8);
    api__text_init(&t, a, 16);
    api__text_json(&t, "a\"b\\c\n\x01\x7f\xe2\x82\xac", 12 - 1);
    assert_string_equal(api__text_done(&t).at, "\"a\\\"b\\\\c\\u000a\\u0001\\u007f\xe2\x82\xac\"");
    api__text_init(&t, a, 16);
    api__text_query(&t, "1e+300,a b%\xff-._~", 16);
    assert_string_equal(api__text_done(&t).at, "1e%2B300,a%20b%25%FF-._~");
    char long_text[303];
    for (int i = 0; i < 100; i++)
        memcpy(long_text + 3 * i, "\xe2\x82\xac", 3);
    const char *shown = api__shown(a, (struct api_bytes){long_text, 300});
    assert_int_equal(strlen(shown), 99 + 3);
    assert_string_equal(api__shown(a, api__bytes("short")), "short");
    assert_true(api__equal_case(api__bytes("AbC"), "aBc"));
    assert_false(api__equal(api__bytes("AbC"), "aBc"));
    api__arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes_are_apart),
                                       cmocka_unit_test(exhaustion_jumps), cmocka_unit_test(texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
