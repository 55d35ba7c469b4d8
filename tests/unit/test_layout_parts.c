/* SPDX-License-Identifier: MIT
 *
 * test_layout_parts.c: the small parts below layouts: elements of arrays, checks of shapes and
 * sums, lists that grow, runs that are written, and documents in rows of segment numbers.
 */
#include "test_layout_kit.h"

#include "layout/fault.h"
#include "layout/labels.h"
#include "layout/list.h"
#include "layout/sink.h"

static void elements(void **unused)
{
    static const unsigned char bytes[] = {0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const struct {
        unsigned size;
        bool is_unsigned;
        int64_t want;
    } kinds[] = {{1, false, -2},
                 {2, false, -2},
                 {4, false, -2},
                 {8, false, -2},
                 {1, true, 254},
                 {2, true, 65534},
                 {4, true, INT64_C(4294967294)}};
    (void)unused;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        /* any alignment */
        struct pe_array a = {.at = bytes + 1,
                             .size = kinds[i].size,
                             .is_unsigned = kinds[i].is_unsigned,
                             .count = 1};
        assert_int_equal(pe__at(&a, 0), kinds[i].want);
    }
}

static void shapes(void **unused)
{
    static const int64_t v[] = {1, 2, 3, 4, 5, 6};
    static const uint64_t even[] = {3, 6}, ragged[] = {3, 5, 6};
    struct pe_layout_fault fault;
    uint64_t rows, width;
    int64_t sum;
    (void)unused;
    struct pe_array a = {
        .at = v, .size = 8, .rank = 2, .shape = {2, 3}, .count = 6, .row_ends = even};
    assert_int_equal(pe__grid(&a, PE_OPTION_SEGMENT_IDS, &rows, &width, &fault), PE_OK);
    assert_int_equal(rows, 2);
    assert_int_equal(width, 3);
    a.shape[0] = 3;
    a.row_ends = ragged;
    assert_int_equal(pe__grid(&a, PE_OPTION_SEGMENT_IDS, &rows, &width, &fault), PE_RANGE);
    assert_int_equal(fault.rank, 1);
    assert_int_equal(fault.index[0], 1);
    assert_int_equal(pe__within(&a, PE_OPTION_SEGMENT_IDS, 1, 4, &fault), PE_RANGE);
    assert_int_equal(fault.rank, 2);
    assert_int_equal(fault.index[0], 1);
    assert_int_equal(fault.index[1], 1);
    assert_int_equal(pe__sums(&a, PE_OPTION_LENGTHS, &sum, &fault), PE_OK);
    assert_int_equal(sum, 21);
    a = (struct pe_array){.at = v, .size = 8, .rank = 1, .shape = {6}, .count = 6};
    assert_int_equal(pe__entries(&a, PE_OPTION_PAST_LENGTHS, 6, "rows", &fault), PE_OK);
    assert_int_equal(pe__entries(&a, PE_OPTION_PAST_LENGTHS, 5, "rows", &fault), PE_RANGE);
}

static void rounding(void **unused)
{
    int64_t out;
    (void)unused;
    assert_true(pe__round_up(7, 4, &out) && out == 8);
    assert_true(pe__round_up(8, 4, &out) && out == 8);
    assert_true(pe__round_up(0, PE_SLOT_END, &out) && out == 0);
    assert_true(pe__round_up(1, PE_SLOT_END, &out) && out == PE_SLOT_END);
    assert_false(pe__round_up(PE_SLOT_END - 1, PE_SLOT_END - 2, &out));
    assert_false(pe__round_up(PE_SLOT_END + 1, 1, &out));
}

static void growing(void **unused)
{
    uint32_t *list = NULL;
    uint64_t room = 0;
    (void)unused;
    for (uint32_t i = 0; i < 100000; i++) {
        assert_true(pe__list_more(&list, i, &room, sizeof *list));
        assert_true(room > i && room <= 16 + 2 * (uint64_t)i);
        list[i] = i * 7;
    }
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(list[i], i * 7);
    assert_false(pe__list_resize(&list, UINT64_MAX / 2, sizeof *list));
    assert_int_equal(list[99999], 99999 * 7);
    free(list);
}

static void writing(void **unused)
{
    int64_t wide[6];
    int32_t narrow[6];
    struct pe__sink a = {(char *)wide, true}, b = {(char *)narrow, false};
    (void)unused;
    pe__put_run(&a, -1, 1, 4);
    pe__put_run(&a, 9, 0, 1);
    pe__put(&a, INT64_C(1) << 40);
    pe__put_run(&b, INT32_MAX - 1, 1, 2);
    pe__put_run(&b, -5, 0, 3);
    pe__put(&b, 7);
    assert_memory_equal(wide, ((const int64_t[]){-1, 0, 1, 2, 9, INT64_C(1) << 40}), sizeof wide);
    assert_memory_equal(narrow, ((const int32_t[]){INT32_MAX - 1, INT32_MAX, -5, -5, -5, 7}),
                        sizeof narrow);
}

static void labels(void **unused)
{
    static const int64_t row[] = {0, 5, 5, 0, 5, 7, 7, 0, 5, 0, 7};
    static const struct pe__label_run want[] = {{1, 2, 5, true, false},
                                                {4, 1, 5, false, false},
                                                {5, 2, 7, true, false},
                                                {8, 1, 5, true, true},
                                                {10, 1, 7, true, true}};
    struct pe_array a = {.at = row, .size = 8, .rank = 1, .shape = {11}, .count = 11};
    struct pe__labels l = {.array = &a, .pad = 0};
    struct pe__label_run run;
    (void)unused;
    for (int again = 0; again < 2; again++) {
        pe__labels_row(&l, 0);
        for (size_t i = 0; i < 5; i++) {
            assert_true(pe__labels_next(&l, &run));
            assert_int_equal(run.slot, want[i].slot);
            assert_int_equal(run.length, want[i].length);
            assert_int_equal(run.number, want[i].number);
            assert_int_equal(run.opens, want[i].opens);
            assert_int_equal(run.repeated, want[i].repeated);
        }
        assert_false(pe__labels_next(&l, &run));
    }
    pe__labels_clear(&l);
}

/* Many numbers in one row: none repeats but the last. */
static void many_labels(void **unused)
{
    enum { COUNT = 50000 };
    static int64_t row[COUNT];
    struct pe_array a = {.at = row, .size = 8, .rank = 1, .shape = {COUNT}, .count = COUNT};
    struct pe__labels l = {.array = &a, .pad = -1};
    struct pe__label_run run;
    size_t n = 0;
    (void)unused;
    for (size_t i = 0; i < COUNT; i++)
        row[i] = (int64_t)(i * INT64_C(1) << 32);
    row[COUNT - 1] = row[17];
    pe__labels_row(&l, 0);
    for (; pe__labels_next(&l, &run); n++)
        assert_int_equal(run.repeated, n == COUNT - 1);
    assert_int_equal(n, COUNT);
    assert_false(l.no_memory);
    pe__labels_clear(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements),    cmocka_unit_test(shapes),  cmocka_unit_test(rounding),
        cmocka_unit_test(growing),     cmocka_unit_test(writing), cmocka_unit_test(labels),
        cmocka_unit_test(many_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
