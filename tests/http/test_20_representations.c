/* SPDX-License-Identifier: MIT
 *
 * test_20_representations.c: which format comes, tags and conditions, caching headers, single
 * ranges up to the last byte of tables that no machine could hold.
 */
#include "kit/kit.h"

#include <stdio.h>
#include <stdlib.h>

static struct kit_daemon daemon_;

#define TABLE "/v1/tables/sinusoidal"
#define SMALL TABLE ".bin?length=8&width=8"

static void negotiates(void **state)
{
    (void)state;
    static const struct {
        const char *accept, *type;
    } cases[] = {
        {"*/*", "application/json"},
        {"application/x-npy", "application/x-npy"},
        {"application/octet-stream", "application/octet-stream"},
        {"application/x-safetensors", "application/x-safetensors"},
        {"text/csv", "text/csv"},
        {"application/json;q=0.5, application/x-npy", "application/x-npy"},
        {"application/json;q=0.501, application/octet-stream;q=0.502", "application/octet-stream"},
        {"image/png, application/x-npy;q=0.1", "application/x-npy"},
        {"APPLICATION/X-NPY", "application/x-npy"},
        {"*/*;q=0, application/x-npy;q=0.1", "application/x-npy"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char head[128];
        struct kit_answer a;
        snprintf(head, sizeof head, "Accept: %s\r\n", cases[i].accept);
        kit_get(&daemon_, TABLE "?length=4&width=4", head, &a);
        assert_int_equal(a.status, 200);
        assert_memory_equal(kit_header(&a, "Content-Type"), cases[i].type, strlen(cases[i].type));
        assert_non_null(strstr(kit_header(&a, "Vary"), "Accept"));
        kit_free(&a);
    }
    static const char *const refused[] = {"image/png", "application/json;q=0", "*/*;q=0"};
    for (size_t i = 0; i < 3; i++) {
        char head[128];
        struct kit_answer a;
        snprintf(head, sizeof head, "Accept: %s\r\n", refused[i]);
        kit_get(&daemon_, TABLE "?length=4&width=4", head, &a);
        assert_int_equal(a.status, 406);
        assert_non_null(strstr(a.body, "npy"));
        kit_free(&a);
    }
}

static void bf16_in_npy_wants_a_choice(void **state)
{
    (void)state;
    static const struct {
        const char *more;
        int status;
        const char *descr;
        size_t size;
    } cases[] = {{"", 406, "void", 0},
                 {"&bf16=void", 200, "'|V2'", 128 + 32},
                 {"&bf16=u16", 200, "'<u2'", 128 + 32},
                 {"&bf16=f32", 200, "'<f4'", 128 + 64}};
    for (size_t i = 0; i < 4; i++) {
        char target[128];
        struct kit_answer a;
        snprintf(target, sizeof target, TABLE ".npy?length=4&width=4&dtype=bf16%s", cases[i].more);
        kit_get(&daemon_, target, NULL, &a);
        assert_int_equal(a.status, cases[i].status);
        assert_non_null(memmem(a.body, a.size, cases[i].descr, strlen(cases[i].descr)));
        if (cases[i].size)
            assert_int_equal(a.size, cases[i].size);
        kit_free(&a);
    }
}

static void tags_and_conditions(void **state)
{
    (void)state;
    struct kit_answer whole, a;
    kit_get(&daemon_, SMALL, NULL, &whole);
    char tag[128];
    snprintf(tag, sizeof tag, "%s", kit_header(&whole, "ETag"));
    assert_true(tag[0] == '"');
    static const struct {
        const char *form;
        int status;
    } cases[] = {
        {"If-None-Match: %s\r\n", 304},
        {"If-None-Match: W/%s\r\n", 304},
        {"If-None-Match: \"a\", %s\r\n", 304},
        {"If-None-Match: \"a\"\r\nIf-None-Match: %s\r\n", 304},
        {"If-None-Match: *\r\n", 304},
        {"If-None-Match: \"other\"\r\n", 200},
        {"If-Match: %s\r\n", 200},
        {"If-Match: W/%s\r\n", 412},
        {"If-Match: \"other\"\r\n", 412},
        {"Range: bytes=0-15\r\nIf-Range: %s\r\n", 206},
        {"Range: bytes=0-15\r\nIf-Range: \"x\"\r\n", 200},
        {"Range: bytes=0-15\r\nIf-None-Match: %s\r\n", 304},
        {"If-Match: \"other\"\r\nIf-None-Match: %s\r\n", 412},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char head[512];
        const char *slot = strstr(cases[i].form, "%s");
        if (slot)
            snprintf(head, sizeof head, "%.*s%s%s", (int)(slot - cases[i].form), cases[i].form, tag,
                     slot + 2);
        else
            snprintf(head, sizeof head, "%s", cases[i].form);
        kit_get(&daemon_, SMALL, head, &a);
        if (a.status != cases[i].status)
            fail_msg("%s gives %d", head, a.status);
        if (a.status == 304) {
            static const char *const kept[] = {"ETag", "Cache-Control", "Content-Location"};
            for (size_t h = 0; h < 3; h++)
                assert_string_equal(kit_header(&a, kept[h]), kit_header(&whole, kept[h]));
        }
        kit_free(&a);
    }
    kit_free(&whole);
}

static void one_table_one_tag(void **state)
{
    (void)state;
    static const char *const same[] = {
        "?length=8&width=8", "?width=8&length=8", "?length=8&width=8&base=10000.0",
        "?length=8&width=8&base=1e4&dtype=float32", "?length=8&width=8&offset=0"};
    static const char *const other[] = {"?length=9&width=8",
                                        "?length=8&width=8&offset=1",
                                        "?length=8&width=8&base=10000.000000000002",
                                        "?length=8&width=8&dtype=f64",
                                        "?length=8&width=8&layout=split",
                                        "?length=8&width=8&scale=2",
                                        "?length=8&width=8&padding_idx=1"};
    struct kit_answer first, a;
    char target[160];
    kit_get(&daemon_, SMALL, NULL, &first);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        snprintf(target, sizeof target, TABLE ".bin%s", same[i]);
        kit_get(&daemon_, target, NULL, &a);
        assert_string_equal(kit_header(&a, "ETag"), kit_header(&first, "ETag"));
        assert_string_equal(kit_header(&a, "Content-Location"),
                            kit_header(&first, "Content-Location"));
        kit_free(&a);
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        snprintf(target, sizeof target, TABLE ".bin%s", other[i]);
        kit_get(&daemon_, target, NULL, &a);
        assert_string_not_equal(kit_header(&a, "ETag"), kit_header(&first, "ETag"));
        kit_free(&a);
    }
    /* What is at the canonical place is the same. */
    kit_get(&daemon_, kit_header(&first, "Content-Location"), NULL, &a);
    assert_int_equal(a.size, first.size);
    assert_memory_equal(a.body, first.body, first.size);
    assert_string_equal(kit_header(&a, "Cache-Control"), "public, max-age=31536000, immutable");
    assert_string_equal(kit_header(&first, "Cache-Control"), "public, max-age=86400");
    kit_free(&a);
    kit_get(&daemon_, SMALL "&rev=999", NULL, &a);
    assert_int_equal(a.status, 409);
    kit_free(&a);
    kit_free(&first);
}

static void single_ranges(void **state)
{
    (void)state;
    static const struct {
        const char *range;
        int status;
        size_t first, count;
    } cases[] = {
        {"bytes=0-15", 206, 0, 16},     {"bytes=-16", 206, 240, 16},
        {"bytes=250-999", 206, 250, 6}, {"bytes=5-5", 206, 5, 1},
        {"bytes=0-", 206, 0, 256},      {"bytes=0-1,4-5", 200, 0, 256},
        {"rows=0-1", 200, 0, 256},      {"bytes=9-3", 200, 0, 256},
        {"bytes=256-", 416, 0, 0},      {"bytes=-0", 416, 0, 0},
        {"bytes=-999", 206, 0, 256},    {"bytes=0-18446744073709551616", 206, 0, 256},
    };
    struct kit_answer whole, a;
    kit_get(&daemon_, SMALL, NULL, &whole);
    assert_string_equal(kit_header(&whole, "Accept-Ranges"), "bytes");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char head[128], want[64];
        snprintf(head, sizeof head, "Range: %s\r\n", cases[i].range);
        kit_get(&daemon_, SMALL, head, &a);
        if (a.status != cases[i].status)
            fail_msg("%s gives %d", cases[i].range, a.status);
        if (a.status == 416) {
            assert_string_equal(kit_header(&a, "Content-Range"), "bytes */256");
        } else {
            assert_int_equal(a.size, cases[i].count);
            assert_memory_equal(a.body, whole.body + cases[i].first, a.size);
        }
        if (a.status == 206) {
            snprintf(want, sizeof want, "bytes %zu-%zu/256", cases[i].first,
                     cases[i].first + cases[i].count - 1);
            assert_string_equal(kit_header(&a, "Content-Range"), want);
        }
        kit_free(&a);
    }
    kit_free(&whole);
}

static void ranges_reassemble(void **state)
{
    (void)state;
    static const char *const targets[] = {
        TABLE ".npy?length=777&width=30&dtype=f64",
        "/v1/tables/rope.safetensors?length=500&width=36&dtype=f16",
        "/v1/tables/rope.bin?length=333&width=22&dtype=bf16",
        TABLE ".npy?positions=5,1,900-1400,-7&width=12"};
    for (size_t t = 0; t < 4; t++) {
        struct kit_answer whole, a;
        struct kit_link l;
        kit_get(&daemon_, targets[t], NULL, &whole);
        kit_open(&l, daemon_.port);
        unsigned step = 1;
        for (size_t at = 0; at < whole.size; at += step, step = (step * 5 + 3) % 9973 + 1) {
            char head[128];
            snprintf(head, sizeof head, "Range: bytes=%zu-%zu\r\n", at, at + step - 1);
            kit_ask(&l, "GET", targets[t], head, &a);
            assert_int_equal(a.status, 206);
            assert_memory_equal(a.body, whole.body + at, a.size);
            assert_true(a.size == step || at + a.size == whole.size);
            kit_free(&a);
        }
        kit_close(&l);
        kit_free(&whole);
    }
}

static void last_row_of_an_endless_table(void **state)
{
    (void)state;
    struct kit_answer a, b;
    kit_get(&daemon_, TABLE ".bin?length=1125899906842624&width=4&dtype=f64",
            "Range: bytes=-32\r\n", &a);
    assert_int_equal(a.status, 206);
    assert_string_equal(kit_header(&a, "Content-Range"),
                        "bytes 36028797018963936-36028797018963967/36028797018963968");
    kit_get(&daemon_, TABLE ".bin?length=1&width=4&dtype=f64&offset=1125899906842623", NULL, &b);
    assert_int_equal(b.size, 32);
    assert_memory_equal(a.body, b.body, 32);
    kit_free(&a);
    kit_free(&b);
}

static int begin(void **state)
{
    (void)state;
    kit_start(&daemon_, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return kit_stop(&daemon_);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(negotiates),
        cmocka_unit_test(bf16_in_npy_wants_a_choice),
        cmocka_unit_test(tags_and_conditions),
        cmocka_unit_test(one_table_one_tag),
        cmocka_unit_test(single_ranges),
        cmocka_unit_test(ranges_reassemble),
        cmocka_unit_test(last_row_of_an_endless_table),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
