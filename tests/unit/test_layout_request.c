/* SPDX-License-Identifier: MIT
 *
 * test_layout_request.c: the tables of options, tensors and conventions, and what a convention does
 * to a request.
 */
#include "test_layout_kit.h"

static void names_lead_back(void **unused)
{
    (void)unused;
    for (int e = 0; e < PE_ENDPOINTS; e++) {
        const char *name = pe_endpoint_name((enum pe_endpoint)e);
        assert_int_equal(pe_endpoint_find(name, strlen(name)), e);
        assert_true(e == 0 || strcmp(pe_endpoint_name((enum pe_endpoint)(e - 1)), name) < 0);
        uint64_t offered = pe_outs_offered((enum pe_endpoint)e);
        assert_int_equal(pe_outs_presented((enum pe_endpoint)e) & ~offered, 0);
        assert_int_equal(offered == 0, e == PE_CHECK);
    }
    for (int o = 0; o < PE_OPTIONS; o++) {
        const char *name = pe_option_info((enum pe_option)o)->name;
        assert_int_equal(pe_option_find(name, strlen(name)), o);
        assert_true(pe_option_info((enum pe_option)o)->endpoints != 0);
    }
    for (int o = 0; o < PE_OUTS; o++) {
        const char *name = pe_out_name((enum pe_out)o);
        assert_int_equal(pe_out_find(name, strlen(name)), o);
    }
    assert_int_equal(pe_option_find("lengthss", 8), -1);
    assert_int_equal(pe_out_find("position_id", 11), -1);
    assert_int_equal(pe_endpoint_find("pad", 3), -1);
}

static void presets(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_PACKED);
    for (int o = 0; o < PE_OPTIONS; o++)
        assert_false(q.given[o]);
    assert_int_equal(q.start, 0);
    assert_int_equal(q.segment_base, 1);
    assert_int_equal(q.fill, 0);
    assert_int_equal(q.spatial_merge_size, 2);
    assert_int_equal(q.cu_seqlens_fill, PE_A_WORD + PE_REST_LAST);
    assert_int_equal(q.algorithm, PE_ALGORITHM_FIRST_FIT_DECREASING);
    assert_int_equal(q.index_dtype, PE_INTEGER_I64);
    assert_int_equal(q.offset_dtype, PE_INTEGER_I32);
    assert_true(q.restart && q.causal && q.flatten && !q.pad_self && !q.text_axis);
    assert_int_equal(q.outputs, 0);
}

/* Sorted, without repeats, and every setting is known where the convention is and says something.
 */
static void conventions(void **unused)
{
    const struct pe_convention *c, *before = NULL;
    unsigned rows = 0;
    (void)unused;
    for (; (c = pe_convention(rows)); before = c, rows++) {
        assert_int_equal(pe_convention_find(c->endpoint, c->name, strlen(c->name)), rows);
        assert_true(!before || before->endpoint < c->endpoint ||
                    (before->endpoint == c->endpoint && strcmp(before->name, c->name) < 0));
        assert_true(c->count > 0);
        for (unsigned i = 0; i < c->count; i++) {
            const struct pe_option_info *info = pe_option_info(c->settings[i].option);
            assert_true(info->endpoints >> c->endpoint & 1);
            if (info->type == PE_IS_TENSORS)
                assert_int_equal((uint64_t)c->settings[i].value & ~pe_outs_offered(c->endpoint), 0);
        }
    }
    assert_true(rows > 100);
    assert_null(pe_convention(rows + 100));
    assert_int_equal(pe_convention_find(PE_CACHED, "torchtitan", 10), -1);
}

static void explicit_options_win(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_PADDED);
    SET(&q, FILL, -1);
    pe_layout_request_prefer(&q, (unsigned)pe_convention_find(PE_PADDED, "opt", 3));
    assert_int_equal(q.start, 2);
    assert_int_equal(q.fill, -1);
    assert_true(q.given[PE_OPTION_START]);
    assert_false(q.given[PE_OPTION_COUNT]);
    /* convert takes a padded name's side, a packed name's never */
    q = kit_ask(PE_CONVERT);
    pe_layout_request_prefer(&q, (unsigned)pe_convention_find(PE_PADDED, "mlx", 3));
    assert_int_equal(q.side, PE_SIDE_LEFT);
}

static void what_bears(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_PACKED);
    assert_false(pe_option_bears(&q, PE_OPTION_ALGORITHM));
    assert_true(pe_option_bears(&q, PE_OPTION_FILL));
    SET(&q, ALGORITHM, PE_ALGORITHM_CONCAT);
    assert_true(pe_option_bears(&q, PE_OPTION_ALGORITHM));
    assert_false(pe_option_bears(&q, PE_OPTION_TOO_LONG));
    q = kit_ask(PE_CACHED);
    assert_false(pe_option_bears(&q, PE_OPTION_SIDE));
    q.flatten = false;
    assert_true(pe_option_bears(&q, PE_OPTION_SIDE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lead_back), cmocka_unit_test(presets),
        cmocka_unit_test(conventions),     cmocka_unit_test(explicit_options_win),
        cmocka_unit_test(what_bears),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
