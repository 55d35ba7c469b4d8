/* SPDX-License-Identifier: MIT
 *
 * test_api_list.c: list.c and npy_in.c: lists in queries, nested arrays in JSON, arrays in files.
 */
#include "test_api_kit.h"
#include "request/call.h"
#include "request/list.h"

struct fixture {
    struct api_plan plan;
    struct api_request request;
    struct api__call call;
};

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){.request = {.request_id = "kit-1", .limits = &kit_limits}};
    f->call =
        (struct api__call){.request = &f->request, .arena = api__arena_new(), .plan = &f->plan};
}

static bool read_ints(struct fixture *f, const char *text, bool json, struct api__ints *out)
{
    struct api__param p = {api__bytes("positions"), api__bytes(text), json};
    return api__read_integers(&f->call, &p, true, out);
}

static void integers_in_queries(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        int64_t items[8];
        size_t count; /* 0: refused */
    } cases[] = {{"5", {5}, 1},
                 {"0,7,4096-4099", {0, 7, 4096, 4097, 4098, 4099}, 6},
                 {"-5--3", {-5, -4, -3}, 3},
                 {"-2-1", {-2, -1, 0, 1}, 4},
                 {"3-3,3", {3, 3}, 2},
                 {"9223372036854775806-9223372036854775807", {INT64_MAX - 1, INT64_MAX}, 2},
                 {"-9223372036854775808", {INT64_MIN}, 1},
                 {"", {0}, 0},
                 {",", {0}, 0},
                 {"1,", {0}, 0},
                 {"1,,2", {0}, 0},
                 {"3-", {0}, 0},
                 {"-", {0}, 0},
                 {"--3", {0}, 0},
                 {"5-3", {0}, 0},
                 {"1 2", {0}, 0},
                 {"1;2", {0}, 0},
                 {"1-2-3", {0}, 0},
                 {"1.5", {0}, 0},
                 {"9223372036854775808", {0}, 0},
                 {"0-9223372036854775807", {0}, 0},
                 {"-9223372036854775808-9223372036854775807", {0}, 0}};
    struct fixture f;
    struct api__ints out;
    open_fixture(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool good = read_ints(&f, cases[i].text, false, &out);
        if (good != (cases[i].count > 0))
            fail_msg("%s", cases[i].text);
        if (!good)
            continue;
        assert_int_equal(out.count, cases[i].count);
        assert_int_equal(out.rank, 1);
        assert_int_equal(out.shape[0], cases[i].count);
        assert_memory_equal(out.at, cases[i].items, cases[i].count * sizeof *out.at);
    }
    assert_true(read_ints(&f, "0-65536", false, &out));
    assert_int_equal(out.count, 65537);
    assert_false(read_ints(&f, "0-65537", false, &out));
    assert_int_equal(f.call.issue.id, API__TOO_LARGE);
    assert_false(read_ints(&f, "0-40000,0-40000", false, &out));
    struct api__param flat = {api__bytes("lengths"), api__bytes("1-3"), false};
    assert_false(api__read_integers(&f.call, &flat, false, &out));
    api__arena_free(&f.call.arena);
}

static void integers_in_json(void **unused)
{
    (void)unused;
    struct fixture f;
    struct api__ints out;
    open_fixture(&f);
    assert_true(read_ints(
        &f,
        "[ [[0,-1],\n[2,3]] , [[4,5],[6,900000000000000000]],[[1,2],[3,-9223372036854775808]] ]",
        true, &out));
    static const int64_t items[] = {0, -1, 2, 3, 4, 5, 6, 900000000000000000, 1, 2, 3, INT64_MIN};
    static const uint64_t shape[] = {3, 2, 2};
    assert_int_equal(out.rank, 3);
    assert_memory_equal(out.shape, shape, sizeof shape);
    assert_int_equal(out.count, 12);
    assert_memory_equal(out.at, items, sizeof items);
    assert_true(read_ints(&f, "[[[[[[[[7]]]]]]]]", true, &out));
    assert_int_equal(out.rank, PE_MAX_RANK);
    static const char *const bad[] = {"[]",
                                      "[[]]",
                                      "[[1],[]]",
                                      "[[1],[2,3]]",
                                      "[1,[2]]",
                                      "[[2],1]",
                                      "[[[1]],[2]]",
                                      "5",
                                      "\"1\"",
                                      "{}",
                                      "[1.0]",
                                      "[1e3]",
                                      "[null]",
                                      "[true]",
                                      "[\"1\"]",
                                      "[{}]",
                                      "[-]",
                                      "[9223372036854775808]",
                                      "[1.5]",
                                      "[[[[[[[[[7]]]]]]]]]",
                                      "[[1,2],[3,4],[5]]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (read_ints(&f, bad[i], true, &out))
            fail_msg("taken: %s", bad[i]);
    assert_false(read_ints(&f, "[[1,2],[3,\"x\"]]", true, &out));
    assert_string_equal(f.call.issue.members, "\"index\":[1,1]");
    api__arena_free(&f.call.arena);
}

static void reals(void **unused)
{
    (void)unused;
    static const char *const bad[] = {"", "1,", "1,,2", "1, 2", "nan", "1;2"};
    static const char *const bad_json[] = {"[]", "1", "[[1]]", "[1,null]", "[\"1\"]", "[1e400]"};
    struct fixture f;
    struct pe_reals out;
    open_fixture(&f);
    struct api__param p = {api__bytes("short_factor"), api__bytes("1,2.5,1e-3"), false};
    assert_true(api__read_reals(&f.call, &p, &out));
    assert_int_equal(out.count, 3);
    assert_true(out.at[0] == 1 && out.at[1] == 2.5 && out.at[2] == 1e-3);
    p = (struct api__param){p.name, api__bytes("[1 , 2.5,\n1e-3 ]"), true};
    assert_true(api__read_reals(&f.call, &p, &out));
    assert_true(out.count == 3 && out.at[2] == 1e-3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(api__read_reals(
            &f.call, &(struct api__param){p.name, api__bytes(bad[i]), false}, &out));
    for (size_t i = 0; i < sizeof bad_json / sizeof *bad_json; i++)
        assert_false(api__read_reals(
            &f.call, &(struct api__param){p.name, api__bytes(bad_json[i]), true}, &out));
    api__arena_free(&f.call.arena);
}

/* An .npy file of version 1.0 in memory of exactly its size. */
static struct api_bytes make_npy(const char *header, const void *data, size_t size)
{
    size_t len = strlen(header);
    char *at = malloc(10 + len + size);
    memcpy(at, "\x93NUMPY\x01\x00", 8);
    at[8] = (char)(len & 255);
    at[9] = (char)(len >> 8);
    memcpy(at + 10, header, len);
    memcpy(at + 10 + len, data, size);
    return (struct api_bytes){at, 10 + len + size};
}

static bool read_npy(struct fixture *f, const char *header, const void *data, size_t size,
                     struct api__ints *out)
{
    struct api_bytes file = make_npy(header, data, size);
    bool good = api__read_npy(&f->call, "positions", file, 100, out);
    free((char *)file.at);
    return good;
}

static void arrays_in_files(void **unused)
{
    (void)unused;
    static const unsigned char bytes[24] = {1, 0, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff,
                                            5, 0, 0,    0,    0,    0,    0,    0x80};
    struct fixture f;
    struct api__ints out;
    open_fixture(&f);
    assert_true(read_npy(&f, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }    \n",
                         bytes, 8, &out));
    assert_int_equal(out.rank, 2);
    assert_true(out.at[0] == 1 && out.at[1] == -1 && out.at[2] == -2 && out.at[3] == -1);
    assert_true(
        read_npy(&f, "{\"shape\":(3,),\"descr\":\"|u1\",\"fortran_order\":False}", bytes, 3, &out));
    assert_true(out.at[0] == 1 && out.at[1] == 0 && out.at[2] == 255);
    assert_true(read_npy(&f, "{'descr': '<u4', 'fortran_order': False, 'shape': (1,), }\n", bytes,
                         4, &out));
    assert_true(out.at[0] == 0xffff0001);
    assert_true(read_npy(&f, "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }\n",
                         bytes + 8, 8, &out));
    assert_true(out.at[0] == INT64_MIN + 5);
    static const struct {
        const char *header;
        size_t size;
    } bad[] = {
        {"{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }\n", 8},
        {"{'descr': '<i4', 'fortran_order': True, 'shape': (1,), }\n", 4},
        {"{'descr': '>i4', 'fortran_order': False, 'shape': (1,), }\n", 4},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", 4},
        {"{'descr': [('a','<i4')], 'fortran_order': False, 'shape': (1,), }\n", 4},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (), }\n", 4},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", 4},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (0,), }\n", 0},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1), }\n", 4},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (-1,), }\n", 4},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }\n", 4},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (4611686018427387905,4), }\n", 16},
        {"{'descr': '<i1', 'fortran_order': False, 'shape': (4294967296,4294967296), }\n", 0},
        {"{'descr': '<i4', 'fortran_order': False, }\n", 4},
        {"{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,), }\n", 4},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,), 'x': 1}\n", 4},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,), } x", 4},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,", 4},
        {"", 0}};
    static const unsigned char high[16] = {0, 0, 0, 0, 0, 0, 0, 0x80};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (read_npy(&f, bad[i].header, high, bad[i].size, &out))
            fail_msg("taken: %s", bad[i].header);
    static const char many[101];
    assert_false(read_npy(&f, "{'descr': '<i1', 'fortran_order': False, 'shape': (101,), }\n", many,
                          101, &out));
    assert_int_equal(f.call.issue.id, API__TOO_LARGE);
    /* cut anywhere, a file is refused and not read beyond */
    struct api_bytes whole =
        make_npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", bytes, 8);
    for (size_t n = 0; n < whole.len; n++) {
        char *cut = malloc(n ? n : 1);
        memcpy(cut, whole.at, n);
        assert_false(api__read_npy(&f.call, "positions", (struct api_bytes){cut, n}, 100, &out));
        free(cut);
    }
    free((char *)whole.at);
    api__arena_free(&f.call.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(integers_in_queries),
                                       cmocka_unit_test(integers_in_json), cmocka_unit_test(reals),
                                       cmocka_unit_test(arrays_in_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
