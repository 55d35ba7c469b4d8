/* SPDX-License-Identifier: MIT
 *
 * test_server_plans.c: plans that are remembered, replaced, and made on the pool; orders with
 * several owners.
 */
#include "cache/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct order *order_of(const char *query, unsigned n)
{
    static const struct api_limits limits = {.max_json_values = 1 << 22};
    char target[256];
    int len = snprintf(target, sizeof target, "/v1/tables/%s", query);
    if (!strstr(query, "alibi")) /* the one kind here that has no base */
        snprintf(target + len, sizeof target - (size_t)len, "&base=%u.5", 1000 + n);
    struct api_request r = {
        .method = "GET", .target = {target, strlen(target)}, .request_id = "t", .limits = &limits};
    struct api_plan *plan = api_plan(&r);
    assert_non_null(plan);
    assert_int_equal(plan->source, API_TABLE);
    struct order *o = order_take(&plan);
    assert_non_null(o);
    assert_null(plan);
    return o;
}

static void remembered_while_owned_or_not(void **state)
{
    struct plans *p = plans_open(1 << 20);
    struct order *o = order_of("rope.bin?length=9&width=8", 0);
    (void)state;
    struct shared_plan *one = plans_get(p, o), *other = plans_get(p, o);
    assert_non_null(one);
    assert_ptr_equal(one, other);
    plans_drop(&one);
    plans_drop(&other);
    assert_null(other);
    struct shared_plan *again = plans_try(p, o);
    assert_non_null(again);
    plans_close(&p); /* forgets it; its owner keeps it */
    assert_true(pe_plan_bytes(again->plan) > 0);
    plans_drop(&again);
    order_drop(&o);
}

static void many_replace_each_other(void **state)
{
    struct plans *p = plans_open(64 << 10);
    (void)state;
    for (unsigned i = 0; i < 600; i++) {
        struct order *o = order_of("sinusoidal.bin?length=9&width=4", i);
        struct shared_plan *s = plans_get(p, o);
        assert_non_null(s);
        plans_drop(&s);
        order_drop(&o);
    }
    plans_close(&p);
}

/* Rows of one ladder, made one like the other, in a cache that forgets some of them meanwhile. */
static void one_ladder_serves_many_rows(void **state)
{
    static const char *const queries[] = {"rope.bin?length=900&width=16",
                                          "rope.bin?positions=3,70000,9&width=16&dtype=f64",
                                          "rope.bin?offset=5000&length=40&width=16&layout=split",
                                          "sinusoidal.bin?length=40&width=16",
                                          "xpos.bin?length=50&width=16&dtype=bf16",
                                          "alibi.safetensors?length=9&width=16"};
    static const size_t limits[] = {1 << 20, 400 << 10, 1};
    (void)state;
    for (unsigned l = 0; l < 3; l++) {
        struct plans *p = plans_open(limits[l]);
        for (unsigned i = 0; i < 60; i++) {
            struct order *o = order_of(queries[i % 6], i / 6 % 3);
            const struct api_table *t = o->plan->table;
            struct shared_plan *s = plans_get(p, o);
            struct pe_plan *alone;
            assert_non_null(s);
            assert_int_equal(pe_plan_create(&t->spec, &alone), PE_OK);
            for (unsigned k = 0; k < t->tensor_count; k++) {
                static char want[60000], got[60000];
                void *out[PE_MAX_TENSORS] = {NULL};
                assert_true(t->tensors[k].bytes <= sizeof want);
                out[k] = want;
                assert_int_equal(pe_fill(alone, 0, t->tensors[k].rows, out), PE_OK);
                out[k] = got;
                assert_int_equal(pe_fill(s->plan, 0, t->tensors[k].rows, out), PE_OK);
                assert_memory_equal(want, got, t->tensors[k].bytes);
            }
            pe_plan_destroy(&alone);
            plans_drop(&s);
            order_drop(&o);
        }
        plans_close(&p);
    }
}

static void wide_tables_are_not_for_the_loop(void **state)
{
    struct plans *p = plans_open(16 << 20);
    struct order *wide = order_of("sinusoidal.bin?length=9&width=4096", 1);
    (void)state;
    assert_null(plans_try(p, wide));
    struct shared_plan *s = plans_get(p, wide);
    assert_non_null(s);
    plans_drop(&s);
    order_drop(&wide);
    plans_close(&p);
}

static int done_calls;

static void done(struct plans_job *job)
{
    done_calls++;
    *(struct shared_plan **)job->owner = job->plan;
    job->plan = NULL;
}

static void made_on_the_pool(void **state)
{
    uv_loop_t loop;
    struct plans *p = plans_open(1 << 20);
    struct order *o = order_of("sinusoidal.bin?length=9&width=512", 2);
    struct shared_plan *made = NULL, *none = NULL;
    (void)state;
    done_calls = 0;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_non_null(plans_later(p, o, &loop, &made, done));
    struct plans_job *left = plans_later(p, o, &loop, &none, done);
    left->owner = NULL; /* nobody waits for this one */
    order_drop(&o);     /* the jobs have shares of their own */
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(done_calls, 1);
    assert_non_null(made);
    assert_null(none);
    plans_drop(&made);
    assert_int_equal(uv_loop_close(&loop), 0);
    plans_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remembered_while_owned_or_not),
        cmocka_unit_test(many_replace_each_other),
        cmocka_unit_test(one_ladder_serves_many_rows),
        cmocka_unit_test(wide_tables_are_not_for_the_loop),
        cmocka_unit_test(made_on_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
