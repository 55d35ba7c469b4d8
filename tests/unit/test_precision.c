/* SPDX-License-Identifier: MIT
 *
 * test_precision.c: the exact values that errors are measured against, the measure, and what a
 * study finds.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include "dtype.h"
#include "precision/precision.h"
#include "precision/precision_exact.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void read_spec(struct kit_spec *k, const char *line)
{
    struct pe_fault fault;
    if (!kit_spec(k, line, &fault))
        fail_msg("%s: %s", line, fault.text);
}

/* ---------------------------------------------------------------- exact values */

/* Every value of a table is its formula's, rounded once. */
static void check_table(const char *line)
{
    struct kit_spec k;
    struct pe_tensor tensors[PE_MAX_TENSORS];
    struct pe__exact_table *exact;
    struct pe_plan *plan;
    mpfr_t x;
    mpfr_init2(x, 256);
    read_spec(&k, line);
    unsigned count = pe_spec_tensors(&k.spec, tensors);
    assert_int_equal(pe_plan_create(&k.spec, &plan), PE_OK);
    assert_int_equal(pe__exact_table_create(&k.spec, &exact), PE_OK);
    for (unsigned t = 0; t < count; t++) {
        void *out[PE_MAX_TENSORS] = {NULL};
        size_t size = pe_dtype_size(tensors[t].dtype);
        char *values = out[t] = malloc(tensors[t].bytes);
        assert_int_equal(pe_fill(plan, 0, tensors[t].rows, out), PE_OK);
        for (uint64_t i = 0; i < tensors[t].bytes / size; i++) {
            struct pe__place at = {t, i / tensors[t].row_elements, i % tensors[t].row_elements};
            unsigned char want[8];
            pe__exact_value(exact, &at, x);
            pe__store_mpfr(x, tensors[t].dtype, want);
            bool zeros = mpfr_zero_p(x) && pe_value(values + i * size, tensors[t].dtype) == 0;
            if (memcmp(want, values + i * size, size) != 0 && !zeros)
                fail_msg("%s: %s value %llu", line, tensors[t].name, (unsigned long long)i);
        }
        free(values);
    }
    pe__exact_table_destroy(&exact);
    pe_plan_destroy(&plan);
    mpfr_clear(x);
    kit_spec_clear(&k);
}

static void test_tables_are_exact(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "sinusoidal?width=12&offset=1000000&length=9",
        "sinusoidal?width=13&odd=sine&order=cos&positions=-3,0,7&dtype=f64&scale=-2.5",
        "sinusoidal?width=13&odd=sine&layout=split&length=5&dtype=bf16",
        "sinusoidal?width=13&odd=sine&layout=split&order=cos&length=5&dtype=f16",
        "sinusoidal?width=13&odd=zero&ladder=closed&padding_idx=2&length=5",
        "rope?width=10&length=6&dtype=f64",
        "rope?width=10&length=6&layout=split&inverse=true",
        "rope?width=10&length=6&layout=interleaved&dtype=f16",
        "rope?width=10&offset=9007199254740980&length=12&layout=cos_sin",
        "rope?width=10&length=6&layout=complex&dtype=bf16",
        "rope?width=10&length=6&layout=matrix&inverse=true",
        "rope?width=10&positions=-9007199254740992,9007199254740991&layout=phase",
        "rope?width=16&length=40&rope_type=yarn&factor=4&original_max_position_embeddings=16",
        "rope?head_dim=16&length=9&rope_type=proportional&partial_rotary_factor=0.3&factor=2",
        "mrope?width=12&mrope_section=2,2,2&mrope_interleaved=true&positions=1,2,3,40,50,60,7,8,9",
        "mrope?width=12&mrope_section=3,2,1&positions=1,2,3,40,50,60,7,8,9&layout=split&inverse="
        "true",
        "axial_rope?width=12&height=3&columns=5&layout=interleaved",
        "axial_rope?width=12&positions=5,6,7,8",
        "xpos?width=12&offset=30&length=9&dtype=f64",
        "xpos?width=12&length=9&layout=split&scale_base=100&center=-4",
        "grid?width=12&height=3&columns=4&cls_token=true",
        "grid?width=8&height=3&columns=4&order=wh&dtype=f64",
        "alibi?width=12&length=7&queries=3&dtype=f64",
        "alibi?width=8&length=7&queries=7&symmetric=true&dtype=bf16",
        "alibi?width=3&length=6&queries=6&masked=true&alibi_bias_max=4.5",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        check_table(lines[i]);
}

/* cos 1 and sin 1 to 40 digits (OEIS A049470, A049469); the second pair of width 4 turns by 1/100.
 */
static void test_known_values(void **state)
{
    (void)state;
    static const char *const digits[] = {"0.5403023058681397174009366074429766037323",
                                         "0.9999500004166652777802579337522066732125",
                                         "0.8414709848078965066525023216302989996226",
                                         "0.009999833334166664682542438269099729038964"};
    struct kit_spec k;
    struct pe__exact_table *exact;
    mpfr_t x, want;
    mpfr_inits2(256, x, want, (mpfr_ptr)0);
    read_spec(&k, "rope?width=4&positions=1&layout=cos_sin");
    assert_int_equal(pe__exact_table_create(&k.spec, &exact), PE_OK);
    for (unsigned e = 0; e < 4; e++) {
        pe__exact_value(exact, &(struct pe__place){0, 0, e}, x);
        mpfr_set_str(want, digits[e], 10, MPFR_RNDN);
        mpfr_sub(x, x, want, MPFR_RNDN);
        assert_true(fabs(mpfr_get_d(x, MPFR_RNDN)) < 1e-39);
    }
    pe__exact_table_destroy(&exact);
    kit_spec_clear(&k);
    read_spec(&k, "t5?length=4");
    assert_int_equal(pe__exact_table_create(&k.spec, &exact), PE_INVALID);
    assert_null(exact);
    kit_spec_clear(&k);
    mpfr_clears(x, want, (mpfr_ptr)0);
}

/* ---------------------------------------------------------------- the measure */

static void test_ulps(void **state)
{
    (void)state;
    static const struct {
        double error, exact;
        enum pe_dtype dtype;
        double want;
    } cases[] = {
        {0x1p-24, 1, PE_DTYPE_F32, 0.5},     {0x1p-24, 0.99, PE_DTYPE_F32, 1},
        {0x1p-9, -1.5, PE_DTYPE_BF16, 0.25}, {0x1p-11, 1, PE_DTYPE_F16, 0.5},
        {0x1p-53, 1, PE_DTYPE_F64, 0.5},     {0x1p-149, 0, PE_DTYPE_F32, 1},
        {0x1p-24, 0x1p-20, PE_DTYPE_F16, 1}, {0x1p-1074, 0x1p-1060, PE_DTYPE_F64, 1},
        {0, 0.3, PE_DTYPE_F32, 0},           {0x1p-133, 0x1p-130, PE_DTYPE_BF16, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(pe__ulps(cases[i].error, cases[i].exact, cases[i].dtype) == cases[i].want);
}

static void test_examined_rows(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        assert_true(pe__examined_row(i, 5, 5) == i);
    assert_true(pe__examined_row(0, 100, UINT64_C(1) << 53) == 0);
    assert_true(pe__examined_row(99, 100, UINT64_C(1) << 53) == (UINT64_C(1) << 53) - 1);
    for (uint64_t i = 1; i < 100; i++)
        assert_true(pe__examined_row(i, 100, 12345) > pe__examined_row(i - 1, 100, 12345));
}

static void test_values(void **state)
{
    (void)state;
    int64_t wide = -5;
    int32_t narrow = -7;
    unsigned char byte = 200;
    uint16_t half = 0x3c00, brain = 0x3f80;
    assert_true(pe_value(&wide, PE_DTYPE_I64) == -5);
    assert_true(pe_value(&narrow, PE_DTYPE_I32) == -7);
    assert_true(pe_value(&byte, PE_DTYPE_U8) == 200);
    assert_true(pe_value(&half, PE_DTYPE_F16) == 1);
    assert_true(pe_value(&brain, PE_DTYPE_BF16) == 1);
}

static void test_row_positions(void **state)
{
    (void)state;
    struct kit_spec k;
    int64_t p[3];
    read_spec(&k, "rope?width=4&offset=7&length=9");
    assert_int_equal(pe_row_positions(&k.spec, 2, p), 1);
    assert_int_equal(p[0], 9);
    kit_spec_clear(&k);
    read_spec(&k, "axial_rope?width=4&height=3&columns=5");
    assert_int_equal(pe_row_positions(&k.spec, 7, p), 2);
    assert_int_equal(p[0], 1);
    assert_int_equal(p[1], 2);
    kit_spec_clear(&k);
    read_spec(&k, "mrope?width=6&mrope_section=1,1,1&positions=1,2,3,4,5,6");
    assert_int_equal(pe_row_positions(&k.spec, 1, p), 3);
    assert_int_equal(p[0], 2);
    assert_int_equal(p[1], 4);
    assert_int_equal(p[2], 6);
    kit_spec_clear(&k);
    read_spec(&k, "alibi?width=4&length=3");
    assert_int_equal(pe_row_positions(&k.spec, 1, p), 0);
    kit_spec_clear(&k);
}

/* ---------------------------------------------------------------- studies */

static unsigned study(const char *line, uint64_t budget, struct pe_precision out[PE_MAX_TENSORS])
{
    struct kit_spec k;
    unsigned count;
    read_spec(&k, line);
    assert_int_equal(pe_precision_study(&k.spec, budget, out, &count), PE_OK);
    kit_spec_clear(&k);
    return count;
}

static void test_exact_is_half_an_ulp(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"f64", "f32", "f16", "bf16"};
    struct pe_precision p[PE_MAX_TENSORS];
    char line[100];
    for (int i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "rope?width=64&offset=100000&length=2000&dtype=%s", dtypes[i]);
        assert_int_equal(study(line, 1 << 20, p), 2);
        for (int t = 0; t < 2; t++) {
            assert_true(p[t].ulp.error > 0.45 && p[t].ulp.error <= 0.5);
            assert_true(p[t].absolute.error > 0);
            assert_true(p[t].rows == 2000);
            assert_true(p[t].infinite == 0);
        }
    }
    /* binary64 is measured with MPFR, and less of it */
    study("rope?width=64&offset=100000&length=2000&dtype=f64", 1 << 20, p);
    assert_true(p[0].examined < 2000);
}

/* The greatest |cos - exact| that was measured on torch, to the digits that one of its ulps leaves
 * alone. */
static void test_float32_pipeline(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        double cos;
    } cases[] = {
        {"rope?width=128&positions=4095&arithmetic=float32", 1.36e-4},
        {"rope?width=128&positions=32767&arithmetic=float32", 4.76e-4},
        {"rope?width=128&positions=131071&arithmetic=float32", 4.15e-3},
        {"rope?width=128&positions=262143&arithmetic=float32", 1.38e-2},
    };
    struct pe_precision p[PE_MAX_TENSORS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(study(cases[i].line, 1 << 20, p), 2);
        assert_string_equal(p[0].tensor, "cos");
        assert_true(fabs(p[0].absolute.error / cases[i].cos - 1) < 0.01);
        assert_true(p[0].ulp.error > 1000);
    }
}

/* The place is the one where the greatest error is. */
static void test_place(void **state)
{
    (void)state;
    struct pe_precision all[PE_MAX_TENSORS], one[PE_MAX_TENSORS];
    char line[120];
    study("rope?width=32&length=3000&arithmetic=float32", 1 << 20, all);
    assert_true(all[1].examined == 3000);
    snprintf(line, sizeof line, "rope?width=32&positions=%llu&arithmetic=float32",
             (unsigned long long)all[1].absolute.row);
    study(line, 1 << 20, one);
    assert_true(one[1].absolute.error == all[1].absolute.error);
    assert_true(one[1].absolute.element == all[1].absolute.element);
}

static void test_bounds(void **state)
{
    (void)state;
    struct pe_precision p[PE_MAX_TENSORS];
    struct kit_spec k;
    unsigned count;
    study("sinusoidal?width=64&length=4503599627370496", 1000, p);
    assert_true(p[0].examined <= 1000 / 64 && p[0].examined >= 2);
    assert_true(p[0].ulp.row < (UINT64_C(1) << 52));
    study("rope?width=8&positions=1000000&layout=phase&dtype=f16", 1000, p);
    assert_true(p[0].infinite == 2); /* 10^6 and 10^5 are beyond 65504 */
    read_spec(&k, "deberta?length=4&position_buckets=8&max_relative_positions=16");
    assert_int_equal(pe_precision_study(&k.spec, 1000, p, &count), PE_INVALID);
    kit_spec_clear(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_are_exact),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_ulps),
        cmocka_unit_test(test_examined_rows),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_row_positions),
        cmocka_unit_test(test_exact_is_half_an_ulp),
        cmocka_unit_test(test_float32_pipeline),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
