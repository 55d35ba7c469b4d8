/* SPDX-License-Identifier: MIT
 *
 * test_format_npy.c: headers against those that numpy wrote (tests/golden/npy_headers.tsv: descr,
 * shape, size of the header, its text without the padding), stacks, the carriers of bf16.
 */
#include "tables.h"

#include <stdio.h>

static const char *const descrs[] = {"<i8", "<f8", "<f4", "<i4", "|V2", "<f2", "|u1", "|b1"};
static const enum pe_dtype dtypes[] = {PE_DTYPE_I64,  PE_DTYPE_F64, PE_DTYPE_F32, PE_DTYPE_I32,
                                       PE_DTYPE_BF16, PE_DTYPE_F16, PE_DTYPE_U8,  PE_DTYPE_BOOL};

static struct pe_tensor tensor_for(const char *descr, char *shape, enum api_bf16 *bf16)
{
    struct pe_tensor t = {.name = "weight", .dtype = PE_DTYPE_BF16};
    *bf16 = strcmp(descr, "<u2") ? API_BF16_VOID : API_BF16_U16;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(descr, descrs[i]) == 0)
            t.dtype = dtypes[i];
    if (*shape != '-')
        for (char *at = shape; at; at = strchr(at, 'x') ? strchr(at, 'x') + 1 : NULL)
            t.shape[t.rank++] = strtoull(at, NULL, 10);
    return t;
}

static void check_header(const char *out, size_t n, size_t size, const char *text)
{
    const size_t len = strlen(text);
    assert_int_equal(n, size);
    assert_memory_equal(out, "\x93NUMPY\x01\x00", 8);
    assert_int_equal((unsigned char)out[8] | (unsigned char)out[9] << 8, size - 10);
    assert_memory_equal(out + 10, text, len);
    for (size_t i = 10 + len; i < n - 1; i++)
        assert_int_equal(out[i], ' ');
    assert_int_equal(out[n - 1], '\n');
}

static void headers_are_those_of_numpy(void **unused)
{
    (void)unused;
    FILE *file = fopen(TESTS_DIR "/golden/npy_headers.tsv", "r");
    assert_non_null(file);
    char line[1024], out[API__NPY_MAX];
    unsigned lines = 0;
    while (fgets(line, sizeof line, file)) {
        char *rest = line;
        const char *descr = strsep(&rest, "\t");
        char *shape = strsep(&rest, "\t");
        const size_t size = strtoull(strsep(&rest, "\t"), NULL, 10);
        const char *text = strsep(&rest, "\n");
        enum api_bf16 bf16;
        const struct pe_tensor t = tensor_for(descr, shape, &bf16);
        check_header(out, api__npy_header(out, &t, 0, bf16), size, text);
        lines++;
        if (t.rank == 0 || t.rank > PE_MAX_RANK + 3)
            continue;

        /* the same shape as a stack of shape[0] tensors */
        struct pe_tensor one = t;
        one.rank--;
        memmove(one.shape, one.shape + 1, one.rank * sizeof *one.shape);
        if (t.shape[0])
            check_header(out, api__npy_header(out, &one, t.shape[0], bf16), size, text);
    }
    fclose(file);
    assert_int_equal(lines, 189);
}

static void bf16_as_f32_is_f4(void **unused)
{
    (void)unused;
    char out[API__NPY_MAX];
    const struct pe_tensor t =
        tensor_of("weight", PE_DTYPE_BF16_AS_F32, 2, (uint64_t[]){3, 4}, false);
    check_header(out, api__npy_header(out, &t, 0, API_BF16_F32), 128,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
}

static void table_has_prefix_and_window(void **unused)
{
    (void)unused;
    const uint64_t shape[] = {4, 6};
    const struct pe_tensor t[] = {tensor_of("cos", PE_DTYPE_F32, 2, shape, false),
                                  tensor_of("sin", PE_DTYPE_F32, 2, shape, false)};
    struct api_table table = table_of("npy", t, 2);
    struct api__arena *arena = api__arena_new();
    table.stacked = true;
    api__format_lay_out(&table, arena);
    check_header(table.prefix.at, table.prefix.len, 128,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4, 6), }");
    assert_int_equal(table.payload_first, 0);
    assert_int_equal(table.payload_length, 192);
    assert_int_equal(table.length, 128 + 192);

    table.tensor = 1;
    api__format_lay_out(&table, arena);
    check_header(table.prefix.at, table.prefix.len, 128,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 6), }");
    assert_int_equal(table.payload_first, 96);
    assert_int_equal(table.payload_length, 96);
    assert_int_equal(table.count, 128 + 96);
    api__arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_those_of_numpy),
        cmocka_unit_test(bf16_as_f32_is_f4),
        cmocka_unit_test(table_has_prefix_and_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
