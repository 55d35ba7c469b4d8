/* SPDX-License-Identifier: MIT
 *
 * test_staged.c: arithmetic=float32 gives what model code computed, to the ulps that its own
 * kernels are allowed, and what another implementation of correctly rounded steps computed, to the
 * bit.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include "dtype.h"
#include "staged/staged_trig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- sine and cosine */

static float from_bits(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static uint32_t to_bits(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static void test_hard_arguments(void **state)
{
    (void)state;
    char *text = kit_file("golden/sincos32.tsv", NULL), *rest = text, *line;
    int lines = 0;
    while ((line = strsep(&rest, "\n"))) {
        unsigned x, s, c;
        float in[2], sin[2], cos[2];
        if (*line == '#' || sscanf(line, "%x\t%x\t%x", &x, &s, &c) != 3)
            continue;
        in[0] = from_bits(x);
        in[1] = -in[0];
        pe__sincos32(in, 2, sin, cos);
        if (to_bits(sin[0]) != s || to_bits(cos[0]) != c)
            fail_msg("%08x: %08x %08x, not %08x %08x", x, to_bits(sin[0]), to_bits(cos[0]), s, c);
        assert_int_equal(to_bits(sin[1]), s ^ 0x80000000);
        assert_int_equal(to_bits(cos[1]), c);
        lines++;
    }
    assert_true(lines > 60);
    free(text);
}

/* Two ways to the same rounding, over every exponent from 2^-14 up. */
static void test_ways_agree(void **state)
{
    (void)state;
    uint32_t seed = 1;
    float x[61], sin[61], cos[61];
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < 61; i++) {
            seed = seed * 1664525 + 1013904223;
            x[i] = from_bits((seed >> 9) | (uint32_t)(113 + (round * 61 + i) % 142) << 23);
        }
        pe__sincos32(x, 61, sin, cos);
        for (int i = 0; i < 61; i++) {
            float s, c;
            pe__sincos32_wide(x[i], &s, &c);
            if (to_bits(s) != to_bits(sin[i]) || to_bits(c) != to_bits(cos[i]))
                fail_msg("sine and cosine of %a", (double)x[i]);
        }
    }
}

/* ---------------------------------------------------------------- tables */

struct table {
    struct kit_spec text;
    struct pe_tensor tensors[PE_MAX_TENSORS];
    unsigned count;
    void *data[PE_MAX_TENSORS];
};

static void make(struct table *t, const char *line)
{
    struct pe_plan *plan;
    struct pe_fault fault;
    if (!kit_spec(&t->text, line, &fault))
        fail_msg("%s: %s", line, fault.text);
    t->count = pe_spec_tensors(&t->text.spec, t->tensors);
    assert_int_equal(pe_plan_create(&t->text.spec, &plan), PE_OK);
    for (unsigned i = 0; i < t->count; i++)
        t->data[i] = malloc(t->tensors[i].bytes);
    assert_int_equal(pe_fill(plan, 0, t->tensors[0].rows, t->data), PE_OK);
    pe_plan_destroy(&plan);
}

static void drop(struct table *t)
{
    for (unsigned i = 0; i < t->count; i++)
        free(t->data[i]);
    kit_spec_clear(&t->text);
}

static unsigned find(const struct table *t, const char *name)
{
    for (unsigned i = 0; i < t->count; i++)
        if (strcmp(t->tensors[i].name, name) == 0)
            return i;
    fail_msg("no tensor %s", name);
    return 0;
}

static uint64_t element(const struct table *t, unsigned i, uint64_t row, uint64_t e)
{
    size_t size = pe_dtype_size(t->tensors[i].dtype);
    uint64_t bits = 0;
    memcpy(&bits, (char *)t->data[i] + (row * t->tensors[i].row_elements + e) * size, size);
    return bits;
}

/* Bit patterns in the order of their values; both zeros are 0. */
static int64_t order(uint64_t bits, size_t size)
{
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return bits & sign ? -(int64_t)(bits ^ sign) : (int64_t)bits;
}

static void check_sample(const struct table *t, const char *line, const char *sample, int ulps)
{
    char name[16];
    unsigned long long row, e, want;
    double tolerance = 0;
    if (sscanf(sample, "%15s %llu %llu %llx %lf", name, &row, &e, &want, &tolerance) < 4)
        fail_msg("not a sample: %s", sample);
    unsigned i = find(t, name);
    enum pe_dtype dtype = t->tensors[i].dtype;
    size_t size = pe_dtype_size(dtype);
    uint64_t came = element(t, i, row, e), bits = want;
    int64_t gap = llabs(order(came, size) - order(bits, size));
    double off = fabs(pe__load_f64(&came, dtype) - pe__load_f64(&bits, dtype));
    if (gap > ulps && !(off <= tolerance))
        fail_msg("%s: %s[%llu, %llu] is %llx, not %llx (%lld ulps)", line, name, row, e,
                 (unsigned long long)came, want, (long long)gap);
}

static void test_known_answers(void **state)
{
    (void)state;
    char *text = kit_file("golden/staged.tsv", NULL), *rest = text, *line;
    int lines = 0;
    while ((line = strsep(&rest, "\n"))) {
        if (*line == '#' || !*line)
            continue;
        char *ulps = strsep(&line, "\t"), *spec = strsep(&line, "\t"), *sample;
        struct table t;
        make(&t, spec);
        while ((sample = strsep(&line, ";")))
            check_sample(&t, spec, sample, atoi(ulps));
        drop(&t);
        lines++;
    }
    assert_int_equal(lines, 200);
    free(text);
}

/* Beyond 2^24 neighbouring positions are one float32. */
static void test_positions_collide(void **state)
{
    (void)state;
    struct table t;
    make(&t, "rope?width=8&positions=16777216,16777217,16777218&arithmetic=float32&dtype=f64");
    for (uint64_t e = 0; e < 4; e++) {
        assert_true(element(&t, 0, 0, e) == element(&t, 0, 1, e));
        assert_true(element(&t, 0, 0, e) != element(&t, 0, 2, e));
    }
    drop(&t);
}

/* cos 49043 = -0.91992185331..., a float32 on the boundary between two bf16: a cast from float32 is
 * a second rounding, which the exact arithmetic does not have. */
static void test_second_rounding(void **state)
{
    (void)state;
    struct table t;
    make(&t, "rope?width=128&positions=49043&dtype=bf16&arithmetic=float32");
    assert_int_equal(element(&t, find(&t, "cos"), 0, 0), 0xbf6c);
    drop(&t);
    make(&t, "rope?width=128&positions=49043&dtype=bf16");
    assert_int_equal(element(&t, find(&t, "cos"), 0, 0), 0xbf6b);
    drop(&t);
}

/* A row depends on nothing but its position. */
static void test_rows_stand_alone(void **state)
{
    (void)state;
    struct table all, one;
    char line[200];
    make(&all,
         "sinusoidal?width=70&offset=4090&length=40&arithmetic=float32&dtype=bf16&layout=split");
    for (uint64_t row = 0; row < 40; row++) {
        snprintf(line, sizeof line,
                 "sinusoidal?width=70&positions=%d&arithmetic=float32&dtype=bf16&layout=split",
                 4090 + (int)row);
        make(&one, line);
        for (uint64_t e = 0; e < 70; e++)
            assert_int_equal(element(&one, 0, 0, e), element(&all, 0, row, e));
        drop(&one);
    }
    drop(&all);
}

/* Numbers with which a step would leave float32. */
static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum pe_param param;
    } cases[] = {
        {"rope?width=8&length=1&arithmetic=float32&base=3.5e38", PE_PARAM_BASE},
        {"rope?width=8&length=1&arithmetic=float32&rope_type=linear&factor=1e-12", PE_PARAM_FACTOR},
        {"rope?width=8&length=1&arithmetic=float32&rope_type=linear&factor=1e39", PE_PARAM_FACTOR},
        {"sinusoidal?width=8&length=1&arithmetic=float32&scale=-1e30", PE_PARAM_SCALE},
        {"rope?width=4&length=1&arithmetic=float32&rope_type=longrope&short_factor=1,1&long_factor="
         "1,1e-30&factor=2"
         "&original_max_position_embeddings=8",
         PE_PARAM_LONG_FACTOR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit_spec k;
        struct pe_fault fault;
        assert_false(kit_spec(&k, cases[i].line, &fault));
        assert_int_equal(fault.error, PE_RANGE);
        assert_int_equal(fault.param, cases[i].param);
        kit_spec_clear(&k);
    }
    struct table t;
    make(&t, "rope?width=8&length=2&base=3.4028235e38&arithmetic=float32");
    assert_true(isfinite(pe__load_f64(t.data[0], PE_DTYPE_F32)));
    drop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hard_arguments),  cmocka_unit_test(test_ways_agree),
        cmocka_unit_test(test_known_answers),   cmocka_unit_test(test_positions_collide),
        cmocka_unit_test(test_second_rounding), cmocka_unit_test(test_rows_stand_alone),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
