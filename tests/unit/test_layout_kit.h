/* SPDX-License-Identifier: MIT
 *
 * test_layout_kit.h: makes requests for layouts and reads tensors back, for the tests of
 * lib/layout.
 */
#ifndef TEST_LAYOUT_KIT_H
#define TEST_LAYOUT_KIT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posenc_layout.h"

#define KIT_UNUSED __attribute__((unused))
#define OUT(id) (UINT64_C(1) << PE_OUT_##id)

static uint64_t kit_state = UINT64_C(0x9e3779b97f4a7c15);

KIT_UNUSED static int64_t kit_upto(int64_t n)
{
    kit_state ^= kit_state << 13;
    kit_state ^= kit_state >> 7;
    kit_state ^= kit_state << 17;
    return (int64_t)(kit_state % (uint64_t)(n + 1));
}

KIT_UNUSED static struct pe_layout_request kit_ask(enum pe_endpoint endpoint)
{
    struct pe_layout_request q;
    pe_layout_request_init(&q, endpoint);
    return q;
}

/* A flat list; the values must outlive the layout. */
KIT_UNUSED static void kit_list(struct pe_layout_request *q, enum pe_option o, const int64_t *at,
                                size_t n)
{
    struct pe_array a = {.at = at, .size = 8, .rank = 1, .shape = {n}, .count = n};
    assert_int_equal(pe_option_info(o)->type, PE_IS_ARRAY);
    memcpy((char *)q + pe_option_info(o)->offset, &a, sizeof a);
    q->given[o] = true;
}

/* Rows of equal length. */
KIT_UNUSED static void kit_grid(struct pe_layout_request *q, enum pe_option o, const int64_t *at,
                                size_t rows, size_t width)
{
    kit_list(q, o, at, rows * width);
    struct pe_array *a = (void *)((char *)q + pe_option_info(o)->offset);
    a->rank = 2;
    a->shape[0] = rows;
    a->shape[1] = width;
}

KIT_UNUSED static void kit_set(struct pe_layout_request *q, enum pe_option o, int64_t value)
{
    void *field = (char *)q + pe_option_info(o)->offset;
    q->given[o] = true;
    switch (pe_option_info(o)->type) {
    case PE_IS_BOOL:
        *(bool *)field = value != 0;
        break;
    case PE_IS_WORD:
    case PE_IS_NAME:
        *(int *)field = (int)value;
        break;
    case PE_IS_TENSORS:
        *(uint64_t *)field = (uint64_t)value;
        break;
    default:
        *(int64_t *)field = value;
    }
}

KIT_UNUSED static struct pe_layout *kit_make(const struct pe_layout_request *q)
{
    struct pe_layout *l;
    struct pe_layout_fault fault;
    if (pe_layout_create(q, &l, &fault) != PE_OK)
        fail_msg("%s: %s", fault.option < PE_OPTIONS ? pe_option_info(fault.option)->name : "",
                 fault.text);
    return l;
}

/* The option that a request is refused for, which must be with this error. */
KIT_UNUSED static enum pe_option kit_refused(const struct pe_layout_request *q, enum pe_error error,
                                             struct pe_layout_fault *fault)
{
    struct pe_layout *l;
    struct pe_layout_fault own;
    fault = fault ? fault : &own;
    assert_int_equal(pe_layout_create(q, &l, fault), error);
    assert_null(l);
    assert_int_equal(fault->error, error);
    assert_true(fault->text[0] != 0);
    return fault->option;
}

static inline int64_t kit_element(const void *at, enum pe_dtype dtype, size_t i)
{
    switch (dtype) {
    case PE_DTYPE_I64:
        return ((const int64_t *)at)[i];
    case PE_DTYPE_I32:
        return ((const int32_t *)at)[i];
    case PE_DTYPE_F64:
        return (int64_t)(((const double *)at)[i] * 1e6);
    default:
        return ((const uint8_t *)at)[i];
    }
}

/* All values of a chosen tensor, read in windows of `window` elements (0: at random). The caller
 * frees. */
KIT_UNUSED static int64_t *kit_window(const struct pe_layout *l, enum pe_out id, size_t window,
                                      size_t *count)
{
    struct pe_tensor t[PE_OUTS];
    enum pe_out ids[PE_OUTS];
    unsigned n = pe_layout_tensors(l, t, ids), at = 0;
    while (at < n && ids[at] != id)
        at++;
    if (at == n)
        fail_msg("%s was not chosen", pe_out_name(id));
    size_t rows = (size_t)t[at].rows, size = pe_dtype_size(t[at].dtype);
    int64_t *out = malloc((rows + 1) * sizeof *out);
    for (size_t from = 0, now; from < rows; from += now) {
        now = window ? window : (size_t)kit_upto(9) + 1;
        now = now < rows - from ? now : rows - from;
        unsigned char *part = malloc(now * size + 1);
        part[now * size] = 0xa5;
        pe_layout_fill(l, id, from, now, part);
        assert_int_equal(part[now * size], 0xa5);
        for (size_t i = 0; i < now; i++)
            out[from + i] = kit_element(part, t[at].dtype, i);
        free(part);
    }
    *count = rows;
    return out;
}

KIT_UNUSED static int64_t *kit_values(const struct pe_layout *l, enum pe_out id, size_t *count)
{
    return kit_window(l, id, 0, count);
}

/* Holds a tensor against a list. */
KIT_UNUSED static void kit_holds(const struct pe_layout *l, enum pe_out id, const int64_t *want,
                                 size_t n)
{
    size_t count;
    int64_t *got = kit_values(l, id, &count);
    assert_int_equal(count, n);
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("%s[%zu] is %lld, not %lld", pe_out_name(id), i, (long long)got[i],
                     (long long)want[i]);
    free(got);
}

#define N(...) (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define GIVE(q, id, ...) kit_list(q, PE_OPTION_##id, (const int64_t[]){__VA_ARGS__}, N(__VA_ARGS__))
#define SET(q, id, value) kit_set(q, PE_OPTION_##id, value)
#define FILL(word) (PE_A_WORD + PE_FILL_##word)
#define HOLDS(l, id, ...) kit_holds(l, PE_OUT_##id, (const int64_t[]){__VA_ARGS__}, N(__VA_ARGS__))

#endif
