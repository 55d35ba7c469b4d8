/* SPDX-License-Identifier: MIT
 *
 * test_api_precision.c: /v1/tables/{kind}/precision: what it says of right and of rounded tables,
 * and what it refuses.
 */
#include "test_api_kit.h"

#include <stdio.h>

static double number(json_t *p, const char *name)
{
    json_t *m = json_object_get(p, name);
    if (!json_is_number(m))
        fail_msg("no number %s", name);
    return json_number_value(m);
}

static json_t *ask(const char *target, struct api_plan **plan)
{
    *plan = kit_get(target);
    if ((*plan)->status != 200)
        fail_msg("%s: %d %.*s", target, (*plan)->status, (int)(*plan)->text.len, (*plan)->text.at);
    return kit_json(*plan);
}

static void test_exact(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"f64", "f32", "f16", "bf16"};
    for (int i = 0; i < 4; i++) {
        char target[120];
        struct api_plan *plan;
        snprintf(target, sizeof target, "/v1/tables/rope/precision?width=16&length=500&dtype=%s",
                 dtypes[i]);
        json_t *p = ask(target, &plan);
        assert_string_equal(kit_header(plan, "Content-Type"), "application/json");
        assert_non_null(kit_header(plan, "ETag"));
        assert_string_equal(json_string_value(json_object_get(p, "examined")), "every row");
        assert_true(number(p, "max_ulp_error") <= 0.5 && number(p, "max_ulp_error") > 0.4);
        assert_true(number(p, "max_abs_error") > 0);
        json_t *cos = json_object_get(json_object_get(p, "tensors"), "cos");
        assert_string_equal(json_string_value(json_object_get(cos, "dtype")), dtypes[i]);
        assert_int_equal(json_integer_value(json_object_get(cos, "rows_examined")), 500);
        json_decref(p);
        api_plan_free(&plan);
    }
}

/* Position 131071 of width 128 is where float32 is off by 4.15e-3 (a cosine); positions before it
 * by less. */
static void test_float32(void **state)
{
    (void)state;
    struct api_plan *plan;
    json_t *p = ask(
        "/v1/tables/rope/precision.json?width=128&positions=1000,131071&arithmetic=float32&rev=1",
        &plan);
    json_t *at = json_object_get(p, "max_abs_error_at");
    assert_true(number(p, "max_abs_error") > 4.1e-3 && number(p, "max_abs_error") < 5e-3);
    assert_int_equal(json_integer_value(json_object_get(at, "position")), 131071);
    assert_true(json_is_integer(json_object_get(at, "channel")));
    assert_int_equal(json_array_size(json_object_get(at, "index")), 2);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(at, "index"), 0)), 1);
    json_decref(p);
    api_plan_free(&plan);
}

static void test_places(void **state)
{
    (void)state;
    struct api_plan *plan;
    json_t *p = ask("/v1/tables/axial_rope/precision?width=8&height=3&columns=4", &plan);
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(p, "max_abs_error_at"), "position")), 2);
    json_decref(p);
    api_plan_free(&plan);
    p = ask("/v1/tables/alibi/precision?width=12&length=9&queries=9", &plan);
    json_t *bias = json_object_get(json_object_get(p, "tensors"), "bias");
    json_t *at = json_object_get(bias, "max_ulp_error_at");
    assert_null(json_object_get(at, "position"));
    assert_int_equal(json_array_size(json_object_get(at, "index")), 3);
    json_decref(p);
    api_plan_free(&plan);
}

/* However long the table, the work is that of some rows. */
static void test_bounded(void **state)
{
    (void)state;
    struct api_plan *plan;
    json_t *p = ask("/v1/tables/sinusoidal/precision?width=64&length=4503599627370496", &plan);
    json_t *weight = json_object_get(json_object_get(p, "tensors"), "weight");
    assert_string_equal(json_string_value(json_object_get(p, "examined")),
                        "rows spread evenly from the first to the last");
    assert_true(json_integer_value(json_object_get(weight, "rows_examined")) <= 16384);
    assert_true(json_integer_value(json_object_get(weight, "rows")) == INT64_C(1) << 52);
    json_decref(p);
    api_plan_free(&plan);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        int status;
        const char *parameter;
    } cases[] = {
        {"/v1/tables/t5/precision?length=4", 404, ""},
        {"/v1/tables/nosuch/precision", 404, ""},
        {"/v1/tables/rope/precision?width=8", 400, "length"},
        {"/v1/tables/rope/precision?width=8&length=4&tensor=cos", 400, "tensor"},
        {"/v1/tables/rope/precision?width=8&length=4&dtype=f8", 400, "dtype"},
        {"/v1/tables/rope/precision.npy?width=8&length=4", 406, ""},
        {"/v1/tables/rope/precision.xml?width=8&length=4", 404, ""},
        {"/v1/tables/rope/precision?width=8&length=4&format=npy", 406, ""},
        {"/v1/tables/rope/precision?width=8&length=4&rev=999", 409, "rev"},
        {"/v1/tables/rope/precision?width=8194&length=4", 413, "width"},
        {"/v1/tables/rope/precision?width=8&length=4&arithmetic=float32&base=1e39", 400, "base"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_plan *plan = kit_get(cases[i].target);
        json_t *p = kit_problem(plan, cases[i].status);
        char *parameter = kit_member(p, "parameter");
        assert_string_equal(parameter, cases[i].parameter);
        free(parameter);
        json_decref(p);
        api_plan_free(&plan);
    }
}

static void test_post(void **state)
{
    (void)state;
    struct api_plan *plan =
        kit_post("/v1/tables/rope/precision?width=8", "{\"positions\":[[1,2],[3,4]]}");
    assert_int_equal(plan->status, 200);
    json_t *p = kit_json(plan);
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(p, "max_abs_error_at"), "index")), 3);
    json_decref(p);
    api_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),    cmocka_unit_test(test_float32),
        cmocka_unit_test(test_places),   cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_post),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
