/* SPDX-License-Identifier: MIT
 *
 * test_layout_plan.c: packing against a reference that compares all rows, and the finders of rows
 * against walks.
 */
#include "test_layout_kit.h"

#include "layout/free_rows.h"
#include "layout/plan.h"

#define MOST 400

/* ---------------------------------------------------------------- finders */

static void tournament(void **unused)
{
    struct pe__tournament t = {0};
    int64_t room[3000];
    uint32_t rows = 0;
    (void)unused;
    assert_int_equal(pe__tournament_most(&t), -1);
    for (int i = 0; i < 20000; i++) {
        uint32_t row =
            rows < 3000 && kit_upto(3) == 0 ? rows++ : (uint32_t)kit_upto(rows ? rows - 1 : 0);
        rows = rows ? rows : 1;
        room[row] = kit_upto(50) - 1;
        assert_true(pe__tournament_set(&t, row, room[row]));
        int64_t most = -1, need = kit_upto(50);
        uint32_t first = rows;
        for (uint32_t r = rows; r-- > 0;) {
            most = room[r] > most ? room[r] : most;
            first = room[r] >= need ? r : first;
        }
        assert_int_equal(pe__tournament_most(&t), most);
        if (first < rows)
            assert_int_equal(pe__tournament_first(&t, need), first);
    }
    pe__tournament_clear(&t);
}

static void ordered_set(void **unused)
{
    struct pe__by_room s = {0};
    int64_t room[2000]; /* -1: not in the set */
    (void)unused;
    memset(room, 0xff, sizeof room);
    for (int i = 0; i < 40000; i++) {
        uint32_t row = (uint32_t)kit_upto(1999), best = 2000, got;
        if (room[row] < 0 && kit_upto(2)) {
            room[row] = kit_upto(kit_upto(1) ? 20 : 100000);
            assert_true(pe__by_room_add(&s, row, room[row]));
            continue;
        }
        int64_t need = kit_upto(kit_upto(1) ? 20 : 100000), left;
        for (uint32_t r = 0; r < 2000; r++)
            if (room[r] >= need && (best == 2000 || room[r] < room[best]))
                best = r;
        assert_int_equal(pe__by_room_take(&s, need, &got, &left), best < 2000);
        if (best == 2000)
            continue;
        assert_int_equal(got, best);
        assert_int_equal(left, room[best]);
        room[best] = -1;
    }
    pe__by_room_clear(&s);
}

/* ---------------------------------------------------------------- the reference */

struct placed {
    int64_t document, offset, length, row;
};

struct reference {
    struct placed item[8 * MOST];
    size_t items;
    int64_t left[8 * MOST], count[8 * MOST];
    size_t rows;
};

static void cut(struct reference *r, const struct pe_layout_request *q, const int64_t *lengths,
                size_t n)
{
    int64_t most = q->capacity - q->capacity % q->pad_each_to_multiple_of;
    for (size_t d = 0; d < n; d++) {
        int64_t at = 0, end = lengths[d];
        if (end == 0 && q->empty == PE_EMPTY_DROP)
            continue;
        if (end > most && q->too_long == PE_LONG_DROP)
            continue;
        if (end > most && q->too_long == PE_LONG_KEEP_FIRST)
            end = most;
        if (end > most && q->too_long == PE_LONG_KEEP_LAST)
            at = end - most;
        do {
            int64_t take = end - at < most ? end - at : most;
            r->item[r->items++] = (struct placed){(int64_t)d, at, take, 0};
            at += take;
        } while (at < end);
    }
}

static bool can_take(const struct reference *r, const struct pe_layout_request *q, size_t row,
                     int64_t need)
{
    return r->left[row] >= need && (!q->max_documents || r->count[row] < q->max_documents);
}

static void place(struct reference *r, const struct pe_layout_request *q)
{
    int kind = q->algorithm % 4; /* next, first, best, worst, and each of them decreasing */
    for (size_t i = 0; i < r->items; i++) {
        int64_t m = q->pad_each_to_multiple_of, need = (r->item[i].length + m - 1) / m * m;
        size_t best = r->rows;
        for (size_t row = kind == 0 && r->rows ? r->rows - 1 : 0; row < r->rows; row++) {
            if (!can_take(r, q, row, need))
                continue;
            bool better = best == r->rows || (kind == 2 && r->left[row] < r->left[best]) ||
                          (kind == 3 && r->left[row] > r->left[best]);
            best = better ? row : best;
        }
        if (best == r->rows) {
            r->left[best] = q->capacity;
            r->count[best] = 0;
            r->rows++;
        }
        r->left[best] -= need;
        r->count[best]++;
        r->item[i].row = (int64_t)best;
    }
}

/* Longest first, equals in their order. */
static void sort(struct reference *r)
{
    for (size_t i = 1; i < r->items; i++) {
        struct placed x = r->item[i];
        size_t at = i;
        for (; at > 0 && r->item[at - 1].length < x.length; at--)
            r->item[at] = r->item[at - 1];
        r->item[at] = x;
    }
}

static void compare(const struct pe_layout_request *q, const int64_t *lengths, size_t n)
{
    static struct reference r;
    memset(&r, 0, sizeof r);
    cut(&r, q, lengths, n);
    if (q->algorithm >= PE_ALGORITHM_NEXT_FIT_DECREASING)
        sort(&r);
    place(&r, q);
    struct pe__plan plan = {0};
    assert_int_equal(pe__plan_make(&plan, q, NULL), PE_OK);
    assert_int_equal(plan.items, r.items);
    assert_int_equal(plan.rows, r.rows);
    size_t at = 0;
    for (size_t row = 0; row < r.rows; row++) {
        for (size_t i = 0; i < r.items; i++) {
            if (r.item[i].row != (int64_t)row)
                continue;
            assert_int_equal(plan.item[at].document, r.item[i].document);
            assert_int_equal(plan.item[at].offset, r.item[i].offset);
            assert_int_equal(plan.item[at++].length, r.item[i].length);
        }
        assert_int_equal(plan.row_ends[row], at);
    }
    pe__plan_clear(&plan);
}

static void every_algorithm(void **unused)
{
    static const int long_ways[] = {PE_LONG_DROP, PE_LONG_KEEP_FIRST, PE_LONG_KEEP_LAST,
                                    PE_LONG_SPLIT};
    (void)unused;
    for (int round = 0; round < 600; round++) {
        int64_t lengths[MOST];
        size_t n = (size_t)kit_upto(round % 10 ? 40 : MOST - 1);
        for (size_t i = 0; i < n; i++)
            lengths[i] = kit_upto(kit_upto(3) ? 9 : 30);
        struct pe_layout_request q = kit_ask(PE_PLAN);
        kit_list(&q, PE_OPTION_LENGTHS, lengths, n);
        SET(&q, CAPACITY, 6 + kit_upto(20));
        SET(&q, ALGORITHM, round % 8);
        SET(&q, TOO_LONG, long_ways[kit_upto(3)]);
        SET(&q, MAX_DOCUMENTS, kit_upto(1) ? 0 : 1 + kit_upto(3));
        SET(&q, PAD_EACH_TO_MULTIPLE_OF, 1 + kit_upto(3));
        SET(&q, EMPTY, kit_upto(1) ? PE_EMPTY_KEEP : PE_EMPTY_DROP);
        compare(&q, lengths, n);
    }
}

static void end_to_end(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_PLAN);
    GIVE(&q, LENGTHS, 2, 6, 0, 3);
    SET(&q, CAPACITY, 6);
    SET(&q, ALGORITHM, PE_ALGORITHM_CONCAT);
    SET(&q, CONTINUATION, PE_CONTINUATION_COUNT);
    SET(&q, OUTPUTS,
        OUT(DOCUMENTS) | OUT(OFFSETS) | OUT(LENGTHS) | OUT(CU_DOCUMENTS) | OUT(PAST_LENGTHS));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, DOCUMENTS, 0, 1, 1, 2, 3);
    HOLDS(l, OFFSETS, 0, 0, 4, 0, 0);
    HOLDS(l, LENGTHS, 2, 4, 2, 0, 3);
    HOLDS(l, CU_DOCUMENTS, 0, 2, 5);
    HOLDS(l, PAST_LENGTHS, 0, 0, 4, 0, 0);
    pe_layout_destroy(&l);
    SET(&q, TOO_LONG, PE_LONG_SPLIT);
    assert_int_equal(kit_refused(&q, PE_UNUSED, NULL), PE_OPTION_TOO_LONG);
}

static void losses(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_PLAN);
    struct pe_layout_fault fault;
    GIVE(&q, LENGTHS, 5, 9, 4, 20);
    SET(&q, CAPACITY, 8);
    SET(&q, OUTPUTS, OUT(DROPPED) | OUT(TOKENS_LOST) | OUT(TOKENS) | OUT(SLOTS) | OUT(FILL_RATIO));
    assert_int_equal(kit_refused(&q, PE_RANGE, &fault), PE_OPTION_LENGTHS);
    assert_int_equal(fault.index[0], 1);
    SET(&q, TOO_LONG, PE_LONG_DROP);
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, DROPPED, 1, 3);
    HOLDS(l, TOKENS_LOST, 29);
    HOLDS(l, TOKENS, 9);
    HOLDS(l, SLOTS, 16);
    HOLDS(l, FILL_RATIO, 562500);
    pe_layout_destroy(&l);
    q.most_pieces = 5;
    SET(&q, TOO_LONG, PE_LONG_SPLIT);
    assert_int_equal(kit_refused(&q, PE_TOO_LARGE, NULL), PE_OPTION_LENGTHS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tournament),      cmocka_unit_test(ordered_set),
        cmocka_unit_test(every_algorithm), cmocka_unit_test(end_to_end),
        cmocka_unit_test(losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
