/* SPDX-License-Identifier: MIT
 *
 * test_squeeze.c: squeeze.c: what is coded reads back, by pieces as whole, at every length near the
 * ends of pieces; equal bytes come out however often they go in; what does not shrink fits its
 * room.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/decoded.h"
#include "answer/squeeze.h"

#define P SQUEEZE_PIECE

static const char *const names[] = {NULL, "gzip", "zstd"};

/* A body of one of three kinds: rows of decimals, steps of 64-bit integers, and noise. */
static char *body(int kind, size_t size)
{
    char *at = malloc(size + 64);
    uint64_t z = 12345;
    assert_non_null(at);
    for (size_t i = 0; i < size;) {
        z = z * 6364136223846793005 + 1442695040888963407;
        uint64_t step = i / 8 % 700;
        if (kind == 0) {
            i += (size_t)snprintf(at + i, 16, "0.%07u%c", (unsigned)(z >> 40) % 10000000,
                                  i % 640 ? ',' : '\n');
        } else {
            memcpy(at + i, kind == 1 ? &step : &z, 8);
            i += 8;
        }
    }
    return at;
}

static char *by_pieces(enum api_coding coding, bool text, const char *plain, size_t size,
                       size_t *length)
{
    struct squeeze *s = squeeze_open(coding, text);
    char *out = malloc(2 * size + 2 * SQUEEZE_ROOM), *piece = malloc(SQUEEZE_ROOM);
    assert_true(s && out && piece);
    *length = 0;
    for (size_t at = 0;; at += P) {
        size_t n = size - at < P ? size - at : P;
        ssize_t made = squeeze_piece(s, plain + at, n, piece);
        assert_true(made >= 0 && made < SQUEEZE_ROOM);
        memcpy(out + *length, piece, (size_t)made);
        *length += (size_t)made;
        if (n < P)
            break;
    }
    squeeze_close(&s);
    assert_null(s);
    free(piece);
    return out;
}

static void reads_back(void **unused)
{
    (void)unused;
    static const size_t sizes[] = {0,         1,     100,       P - 1,         P,     P + 1,
                                   2 * P - 1, 2 * P, 2 * P + 1, 7 * P + 12345, 64 * P};
    for (int coding = API_GZIP; coding <= API_ZSTD; coding++)
        for (int kind = 0; kind < 3; kind++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                size_t size = sizes[i], a, b, back;
                char *plain = body(kind, size);
                char *pieces = by_pieces((enum api_coding)coding, kind == 0, plain, size, &a);
                char *whole = squeeze_whole((enum api_coding)coding, kind == 0,
                                            (struct api_bytes){plain, size}, &b);
                assert_non_null(whole);
                assert_int_equal(a, b);
                assert_memory_equal(pieces, whole, a);
                char *again = kit_decoded(names[coding], whole, b, false, &back);
                assert_non_null(again);
                assert_int_equal(back, size);
                assert_memory_equal(again, plain, size);
                free(again);
                free(whole);
                free(pieces);
                free(plain);
            }
}

static void shrinks(void **unused)
{
    (void)unused;
    /* percent of the plain size at most: decimals have 3.32 bits a digit, steps hardly any */
    static const unsigned most[][2] = {{55, 5}, {55, 10}};
    for (int coding = API_GZIP; coding <= API_ZSTD; coding++)
        for (int kind = 0; kind < 2; kind++) {
            size_t n;
            char *plain = body(kind, 32 * P);
            char *coded = squeeze_whole((enum api_coding)coding, kind == 0,
                                        (struct api_bytes){plain, 32 * P}, &n);
            assert_non_null(coded);
            if (n > (size_t)32 * P / 100 * most[coding - 1][kind])
                fail_msg("%s: %zu bytes of %d", names[coding], n, 32 * P);
            free(coded);
            free(plain);
        }
}

static void what_is_cut_is_seen(void **unused)
{
    (void)unused;
    for (int coding = API_GZIP; coding <= API_ZSTD; coding++) {
        size_t n, back;
        char *plain = body(0, 5 * P);
        char *coded =
            squeeze_whole((enum api_coding)coding, true, (struct api_bytes){plain, 5 * P}, &n);
        assert_null(kit_decoded(names[coding], coded, n - 1, false, &back));
        char *part = kit_decoded(names[coding], coded, n / 2, true, &back);
        assert_non_null(part);
        assert_true(back > P && back < 5 * P);
        assert_memory_equal(part, plain, back);
        free(part);
        free(coded);
        free(plain);
    }
}

/* A coder that is left in the middle leaks nothing. */
static void left_early(void **unused)
{
    (void)unused;
    char *plain = body(2, P), *out = malloc(SQUEEZE_ROOM);
    for (int coding = API_GZIP; coding <= API_ZSTD; coding++) {
        struct squeeze *s = squeeze_open((enum api_coding)coding, false);
        assert_non_null(s);
        assert_true(squeeze_piece(s, plain, P, out) >= 0);
        squeeze_close(&s);
        assert_null(s);
        squeeze_close(&s);
    }
    free(out);
    free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back),
        cmocka_unit_test(shrinks),
        cmocka_unit_test(what_is_cut_is_seen),
        cmocka_unit_test(left_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
