/* SPDX-License-Identifier: MIT
 *
 * test_arrange.c: every element of every layout, by the definition of the layout, for every element
 * size, with nothing written beside it.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include "table/arrange.h"

#include <stdio.h>
#include <stdlib.h>

#define ROWS 3
#define PAIRS 21
#define GAP 5 /* bytes between rows */

/* Element k of row i of a hand: a number that tells where it is from, with the sign bit of `sign`.
 */
static uint64_t cell(enum pe__hand hand, size_t row, size_t pair, size_t size)
{
    uint64_t v = 1 + (uint64_t)hand * 1000 + row * 100 + pair;
    if (hand == PE__SIN && pair % 3 == 0)
        v |= UINT64_C(1) << (8 * size - 1);
    if (hand == PE__SIN && pair == 4)
        v = 0;
    return v;
}

static uint64_t negated(uint64_t v, size_t size)
{
    return v ? v ^ UINT64_C(1) << (8 * size - 1) : 0;
}

static void fill_plane(char *plane, enum pe__hand hand, size_t size)
{
    for (size_t row = 0; row < ROWS; row++)
        for (size_t k = 0; k < PAIRS; k++) {
            uint64_t v = cell(hand, row, k, size);
            memcpy(plane + (row * PAIRS + k) * size, &v, size);
        }
}

/* What stands in a column of a row of tensor t, by the words of the contract. */
static uint64_t want(const struct pe_spec *s, unsigned t, size_t row, size_t column, size_t size)
{
    size_t half = (size_t)s->width / 2, c = column;
    bool cos_first = s->kind == PE_KIND_ROPE || s->order == PE_ORDER_COS;
    enum pe__hand one = cos_first ? PE__COS : PE__SIN, two = cos_first ? PE__SIN : PE__COS;
    enum pe__hand plane = s->kind == PE_KIND_XPOS && t == 1 ? PE__SCALE : t ? PE__SIN : PE__COS;
    bool sinusoidal = s->kind == PE_KIND_SINUSOIDAL;
    switch (s->layout) {
    case PE_LAYOUT_PAIRS:
        return cell(plane, row, c, size);
    case PE_LAYOUT_SPLIT:
        return cell(sinusoidal ? (c < half ? one : two) : plane, row, c % half, size);
    case PE_LAYOUT_INTERLEAVED:
        return cell(sinusoidal ? (c % 2 ? two : one) : plane, row, c / 2, size);
    case PE_LAYOUT_COS_SIN:
        return cell(c < half ? PE__COS : PE__SIN, row, c % half, size);
    case PE_LAYOUT_COMPLEX:
        return cell(c % 2 ? PE__SIN : PE__COS, row, c / 2, size);
    case PE_LAYOUT_MATRIX:
        if (c % 4 == 1)
            return negated(cell(PE__SIN, row, c / 4, size), size);
        return cell(c % 4 == 2 ? PE__SIN : PE__COS, row, c / 4, size);
    default:
        return cell(PE__COS, row, c, size);
    }
}

static void check(const char *line, size_t size)
{
    static char planes[PE__HANDS][ROWS * PAIRS * 8];
    struct kit_spec k;
    struct pe_tensor t[PE_MAX_TENSORS];
    size_t stride[PE_MAX_TENSORS];
    void *out[PE_MAX_TENSORS] = {NULL};
    struct pe__planes from = {.size = size, .pairs = PAIRS, .rows = ROWS, .first = 0, .step = 1};
    assert_true(kit_spec(&k, line, NULL));
    unsigned count = pe_spec_tensors(&k.spec, t);
    for (int hand = 0; hand < PE__HANDS; hand++) {
        fill_plane(planes[hand], (enum pe__hand)hand, size);
        from.of[hand] = planes[hand];
    }
    for (unsigned i = 0; i < count; i++) {
        stride[i] = t[i].row_elements * size + GAP;
        out[i] = malloc(ROWS * stride[i]);
        assert_non_null(out[i]);
        memset(out[i], 0xa5, ROWS * stride[i]);
    }
    struct pe__arrangement a = pe__arrangement_of(&k.spec, 0);
    pe__arrange_rows(&a, &from, out, stride);
    for (unsigned i = 0; i < count; i++) {
        for (size_t row = 0; row < ROWS; row++) {
            const unsigned char *at = (unsigned char *)out[i] + row * stride[i];
            for (size_t c = 0; c < t[i].row_elements; c++) {
                uint64_t v = want(&k.spec, i, row, c, size);
                if (memcmp(at + c * size, &v, size) != 0)
                    fail_msg("%s, %zu bytes: %s, row %zu, column %zu", line, size, t[i].name, row,
                             c);
            }
            for (size_t gap = 0; gap < GAP; gap++)
                assert_int_equal(at[stride[i] - GAP + gap], 0xa5);
        }
        free(out[i]);
    }
    kit_spec_clear(&k);
}

static void test_layouts(void **state)
{
    static const char *const lines[] = {
        "sinusoidal?length=3&width=42",
        "sinusoidal?length=3&width=42&order=cos",
        "sinusoidal?length=3&width=42&layout=split",
        "sinusoidal?length=3&width=42&layout=split&order=cos",
        "rope?length=3&width=42",
        "rope?length=3&width=42&layout=split",
        "rope?length=3&width=42&layout=interleaved",
        "rope?length=3&width=42&layout=cos_sin",
        "rope?length=3&width=42&layout=complex",
        "rope?length=3&width=42&layout=matrix",
        "rope?length=3&width=42&layout=phase",
        "xpos?length=3&width=42",
        "xpos?length=3&width=42&layout=split",
        "xpos?length=3&width=42&layout=interleaved",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t size = 2; size <= 8; size *= 2)
            check(lines[i], size);
}

/* Some pairs in steps, one tensor not wanted. */
static void test_steps(void **state)
{
    static uint32_t plane[2][4] = {{10, 11, 12, 13}, {20, 21, 22, 23}};
    static const uint32_t expected[] = {0, 0, 10, 10, 0, 0, 0, 0, 11, 11, 0, 0,
                                        0, 0, 12, 12, 0, 0, 0, 0, 13, 13, 0, 0};
    uint32_t out[24] = {0};
    struct kit_spec k;
    (void)state;
    assert_true(
        kit_spec(&k, "mrope?length=1&width=24&mrope_section=4,4,4&layout=interleaved", NULL));
    struct pe__arrangement a = pe__arrangement_of(&k.spec, 0);
    pe__arrange_rows(
        &a,
        &(struct pe__planes){
            .of = {plane[0], plane[1]}, .size = 4, .pairs = 4, .rows = 1, .first = 1, .step = 3},
        (void *[]){out, NULL}, (size_t[]){sizeof out, sizeof out});
    assert_memory_equal(out, expected, sizeof out);
    kit_spec_clear(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
