/* SPDX-License-Identifier: MIT
 *
 * test_server_memory.c: pieces are whole and apart from each other, large ones are used again and
 * cut, and nothing is kept for long.
 */
#include "cache/memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)

/* Whether the page is ours: msync says ENOMEM of one that is not mapped. */
static bool mapped_at(const unsigned char *at)
{
    return msync((void *)((uintptr_t)at / 4096 * 4096), 4096, MS_ASYNC) == 0 || errno != ENOMEM;
}

static void forget_all(void)
{
    for (int i = 0; i < 16; i++)
        memory_age();
}

static void pieces_are_whole(void **state)
{
    (void)state;
    enum { PIECES = 40 };
    unsigned char *at[PIECES];
    size_t size[PIECES], mapped[PIECES];
    for (int round = 0; round < 8; round++) {
        for (int i = 0; i < PIECES; i++) {
            size[i] = i < 20 ? (size_t)1 << (i % 20) : (size_t)(i - 19) * 777777;
            at[i] = memory_get(size[i], &mapped[i]);
            assert_non_null(at[i]);
            assert_true(mapped[i] == 0 || mapped[i] >= size[i]);
            memset(at[i], i + 1, size[i]);
        }
        for (int i = 0; i < PIECES; i++)
            for (size_t k = 0; k < size[i]; k += 1000)
                assert_int_equal(at[i][k], i + 1);
        for (int i = 0; i < PIECES; i++)
            memory_give(at[(i * 7 + round) % PIECES], mapped[(i * 7 + round) % PIECES]);
    }
    forget_all();
}

static void large_ones_are_used_again(void **state)
{
    (void)state;
    size_t a_size, b_size, c_size;
    unsigned char *a = memory_get(16 * MIB, &a_size);
    assert_int_equal((uintptr_t)a % (2 * MIB), 0);
    memory_give(a, a_size);
    unsigned char *b = memory_get(16 * MIB, &b_size);
    assert_ptr_equal(a, b);
    memory_give(b, b_size);
    /* cut: 3 MiB in front, and what begins on a huge page behind it */
    b = memory_get(3 * MIB, &b_size);
    assert_ptr_equal(b, a);
    unsigned char *c = memory_get(5 * MIB, &c_size);
    assert_ptr_equal(c, a + 4 * MIB);
    assert_false(mapped_at(b + b_size));
    memset(b, 1, b_size);
    memset(c, 2, c_size);
    memory_give(b, b_size);
    memory_give(c, c_size);
    forget_all();
    assert_false(mapped_at(a));
    assert_false(mapped_at(a + 4 * MIB));
    assert_false(mapped_at(a + 10 * MIB));
}

static void not_more_than_some_is_kept(void **state)
{
    (void)state;
    unsigned char *at[20];
    size_t mapped[20];
    for (int i = 0; i < 20; i++)
        at[i] = memory_get(8 * MIB, &mapped[i]);
    for (int i = 0; i < 20; i++)
        memory_give(at[i], mapped[i]);
    int still = 0;
    for (int i = 0; i < 20; i++)
        still += mapped_at(at[i]);
    assert_in_range(still, 1, 8);
    unsigned char *giant = memory_get(100 * MIB, &mapped[0]);
    memory_give(giant, mapped[0]);
    assert_false(mapped_at(giant));
    forget_all();
    for (int i = 0; i < 20; i++)
        assert_false(mapped_at(at[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_whole),
        cmocka_unit_test(large_ones_are_used_again),
        cmocka_unit_test(not_more_than_some_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
