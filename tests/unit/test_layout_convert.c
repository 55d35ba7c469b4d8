/* SPDX-License-Identifier: MIT
 *
 * test_layout_convert.c: documents found in arrays of every convention, and what cannot be known.
 */
#include "test_layout_kit.h"

static void restarts(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CONVERT);
    struct pe_layout_warning w[PE_MAX_WARNINGS];
    GIVE(&q, POSITION_IDS, 5, 6, 7, 0, 1, 0);
    SET(&q, OUTPUTS, OUT(CU_SEQLENS) | OUT(PAST_LENGTHS) | OUT(POSITION_IDS));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, CU_SEQLENS, 0, 3, 5, 6);
    HOLDS(l, PAST_LENGTHS, 5, 0, 0);
    HOLDS(l, POSITION_IDS, 5, 6, 7, 0, 1, 0);
    assert_int_equal(pe_layout_warnings(l, w), 1);
    assert_string_equal(w[0].rule, "last_document_may_be_padding");
    pe_layout_destroy(&l);
    GIVE(&q, POSITION_IDS, 0, 1, 3);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, NULL), PE_OPTION_POSITION_IDS);
    SET(&q, FROM_START, 2);
    GIVE(&q, POSITION_IDS, 0, 1);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, NULL), PE_OPTION_POSITION_IDS);
}

static void moved(void **unused)
{
    static const int64_t mask[] = {0, 1, 0, 1, 1, 1, 1, 0, 0, 0};
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CONVERT);
    kit_grid(&q, PE_OPTION_ATTENTION_MASK, mask, 2, 5);
    SET(&q, ARRANGE, PE_ARRANGE_PACKED);
    SET(&q, OUTPUTS, OUT(GATHER) | OUT(POSITION_IDS) | OUT(SEGMENT_IDS));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, GATHER, 1, 3, 4, 5, 6);
    HOLDS(l, POSITION_IDS, 0, 1, 2, 0, 1);
    HOLDS(l, SEGMENT_IDS, 1, 1, 1, 2, 2);
    pe_layout_destroy(&l);
    SET(&q, ALGORITHM, PE_ALGORITHM_NEXT_FIT);
    SET(&q, CAPACITY, 2);
    SET(&q, TOO_LONG, PE_LONG_SPLIT);
    l = kit_make(&q);
    HOLDS(l, GATHER, 1, 3, 4, -1, 5, 6);
    HOLDS(l, POSITION_IDS, 0, 1, 0, 0, 0, 1);
    pe_layout_destroy(&l);
    SET(&q, SIDE, PE_SIDE_LEFT);
    assert_int_equal(kit_refused(&q, PE_UNUSED, NULL), PE_OPTION_SIDE);
}

static void sources(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CONVERT);
    q.from = pe_convention_find(PE_PACKED, "levanter", 8);
    q.given[PE_OPTION_FROM] = true;
    GIVE(&q, SEGMENT_IDS, 0, 0, 1, 1, 1, -1);
    q.to = pe_convention_find(PE_PACKED, "seqio", 5);
    q.given[PE_OPTION_TO] = true;
    SET(&q, OUTPUTS, OUT(SEGMENT_IDS) | OUT(POSITION_IDS));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, SEGMENT_IDS, 1, 1, 2, 2, 2, 0);
    HOLDS(l, POSITION_IDS, 0, 1, 0, 1, 2, 0);
    pe_layout_destroy(&l);
    q = kit_ask(PE_CONVERT);
    GIVE(&q, ATTENTION_MASK_IN_LENGTH, 2, 3, 0, 0, 0, 0);
    SET(&q, OUTPUTS, OUT(SEGMENT_IDS));
    l = kit_make(&q);
    HOLDS(l, SEGMENT_IDS, 1, 1, 2, 2, 2, 0);
    pe_layout_destroy(&l);
    q = kit_ask(PE_CONVERT);
    GIVE(&q, CU_SEQLENS, 0, 2, 2, 5);
    SET(&q, TOTAL, 7);
    SET(&q, OUTPUTS, OUT(SEGMENT_IDS) | OUT(SEQLENS));
    l = kit_make(&q);
    HOLDS(l, SEGMENT_IDS, 1, 1, 3, 3, 3, 0, 0);
    HOLDS(l, SEQLENS, 2, 0, 3);
    pe_layout_destroy(&l);
    SET(&q, TOTAL, 4);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, NULL), PE_OPTION_CU_SEQLENS);
}

static void contradictions(void **unused)
{
    struct pe_layout_fault fault;
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CONVERT);
    GIVE(&q, SEGMENT_IDS, 1, 1, 2, 0);
    GIVE(&q, ATTENTION_MASK, 1, 1, 1, 1);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, &fault), PE_OPTION_ATTENTION_MASK);
    assert_int_equal(fault.index[1], 3);
    q = kit_ask(PE_CONVERT);
    GIVE(&q, SEGMENT_IDS, 1, 2, 1);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, &fault), PE_OPTION_SEGMENT_IDS);
    assert_string_equal(fault.rule, "segment_repeated");
    q = kit_ask(PE_CONVERT);
    GIVE(&q, SEGMENT_IDS, 1, 1, 1);
    GIVE(&q, POSITION_IDS, 0, 1, 1);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, &fault), PE_OPTION_POSITION_IDS);
    GIVE(&q, POSITION_IDS, 0, 1);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, NULL), PE_OPTION_SEGMENT_IDS);
    q = kit_ask(PE_CONVERT);
    GIVE(&q, ATTENTION_MASK, 1, 1, 1);
    GIVE(&q, CU_SEQLENS, 0, 2);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, NULL), PE_OPTION_CU_SEQLENS);
    GIVE(&q, CU_SEQLENS, 0, 4);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, NULL), PE_OPTION_CU_SEQLENS);
    q = kit_ask(PE_CONVERT);
    assert_int_equal(kit_refused(&q, PE_MISSING, NULL), PE_OPTION_POSITION_IDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restarts),
        cmocka_unit_test(moved),
        cmocka_unit_test(sources),
        cmocka_unit_test(contradictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
