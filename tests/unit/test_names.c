/* SPDX-License-Identifier: MIT
 *
 * test_names.c: every name is found again, and the table of uses makes sense.
 */
#include "kit/kit.h"

#include "posenc.h"

#include <stdlib.h>

static void test_found_again(void **state)
{
    (void)state;
    for (int k = 0; k < PE_KINDS; k++) {
        const char *name = pe_kind_name((enum pe_kind)k);
        assert_int_equal(pe_kind_find(name, strlen(name)), k);
        assert_true(strlen(pe_kind_formula((enum pe_kind)k)) > 20);
    }
    for (int d = 0; d < PE_DTYPES; d++) {
        const char *name = pe_dtype_name((enum pe_dtype)d);
        assert_int_equal(pe_dtype_find(name, strlen(name)), d);
        assert_true(pe_dtype_size((enum pe_dtype)d) >= 1);
    }
    for (int p = 0; p < PE_PARAMS; p++) {
        const struct pe_param_info *info = pe_param_info((enum pe_param)p);
        assert_int_equal(pe_param_find(info->name, strlen(info->name)), p);
        for (int c = 0; info->choices && info->choices[c] && p != PE_PARAM_DTYPE; c++)
            assert_int_equal(
                pe_choice_find((enum pe_param)p, info->choices[c], strlen(info->choices[c])), c);
    }
    for (int r = 1; r < PE_RESOURCES; r++) {
        const char *name = pe_resource_name((enum pe_resource)r);
        assert_int_equal(pe_resource_find(name, strlen(name)), r);
    }
    for (int e = 0; e <= PE_NO_MEMORY; e++)
        assert_true(strlen(pe_error_text((enum pe_error)e)) > 5);
}

static void test_not_found(void **state)
{
    (void)state;
    assert_int_equal(pe_kind_find("Rope", 4), -1);
    assert_int_equal(pe_kind_find("ropes", 5), -1);
    assert_int_equal(pe_kind_find("rop", 3), -1);
    assert_int_equal(pe_param_find("width ", 6), -1);
    assert_int_equal(pe_param_find("", 0), -1);
    assert_int_equal(pe_dtype_find("", 0), -1);
    assert_int_equal(pe_dtype_find("f8", 2), -1);
    assert_int_equal(pe_choice_find(PE_PARAM_LAYOUT, "half", 4), -1);
    assert_int_equal(pe_choice_find(PE_PARAM_WIDTH, "8", 1), -1);
    assert_int_equal(pe_kind_find("ropeX", 4), PE_KIND_ROPE);
}

static void test_dtypes(void **state)
{
    static const struct {
        const char *word;
        int dtype;
    } words[] = {{"f64", PE_DTYPE_F64},
                 {"float64", PE_DTYPE_F64},
                 {"f32", PE_DTYPE_F32},
                 {"float32", PE_DTYPE_F32},
                 {"f16", PE_DTYPE_F16},
                 {"float16", PE_DTYPE_F16},
                 {"bf16", PE_DTYPE_BF16},
                 {"i32", -1},
                 {"bool", -1},
                 {"bfloat16", PE_DTYPE_BF16}};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_int_equal(pe_choice_find(PE_PARAM_DTYPE, words[i].word, strlen(words[i].word)),
                         words[i].dtype);
    assert_true(pe_choice_allowed(PE_KIND_ROPE, PE_RESOURCE_TABLE, PE_PARAM_DTYPE, PE_DTYPE_BF16));
    assert_false(pe_choice_allowed(PE_KIND_ROPE, PE_RESOURCE_TABLE, PE_PARAM_DTYPE, PE_DTYPE_I32));
}

static bool layout(enum pe_kind k, int value)
{
    return pe_choice_allowed(k, PE_RESOURCE_TABLE, PE_PARAM_LAYOUT, value);
}

static void test_choices_by_kind(void **state)
{
    (void)state;
    assert_true(layout(PE_KIND_SINUSOIDAL, PE_LAYOUT_SPLIT));
    assert_false(layout(PE_KIND_SINUSOIDAL, PE_LAYOUT_PAIRS));
    assert_true(layout(PE_KIND_ROPE, PE_LAYOUT_PHASE));
    assert_false(layout(PE_KIND_MROPE, PE_LAYOUT_PHASE));
    assert_false(layout(PE_KIND_ROPE, PE_LAYOUT_COUNT));
    assert_false(layout(PE_KIND_ROPE, -1));
    assert_true(pe_choice_allowed(PE_KIND_GRID, PE_RESOURCE_TABLE, PE_PARAM_ORDER, PE_ORDER_WH));
    assert_false(pe_choice_allowed(PE_KIND_GRID, PE_RESOURCE_TABLE, PE_PARAM_ORDER, PE_ORDER_SIN));
    assert_false(
        pe_choice_allowed(PE_KIND_SINUSOIDAL, PE_RESOURCE_TABLE, PE_PARAM_ORDER, PE_ORDER_HW));
    assert_false(pe_choice_allowed(PE_KIND_AXIAL_ROPE, PE_RESOURCE_TABLE, PE_PARAM_ROPE_TYPE,
                                   PE_ROPE_TYPE_PROPORTIONAL));
}

/* A preset is a value of its parameter, what is required has none, and what is allowed can be said.
 */
static void check_use(enum pe_kind k, enum pe_resource r, int rope_type, enum pe_param p)
{
    const struct pe_use *use = pe_use(k, r, rope_type, p);
    const struct pe_param_info *info = pe_param_info(p);
    char allowed[256], *end;
    if (!use)
        return;
    assert_int_equal(use->param, p);
    assert_true(pe_param_allowed(k, r, p, allowed, sizeof allowed) > 0);
    assert_true(use->unless == PE_PARAM_NONE || pe_use(k, r, rope_type, use->unless));
    if (use->required)
        assert_null(use->preset);
    if (!use->preset || !*use->preset)
        return;
    if (info->type == PE_TYPE_CHOICE) {
        assert_true(
            pe_choice_allowed(k, r, p, pe_choice_find(p, use->preset, strlen(use->preset))));
        assert_non_null(strstr(allowed, use->preset));
    } else if (info->type == PE_TYPE_BOOL) {
        assert_true(strcmp(use->preset, "true") == 0 || strcmp(use->preset, "false") == 0);
    } else {
        double v = strtod(use->preset, &end);
        assert_true(*end == 0 && v >= info->lo && v <= info->hi);
    }
}

static void test_uses(void **state)
{
    bool used[PE_PARAMS] = {false};
    (void)state;
    for (int k = 0; k < PE_KINDS; k++)
        for (int r = 0; r < PE_RESOURCES; r++)
            for (int t = 0; t < PE_ROPE_TYPE_COUNT; t++)
                for (int p = 0; p < PE_PARAMS; p++) {
                    check_use((enum pe_kind)k, (enum pe_resource)r, t, (enum pe_param)p);
                    used[p] |= !!pe_use((enum pe_kind)k, (enum pe_resource)r, t, (enum pe_param)p);
                }
    for (int p = 0; p < PE_PARAMS; p++)
        assert_true(used[p]);
    assert_null(pe_use(PE_KIND_T5, PE_RESOURCE_FREQUENCIES, 0, PE_PARAM_NUM_BUCKETS));
    assert_null(pe_use(PE_KIND_ROPE, PE_RESOURCE_TABLE, PE_ROPE_TYPE_DEFAULT, PE_PARAM_FACTOR));
    assert_non_null(pe_use(PE_KIND_ROPE, PE_RESOURCE_TABLE, PE_ROPE_TYPE_LINEAR, PE_PARAM_FACTOR));
    assert_true(pe_resource_exists(PE_KIND_GRID, PE_RESOURCE_FREQUENCIES));
    assert_false(pe_resource_exists(PE_KIND_ROPE, PE_RESOURCE_SHIFT));
}

static void test_allowed_fits(void **state)
{
    char text[8];
    size_t n =
        pe_param_allowed(PE_KIND_ROPE, PE_RESOURCE_TABLE, PE_PARAM_LAYOUT, text, sizeof text);
    (void)state;
    assert_true(n > sizeof text);
    assert_int_equal(strlen(text), sizeof text - 1);
    assert_int_equal(pe_param_allowed(PE_KIND_ROPE, PE_RESOURCE_TABLE, PE_PARAM_LAYOUT, NULL, 0),
                     n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_again), cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_dtypes),      cmocka_unit_test(test_choices_by_kind),
        cmocka_unit_test(test_uses),        cmocka_unit_test(test_allowed_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
