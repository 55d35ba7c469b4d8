/* SPDX-License-Identifier: MIT
 *
 * test_relative.c: buckets of t5 and deberta against their definition in integers, slopes and
 * biases of alibi against products in MPFR.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include "dtype.h"
#include "relative/boundaries.h"

#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- boundaries */

/* a^power * b^other <=> c^power2 * d^other2 is what every bucket comes down to. */
static int compare(const uint64_t left[4], const uint64_t right[4])
{
    mpz_t x, y, z;
    int order;
    mpz_inits(x, y, z, NULL);
    mpz_ui_pow_ui(x, left[0], left[1]);
    mpz_ui_pow_ui(z, left[2], left[3]);
    mpz_mul(x, x, z);
    mpz_ui_pow_ui(y, right[0], right[1]);
    mpz_ui_pow_ui(z, right[2], right[3]);
    mpz_mul(y, y, z);
    order = mpz_cmp(x, y);
    mpz_clears(x, y, z, NULL);
    return order;
}

/* Integer a <=> from (to / from)^(k / steps), that is a^steps from^k <=> to^k from^steps. */
static int against(uint64_t a, const struct pe__logarithmic *l, uint64_t k)
{
    const uint64_t left[] = {a, (uint64_t)l->steps, (uint64_t)l->from, k};
    const uint64_t right[] = {(uint64_t)l->to, k, (uint64_t)l->from, (uint64_t)l->steps};
    return compare(left, right);
}

static void check_boundaries(const struct pe__logarithmic *l, size_t count)
{
    int64_t *at = malloc(count * sizeof *at);
    size_t n;
    assert_non_null(at);
    n = pe__boundaries(l, 0, count, at);
    for (size_t k = 0; k < n; k++) {
        int here = against((uint64_t)at[k], l, k), below = against((uint64_t)at[k] - 1, l, k);
        assert_true(l->strict ? here > 0 && below <= 0 : here >= 0 && below < 0);
    }
    if (n < count) /* the limit itself is not there yet */
        assert_true(against((uint64_t)l->limit, l, n) < (l->strict ? 1 : 0));
    free(at);
}

static void test_boundaries(void **state)
{
    static const int64_t ladders[][3] = {
        {8, 128, 8},   {16, 128, 16},   {16, 64, 16},  {1, 2, 1},     {1, 1024, 10}, {1, 1024, 15},
        {27, 64, 9},   {128, 511, 127}, {5, 405, 4},   {3, 768, 12},  {2, 162, 8},   {7, 8, 30},
        {100, 101, 7}, {12, 300, 6},    {1, 59049, 5}, {1, 59049, 20}};
    (void)state;
    for (size_t i = 0; i < sizeof ladders / sizeof *ladders; i++)
        for (int strict = 0; strict < 2; strict++) {
            struct pe__logarithmic l = {ladders[i][0], ladders[i][1], ladders[i][2], strict,
                                        1 << 20};
            check_boundaries(&l, 60);
        }
    /* the next to integers that are no powers */
    struct pe__logarithmic far = {1, (INT64_C(1) << 53) - 1, 53, true, PE_POSITION_END};
    check_boundaries(&far, 60);
}

/* ---------------------------------------------------------------- buckets */

/* Bucket of key - query; the greatest k with (max/m)^k <= (a/m)^(n-m), found by trying. */
static int32_t t5_bucket(const struct pe_spec *s, int64_t rel)
{
    int64_t n = s->num_buckets, out = 0, a = rel > 0 ? 0 : -rel, m, k = 0;
    if (s->bidirectional) {
        n /= 2;
        out = rel > 0 ? n : 0;
        a = rel < 0 ? -rel : rel;
    }
    m = n / 2;
    if (a < m)
        return (int32_t)(out + a);
    if (a >= s->max_distance)
        return (int32_t)(out + n - 1);
    struct pe__logarithmic l = {m, s->max_distance, n - m, false, 0};
    while (against((uint64_t)a, &l, (uint64_t)k + 1) >= 0)
        k++;
    return (int32_t)(out + (m + k < n - 1 ? m + k : n - 1));
}

/* Bucket of query - key; the least k with (top/mid)^k >= (a/mid)^(mid-1). */
static int32_t deberta_bucket(const struct pe_spec *s, int64_t rel)
{
    int64_t mid = s->position_buckets / 2, a = rel < 0 ? -rel : rel, k = 0;
    if (a <= mid)
        return (int32_t)rel;
    struct pe__logarithmic l = {mid, s->max_relative_positions - 1, mid - 1, false, 0};
    while (mid > 1 && against((uint64_t)a, &l, (uint64_t)k) > 0)
        k++;
    return (int32_t)(rel < 0 ? -(mid + k) : mid + k);
}

static void check_buckets(const char *line)
{
    struct kit_spec k;
    struct pe_fault fault;
    struct pe_plan *plan;
    struct pe_tensor t[PE_MAX_TENSORS];
    if (!kit_spec(&k, line, &fault))
        fail_msg("%s: %s", line, fault.text);
    assert_int_equal(pe_spec_tensors(&k.spec, t), 1);
    assert_int_equal(pe_plan_create(&k.spec, &plan), PE_OK);
    int32_t *whole = malloc(t[0].bytes), *part = malloc(t[0].bytes);
    assert_true(whole && part);
    assert_int_equal(pe_fill(plan, 0, t[0].rows, (void *[]){whole}), PE_OK);
    for (uint64_t e = 0; e < t[0].rows; e++) {
        int64_t query = k.spec.offset + (int64_t)(e / t[0].shape[1]),
                key = (int64_t)(e % t[0].shape[1]);
        int32_t want = k.spec.kind == PE_KIND_T5 ? t5_bucket(&k.spec, key - query)
                                                 : deberta_bucket(&k.spec, query - key);
        if (whole[e] != want)
            fail_msg("%s: query %lld, key %lld: %d, not %d", line, (long long)query, (long long)key,
                     whole[e], want);
    }
    for (uint64_t e = 0, n; e < t[0].rows; e += n) {
        n = 1 + e % 37 < t[0].rows - e ? 1 + e % 37 : t[0].rows - e;
        assert_int_equal(pe_fill(plan, e, n, (void *[]){part + e}), PE_OK);
    }
    assert_memory_equal(whole, part, t[0].bytes);
    free(whole);
    free(part);
    pe_plan_destroy(&plan);
    kit_spec_clear(&k);
}

static void test_buckets(void **state)
{
    static const char *const lines[] = {
        "t5?queries=3&length=300&offset=140",
        "t5?queries=3&length=300&offset=140&bidirectional=false",
        "t5?queries=2&length=200&offset=90&num_buckets=33&max_distance=57",
        "t5?queries=2&length=200&offset=90&num_buckets=4&max_distance=2",
        "t5?queries=2&length=200&offset=190&num_buckets=2&max_distance=5&bidirectional=false",
        "t5?queries=2&length=700&offset=600&num_buckets=64&max_distance=512",
        "t5?queries=1&length=50&offset=1000000",
        "deberta?queries=3&length=300&offset=150&position_buckets=32&max_relative_positions=128",
        "deberta?queries=3&length=300&offset=150&position_buckets=32&max_relative_positions=257",
        "deberta?queries=1&length=300&offset=99&position_buckets=16&max_relative_positions=10",
        "deberta?queries=2&length=60&offset=30&position_buckets=2&max_relative_positions=12",
        "deberta?queries=2&length=60&offset=30&position_buckets=5&max_relative_positions=19",
        "deberta?queries=1&length=40&offset=5000&position_buckets=64&max_relative_positions=513",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        check_buckets(lines[i]);
}

/* The last elements of a table that no memory holds. */
static void test_far_buckets(void **state)
{
    struct kit_spec k;
    struct pe_plan *plan;
    int32_t last[4] = {0};
    const uint64_t length = UINT64_C(1) << 40;
    (void)state;
    assert_true(kit_spec(&k, "t5?length=1099511627776&queries=4096", NULL));
    assert_int_equal(pe_plan_create(&k.spec, &plan), PE_OK);
    assert_int_equal(pe_fill(plan, 4096 * length - 4, 4, (void *[]){last}), PE_OK);
    assert_memory_equal(last, ((int32_t[]){3, 2, 1, 0}), sizeof last);
    /* the end of the first query, 4095 keys ahead of it, and the first keys of the second */
    assert_int_equal(pe_fill(plan, length - 2, 4, (void *[]){last}), PE_OK);
    assert_memory_equal(last, ((int32_t[]){31, 31, 15, 15}), sizeof last);
    pe_plan_destroy(&plan);
    kit_spec_clear(&k);
}

/* ---------------------------------------------------------------- alibi */

static void slope(mpfr_ptr out, const struct pe_spec *s, uint64_t head)
{
    uint64_t c = 1;
    while (2 * c <= (uint64_t)s->width)
        c *= 2;
    mpfr_set_d(out, -s->alibi_bias_max, MPFR_RNDN);
    mpfr_mul_ui(out, out, head < c ? 2 * (head + 1) : 2 * (head - c) + 1, MPFR_RNDN);
    mpfr_div_ui(out, out, 2 * c, MPFR_RNDN);
    mpfr_exp2(out, out, MPFR_RNDN);
}

static void want_bias(const struct pe_spec *s, mpfr_srcptr slope, int64_t distance, void *out)
{
    mpfr_t x;
    mpfr_init2(x, 700);
    mpfr_mul_si(x, slope, s->symmetric && distance < 0 ? distance : -distance, MPFR_RNDN);
    if (s->masked && distance < 0)
        mpfr_set_inf(x, -1);
    if (distance == 0)
        mpfr_set_zero(x, 1);
    pe__store_mpfr(x, (enum pe_dtype)s->dtype, out);
    mpfr_clear(x);
}

static void check_alibi(const char *line)
{
    struct kit_spec k;
    struct pe_fault fault;
    struct pe_plan *plan;
    struct pe_tensor t[PE_MAX_TENSORS];
    mpfr_t exact;
    char want[8];
    if (!kit_spec(&k, line, &fault))
        fail_msg("%s: %s", line, fault.text);
    assert_int_equal(pe_spec_tensors(&k.spec, t), 2);
    assert_int_equal(pe_plan_create(&k.spec, &plan), PE_OK);
    char *bias = malloc(t[0].bytes), *slopes = malloc(t[1].bytes);
    size_t size = pe_dtype_size(t[0].dtype);
    assert_true(bias && slopes);
    assert_int_equal(pe_fill(plan, 0, t[0].rows, (void *[]){bias, NULL}), PE_OK);
    assert_int_equal(pe_fill(plan, 0, t[1].rows, (void *[]){NULL, slopes}), PE_OK);
    mpfr_init2(exact, 600);
    for (uint64_t e = 0; e < t[0].rows; e++) {
        uint64_t key = e % t[0].shape[2], query = e / t[0].shape[2] % t[0].shape[1];
        uint64_t head = e / t[0].shape[2] / t[0].shape[1];
        slope(exact, &k.spec, head);
        pe__store_mpfr(exact, t[0].dtype, want);
        assert_memory_equal(slopes + head * size, want, size);
        want_bias(&k.spec, exact, k.spec.offset + (int64_t)query - (int64_t)key, want);
        if (memcmp(bias + e * size, want, size) != 0)
            fail_msg("%s: element %llu", line, (unsigned long long)e);
    }
    mpfr_clear(exact);
    free(bias);
    free(slopes);
    pe_plan_destroy(&plan);
    kit_spec_clear(&k);
}

static void test_alibi(void **state)
{
    static const char *const lines[] = {
        "width=8&length=9&queries=3",
        "width=12&length=40&queries=2&offset=20",
        "width=12&length=40&queries=2&offset=20&symmetric=true",
        "width=12&length=40&queries=2&offset=20&masked=true",
        "width=71&length=7&queries=7&alibi_bias_max=10.5&offset=9007199254740985",
        "width=3&length=300&offset=65521",
        "width=5&length=30&offset=12&alibi_bias_max=1000",
        "width=16&length=30&offset=12&alibi_bias_max=148&symmetric=true",
        "width=2&length=5&offset=2&alibi_bias_max=1e-300",
        "width=2&length=5&offset=2&alibi_bias_max=1e300&masked=true",
    };
    static const char *const dtypes[] = {"f64", "f32", "f16", "bf16"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t d = 0; d < 4; d++) {
            char line[200];
            snprintf(line, sizeof line, "alibi?dtype=%s&%s", dtypes[d], lines[i]);
            check_alibi(line);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_far_buckets),
        cmocka_unit_test(test_alibi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
