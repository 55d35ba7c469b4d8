/* SPDX-License-Identifier: MIT
 *
 * test_format_csv.c: bodies as text, for one, two and more axes, and for stacks.
 */
#include "tables.h"

#include <math.h>

static const double numbers[] = {0, 0.5, -1, 1.5e-7, INFINITY, -INFINITY, NAN, 8, 9, 10, 11, 12};

static void check(unsigned rank, const uint64_t *shape, unsigned copies, const char *want)
{
    const struct pe_tensor one = tensor_of("weight", PE_DTYPE_F64, rank, shape, rank < 2);
    const struct pe_tensor t[] = {one, one};
    struct api_table table = table_of("csv", t, copies);
    table.stacked = copies > 1;
    for (uint64_t portion = 1; portion < 4; portion++) {
        struct body body = written(&table, (const void *[]){numbers, numbers + 2}, portion, false);
        assert_string_equal(body.at ? body.at : "", want);
        free(body.at);
    }
}

static void a_line_for_each_row(void **unused)
{
    (void)unused;
    check(0, NULL, 1, "0.0\n");
    check(1, (uint64_t[]){3}, 1, "0.0\n0.5\n-1.0\n");
    check(2, (uint64_t[]){2, 3}, 1, "0.0,0.5,-1.0\n1.5e-07,inf,-inf\n");
    check(2, (uint64_t[]){3, 1}, 1, "0.0\n0.5\n-1.0\n");
    check(3, (uint64_t[]){2, 2, 2}, 1, "0.0,0.5\n-1.0,1.5e-07\ninf,-inf\nnan,8.0\n");
    check(2, (uint64_t[]){0, 3}, 1, "");
    check(2, (uint64_t[]){1, 2}, 2, "0.0,0.5\n-1.0,1.5e-07\n");
}

static void integers_and_bools(void **unused)
{
    (void)unused;
    const int32_t buckets[] = {0, -7, INT32_MIN, INT32_MAX};
    const bool mask[] = {true, false};
    const struct pe_tensor i32 = tensor_of("bucket", PE_DTYPE_I32, 2, (uint64_t[]){2, 2}, true);
    struct api_table table = table_of("csv", &i32, 1);
    for (uint64_t portion = 1; portion < 5; portion++) {
        struct body body = written(&table, (const void *[]){buckets}, portion, false);
        assert_string_equal(body.at, "0,-7\n-2147483648,2147483647\n");
        free(body.at);
    }
    const struct pe_tensor flag = tensor_of("mask", PE_DTYPE_BOOL, 2, (uint64_t[]){1, 2}, false);
    table = table_of("csv", &flag, 1);
    struct body body = written(&table, (const void *[]){mask}, 1, false);
    assert_string_equal(body.at, "1,0\n");
    free(body.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_line_for_each_row),
                                       cmocka_unit_test(integers_and_bools)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
