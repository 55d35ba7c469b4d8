/* SPDX-License-Identifier: MIT
 *
 * test_format_json.c: whole bodies as text, for shapes of every rank, empty ones, several tensors;
 * then large random ones read back by jansson.
 */
#include "tables.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

static const float numbers[] = {0, 0.5f, -1, 1.5e-7f, 3, 10000, -0.0f, 0.1f, 1e16f, 2, 4, 5};
static const int64_t ids[] = {0, 1, -2, INT64_MAX, INT64_MIN, 5, 6, 7, 8, 9, 10, 11};

static void check(unsigned rank, const uint64_t *shape, bool flat, const char *text)
{
    const struct pe_tensor t = tensor_of("weight", PE_DTYPE_F32, rank, shape, flat);
    const struct api_table table = table_of("json", &t, 1);
    for (uint64_t portion = 1; portion < 4; portion++) {
        struct body body = written(&table, (const void *[]){numbers}, portion, false);
        const char *data = strstr(body.at, "\"data\":");
        assert_non_null(data);
        char want[512];
        snprintf(want, sizeof want, "\"data\":%s}}}\n", text);
        assert_string_equal(data, want);
        free(body.at);
    }
}

static void arrays_nest_as_the_shape_says(void **unused)
{
    (void)unused;
    for (int flat = 0; flat < 2; flat++) {
        check(0, NULL, flat, "0.0");
        check(1, (uint64_t[]){1}, flat, "[0.0]");
        check(1, (uint64_t[]){4}, flat, "[0.0,0.5,-1.0,1.5e-07]");
        check(2, (uint64_t[]){2, 3}, flat, "[[0.0,0.5,-1.0],[1.5e-07,3.0,10000.0]]");
        check(2, (uint64_t[]){3, 1}, flat, "[[0.0],[0.5],[-1.0]]");
        check(3, (uint64_t[]){2, 1, 2}, flat, "[[[0.0,0.5]],[[-1.0,1.5e-07]]]");
        check(3, (uint64_t[]){2, 3, 2}, flat,
              "[[[0.0,0.5],[-1.0,1.5e-07],[3.0,10000.0]],[[-0.0,0.1],[1e+16,2.0],[4.0,5.0]]]");
        check(4, (uint64_t[]){1, 2, 1, 2}, flat, "[[[[0.0,0.5]],[[-1.0,1.5e-07]]]]");
        check(1, (uint64_t[]){0}, flat, "[]");
        check(2, (uint64_t[]){0, 3}, flat, "[]");
        check(2, (uint64_t[]){2, 0}, flat, "[[],[]]");
        check(3, (uint64_t[]){2, 2, 0}, flat, "[[[],[]],[[],[]]]");
        check(3, (uint64_t[]){2, 0, 2}, flat, "[[],[]]");
    }
}

static void whole_body(void **unused)
{
    (void)unused;
    const struct pe_tensor t[] = {
        tensor_of("position_ids", PE_DTYPE_I64, 2, (uint64_t[]){2, 3}, false),
        tensor_of("none", PE_DTYPE_I32, 1, (uint64_t[]){0}, true),
        tensor_of("mask", PE_DTYPE_BOOL, 1, (uint64_t[]){2}, true)};
    const bool mask[] = {true, false};
    struct api_table table = table_of("json", t, 3);
    table.kind = "padded";
    table.parameters = "{\"fill\":0}";
    table.members = "\"warnings\":[]";
    struct body body = written(&table, (const void *[]){ids, NULL, mask}, 1, false);
    assert_string_equal(
        body.at, "{\"kind\":\"padded\",\"parameters\":{\"fill\":0},\"warnings\":[],\"tensors\":{"
                 "\"position_ids\":{\"dtype\":\"i64\",\"shape\":[2,3],\"data\":[[0,1,-2],"
                 "[9223372036854775807,-9223372036854775808,5]]},"
                 "\"none\":{\"dtype\":\"i32\",\"shape\":[0],\"data\":[]},"
                 "\"mask\":{\"dtype\":\"bool\",\"shape\":[2],\"data\":[true,false]}}}\n");
    free(body.at);
    table.tensor = 2;
    table.members = NULL;
    body = written(&table, (const void *[]){ids, NULL, mask}, 2, false);
    assert_string_equal(body.at,
                        "{\"kind\":\"padded\",\"parameters\":{\"fill\":0},\"tensors\":{"
                        "\"mask\":{\"dtype\":\"bool\",\"shape\":[2],\"data\":[true,false]}}}\n");
    free(body.at);
}

static void what_is_not_finite_is_null(void **unused)
{
    (void)unused;
    const struct pe_tensor t = tensor_of("wavelength", PE_DTYPE_F64, 1, (uint64_t[]){4}, true);
    const double data[] = {6.25, INFINITY, -INFINITY, NAN};
    const struct api_table table = table_of("json", &t, 1);
    struct body body = written(&table, (const void *[]){data}, 4, false);
    assert_non_null(strstr(body.at, "\"data\":[6.25,null,null,null]}}}"));
    free(body.at);
}

/* Rows wider than a block of the number writer, in odd portions, against the values. */
static void large_tables_read_back(void **unused)
{
    (void)unused;
    enum { LENGTH = 37, WIDTH = 301 };
    static double data[LENGTH * WIDTH];
    for (int i = 0; i < LENGTH * WIDTH; i++)
        data[i] = i % 97 ? sin(i * 1e-3 * i) : i;
    const struct pe_tensor t =
        tensor_of("weight", PE_DTYPE_F64, 2, (uint64_t[]){LENGTH, WIDTH}, false);
    const struct api_table table = table_of("json", &t, 1);
    for (uint64_t portion = 1; portion < 40; portion += 6) {
        struct body body = written(&table, (const void *[]){data}, portion, false);
        json_t *doc = json_loadb(body.at, body.len, 0, NULL);
        assert_non_null(doc);
        json_t *rows =
            json_object_get(json_object_get(json_object_get(doc, "tensors"), "weight"), "data");
        assert_int_equal(json_array_size(rows), LENGTH);
        for (size_t r = 0; r < LENGTH; r++) {
            json_t *row = json_array_get(rows, r);
            assert_int_equal(json_array_size(row), WIDTH);
            for (size_t c = 0; c < WIDTH; c++) {
                assert_true(json_is_real(json_array_get(row, c)));
                assert_true(json_real_value(json_array_get(row, c)) == data[r * WIDTH + c]);
            }
        }
        json_decref(doc);
        free(body.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_nest_as_the_shape_says),
        cmocka_unit_test(whole_body),
        cmocka_unit_test(what_is_not_finite_is_null),
        cmocka_unit_test(large_tables_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
