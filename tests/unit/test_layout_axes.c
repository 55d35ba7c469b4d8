/* SPDX-License-Identifier: MIT
 *
 * test_layout_axes.c: ids of several axes: images, clips with seconds, text behind them, and grids
 * that do not fit.
 */
#include "test_layout_kit.h"

static void images(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_MULTIMODAL);
    GIVE(&q, MM_TOKEN_TYPE_IDS, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0);
    GIVE(&q, IMAGE_GRID_THW, 1, 4, 6);
    SET(&q, TEXT_AXIS, true);
    SET(&q, OUTPUTS, pe_outs_offered(PE_MULTIMODAL));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, POSITION_IDS, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, /* text */
          0, 1, 2, 3, 3, 3, 3, 3, 3, 6, 7,                   /* t */
          0, 1, 2, 3, 3, 3, 4, 4, 4, 6, 7,                   /* h */
          0, 1, 2, 3, 4, 5, 3, 4, 5, 6, 7);                  /* w */
    HOLDS(l, ROPE_DELTAS, -3);
    HOLDS(l, NEXT_POSITION, 8);
    HOLDS(l, CU_SEQLENS, 0, 11);
    pe_layout_destroy(&l);
    SET(&q, SLICE, 0);
    q.slice = (struct pe_pair){8, 10};
    SET(&q, OUTPUTS, OUT(POSITION_IDS));
    l = kit_make(&q);
    HOLDS(l, POSITION_IDS, 8, 9, 3, 6, 4, 6, 5, 6);
    pe_layout_destroy(&l);
}

static void clips(void **unused)
{
    static const double seconds[] = {1.5};
    struct pe_layout_warning w[PE_MAX_WARNINGS];
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_MULTIMODAL);
    GIVE(&q, MM_TOKEN_TYPE_IDS, 0, 0, 2, 2, 2, 2, 0);
    GIVE(&q, VIDEO_GRID_THW, 4, 2, 2);
    q.second_per_grid_ts = (struct pe_reals){seconds, 1};
    q.given[PE_OPTION_SECOND_PER_GRID_TS] = true;
    assert_int_equal(kit_refused(&q, PE_MISSING, NULL), PE_OPTION_TOKENS_PER_SECOND);
    q.tokens_per_second = 2;
    q.given[PE_OPTION_TOKENS_PER_SECOND] = true;
    SET(&q, OUTPUTS, OUT(POSITION_IDS) | OUT(ROPE_DELTAS));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, POSITION_IDS, 0, 1, 2, 5, 8, 11, 12, 0, 1, 2, 2, 2, 2, 12, 0, 1, 2, 2, 2, 2, 12);
    HOLDS(l, ROPE_DELTAS, 6);
    assert_int_equal(pe_layout_warnings(l, w), 0);
    pe_layout_destroy(&l);
    SET(&q, ADVANCE, PE_ADVANCE_SPATIAL);
    l = kit_make(&q);
    assert_int_equal(pe_layout_warnings(l, w), 1);
    assert_string_equal(w[0].rule, "text_after_vision_overlaps_earlier_axis");
    pe_layout_destroy(&l);
}

static void several_documents(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_MULTIMODAL);
    GIVE(&q, MM_TOKEN_TYPE_IDS, 0, 1, 0, 3, 0, 0);
    GIVE(&q, SEGMENT_IDS, 1, 1, 2, 2, 0, 0);
    GIVE(&q, IMAGE_GRID_THW, 1, 2, 2);
    SET(&q, START, 5);
    SET(&q, OUTPUTS, pe_outs_offered(PE_MULTIMODAL));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, POSITION_IDS, 5, 6, 5, 6, 0, 0, 5, 6, 5, 6, 0, 0, 5, 6, 5, 6, 0, 0);
    HOLDS(l, SEGMENT_IDS, 1, 1, 2, 2, 0, 0);
    HOLDS(l, INDICES, 0, 1, 2, 3);
    HOLDS(l, DOCUMENTS, 0, 1);
    pe_layout_destroy(&l);
}

static void grids_that_do_not_fit(void **unused)
{
    struct pe_layout_fault fault;
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_MULTIMODAL);
    GIVE(&q, MM_TOKEN_TYPE_IDS, 0, 1, 1);
    assert_int_equal(kit_refused(&q, PE_RANGE, NULL), PE_OPTION_IMAGE_GRID_THW);
    GIVE(&q, IMAGE_GRID_THW, 1, 4, 4);
    assert_int_equal(kit_refused(&q, PE_RANGE, &fault), PE_OPTION_MM_TOKEN_TYPE_IDS);
    assert_int_equal(fault.index[1], 1);
    GIVE(&q, IMAGE_GRID_THW, PE_SLOT_END - 2, PE_SLOT_END - 2, PE_SLOT_END - 2);
    assert_int_equal(kit_refused(&q, PE_RANGE, NULL), PE_OPTION_MM_TOKEN_TYPE_IDS);
    GIVE(&q, IMAGE_GRID_THW, 1, 3, 4);
    assert_int_equal(kit_refused(&q, PE_RANGE, NULL), PE_OPTION_IMAGE_GRID_THW);
    GIVE(&q, IMAGE_GRID_THW, 1, 2, 4);
    GIVE(&q, VIDEO_GRID_THW, 1, 2, 2);
    assert_int_equal(kit_refused(&q, PE_RANGE, &fault), PE_OPTION_VIDEO_GRID_THW);
    assert_int_equal(fault.index[0], 0);
    GIVE(&q, MM_TOKEN_TYPE_IDS, 0, 4);
    assert_int_equal(kit_refused(&q, PE_RANGE, NULL), PE_OPTION_MM_TOKEN_TYPE_IDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images),
        cmocka_unit_test(clips),
        cmocka_unit_test(several_documents),
        cmocka_unit_test(grids_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
