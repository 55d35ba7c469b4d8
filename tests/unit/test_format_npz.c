/* SPDX-License-Identifier: MIT
 *
 * test_format_npz.c: the zip is read back by a small strict reader of this file: end records,
 * directory, local headers, descriptors, checksums; every byte belongs to one of them.
 */
#include "tables.h"

#include <zlib.h>

static uint64_t get(const char *at, int bytes)
{
    uint64_t n = 0;
    while (bytes--)
        n = n << 8 | (unsigned char)at[bytes];
    return n;
}

/* Checks one directory entry and what it points to; returns the end of the entry. *at is where its
 * member must begin, and then where it ends. */
static const char *check_member(const struct body *body, const char *entry, const char *name,
                                uint64_t *at, const void *data, size_t size)
{
    const size_t len = strlen(name);
    assert_int_equal(get(entry, 4), 0x02014b50);
    assert_int_equal(get(entry + 8, 2), 8);         /* flags: a descriptor */
    assert_int_equal(get(entry + 10, 2), 0);        /* stored */
    assert_int_equal(get(entry + 12, 4), 0x210000); /* 1980-01-01 00:00:00 */
    assert_int_equal(get(entry + 28, 2), len);
    assert_int_equal(get(entry + 30, 2), 28);
    assert_memory_equal(entry + 46, name, len);
    const char *extra = entry + 46 + len;
    assert_int_equal(get(extra, 4), 1 | 24 << 16);
    const uint64_t bytes = get(extra + 4, 8);
    assert_int_equal(get(extra + 12, 8), bytes);
    assert_int_equal(get(extra + 20, 8), *at);

    const char *local = body->at + *at;
    assert_int_equal(get(local, 4), 0x04034b50);
    assert_memory_equal(local + 4, entry + 6, 10);
    assert_int_equal(get(local + 26, 2), len);
    assert_int_equal(get(local + 28, 2), 20);
    assert_memory_equal(local + 30, name, len);
    const char *file = local + 30 + len + 20;
    assert_int_equal(bytes, 128 + size);
    assert_memory_equal(file, "\x93NUMPY\x01\x00", 8);
    assert_memory_equal(file + 128, data, size);
    const uint64_t crc = crc32(0, (const Bytef *)file, (uInt)bytes);
    assert_int_equal(get(entry + 16, 4), crc);
    const char *descriptor = file + bytes;
    assert_int_equal(get(descriptor, 4), 0x08074b50);
    assert_int_equal(get(descriptor + 4, 4), crc);
    assert_int_equal(get(descriptor + 8, 8), bytes);
    assert_int_equal(get(descriptor + 16, 8), bytes);
    *at = (uint64_t)(descriptor + 24 - body->at);
    return extra + 28;
}

static const char *end_records(const struct body *body, unsigned count)
{
    const char *end = body->at + body->len - 22, *locator = end - 20, *record = locator - 56;
    assert_int_equal(get(end, 4), 0x06054b50);
    assert_int_equal(get(end + 20, 2), 0);
    assert_int_equal(get(locator, 4), 0x07064b50);
    assert_int_equal(get(locator + 8, 8), record - body->at);
    assert_int_equal(get(record, 4), 0x06064b50);
    assert_int_equal(get(record + 4, 8), 44);
    assert_int_equal(get(record + 24, 8), count);
    assert_int_equal(get(record + 32, 8), count);
    assert_int_equal(get(record + 40, 8) + get(record + 48, 8), record - body->at);
    return body->at + get(record + 48, 8);
}

static void zip_reads_back(void **unused)
{
    (void)unused;
    const uint64_t shape[] = {5, 7};
    const struct pe_tensor t[] = {tensor_of("cos", PE_DTYPE_F32, 2, shape, false),
                                  tensor_of("empty", PE_DTYPE_I64, 2, (uint64_t[]){0, 3}, false),
                                  tensor_of("sin", PE_DTYPE_F32, 2, shape, false)};
    float cos[35], sin[35];
    for (int i = 0; i < 35; i++) {
        cos[i] = (float)i * 0.1f;
        sin[i] = -cos[i];
    }
    struct api_table table = table_of("npz", t, 3);
    struct api__arena *arena = api__arena_new();
    api__format_lay_out(&table, arena);
    for (uint64_t portion = 1; portion <= 5; portion++) {
        struct body body = written(&table, (const void *[]){cos, NULL, sin}, portion, false);
        assert_int_equal(body.len, table.length);
        uint64_t at = 0;
        const char *directory = end_records(&body, 3);
        const char *entry = check_member(&body, directory, "cos.npy", &at, cos, sizeof cos);
        entry = check_member(&body, entry, "empty.npy", &at, cos, 0);
        entry = check_member(&body, entry, "sin.npy", &at, sin, sizeof sin);
        assert_int_equal(at, directory - body.at);
        assert_ptr_equal(entry, body.at + body.len - 22 - 20 - 56);
        free(body.at);
    }
    table.tensor = 2;
    api__format_lay_out(&table, arena);
    struct body body = written(&table, (const void *[]){cos, NULL, sin}, 2, false);
    assert_int_equal(body.len, table.length);
    uint64_t at = 0;
    check_member(&body, end_records(&body, 1), "sin.npy", &at, sin, sizeof sin);
    free(body.at);
    api__arena_free(&arena);
}

/* Sizes beyond 32 bits are counted, not cut. */
static void length_of_a_large_table(void **unused)
{
    (void)unused;
    const struct pe_tensor t =
        tensor_of("weight", PE_DTYPE_F32, 2, (uint64_t[]){UINT64_C(1) << 40, 64}, false);
    struct api_table table = table_of("npz", &t, 1);
    struct api__arena *arena = api__arena_new();
    api__format_lay_out(&table, arena);
    assert_true(table.length == (UINT64_C(1) << 48) + 30 + 10 + 20 + 128 + 24 + 46 + 10 + 28 + 98);
    api__arena_free(&arena);
}

static void bf16_by_choice(void **unused)
{
    (void)unused;
    const struct pe_tensor t = tensor_of("weight", PE_DTYPE_BF16, 1, (uint64_t[]){2}, true);
    const uint16_t data[] = {0x3f80, 0xc000};
    struct api_table table = table_of("npz", &t, 1);
    for (int i = 0; i < 2; i++) {
        table.bf16 = i ? API_BF16_U16 : API_BF16_VOID;
        struct body body = written(&table, (const void *[]){data}, 1, false);
        assert_non_null(memmem(body.at, body.len, i ? "'<u2'" : "'|V2'", 5));
        free(body.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zip_reads_back),
        cmocka_unit_test(length_of_a_large_table),
        cmocka_unit_test(bf16_by_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
