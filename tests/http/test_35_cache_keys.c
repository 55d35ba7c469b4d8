/* SPDX-License-Identifier: MIT
 *
 * test_35_cache_keys.c: a cache that misses a parameter serves one configuration another's table.
 * Tables that differ in one parameter each are asked for in order, backwards, and mixed; every
 * answer is that of a daemon that was asked for nothing else before.
 */
#include "kit/kit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROPE "/v1/tables/rope.bin?"

/* cos and sin of the second pair in row 1, where the table has such a place. */
static const struct {
    const char *target;
    double c, s;
} tables[] = {
    {ROPE "length=4&width=4", 0.9999500004166653, 0.009999833334166664},
    {ROPE "length=4&width=8", 0.9950041652780258, 0.09983341664682815},
    {ROPE "length=4&width=4&base=1000000", 0.9999995000000417, 0.0009999998333333417},
    {ROPE "length=4&width=4&base=10001", 0.999950005416082, 0.009999333396660207},
    {ROPE "length=4&width=4&offset=4", 0.9987502603949663, 0.04997916927067833},
    {ROPE "length=4&width=4&rope_type=linear&factor=4", 0.9999968750016276, 0.002499997395834147},
    {ROPE "length=4&width=4&dtype=bf16", 0, 0},
    {ROPE "length=4&width=4&layout=interleaved", 0, 0},
    {ROPE "length=4096&width=4", 0.9999500004166653, 0.009999833334166664},
    {ROPE "positions=3,2,1,0&width=4", 0, 0},
    {ROPE "length=4&width=4&inverse=true", 0.9999500004166653, -0.009999833334166664},
    {"/v1/tables/rope.npy?length=4&width=4", 0, 0},
    {"/v1/tables/rope.json?length=4&width=4", 0, 0},
};
enum { TABLES = sizeof tables / sizeof *tables };

static struct kit_answer alone[TABLES];

static void hold_values(size_t i, const struct kit_answer *a)
{
    float v[2];
    size_t plane = a->size / 2, width = i == 1 ? 4 : 2;
    if (tables[i].c == 0)
        return;
    memcpy(&v[0], a->body + 4 * (width + 1), 4);
    memcpy(&v[1], a->body + plane + 4 * (width + 1), 4);
    assert_true(fabs((double)v[0] - tables[i].c) < 1e-7);
    assert_true(fabs((double)v[1] - tables[i].s) < 1e-8);
}

static void each_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < TABLES; i++) {
        struct kit_daemon d;
        kit_start(&d, NULL);
        kit_get(&d, tables[i].target, NULL, &alone[i]);
        assert_int_equal(alone[i].status, 200);
        hold_values(i, &alone[i]);
        assert_int_equal(kit_stop(&d), 0);
    }
}

static void one_after_the_other(void **state)
{
    (void)state;
    struct kit_daemon d;
    kit_start(&d, NULL);
    for (size_t step = 1; step < TABLES;
         step++) { /* 13 is prime: each step is a walk through all */
        for (size_t k = 0; k < TABLES; k++) {
            size_t i = (k * step + step) % TABLES;
            struct kit_answer a;
            kit_get(&d, tables[i].target, NULL, &a);
            assert_int_equal(a.status, 200);
            if (a.size != alone[i].size || memcmp(a.body, alone[i].body, a.size))
                fail_msg("%s differs from that of a fresh daemon", tables[i].target);
            kit_free(&a);
        }
    }
    assert_int_equal(kit_stop(&d), 0);
}

static int end(void **state)
{
    (void)state;
    for (size_t i = 0; i < TABLES; i++)
        kit_free(&alone[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_alone),
        cmocka_unit_test(one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
