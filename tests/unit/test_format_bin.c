/* SPDX-License-Identifier: MIT
 *
 * test_format_bin.c: nothing but the payload, whole or one tensor of it.
 */
#include "tables.h"

static void window_of_the_payload(void **unused)
{
    (void)unused;
    const struct pe_tensor t[] = {tensor_of("bias", PE_DTYPE_F64, 3, (uint64_t[]){2, 3, 5}, true),
                                  tensor_of("slopes", PE_DTYPE_F64, 1, (uint64_t[]){2}, true)};
    struct api_table table = table_of("bin", t, 2);
    struct api__arena *arena = api__arena_new();
    const uint64_t first[] = {0, 240}, length[] = {240, 16};
    for (int i = 0; i < 2; i++) {
        table.tensor = i;
        api__format_lay_out(&table, arena);
        assert_int_equal(table.prefix.len, 0);
        assert_int_equal(table.payload_first, first[i]);
        assert_int_equal(table.payload_length, length[i]);
        assert_int_equal(table.length, length[i]);
        assert_int_equal(table.first, 0);
        assert_int_equal(table.count, length[i]);
    }
    table.tensor = -1;
    api__format_lay_out(&table, arena);
    assert_int_equal(table.length, 256);
    assert_false(api_format_is_text(table.format));
    api__arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(window_of_the_payload)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
