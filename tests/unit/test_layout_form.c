/* SPDX-License-Identifier: MIT
 *
 * test_layout_form.c: the internal form and its projections: chains, covers, rooms, masks, and that
 * any window of any tensor holds the same values.
 */
#include "test_layout_kit.h"

#define D(n)                               \
    {                                      \
        n, 0, 0, PE_REASON_DOCUMENT, false \
    }

static void kit_segments(struct pe_layout_request *q, const struct pe_declared *at,
                         const uint64_t *ends, uint64_t rows)
{
    q->segments = (struct pe_declared_rows){at, ends, rows};
    q->given[PE_OPTION_SEGMENTS] = true;
}

static void branches(void **unused)
{
    static const struct pe_declared at[] = {
        D(3), {2, 0, 0, PE_REASON_BRANCH, false}, {1, 1, 0, PE_REASON_BRANCH, false}, D(2)};
    static const uint64_t ends[] = {4};
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_PACKED);
    struct pe_layout_warning w[PE_MAX_WARNINGS];
    kit_segments(&q, at, ends, 1);
    SET(&q, OUTPUTS, pe_outs_offered(PE_PACKED) & ~OUT(LOSS_MASK));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, POSITION_IDS, 0, 1, 2, 3, 4, 3, 0, 0, 1);
    HOLDS(l, PREDICTED_BY, -1, 0, 1, 2, 3, 2, -1, -1, 7);
    HOLDS(l, LABEL_INDEX, 1, 2, 3, 4, -1, -1, -1, 8, -1);
    HOLDS(l, SEGMENT_IDS, 1, 1, 1, 1, 1, 1, 0, 2, 2);
    HOLDS(l, CU_SEQLENS, 0, 6, 8);
    HOLDS(l, CU_SEQLENS_PADDED, 0, 7, 9);
    HOLDS(l, NEXT_POSITION, 4, 2);
    HOLDS(l, STARTEND_ROW_INDICES, 6, 6, 6, 5, 5, 6, 7, 9, 9);
    HOLDS(l, SEGMENTS, 0, 0, 3, 0, 0, 0, 0, 3, 2, 3, 0, 4, 0, 5, 1, 3, 1, 4, 0, 7, 2, 0, 0, 0);
    assert_int_equal(pe_layout_warnings(l, w), 1);
    assert_string_equal(w[0].rule, "branches_need_a_mask");
    pe_layout_destroy(&l);
    SET(&q, CAUSAL, false);
    assert_int_equal(kit_refused(&q, PE_CONFLICT, NULL), PE_OPTION_OUTPUTS);
}

static void holes_and_pads(void **unused)
{
    static const int64_t mask[] = {0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_PADDED);
    kit_grid(&q, PE_OPTION_ATTENTION_MASK, mask, 3, 6);
    SET(&q, OUTPUTS, pe_outs_offered(PE_PADDED) & ~(OUT(MASK)));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, POSITION_IDS, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5);
    HOLDS(l, INDICES, 1, 2, 4, 12, 13, 14, 15, 16, 17);
    HOLDS(l, PADDING_OFFSET, 1, 1, 2, 9, 9, 9, 9, 9, 9);
    HOLDS(l, TOKEN_OFFSET, 1, 2, 4, 12, 13, 14, 15, 16, 17, 0, 3, 5, 6, 7, 8, 9, 10, 11);
    HOLDS(l, REPAD_INDICES, -1, 0, 1, -1, 2, -1, -1, -1, -1, -1, -1, -1, 3, 4, 5, 6, 7, 8);
    HOLDS(l, PREDICTED_BY, -1, -1, 1, -1, 2, -1, -1, -1, -1, -1, -1, -1, -1, 12, 13, 14, 15, 16);
    HOLDS(l, LOSS_MASK, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1);
    HOLDS(l, CU_SEQLENS, 0, 3, 3, 9);
    HOLDS(l, LEFT_PADDING, 1, 6, 0);
    HOLDS(l, RUN_LENGTH, 0, 3, 3, 0, 3, 0, 0, 0, 0, 0, 0, 0, 6, 6, 6, 6, 6, 6);
    HOLDS(l, ATTENTION_MASK_IN_LENGTH, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0);
    pe_layout_destroy(&l);
}

static void tails(void **unused)
{
    static const int64_t ways[] = {PE_TAIL_PADS, PE_TAIL_DOCUMENT, PE_TAIL_MERGE};
    static const int64_t cu[3][4] = {{0, 3, 5, -9}, {0, 3, 5, 8}, {0, 3, 8, -9}};
    (void)unused;
    for (int i = 0; i < 3; i++) {
        struct pe_layout_request q = kit_ask(PE_PACKED);
        GIVE(&q, LENGTHS, 3, 2);
        SET(&q, CAPACITY, 8);
        SET(&q, TAIL, ways[i]);
        SET(&q, OUTPUTS, OUT(CU_SEQLENS));
        struct pe_layout *l = kit_make(&q);
        kit_holds(l, PE_OUT_CU_SEQLENS, cu[i], i == 1 ? 4 : 3);
        pe_layout_destroy(&l);
    }
}

static void fills(void **unused)
{
    static const struct {
        int64_t fill, want[8];
    } rows[] = {{7, {7, 7, 2, 3, 7, 7, 7, 7}},
                {FILL(LAST), {2, 2, 2, 3, 3, 3, 3, 3}},
                {FILL(NEXT), {2, 2, 2, 3, 4, 4, 4, 4}},
                {FILL(CONTINUE), {0, 1, 2, 3, 4, 5, 5, 5}},
                {FILL(RESTART), {2, 3, 2, 3, 2, 3, 4, 5}},
                {FILL(SLOT), {2, 3, 2, 3, 5, 5, 5, 5}}};
    static const int64_t mask[] = {0, 0, 1, 1, 0, 0, 0, 0};
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pe_layout_request q = kit_ask(PE_PADDED);
        kit_grid(&q, PE_OPTION_ATTENTION_MASK, mask, 1, 8);
        SET(&q, START, 2);
        SET(&q, FILL, rows[i].fill);
        SET(&q, OUTPUTS, OUT(POSITION_IDS));
        SET(&q, TABLE_LENGTH, rows[i].fill == 7 ? 8 : 6);
        struct pe_layout *l = kit_make(&q);
        int64_t least, most;
        kit_holds(l, PE_OUT_POSITION_IDS, rows[i].want, 8);
        assert_true(pe_layout_extent(l, &least, &most));
        int64_t lo = rows[i].want[0], hi = lo;
        for (int k = 1; k < 8; k++) {
            lo = rows[i].want[k] < lo ? rows[i].want[k] : lo;
            hi = rows[i].want[k] > hi ? rows[i].want[k] : hi;
        }
        assert_int_equal(least, lo);
        assert_int_equal(most, hi);
        pe_layout_destroy(&l);
    }
}

/* A random packed request with holes or declared segments behind it; arrays in static memory. */
static struct pe_layout_request any_packed(void)
{
    static int64_t values[64];
    struct pe_layout_request q = kit_ask(PE_PACKED);
    size_t n = 1 + (size_t)kit_upto(12);
    if (kit_upto(1)) {
        for (size_t i = 0; i < n; i++)
            values[i] = kit_upto(4);
        kit_list(&q, PE_OPTION_LENGTHS, values, n);
        SET(&q, PAD_EACH_TO_MULTIPLE_OF, 1 + kit_upto(2));
        SET(&q, PAD_TO_MULTIPLE_OF, 1 + kit_upto(6));
    } else {
        int64_t number = 1;
        for (size_t i = 0; i < 4 * n; i++) {
            number += i % n ? kit_upto(1) : 0;
            values[i] = kit_upto(3) ? number : 0;
            number = i % n == n - 1 ? 1 : number;
        }
        kit_grid(&q, PE_OPTION_SEGMENT_IDS, values, 4, n);
    }
    SET(&q, TAIL, kit_upto(2));
    SET(&q, ATTENTION, kit_upto(1));
    SET(&q, EMPTY, kit_upto(1) ? PE_EMPTY_KEEP : PE_EMPTY_DROP);
    SET(&q, FILL, kit_upto(1) ? kit_upto(9) : PE_A_WORD + kit_upto(4));
    SET(&q, RESTART, kit_upto(2) > 0);
    SET(&q, COUNT, kit_upto(1));
    SET(&q, CAUSAL, kit_upto(1));
    if (kit_upto(1))
        SET(&q, WINDOW, 1 + kit_upto(4));
    SET(&q, OUTPUTS, pe_outs_offered(PE_PACKED) & ~OUT(FILL_RATIO));
    return q;
}

static void any_window(void **unused)
{
    (void)unused;
    for (int round = 0; round < 150; round++) {
        struct pe_layout_request q = any_packed();
        struct pe_layout *l = kit_make(&q);
        for (int id = 0; id < PE_OUTS; id++) {
            size_t n, m;
            if (!(q.outputs >> id & 1))
                continue;
            int64_t *whole = kit_window(l, (enum pe_out)id, SIZE_MAX / 2, &n);
            int64_t *parts = kit_values(l, (enum pe_out)id, &m);
            assert_int_equal(n, m);
            if (n)
                assert_memory_equal(whole, parts, n * sizeof *whole);
            free(whole);
            free(parts);
        }
        pe_layout_destroy(&l);
    }
}

/* The dense mask follows from segment_ids; the columns are the dense mask. */
static void masks_agree(void **unused)
{
    (void)unused;
    for (int round = 0; round < 150; round++) {
        struct pe_layout_request q = any_packed();
        struct pe_layout *l = kit_make(&q);
        struct pe_tensor t[PE_OUTS];
        enum pe_out ids[PE_OUTS];
        unsigned n = pe_layout_tensors(l, t, ids), at = 0;
        while (at < n && ids[at] != PE_OUT_POSITION_IDS)
            at++;
        size_t rows = (size_t)t[at].shape[0], width = (size_t)t[at].shape[1], count;
        int64_t *mask = kit_values(l, PE_OUT_MASK, &count),
                *segment = kit_values(l, PE_OUT_SEGMENT_IDS, &count);
        int64_t *column = kit_values(l, PE_OUT_STARTEND_ROW_INDICES, &count);
        size_t each = q.causal ? 1 : 2;
        for (size_t b = 0; b < rows; b++) {
            for (size_t i = 0; i < width; i++) {
                for (size_t j = 0; j < width; j++) {
                    int64_t away = (int64_t)i - (int64_t)j, s = segment[b * width + i];
                    bool sees = s > 0 && s == segment[b * width + j] && (!q.causal || away >= 0);
                    if (q.given[PE_OPTION_WINDOW])
                        sees = sees && llabs(away) < q.window;
                    assert_int_equal(mask[(b * width + i) * width + j], sees);
                    int64_t *c = &column[(b * width + j) * each];
                    int64_t from = q.causal ? (int64_t)j : c[1];
                    bool inside = (int64_t)i >= from && (int64_t)i < c[0];
                    if (s > 0 && sees)
                        assert_true(inside);
                    if (segment[b * width + j] == 0)
                        assert_int_equal(inside, i == j);
                }
            }
        }
        free(mask);
        free(segment);
        free(column);
        pe_layout_destroy(&l);
    }
}

static void refusals(void **unused)
{
    struct pe_layout_fault fault;
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_PACKED);
    GIVE(&q, LENGTHS, INT32_MAX, 1);
    SET(&q, OUTPUTS, OUT(CU_SEQLENS));
    assert_int_equal(kit_refused(&q, PE_RANGE, &fault), PE_OPTION_LENGTHS);
    assert_int_equal(fault.index[0], 1);
    SET(&q, OFFSET_DTYPE, PE_INTEGER_I64);
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, CU_SEQLENS, 0, INT32_MAX, INT64_C(1) << 31);
    pe_layout_destroy(&l);
    GIVE(&q, LENGTHS, PE_SLOT_END - 1, PE_SLOT_END - 1);
    assert_int_equal(kit_refused(&q, PE_RANGE, &fault), PE_OPTION_LENGTHS);
    assert_int_equal(fault.index[0], 1);
    GIVE(&q, LENGTHS, 3);
    SET(&q, PAD_TO_MULTIPLE_OF, PE_SLOT_END);
    l = kit_make(&q);
    pe_layout_destroy(&l);
    SET(&q, CAPACITY, PE_SLOT_END - 1);
    SET(&q, PAD_TO_MULTIPLE_OF, PE_SLOT_END - 2);
    assert_int_equal(kit_refused(&q, PE_RANGE, NULL), PE_OPTION_PAD_TO_MULTIPLE_OF);
    q = kit_ask(PE_PADDED);
    GIVE(&q, LENGTHS, 2);
    SET(&q, START, PE_SLOT_END);
    assert_int_equal(kit_refused(&q, PE_RANGE, NULL), PE_OPTION_START);
    SET(&q, RESTART, false);
    assert_int_equal(kit_refused(&q, PE_UNUSED, NULL), PE_OPTION_RESTART);
}

/* Numbers that are merely written down cost nothing. */
static void huge_and_cheap(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_PACKED);
    GIVE(&q, LENGTHS, 1, INT64_C(1) << 40);
    SET(&q, CAPACITY, INT64_C(1) << 50);
    SET(&q, OFFSET_DTYPE, PE_INTEGER_I64);
    SET(&q, OUTPUTS, OUT(POSITION_IDS) | OUT(INDICES) | OUT(CU_SEQLENS_PADDED));
    struct pe_layout *l = kit_make(&q);
    int64_t id[3];
    assert_true(pe_layout_bytes(l) < 1 << 16);
    pe_layout_fill(l, PE_OUT_POSITION_IDS, (UINT64_C(1) << 40) - 1, 3, id);
    assert_int_equal(id[0], (INT64_C(1) << 40) - 2);
    assert_int_equal(id[1], (INT64_C(1) << 40) - 1);
    assert_int_equal(id[2], 0);
    pe_layout_fill(l, PE_OUT_INDICES, INT64_C(1) << 40, 1, id);
    assert_int_equal(id[0], INT64_C(1) << 40);
    pe_layout_destroy(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches), cmocka_unit_test(holes_and_pads), cmocka_unit_test(tails),
        cmocka_unit_test(fills),    cmocka_unit_test(any_window),     cmocka_unit_test(masks_agree),
        cmocka_unit_test(refusals), cmocka_unit_test(huge_and_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
