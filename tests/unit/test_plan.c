/* SPDX-License-Identifier: MIT
 *
 * test_plan.c: whole tables, from a request to bits: golden values of every kind, the faults that
 * such tables have had elsewhere, and what a plan promises of itself.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include "dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct table {
    struct kit_spec spec;
    struct pe_plan *plan;
    unsigned count;
    struct pe_tensor t[PE_MAX_TENSORS];
    char *at[PE_MAX_TENSORS];
};

static void make(struct table *table, const char *line)
{
    struct pe_fault fault;
    if (!kit_spec(&table->spec, line, &fault))
        fail_msg("%s: %s", line, fault.text);
    assert_int_equal(pe_plan_create(&table->spec.spec, &table->plan), PE_OK);
    table->count = pe_spec_tensors(&table->spec.spec, table->t);
    assert_true(pe_plan_bytes(table->plan) > 0);
    for (unsigned i = 0; i < table->count; i++) {
        void *out[PE_MAX_TENSORS] = {NULL};
        out[i] = table->at[i] = malloc(table->t[i].bytes);
        assert_non_null(out[i]);
        memset(out[i], 0xa5, table->t[i].bytes);
        assert_int_equal(pe_fill(table->plan, 0, table->t[i].rows, out), PE_OK);
    }
}

static void drop(struct table *table)
{
    for (unsigned i = 0; i < table->count; i++)
        free(table->at[i]);
    pe_plan_destroy(&table->plan);
    assert_null(table->plan);
    kit_spec_clear(&table->spec);
}

static unsigned tensor(const struct table *table, const char *name)
{
    for (unsigned i = 0; i < table->count; i++)
        if (strcmp(table->t[i].name, name) == 0)
            return i;
    fail_msg("no tensor %s", name);
    return 0;
}

static double value(const struct table *table, const char *name, uint64_t element)
{
    unsigned i = tensor(table, name);
    assert_true(element < table->t[i].rows * table->t[i].row_elements);
    return pe__load_f64(table->at[i] + element * pe_dtype_size(table->t[i].dtype),
                        table->t[i].dtype);
}

/* ---------------------------------------------------------------- golden */

static uint64_t bits(const struct table *table, const char *name, uint64_t element)
{
    unsigned i = tensor(table, name);
    size_t size = pe_dtype_size(table->t[i].dtype);
    uint64_t b = 0;
    assert_true(element < table->t[i].rows * table->t[i].row_elements);
    memcpy(&b, table->at[i] + element * size, size);
    /* the sign of a zero is nobody's concern */
    return table->t[i].dtype != PE_DTYPE_I32 && b << (64 - 8 * size + 1) == 0 ? 0 : b;
}

static void test_golden(void **state)
{
    char *text = kit_file("golden/tables.tsv", NULL), *rest = text, *line;
    struct table table;
    const char *request = NULL;
    int tables = 0, values = 0;
    (void)state;
    while ((line = strsep(&rest, "\n"))) {
        char *name = strsep(&line, "\t"), *index;
        if (!line)
            continue;
        if (strcmp(name, "=") == 0) {
            if (request)
                drop(&table);
            make(&table, request = line);
            tables++;
            continue;
        }
        index = strsep(&line, "\t");
        uint64_t want = strtoull(line, NULL, 16), element = strtoull(index, NULL, 10);
        uint64_t came = bits(&table, name, element);
        if (want << (64 - 4 * strlen(line) + 1) == 0 && strcmp(name, "bucket") != 0)
            want = 0;
        if (came != want)
            fail_msg("%s: %s[%s] is %llx, not %s", request, name, index, (unsigned long long)came,
                     line);
        values++;
    }
    drop(&table);
    free(text);
    assert_true(tables > 400 && values > 9000);
}

/* ---------------------------------------------------------------- faults of others */

/* A factor list chosen by the last position, and nothing remembered. */
static void test_length_dependent(void **state)
{
#define LONGROPE                                                                         \
    "rope?width=8&dtype=f64&rope_type=longrope&short_factor=1,1,1,1&long_factor=1,2,4,8" \
    "&original_max_position_embeddings=4096&max_position_embeddings=131072&"
    static const struct {
        const char *line;
        uint64_t element;
        double cos;
    } rows[] = {{LONGROPE "length=4096", 4095 * 4 + 3, -0.6890384958933095},
                {LONGROPE "length=4097", 4095 * 4 + 3, 1.0376824508988478},
                {LONGROPE "length=4097", 4096 * 4 + 3, 1.037609568564257},
                {LONGROPE "length=8", 1 * 4 + 3, 1.1902374763048222},
                {LONGROPE "length=1&offset=4096", 3, 1.037609568564257},
                {LONGROPE "length=1&offset=4095", 3, -0.6890384958933095}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct table table;
        make(&table, rows[i].line);
        assert_true(fabs(value(&table, "cos", rows[i].element) - rows[i].cos) < 1e-15);
        drop(&table);
    }
}

/* Positions and frequencies that went through a narrow type before the angle was formed. */
static void test_far_rows(void **state)
{
    static const struct {
        const char *line;
        uint64_t element;
        double cos, tolerance;
    } rows[] = {
        {"rope?width=2&dtype=bf16&offset=256&length=2", 0, -0.039794921875, 0},
        {"rope?width=2&dtype=bf16&offset=256&length=2", 1, 0.8203125, 0},
        {"rope?width=2&dtype=f16&offset=2048&length=2", 1, 0.7763671875, 0},
        {"rope?width=2&dtype=f16&offset=65520&length=1", 0, 0.491943359375, 0},
        {"rope?width=2&offset=16777216&length=2", 1, 0.9943839639136522, 3e-8},
        {"rope?width=2&offset=131071&length=1", 0, -0.8179834993879491, 3e-8},
        {"rope?width=128&offset=4095&length=1", 1, -0.7423658176100362, 3e-8},
        {"rope?width=128&dtype=f64&offset=1000000&length=1", 1, -0.9998661568057511, 2e-16}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct table table;
        make(&table, rows[i].line);
        assert_true(fabs(value(&table, "cos", rows[i].element) - rows[i].cos) <= rows[i].tolerance);
        drop(&table);
    }
}

/* Column layouts, odd and tiny widths. */
static void test_columns(void **state)
{
    const double c1 = 0.5403023058681398, c2 = 0.9999500004166653, s1 = 0.8414709848078965,
                 s2 = 0.009999833334166664;
    const struct {
        const char *line, *name;
        double row[5];
    } rows[] = {
        {"rope?width=4&layout=split", "cos", {c1, c2, c1, c2}},
        {"rope?width=4&layout=interleaved", "cos", {c1, c1, c2, c2}},
        {"sinusoidal?width=4", "weight", {s1, c1, s2, c2}},
        {"sinusoidal?width=4&layout=split", "weight", {s1, s2, c1, c2}},
        {"sinusoidal?width=4&order=cos", "weight", {c1, s1, c2, s2}},
        {"sinusoidal?width=4&order=cos&layout=split", "weight", {c1, c2, s1, s2}},
        {"sinusoidal?width=4&scale=-1", "weight", {-s1, c1, -s2, c2}},
        {"sinusoidal?width=5&odd=zero", "weight", {s1, c1, s2, c2, 0}},
        {"sinusoidal?width=1&odd=sine", "weight", {s1}},
        {"sinusoidal?width=1&odd=zero", "weight", {0}},
        {"sinusoidal?width=3&odd=sine&order=cos", "weight", {c1, s1, 0.0021544330233656027}},
        {"sinusoidal?width=3&odd=sine&layout=split", "weight", {s1, 0.0021544330233656027, c1}},
        {"sinusoidal?width=2&ladder=closed", "weight", {s1, c1}},
        {"sinusoidal?width=4&padding_idx=1", "weight", {0, 0, 0, 0}},
        {"sinusoidal?width=4&scale=0", "weight", {0, 1, 0, 1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct table table;
        char line[200];
        snprintf(line, sizeof line, "%s&dtype=f64&offset=1&length=1", rows[i].line);
        make(&table, line);
        for (uint64_t c = 0; c < table.t[0].row_elements; c++)
            if (fabs(value(&table, rows[i].name, c) - rows[i].row[c]) > 1e-16)
                fail_msg("%s: column %d is %.17g", line, (int)c, value(&table, rows[i].name, c));
        drop(&table);
    }
}

/* ---------------------------------------------------------------- promises */

static void test_refusals(void **state)
{
    struct kit_spec k;
    struct pe_plan *plan;
    struct pe_spec bad;
    float row[8];
    (void)state;
    assert_true(kit_spec(&k, "sinusoidal?length=5&width=8", NULL));
    assert_int_equal(pe_plan_create(&k.spec, &plan), PE_OK);
    assert_int_equal(pe_fill(plan, 4, 1, (void *[]){row}), PE_OK);
    assert_int_equal(pe_fill(plan, 5, 0, (void *[]){row}), PE_OK);
    assert_int_equal(pe_fill(plan, 5, 1, (void *[]){row}), PE_INVALID);
    assert_int_equal(pe_fill(plan, 4, 2, (void *[]){row}), PE_INVALID);
    assert_int_equal(pe_fill(plan, UINT64_MAX, 2, (void *[]){row}), PE_INVALID);
    assert_int_equal(pe_fill(plan, 0, 5, (void *[]){NULL}), PE_OK);
    pe_plan_destroy(&plan);
    pe_plan_destroy(&plan);
    bad = k.spec;
    bad.width = 7;
    assert_int_equal(pe_plan_create(&bad, &plan), PE_INVALID);
    assert_null(plan);
    kit_spec_clear(&k);
}

/* A plan keeps what it needs of its spec. */
static void test_lists_are_copied(void **state)
{
    struct kit_spec k;
    struct pe_plan *plan;
    double before[3], after[3];
    (void)state;
    assert_true(kit_spec(&k, "rope?positions=5,6,7&width=2&dtype=f64", NULL));
    assert_int_equal(pe_plan_create(&k.spec, &plan), PE_OK);
    assert_int_equal(pe_fill(plan, 0, 3, (void *[]){before, NULL}), PE_OK);
    kit_spec_clear(&k);
    assert_int_equal(pe_fill(plan, 0, 3, (void *[]){after, NULL}), PE_OK);
    assert_memory_equal(before, after, sizeof before);
    pe_plan_destroy(&plan);
}

/* The last rows of a table of 2^50 rows cost what a row costs. */
static void test_last_rows(void **state)
{
    struct kit_spec k;
    struct pe_plan *plan;
    struct table table;
    float rows[2][8];
    (void)state;
    assert_true(kit_spec(&k, "sinusoidal?length=1125899906842624&width=8", NULL));
    assert_int_equal(pe_plan_create(&k.spec, &plan), PE_OK);
    assert_int_equal(pe_fill(plan, (UINT64_C(1) << 50) - 2, 2, (void *[]){rows}), PE_OK);
    make(&table, "sinusoidal?positions=1125899906842622,1125899906842623&width=8");
    assert_memory_equal(rows, table.at[0], sizeof rows);
    drop(&table);
    pe_plan_destroy(&plan);
    kit_spec_clear(&k);
}

/* bf16 values carried in f32: the same values, for every producer of floats. */
static void test_carried(void **state)
{
    static const char *const lines[] = {
        "rope?length=70&width=8&layout=split", "xpos?length=70&width=34",
        "alibi?width=12&length=50&queries=3",  "sinusoidal?length=5&width=6",
        "sinusoidal/shift?width=6&offset=9",   "sinusoidal/similarity?width=514&max_offset=20"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[200];
        struct table narrow;
        struct pe_plan *plan;
        snprintf(line, sizeof line, "%s&dtype=bf16", lines[i]);
        make(&narrow, line);
        struct pe_spec wide = narrow.spec.spec;
        wide.dtype = PE_DTYPE_BF16_AS_F32;
        assert_int_equal(pe_plan_create(&wide, &plan), PE_OK);
        for (unsigned t = 0; t < narrow.count; t++) {
            uint64_t elements = narrow.t[t].rows * narrow.t[t].row_elements;
            float *at = malloc(elements * sizeof *at);
            void *out[PE_MAX_TENSORS] = {NULL};
            assert_non_null(out[t] = at);
            assert_int_equal(pe_fill(plan, 0, narrow.t[t].rows, out), PE_OK);
            for (uint64_t e = 0; e < elements; e++)
                assert_true((double)at[e] == value(&narrow, narrow.t[t].name, e));
            free(at);
        }
        pe_plan_destroy(&plan);
        drop(&narrow);
    }
}

static void test_unit_circle(void **state)
{
    struct table table;
    (void)state;
    make(&table, "rope?length=5000&offset=123456789&width=16&base=500000");
    for (uint64_t e = 0; e < 5000 * 8; e++) {
        double c = value(&table, "cos", e), s = value(&table, "sin", e);
        assert_true(fabs(c * c + s * s - 1) < 2e-7);
    }
    drop(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),    cmocka_unit_test(test_length_dependent),
        cmocka_unit_test(test_far_rows),  cmocka_unit_test(test_columns),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_lists_are_copied),
        cmocka_unit_test(test_last_rows), cmocka_unit_test(test_unit_circle),
        cmocka_unit_test(test_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
