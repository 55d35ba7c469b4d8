/* SPDX-License-Identifier: MIT
 *
 * test_api_json.c: json.c takes exactly what RFC 8259 allows, and decodes it.
 */
#include "test_api_kit.h"
#include "request/json.h"
#include "text.h"

/* Whether the text is one array; it is copied so that reading beyond its end shows under a
 * sanitizer. */
static bool reads(struct api__arena *arena, const char *text, size_t len)
{
    struct api__json j;
    struct api_bytes value, name;
    char *tight = malloc(len ? len : 1);
    memcpy(tight, text, len);
    bool object = len && *text == '{';
    bool open = object ? api__json_object(&j, (struct api_bytes){tight, len})
                       : api__json_array(&j, (struct api_bytes){tight, len});
    while (open &&
           (object ? api__json_member(&j, arena, &name, &value) : api__json_element(&j, &value)))
        ;
    bool good = open && !j.fault && api__json_end(&j);
    assert_true(good == (j.fault == NULL));
    free(tight);
    return good;
}

static void grammar(void **unused)
{
    (void)unused;
    static const char *const good[] = {"[]",
                                       " [ ] ",
                                       "[1,-0,1.5e+3,0.0E-1]",
                                       "[true,false,null]",
                                       "[\"\",\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u20aC\"]",
                                       "[\"\\ud83d\\ude00\"]",
                                       "[[[]],{}]",
                                       "{}",
                                       "{\"a\":{\"b\":[{}]},\"c\":1}",
                                       "\n\t\r [\n1\t,\r2 ]\n",
                                       "[\"\x7f\"]"};
    static const char *const bad[] = {"",
                                      " ",
                                      "[",
                                      "]",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[01]",
                                      "[1.]",
                                      "[.1]",
                                      "[+1]",
                                      "[-]",
                                      "[1e]",
                                      "[0x1]",
                                      "[NaN]",
                                      "[Infinity]",
                                      "[tru]",
                                      "[True]",
                                      "[nul]",
                                      "['a']",
                                      "[\"a]",
                                      "[\"\\x\"]",
                                      "[\"\\u12\"]",
                                      "[\"\\u12g4\"]",
                                      "[\"\\ud800\"]",
                                      "[\"\\ud800\\u0041\"]",
                                      "[\"\\udc00\"]",
                                      "[\"\\u0000\"]",
                                      "[\"\n\"]",
                                      "[\"\xff\"]",
                                      "[\"\xed\xa0\x80\"]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "{1:1}",
                                      "{\"a\":1 \"b\":2}",
                                      "[1]]",
                                      "[1]x",
                                      "{}{}",
                                      "[1],",
                                      "\xef\xbb\xbf[]",
                                      "[1]\0",
                                      "// a\n[1]",
                                      "[1/*a*/]"};
    struct api__arena *arena = api__arena_new();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!reads(arena, good[i], strlen(good[i])))
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (reads(arena, bad[i], strlen(bad[i]) + (strcmp(bad[i], "[1]") == 0)))
            fail_msg("taken: %s", bad[i]);
    char deep[2 * API__JSON_DEPTH + 4];
    for (int n = API__JSON_DEPTH; n <= API__JSON_DEPTH + 1; n++) {
        memset(deep, '[', (size_t)n);
        memset(deep + n, ']', (size_t)n);
        assert_true(reads(arena, deep, 2 * (size_t)n) == (n <= API__JSON_DEPTH));
    }
    api__arena_free(&arena);
}

static void members(void **unused)
{
    (void)unused;
    struct api__arena *arena = api__arena_new();
    struct api__json j;
    struct api_bytes name, value, text;
    assert_true(api__json_object(
        &j, api__bytes(" {\"a\\u0062\" : [1, 2] ,\"\xe2\x82\xac\":\"x\\ud83d\\ude00\\n\"} ")));
    assert_true(api__json_member(&j, arena, &name, &value));
    assert_true(api__equal(name, "ab"));
    assert_true(api__equal(value, "[1, 2]"));
    assert_false(api__json_string(arena, value, &text));
    assert_true(api__json_member(&j, arena, &name, &value));
    assert_true(api__equal(name, "\xe2\x82\xac"));
    assert_true(api__json_string(arena, value, &text));
    assert_true(api__equal(text, "x\xf0\x9f\x98\x80\n"));
    assert_false(api__json_member(&j, arena, &name, &value));
    assert_true(api__json_end(&j));
    api__arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grammar), cmocka_unit_test(members)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
