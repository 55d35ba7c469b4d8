/* SPDX-License-Identifier: MIT
 *
 * test_server_digest.c: digests of bodies in one and two pieces, found again by their tags, made
 * here and on the pool; a memory that may forget and is never wrong.
 */
#include "answer/digest.h"

#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* FIPS 180-2, appendix B.1, in base64. */
#define ABC "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
#define EMPTY "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"

static struct body *body_of(const char *front, const char *rest)
{
    struct body *b = body_create(NULL, NULL, NULL);
    assert_non_null(b);
    b->piece[0] = (struct iovec){(void *)(uintptr_t)front, strlen(front)};
    if (rest)
        b->piece[1] = (struct iovec){(void *)(uintptr_t)rest, strlen(rest)};
    return b;
}

static void made_and_found(void **state)
{
    (void)state;
    static const struct {
        const char *tag, *front, *rest, *digest;
    } cases[] = {
        {"\"1\"", "abc", NULL, ABC}, {"\"2\"", "a", "bc", ABC}, {"\"3\"", "", NULL, EMPTY}};
    struct digests *d = digests_open();
    char text[DIGEST_ROOM];
    for (size_t i = 0; i < 3; i++) {
        struct body *b = body_of(cases[i].front, cases[i].rest);
        assert_false(digests_find(d, cases[i].tag, text));
        digests_make(d, cases[i].tag, b, text);
        assert_string_equal(text, cases[i].digest);
        memset(text, 0, sizeof text);
        assert_true(digests_find(d, cases[i].tag, text));
        assert_string_equal(text, cases[i].digest);
        body_drop(b);
    }
    digests_close(&d);
    assert_null(d);
}

static void long_tags_are_not_remembered(void **state)
{
    (void)state;
    struct digests *d = digests_open();
    char text[DIGEST_ROOM], tag[200];
    struct body *b = body_of("abc", NULL);
    memset(tag, 'x', sizeof tag);
    tag[sizeof tag - 1] = 0;
    digests_make(d, tag, b, text);
    assert_string_equal(text, ABC);
    assert_false(digests_find(d, tag, text));
    body_drop(b);
    digests_close(&d);
}

/* Many more than there are places: each that is still there is right. */
static void forgets_but_never_errs(void **state)
{
    (void)state;
    struct digests *d = digests_open();
    static char text[5000][DIGEST_ROOM];
    char tag[40], found[DIGEST_ROOM];
    unsigned left = 0;
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(tag, sizeof tag, "\"%08x\"", i * 2654435761U);
        struct body *b = body_of(tag, NULL);
        digests_make(d, tag, b, text[i]);
        body_drop(b);
    }
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(tag, sizeof tag, "\"%08x\"", i * 2654435761U);
        if (!digests_find(d, tag, found))
            continue;
        assert_string_equal(found, text[i]);
        left++;
    }
    assert_in_range(left, 500, 1024);
    digests_close(&d);
}

static void on_the_pool(void **state)
{
    (void)state;
    struct digests *d = digests_open();
    uv_loop_t loop;
    char text[DIGEST_ROOM];
    struct body *b = body_of("ab", "c"), *other = body_of("", NULL);
    assert_int_equal(uv_loop_init(&loop), 0);
    digests_make_later(d, "\"p\"", b, &loop);
    digests_make_later(d, "\"q\"", other, &loop); /* one at a time: this is not begun */
    body_drop(b);
    assert_int_equal(other->owners, 1);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(digests_find(d, "\"p\"", text));
    assert_string_equal(text, ABC);
    assert_false(digests_find(d, "\"q\"", text));
    digests_make_later(d, "\"q\"", other, &loop);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_true(digests_find(d, "\"q\"", text));
    assert_string_equal(text, EMPTY);
    body_drop(other);
    assert_int_equal(uv_loop_close(&loop), 0);
    digests_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_and_found),
        cmocka_unit_test(long_tags_are_not_remembered),
        cmocka_unit_test(forgets_but_never_errs),
        cmocka_unit_test(on_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
