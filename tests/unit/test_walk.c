/* SPDX-License-Identifier: MIT
 *
 * test_walk.c: the runs of a table, put end to end, are its positions, whatever the cuts.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include "table/walk.h"

#include <stdlib.h>

/* Positions of `rows` rows of an axis, from runs of at most `cut` rows. */
static void check(const char *line, unsigned axis, const int64_t *want, uint64_t rows)
{
    struct kit_spec k;
    struct pe_fault fault;
    if (!kit_spec(&k, line, &fault))
        fail_msg("%s: %s", line, fault.text);
    assert_true(axis < pe__axes(&k.spec));
    for (uint64_t cut = 1; cut <= rows; cut++)
        for (uint64_t row = 0; row < rows;) {
            uint64_t most = rows - row < cut ? rows - row : cut;
            struct pe__run run = pe__walk(&k.spec, axis, row, most);
            assert_true(run.rows >= 1 && run.rows <= most);
            for (uint64_t i = 0; i < run.rows; i++)
                assert_int_equal(run.position + (int64_t)(i * run.step), want[row + i]);
            row += run.rows;
        }
    kit_spec_clear(&k);
}

#define CHECK(line, axis, ...)                               \
    do {                                                     \
        const int64_t want[] = {__VA_ARGS__};                \
        check(line, axis, want, sizeof want / sizeof *want); \
    } while (0)

static void test_positions(void **state)
{
    (void)state;
    CHECK("rope?length=4&offset=7&width=2", 0, 7, 8, 9, 10);
    CHECK("rope?positions=3,3,3,4,5,5,-1,0,1,9&width=2", 0, 3, 3, 3, 4, 5, 5, -1, 0, 1, 9);
    CHECK("rope?positions=5;shape=1x1&width=2", 0, 5);
    CHECK("mrope?length=3&offset=1&width=4&mrope_section=1,1,0", 0, 1, 2, 3);
    CHECK("mrope?positions=1,2,5,5,8,7&width=4&mrope_section=1,1,0", 0, 1, 2);
    CHECK("mrope?positions=1,2,5,5,8,7&width=4&mrope_section=1,1,0", 1, 5, 5);
    CHECK("mrope?positions=1,2,5,5,8,7&width=4&mrope_section=1,1,0", 2, 8, 7);
    CHECK("grid?height=2&columns=3&width=4", 0, 0, 0, 0, 1, 1, 1);
    CHECK("grid?height=2&columns=3&width=4", 1, 0, 1, 2, 0, 1, 2);
    CHECK("axial_rope?height=2&columns=2&width=4", 0, 0, 0, 1, 1);
    CHECK("axial_rope?positions=4,6,7,7&width=4", 1, 7, 7);
}

static void test_range(void **state)
{
    static const struct {
        const char *line;
        int64_t low;
        uint64_t span;
    } ranges[] = {{"rope?length=4&offset=7&width=2", 7, 4},
                  {"rope?positions=3,-3,1&width=2", -3, 7},
                  {"rope?positions=-9007199254740992,9007199254740991&width=2", -PE_POSITION_END,
                   UINT64_C(1) << 54},
                  {"mrope?positions=1,2,5,5,8,7&width=4&mrope_section=1,1,0", 1, 8},
                  {"grid?height=2&columns=3&width=4", 0, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        struct kit_spec k;
        int64_t low;
        uint64_t span;
        assert_true(kit_spec(&k, ranges[i].line, NULL));
        pe__walk_range(&k.spec, &low, &span);
        assert_int_equal(low, ranges[i].low);
        assert_int_equal(span, ranges[i].span);
        kit_spec_clear(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
