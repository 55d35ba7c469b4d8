/* SPDX-License-Identifier: MIT
 *
 * test_format_safetensors.c: the whole header as text, alignment for metadata of every length,
 * escapes.
 */
#include "tables.h"

#include <jansson.h>

static uint64_t length_of(const char *at)
{
    uint64_t n = 0;
    for (int i = 7; i >= 0; i--)
        n = n << 8 | (unsigned char)at[i];
    return n;
}

static void header_is_sorted_and_stable(void **unused)
{
    (void)unused;
    const struct pe_tensor t[] = {tensor_of("bias", PE_DTYPE_F16, 3, (uint64_t[]){3, 2, 2}, true),
                                  tensor_of("slopes", PE_DTYPE_F16, 1, (uint64_t[]){3}, true)};
    const struct api_pair pairs[] = {{"width", "3"}, {"alibi_bias_max", "8.0"}, {"queries", "2"}};
    struct api_table table = table_of("safetensors", t, 2);
    table.kind = "alibi";
    table.metadata = pairs;
    table.metadata_count = 3;
    struct api__arena *arena = api__arena_new();
    api__format_lay_out(&table, arena);
    const char *want =
        "{\"__metadata__\":{\"format\":\"pt\",\"posenc.alibi_bias_max\":\"8.0\",\"posenc.kind\":"
        "\"alibi\","
        "\"posenc.numerics_rev\":\"1\",\"posenc.queries\":\"2\",\"posenc.version\":\"" PE_VERSION
        "\",\"posenc.width\":\"3\"},\"bias\":{\"dtype\":\"F16\",\"shape\":[3,2,2],\"data_offsets\":"
        "[0,24]},"
        "\"slopes\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[24,30]}}";
    assert_memory_equal(table.prefix.at + 8, want, strlen(want));
    assert_int_equal(table.length, table.prefix.len + 30);

    table.tensor = 1;
    api__format_lay_out(&table, arena);
    assert_null(strstr(table.prefix.at + 8, "bias\":{"));
    assert_non_null(strstr(table.prefix.at + 8,
                           "\"slopes\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[0,6]}}"));
    assert_int_equal(table.payload_first, 24);
    assert_int_equal(table.length, table.prefix.len + 6);
    api__arena_free(&arena);
}

static void data_begin_at_a_multiple_of_8(void **unused)
{
    (void)unused;
    const struct pe_tensor t = tensor_of("weight", PE_DTYPE_BF16, 2, (uint64_t[]){2, 3}, false);
    char value[64] = "";
    for (int i = 0; i < 40; i++) {
        strcat(value, i % 7 ? "x" : "\"");
        const struct api_pair pair = {"positions", value};
        struct api_table table = table_of("safetensors", &t, 1);
        table.metadata = &pair;
        table.metadata_count = 1;
        struct api__arena *arena = api__arena_new();
        api__format_lay_out(&table, arena);
        const size_t n = table.prefix.len;
        assert_int_equal(n % 8, 0);
        assert_int_equal(length_of(table.prefix.at), n - 8);
        size_t end = n;
        while (table.prefix.at[end - 1] == ' ')
            end--;
        assert_true(n - end < 8);
        assert_int_equal(table.prefix.at[end - 1], '}');
        json_t *doc = json_loadb(table.prefix.at + 8, n - 8, JSON_REJECT_DUPLICATES, NULL);
        json_t *metadata = json_object_get(doc, "__metadata__");
        assert_string_equal(json_string_value(json_object_get(metadata, "posenc.positions")),
                            value);
        assert_string_equal(
            json_string_value(json_object_get(json_object_get(doc, "weight"), "dtype")), "BF16");
        json_decref(doc);
        api__arena_free(&arena);
    }
}

static void scalars_and_every_dtype(void **unused)
{
    (void)unused;
    static const char *const names[] = {"I64",  "F64", "F32", "F32", "I32",
                                        "BF16", "F16", "U8",  "BOOL"};
    for (int d = 0; d < PE_DTYPES; d++) {
        const struct pe_tensor t = tensor_of("base", (enum pe_dtype)d, 0, NULL, true);
        struct api_table table = table_of("safetensors", &t, 1);
        struct api__arena *arena = api__arena_new();
        api__format_lay_out(&table, arena);
        json_t *doc = json_loadb(table.prefix.at + 8, table.prefix.len - 8, 0, NULL),
               *base = json_object_get(doc, "base");
        assert_string_equal(json_string_value(json_object_get(base, "dtype")), names[d]);
        assert_int_equal(json_array_size(json_object_get(base, "shape")), 0);
        assert_int_equal(
            json_integer_value(json_array_get(json_object_get(base, "data_offsets"), 1)),
            pe_dtype_size((enum pe_dtype)d));
        json_decref(doc);
        api__arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_is_sorted_and_stable),
        cmocka_unit_test(data_begin_at_a_multiple_of_8),
        cmocka_unit_test(scalars_and_every_dtype),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
