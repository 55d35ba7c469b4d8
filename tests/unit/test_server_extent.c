/* SPDX-License-Identifier: MIT
 *
 * test_server_extent.c: bands from the front and from the back fit together without a gap, whatever
 * the tensors and the sizes that are asked for.
 */
#include "cache/extent.h"
#include "kit/random.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Tensors of random rows; some share their row count, and are made together. */
static struct extent random_extent(void)
{
    struct extent x = {.count = 1 + (unsigned)kit_below(4)};
    for (unsigned t = 0; t < x.count; t++) {
        unsigned same = 0;
        x.rows[t] = t && kit_below(2) ? x.rows[t - 1] : 1 + kit_below(3000);
        x.row_bytes[t] = 4 + 4 * kit_below(500);
        x.offset[t] = x.bytes;
        x.bytes += x.rows[t] * x.row_bytes[t];
        while (same < t && x.rows[same] != x.rows[t])
            same++;
        x.base[t] = same < t ? x.base[same] : x.goal;
        x.goal += same < t ? 0 : x.rows[t];
    }
    return x;
}

static void bands_fit_together(void **unused)
{
    (void)unused;
    for (int round = 0; round < 3000; round++) {
        struct extent x = random_extent();
        uint64_t next = 0, end = x.goal;
        while (next < end) {
            uint64_t bytes = 1 + kit_below(100000), asked = bytes;
            if (kit_below(2)) {
                uint64_t to = extent_next(&x, next, bytes);
                assert_true(to > next && to <= x.goal);
                next = to < end ? to : end;
                continue;
            }
            uint64_t from = extent_back(&x, end, next, &bytes);
            assert_true(from >= next && from < end);
            assert_true(extent_next(&x, from, bytes) == end);
            assert_true(bytes <= asked || end - from == 1);
            end = from;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_fit_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
