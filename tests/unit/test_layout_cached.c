/* SPDX-License-Identifier: MIT
 *
 * test_layout_cached.c: steps behind a prefix: streams and rows, chunks, windows, trees, and what
 * they refuse.
 */
#include "test_layout_kit.h"

static void steps(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CACHED);
    GIVE(&q, PAST_LENGTHS, 0, 7, 4);
    GIVE(&q, NEW_LENGTHS, 2, 5, 3);
    SET(&q, PAD_TO_MULTIPLE_OF, 4);
    SET(&q, FILL, -1);
    SET(&q, OUTPUTS, pe_outs_offered(PE_CACHED) & ~OUT(DEPTH));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, POSITION_IDS, 0, 1, 7, 8, 9, 10, 11, 4, 5, 6, -1, -1);
    HOLDS(l, BATCH_IDS, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, -1, -1);
    HOLDS(l, ATTENTION_MASK, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0);
    HOLDS(l, KV_LENGTHS, 2, 12, 7);
    HOLDS(l, CU_SEQLENS, 0, 2, 7, 10);
    HOLDS(l, CU_SEQLENS_K, 0, 2, 14, 21);
    HOLDS(l, NEXT_POSITION, 2, 12, 7);
    pe_layout_destroy(&l);
    SET(&q, FLATTEN, false);
    SET(&q, SIDE, PE_SIDE_LEFT);
    SET(&q, PAD_TO_MULTIPLE_OF, 1);
    SET(&q, OUTPUTS, OUT(POSITION_IDS) | OUT(CACHE_POSITIONS));
    l = kit_make(&q);
    HOLDS(l, POSITION_IDS, -1, -1, -1, 0, 1, 7, 8, 9, 10, 11, -1, -1, 4, 5, 6);
    HOLDS(l, CACHE_POSITIONS, -1, -1, -1, 0, 1, 7, 8, 9, 10, 11, -1, -1, 4, 5, 6);
    pe_layout_destroy(&l);
    SET(&q, OUTPUTS, OUT(MASK));
    assert_int_equal(kit_refused(&q, PE_CONFLICT, NULL), PE_OPTION_OUTPUTS);
}

static void windows_and_chunks(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CACHED);
    GIVE(&q, PAST_LENGTHS, 3);
    GIVE(&q, NEW_LENGTHS, 2);
    SET(&q, WINDOW, 3);
    SET(&q, OUTPUTS, OUT(MASK) | OUT(KV_OFFSET) | OUT(KV_LENGTHS));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, MASK, 1, 1, 1, 0, 0, 1, 1, 1);
    HOLDS(l, KV_OFFSET, 1);
    HOLDS(l, KV_LENGTHS, 4);
    pe_layout_destroy(&l);
    q = kit_ask(PE_CACHED);
    GIVE(&q, PAST_LENGTHS, 0, 2);
    GIVE(&q, NEW_LENGTHS, 40, 3);
    SET(&q, CHUNK, 32);
    assert_int_equal(kit_refused(&q, PE_MISSING, NULL), PE_OPTION_CHUNK_INDEX);
    SET(&q, CHUNK_INDEX, 1);
    SET(&q, OUTPUTS, OUT(POSITION_IDS) | OUT(ROPE_OFFSET));
    l = kit_make(&q);
    HOLDS(l, POSITION_IDS, 32, 33, 34, 35, 36, 37, 38, 39);
    HOLDS(l, ROPE_OFFSET, 32, 5);
    pe_layout_destroy(&l);
    SET(&q, CHUNK_INDEX, PE_SLOT_END);
    assert_int_equal(kit_refused(&q, PE_RANGE, NULL), PE_OPTION_CHUNK_INDEX);
}

static void trees(void **unused)
{
    struct pe_layout_fault fault;
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CACHED);
    GIVE(&q, PAST_LENGTHS, 10, 4);
    GIVE(&q, PARENTS, -1, 0, 0, 2);
    SET(&q, OUTPUTS, OUT(POSITION_IDS) | OUT(DEPTH) | OUT(MASK) | OUT(NEXT_POSITION));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, POSITION_IDS, 10, 11, 11, 12, 4, 5, 5, 6);
    HOLDS(l, DEPTH, 0, 1, 1, 2);
    HOLDS(l, MASK, 1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1);
    HOLDS(l, NEXT_POSITION, 13, 7);
    pe_layout_destroy(&l);
    GIVE(&q, PARENTS, -1, 1);
    assert_int_equal(kit_refused(&q, PE_RANGE, &fault), PE_OPTION_PARENTS);
    assert_int_equal(fault.index[0], 1);
}

static void masks_of_the_cache(void **unused)
{
    struct pe_layout_fault fault;
    static const int64_t mask[] = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_CACHED);
    kit_grid(&q, PE_OPTION_ATTENTION_MASK, mask, 2, 5);
    GIVE(&q, NEW_LENGTHS, 1, 1);
    SET(&q, OUTPUTS, OUT(POSITION_IDS) | OUT(CACHE_POSITIONS));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, POSITION_IDS, 3, 5);
    HOLDS(l, CACHE_POSITIONS, 5, 5);
    pe_layout_destroy(&l);
    SET(&q, TABLE_LENGTH, 5);
    assert_int_equal(kit_refused(&q, PE_RANGE, &fault), PE_OPTION_TABLE_LENGTH);
    assert_int_equal(fault.index[0], 1);
    assert_int_equal(fault.index[1], 0);
    GIVE(&q, PAST_LENGTHS, 1, 2);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, NULL), PE_OPTION_ATTENTION_MASK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),
        cmocka_unit_test(windows_and_chunks),
        cmocka_unit_test(trees),
        cmocka_unit_test(masks_of_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
