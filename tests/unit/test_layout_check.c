/* SPDX-License-Identifier: MIT
 *
 * test_layout_check.c: every rule once broken, marks of known bugs, names of conventions, and what
 * readers of ids alone see.
 */
#include "test_layout_kit.h"

static struct pe_check *examine(const struct pe_layout_request *q)
{
    struct pe_check *c;
    struct pe_layout_fault fault;
    if (pe_check_create(q, &c, &fault) != PE_OK)
        fail_msg("%s", fault.text);
    return c;
}

/* The finding of a rule, or NULL. */
static const struct pe_finding *find(const struct pe_check *c, bool warnings, const char *rule)
{
    unsigned listed;
    uint64_t total;
    const struct pe_finding *f = pe_check_findings(c, warnings, &listed, &total);
    for (unsigned i = 0; i < listed; i++)
        if (strcmp(f[i].rule, rule) == 0)
            return &f[i];
    return NULL;
}

static uint64_t total_of(const struct pe_check *c, bool warnings)
{
    unsigned listed;
    uint64_t total;
    pe_check_findings(c, warnings, &listed, &total);
    return total;
}

/* Holds that the rule is broken at a place of rank 1, and frees nothing of the request. */
static void breaks_as(const struct pe_layout_request *q, const char *rule, bool warning, int64_t at)
{
    struct pe_check *c = examine(q);
    const struct pe_finding *f = find(c, warning, rule);
    if (!f)
        fail_msg("%s is not found", rule);
    assert_int_equal(f->rank, at < 0 ? 0 : 1);
    if (at >= 0)
        assert_int_equal(f->index[0], at);
    assert_true(strlen(f->detail) > strlen(rule));
    if (!warning)
        assert_true(total_of(c, false) > 0);
    pe_check_destroy(&c);
}

#define BREAKS(q, rule, at) breaks_as(q, rule, false, at)
#define WARNS(q, rule, at) breaks_as(q, rule, true, at)

static void rules_of_lists(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CHECK);
    GIVE(&q, CU_SEQLENS, 0, 3, 2, 5);
    BREAKS(&q, "cu_seqlens_not_monotonic", 2);
    GIVE(&q, CU_SEQLENS, 1, 3);
    BREAKS(&q, "cu_seqlens_must_start_at_zero", 0);
    GIVE(&q, CU_SEQLENS, 0, 3, 3, 5);
    SET(&q, EMPTY, PE_EMPTY_ERROR);
    BREAKS(&q, "empty_sequence", 2);
    SET(&q, TOTAL, 4);
    BREAKS(&q, "cu_seqlens_end_above_total", 3);
    SET(&q, TOTAL, 6);
    BREAKS(&q, "cu_seqlens_end_below_total", 3);
    q = kit_ask(PE_CHECK);
    GIVE(&q, CU_SEQLENS, 0, 3, 5);
    GIVE(&q, LENGTHS, 3, 3);
    BREAKS(&q, "lengths_disagree", 2);
    GIVE(&q, LENGTHS, 3, 2, 1);
    BREAKS(&q, "lengths_disagree", 2);
    GIVE(&q, LENGTHS, 3, 2);
    SET(&q, MAX_SEQLEN, 2);
    BREAKS(&q, "max_seqlen_too_small", -1);
    SET(&q, MAX_SEQLEN, 4);
    WARNS(&q, "max_seqlen_larger_than_needed", -1);
    SET(&q, SHARDS, 2);
    SET(&q, SPLIT, PE_SPLIT_CONTIGUOUS);
    BREAKS(&q, "length_not_multiple", 0);
    GIVE(&q, SEGMENT_IDS, 1, 1, 2, 2, 2);
    BREAKS(&q, "boundaries_disagree", 1);
}

static void rules_of_masks(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CHECK);
    GIVE(&q, ATTENTION_MASK, 1, 0, 1, 2);
    BREAKS(&q, "mask_not_zero_one", 3);
    SET(&q, HOLES, PE_HOLES_ERROR);
    BREAKS(&q, "mask_has_hole", 1);
    q = kit_ask(PE_CHECK);
    GIVE(&q, ATTENTION_MASK, 1, 1, 0, 1);
    GIVE(&q, SEGMENT_IDS, 1, 1, 2, 0);
    BREAKS(&q, "mask_marks_padding_as_real", 3);
    BREAKS(&q, "mask_hides_token", 2);
    GIVE(&q, ATTENTION_MASK, 1, 1, 1, 0);
    GIVE(&q, SEGMENT_IDS, 1, 2, 1, 3);
    BREAKS(&q, "segment_repeated", 2);
    SET(&q, TAIL, PE_TAIL_DOCUMENT);
    struct pe_check *c = examine(&q);
    assert_null(find(c, false, "mask_hides_token"));
    pe_check_destroy(&c);
    GIVE(&q, ATTENTION_MASK, 1, 1, 1);
    BREAKS(&q, "arrays_differ_in_length", -1);
}

static void rules_of_ids(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CHECK);
    GIVE(&q, SEGMENT_IDS, 1, 1, 1, 2, 2);
    GIVE(&q, POSITION_IDS, 0, 1, 2, 3, 4);
    BREAKS(&q, "segment_does_not_restart", 3);
    GIVE(&q, POSITION_IDS, 0, 1, 1, 0, 1);
    BREAKS(&q, "restart_inside_segment", 2);
    GIVE(&q, POSITION_IDS, 0, 1, 5, 0, 1);
    BREAKS(&q, "skip_inside_segment", 2);
    GIVE(&q, POSITION_IDS, 0, 1, 2, 9, 10);
    BREAKS(&q, "wrong_first_position", 3);
    SET(&q, TABLE_LENGTH, 10);
    BREAKS(&q, "position_out_of_table", 4);
    GIVE(&q, POSITION_IDS, 0, 1, 2, -1, 0);
    BREAKS(&q, "negative_position", 3);
    q = kit_ask(PE_CHECK);
    GIVE(&q, ATTENTION_MASK, 0, 1, 1, 0, 1);
    GIVE(&q, POSITION_IDS, 0, 1, 2, 0, 3);
    BREAKS(&q, "padding_consumes_positions", 1);
    SET(&q, FILL, 0);
    GIVE(&q, POSITION_IDS, 7, 0, 1, 0, 2);
    BREAKS(&q, "pad_position_differs", 0);
    SET(&q, READ_AS_PACKED, true);
    BREAKS(&q, "padding_looks_like_restart", 3);
    q = kit_ask(PE_CHECK);
    GIVE(&q, POSITION_IDS, 6, 7);
    GIVE(&q, PAST_LENGTHS, 5);
    BREAKS(&q, "does_not_continue_cache", 0);
    q = kit_ask(PE_CHECK);
    GIVE(&q, POSITION_IDS, 0, 1, 2, 0);
    WARNS(&q, "last_document_may_be_padding", 3);
    SET(&q, RESTART, false);
    BREAKS(&q, "restart_inside_segment", 3);
}

static void rules_of_axes(void **unused)
{
    static const int64_t ids[] = {0, 1, 2, 2, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 2};
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CHECK);
    GIVE(&q, MM_TOKEN_TYPE_IDS, 0, 1, 1, 1, 0);
    kit_grid(&q, PE_OPTION_POSITION_IDS, ids, 3, 5);
    BREAKS(&q, "text_axes_must_agree", 4);
    WARNS(&q, "text_after_vision_overlaps_earlier_axis", 4);
    struct pe_known_fault faults[PE_MAX_KNOWN_FAULTS];
    struct pe_check *c = examine(&q);
    assert_int_equal(pe_check_known_faults(c, faults), 1);
    assert_string_equal(faults[0].name, "text_inside_vision");
    pe_check_destroy(&c);
}

static void holds_mark(const struct pe_layout_request *q, const char *name)
{
    struct pe_known_fault faults[PE_MAX_KNOWN_FAULTS];
    struct pe_check *c = examine(q);
    unsigned n = pe_check_known_faults(c, faults);
    bool any = false;
    for (unsigned i = 0; i < n; i++)
        any |= strcmp(faults[i].name, name) == 0 && *faults[i].seen_in;
    if (!any)
        fail_msg("%s is not named", name);
    pe_check_destroy(&c);
}

static void known_bugs(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CHECK);
    GIVE(&q, ATTENTION_MASK, 0, 0, 1, 1);
    GIVE(&q, POSITION_IDS, 0, 1, 2, 3);
    holds_mark(&q, "pads_counted");
    q = kit_ask(PE_CHECK);
    GIVE(&q, SEGMENT_IDS, 1, 1, 2, 2);
    GIVE(&q, POSITION_IDS, 0, 1, 3, 5);
    holds_mark(&q, "segment_numbers_summed");
    GIVE(&q, POSITION_IDS, 0, 1, 2, 3);
    holds_mark(&q, "documents_run_on");
    q = kit_ask(PE_CHECK);
    GIVE(&q, POSITION_IDS, 5, 6, 0, 1);
    GIVE(&q, CU_SEQLENS, 2, 4);
    holds_mark(&q, "zeros_only_as_starts");
    GIVE(&q, CU_SEQLENS, 5, 7, 9);
    holds_mark(&q, "first_id_taken_as_offset");
    q = kit_ask(PE_CHECK);
    GIVE(&q, POSITION_IDS, 0, 1, 0, 0);
    GIVE(&q, ATTENTION_MASK, 1, 1, 0, 0);
    GIVE(&q, CU_SEQLENS, 0, 2, 3, 4);
    holds_mark(&q, "pads_as_documents");
    q = kit_ask(PE_CHECK);
    GIVE(&q, PAST_LENGTHS, 4);
    GIVE(&q, POSITION_IDS, 5, 6);
    holds_mark(&q, "new_token_counted_as_past");
    GIVE(&q, POSITION_IDS, 0, 1);
    holds_mark(&q, "cache_ignored");
    GIVE(&q, POSITION_IDS, 8, 9);
    holds_mark(&q, "past_added_twice");
    q = kit_ask(PE_CHECK);
    GIVE(&q, LENGTHS, 1 << 24, 1, 1);
    GIVE(&q, CU_SEQLENS, 0, 1 << 24, 1 << 24, 1 << 24);
    holds_mark(&q, "summed_in_float32");
}

static void names_and_readings(void **unused)
{
    static const int64_t want[3][5] = {{0, 3, 5, 6, 7}, {0, 3, 5, 6, 7}, {0, 3, 5, 6, 7}};
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CHECK);
    GIVE(&q, POSITION_IDS, 0, 1, 2, 0, 1, 0, 0);
    GIVE(&q, SEGMENT_IDS, 1, 1, 1, 2, 2, 0, 0);
    struct pe_check *c = examine(&q);
    unsigned rows[128], n = pe_check_conventions(c, rows, 128);
    bool grain = false, torchtitan = false;
    for (unsigned i = 0; i < n; i++) {
        assert_int_equal(pe_convention(rows[i])->endpoint, PE_PACKED);
        grain |= strcmp(pe_convention(rows[i])->name, "grain") == 0;
        torchtitan |= strcmp(pe_convention(rows[i])->name, "torchtitan") == 0;
    }
    assert_true(grain && !torchtitan);
    assert_int_equal(total_of(c, false) + total_of(c, true), 0);
    for (int r = 0; r < PE_READINGS; r++) {
        uint64_t count, at = 0;
        int agrees;
        int64_t got[5];
        assert_true(pe_check_reading(c, (enum pe_reading)r, &count, &agrees));
        assert_int_equal(count, 5);
        assert_int_equal(agrees, 0);
        for (size_t k = 0; k < 5; k++)
            assert_int_equal(pe_check_starts(c, (enum pe_reading)r, &at, &got[k], 1), 1);
        assert_int_equal(pe_check_starts(c, (enum pe_reading)r, &at, got, 1), 0);
        assert_memory_equal(got, want[r], sizeof got);
    }
    pe_check_destroy(&c);
}

/* At most 1000 are listed, all are counted. */
static void many(void **unused)
{
    static int64_t ids[5000];
    unsigned listed;
    uint64_t total;
    (void)unused;
    for (size_t i = 0; i < 5000; i++)
        ids[i] = -1 - (int64_t)i;
    struct pe_layout_request q = kit_ask(PE_CHECK);
    kit_list(&q, PE_OPTION_POSITION_IDS, ids, 5000);
    struct pe_check *c = examine(&q);
    pe_check_findings(c, false, &listed, &total);
    assert_int_equal(listed, PE_MAX_FINDINGS);
    assert_true(total >= 5000);
    pe_check_destroy(&c);
}

static void unreadable(void **unused)
{
    struct pe_check *c;
    struct pe_layout_fault fault;
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CHECK);
    assert_int_equal(pe_check_create(&q, &c, &fault), PE_MISSING);
    kit_list(&q, PE_OPTION_CU_SEQLENS, NULL, 0);
    assert_int_equal(pe_check_create(&q, &c, &fault), PE_RANGE);
    assert_int_equal(fault.option, PE_OPTION_CU_SEQLENS);
    q = kit_ask(PE_CHECK);
    GIVE(&q, ATTENTION_MASK, 1, 1);
    GIVE(&q, PAST_LENGTHS, 1, 2, 3);
    assert_int_equal(pe_check_create(&q, &c, &fault), PE_RANGE);
    assert_int_equal(fault.option, PE_OPTION_PAST_LENGTHS);
    SET(&q, SHARDS, 2);
    assert_int_equal(pe_check_create(&q, &c, &fault), PE_MISSING);
    assert_int_equal(fault.option, PE_OPTION_SPLIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_of_lists), cmocka_unit_test(rules_of_masks),
        cmocka_unit_test(rules_of_ids),   cmocka_unit_test(rules_of_axes),
        cmocka_unit_test(known_bugs),     cmocka_unit_test(names_and_readings),
        cmocka_unit_test(many),           cmocka_unit_test(unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
