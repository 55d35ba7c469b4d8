/* SPDX-License-Identifier: MIT
 *
 * test_api_condition.c: condition.c: lists of entity tags, single ranges near every limit, digests.
 */
#include "test_api_kit.h"
#include "http/condition.h"
#include "text.h"

#define TAG "\"0123abc\""

static void tags(void **unused)
{
    (void)unused;
    static const struct {
        const char *line;
        bool weak, strong;
    } cases[] = {{TAG, true, true},
                 {"W/" TAG, true, false},
                 {"*", true, true},
                 {"\"a\", " TAG, true, true},
                 {"\"a\"," TAG ",\"b\"", true, true},
                 {"W/\"a\", W/" TAG, true, false},
                 {"\"a,b\" , " TAG, true, true},
                 {", ," TAG ",", true, true},
                 {"\"other\"", false, false},
                 {"\"0123abcd\"", false, false},
                 {"\"0123ab\"", false, false},
                 {"\"0123ABC\"", false, false},
                 {"0123abc", false, false},
                 {"\"a, 0123abc\"", false, false},
                 {"\"0123abc", false, false},
                 {"\"*\"", false, false},
                 {"*, " TAG, false, false},
                 {"w/" TAG, false, false},
                 {"\"a\" " TAG, false, false},
                 {"", false, false},
                 {"junk, " TAG, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(api__tag_listed(api__bytes(cases[i].line), TAG, true), cases[i].weak);
        assert_int_equal(api__tag_listed(api__bytes(cases[i].line), TAG, false), cases[i].strong);
    }
}

struct range {
    const char *value;
    uint64_t length;
    enum api__part part;
    uint64_t first, count;
};

static const struct range ranges[] = {
    {"bytes=0-15", 64, API__PART, 0, 16},
    {"bytes=0-0", 64, API__PART, 0, 1},
    {"bytes=63-63", 64, API__PART, 63, 1},
    {"bytes=63-", 64, API__PART, 63, 1},
    {"bytes=-1", 64, API__PART, 63, 1},
    {"bytes=-64", 64, API__PART, 0, 64},
    {"bytes=-999", 64, API__PART, 0, 64},
    {"bytes=60-999", 64, API__PART, 60, 4},
    {"Bytes=1-2", 64, API__PART, 1, 2},
    {"bytes=0-18446744073709551615", 64, API__PART, 0, 64},
    {"bytes=0-99999999999999999999", 64, API__PART, 0, 64},
    {"bytes=-99999999999999999999", 64, API__PART, 0, 64},
    {"bytes=000000000000000000000000000000-63", 64, API__PART, 0, 64},
    {"bytes=9223372036854775806-9223372036854775806", INT64_MAX, API__PART, INT64_MAX - 1, 1},
    {"bytes=64-", 64, API__OUTSIDE, 0, 0},
    {"bytes=64-70", 64, API__OUTSIDE, 0, 0},
    {"bytes=-0", 64, API__OUTSIDE, 0, 0},
    {"bytes=18446744073709551616-", 64, API__OUTSIDE, 0, 0},
    {"bytes=4294967296-", 64, API__OUTSIDE, 0, 0},
    {"bytes=5-2", 64, API__WHOLE, 0, 0},
    {"bytes=0-1,4-5", 64, API__WHOLE, 0, 0},
    {"bytes=--5", 64, API__WHOLE, 0, 0},
    {"bytes=-", 64, API__WHOLE, 0, 0},
    {"bytes=", 64, API__WHOLE, 0, 0},
    {"bytes", 64, API__WHOLE, 0, 0},
    {"bytes=1", 64, API__WHOLE, 0, 0},
    {"bytes=+0-5", 64, API__WHOLE, 0, 0},
    {"bytes=0-5-9", 64, API__WHOLE, 0, 0},
    {"bytes=0.0-5", 64, API__WHOLE, 0, 0},
    {"bytes=0x0-0xf", 64, API__WHOLE, 0, 0},
    {"bytes=0-5;q=1", 64, API__WHOLE, 0, 0},
    {"bytes= 0-5", 64, API__WHOLE, 0, 0},
    {"rows=0-5", 64, API__WHOLE, 0, 0},
    {"", 64, API__WHOLE, 0, 0},
};

static enum api__part ask(const char *value, const char *if_range, uint64_t length, uint64_t *first,
                          uint64_t *count)
{
    struct api_header headers[] = {{"range", api__bytes(value)},
                                   {"If-Range", api__bytes(if_range ? if_range : "")}};
    struct api_request request = {.headers = headers, .header_count = if_range ? 2 : 1};
    return api__range(&request, TAG, length, first, count);
}

static void single_ranges(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct range *r = &ranges[i];
        uint64_t first = 0, count = 0;
        if (ask(r->value, NULL, r->length, &first, &count) != r->part)
            fail_msg("%s of %llu", r->value, (unsigned long long)r->length);
        if (r->part == API__PART) {
            assert_true(first == r->first);
            assert_true(count == r->count);
        }
    }
}

static void if_range(void **unused)
{
    (void)unused;
    uint64_t first, count;
    assert_int_equal(ask("bytes=0-1", TAG, 64, &first, &count), API__PART);
    assert_int_equal(ask("bytes=0-1", "\"x\"", 64, &first, &count), API__WHOLE);
    assert_int_equal(ask("bytes=0-1", "W/" TAG, 64, &first, &count), API__WHOLE);
    assert_int_equal(ask("bytes=0-1", "\"a\", " TAG, 64, &first, &count), API__WHOLE);
    assert_int_equal(ask("bytes=0-1", "Sat, 01 Jan 2022 00:00:00 GMT", 64, &first, &count),
                     API__WHOLE);
    assert_int_equal(ask("bytes=99-", "\"x\"", 64, &first, &count), API__WHOLE);
    struct api_header twice[] = {{"Range", api__bytes("bytes=0-1")},
                                 {"Range", api__bytes("bytes=4-5")}};
    struct api_request request = {.headers = twice, .header_count = 2};
    assert_int_equal(api__range(&request, TAG, 64, &first, &count), API__WHOLE);
}

static void digests(void **unused)
{
    (void)unused;
    /* FIPS 180-4, the example of "abc" */
    static const unsigned char abc[] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea};
    char tag[API__TAG_SIZE];
    struct api__digest d = api__sha256((struct api_bytes[]){{"a", 1}, {"bc", 2}}, 2);
    assert_memory_equal(d.bytes, abc, sizeof abc);
    api__tag(d, tag);
    assert_string_equal(tag, "\"ba7816bf8f01cfea414140de5dae2223\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tags), cmocka_unit_test(single_ranges),
                                       cmocka_unit_test(if_range), cmocka_unit_test(digests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
