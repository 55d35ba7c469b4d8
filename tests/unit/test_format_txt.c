/* SPDX-License-Identifier: MIT
 *
 * test_format_txt.c: cells stand under each other, blocks are apart, no line ends in a blank.
 */
#include "tables.h"

static void reals_in_columns(void **unused)
{
    (void)unused;
    const float data[] = {0, -0.5f, 0.00012345679f, 1, -1.5e-7f, 3, 4, 5};
    const struct pe_tensor t = tensor_of("weight", PE_DTYPE_F32, 2, (uint64_t[]){2, 3}, false);
    struct api_table table = table_of("txt", &t, 1);
    for (uint64_t portion = 1; portion < 3; portion++) {
        struct body body = written(&table, (const void *[]){data}, portion, false);
        assert_string_equal(body.at, " 0.0            -0.5             0.00012345679\n"
                                     " 1.0            -1.5e-07         3.0\n");
        free(body.at);
    }
}

static void integers_to_the_right(void **unused)
{
    (void)unused;
    const int64_t data[] = {0, -7, 1234567890, 12345678901234};
    const struct pe_tensor t = tensor_of("position_ids", PE_DTYPE_I64, 2, (uint64_t[]){2, 2}, true);
    struct api_table table = table_of("txt", &t, 1);
    for (uint64_t portion = 1; portion < 5; portion++) {
        struct body body = written(&table, (const void *[]){data}, portion, false);
        assert_string_equal(body.at, "          0          -7\n 1234567890 12345678901234\n");
        free(body.at);
    }
}

static void blocks_are_apart(void **unused)
{
    (void)unused;
    const uint8_t data[] = {1, 0, 1, 1, 0, 0, 1, 0};
    const struct pe_tensor cube = tensor_of("mask", PE_DTYPE_BOOL, 3, (uint64_t[]){2, 2, 2}, true);
    struct api_table table = table_of("txt", &cube, 1);
    struct body body = written(&table, (const void *[]){data}, 3, false);
    assert_string_equal(body.at, "1 0\n1 1\n\n0 0\n1 0\n");
    free(body.at);

    const struct pe_tensor flat = tensor_of("a", PE_DTYPE_U8, 1, (uint64_t[]){2}, true);
    table = table_of("txt", (const struct pe_tensor[]){flat, flat}, 2);
    table.stacked = true;
    body = written(&table, (const void *[]){data, data + 2}, 2, false);
    assert_string_equal(body.at, "  1\n  0\n\n  1\n  1\n");
    free(body.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reals_in_columns),
        cmocka_unit_test(integers_to_the_right),
        cmocka_unit_test(blocks_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
