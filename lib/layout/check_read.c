/* SPDX-License-Identifier: MIT
 *
 * check_read.c: which arrays were sent, and whether their shapes can be compared.
 */
#include "layout/check.h"

static bool given(const struct pe_check *c, enum pe_option o)
{
    return c->q.given[o];
}

/* Takes a grid; a shape unlike those before is a finding. */
static enum pe_error take_grid(struct pe_check *c, enum pe_option o, const struct pe_array *a,
                               const struct pe_array **out, bool *comparable,
                               struct pe_layout_fault *fault)
{
    uint64_t rows, width;
    if (!given(c, o))
        return PE_OK;
    enum pe_error e = pe__grid(a, o, &rows, &width, fault);
    if (e)
        return e;
    *out = a;
    if (c->any_grid && ((int64_t)rows != c->rows || (int64_t)width != c->width)) {
        if (*comparable)
            pe__report(c, PE__ARRAYS_DIFFER, &(struct pe__said){.tensor = o, .at = -1});
        *comparable = false;
        return PE_OK;
    }
    c->rows = (int64_t)rows;
    c->width = (int64_t)width;
    c->any_grid = true;
    return PE_OK;
}

/* Ids that have axes in front: one rank more than the types beside them, and 3 or 4 of them. */
static enum pe_error take_ids(struct pe_check *c, bool *comparable, struct pe_layout_fault *fault)
{
    const struct pe_array *a = &c->q.position_ids;
    const enum pe_option o = PE_OPTION_POSITION_IDS;
    if (!given(c, o))
        return PE_OK;
    bool axes = given(c, PE_OPTION_MM_TOKEN_TYPE_IDS) && a->rank == c->q.mm_token_type_ids.rank + 1;
    if (!axes)
        return take_grid(c, o, a, &c->ids, comparable, fault);
    if (a->row_ends && a->rank == 2) {
        uint64_t rows, width;
        enum pe_error e = pe__grid(a, o, &rows, &width, fault);
        if (e)
            return e;
    }
    if (a->shape[0] != 3 && a->shape[0] != 4)
        return pe__fault(fault, PE_RANGE, o,
                         "position_ids has 3 or 4 axes in front of the shape of mm_token_type_ids");
    c->ids = a;
    c->axes = (unsigned)a->shape[0];
    c->rows = a->rank == 3 ? (int64_t)a->shape[1] : 1;
    c->width = (int64_t)(a->rank == 3 ? a->shape[2] : a->count / a->shape[0]);
    c->any_grid = true;
    return PE_OK;
}

static enum pe_error take_lists(struct pe_check *c, struct pe_layout_fault *fault)
{
    if (given(c, PE_OPTION_CU_SEQLENS)) {
        c->cu = &c->q.cu_seqlens;
        if (c->cu->rank != 1 || c->cu->count == 0)
            return pe__fault(fault, PE_RANGE, PE_OPTION_CU_SEQLENS,
                             "cu_seqlens must be a flat list of at least one entry");
    }
    if (given(c, PE_OPTION_LENGTHS)) {
        c->lengths = &c->q.lengths;
        if (c->lengths->rank != 1)
            return pe__fault(fault, PE_RANGE, PE_OPTION_LENGTHS, "lengths must be a flat list");
        return pe__sums(c->lengths, PE_OPTION_LENGTHS, NULL, fault);
    }
    return PE_OK;
}

/* The declared form: it takes the width of the arrays where there are any. */
static enum pe_error take_segments(struct pe_check *c, bool *comparable,
                                   struct pe_layout_fault *fault)
{
    if (!given(c, PE_OPTION_SEGMENTS))
        return PE_OK;
    struct pe__source s = {&c->q, fault, &c->declared, &c->no_plan};
    c->q.given[PE_OPTION_CAPACITY] = c->any_grid;
    c->q.capacity = c->width;
    enum pe_error e = pe__from_segments(&s);
    if (e)
        return e;
    if (c->any_grid && c->declared.rows != c->rows) {
        if (*comparable)
            pe__report(c, PE__ARRAYS_DIFFER,
                       &(struct pe__said){.tensor = PE_OPTION_SEGMENTS, .at = -1});
        *comparable = false;
    }
    return PE_OK;
}

enum pe_error pe__check_read(struct pe_check *c, struct pe_layout_fault *fault, bool *comparable)
{
    enum pe_error e;
    *comparable = true;
    if ((e = take_ids(c, comparable, fault)) ||
        (e = take_grid(c, PE_OPTION_ATTENTION_MASK, &c->q.attention_mask, &c->mask, comparable,
                       fault)) ||
        (e = take_grid(c, PE_OPTION_SEGMENT_IDS, &c->q.segment_ids, &c->labels, comparable,
                       fault)) ||
        (e = take_grid(c, PE_OPTION_MM_TOKEN_TYPE_IDS, &c->q.mm_token_type_ids, &c->types,
                       comparable, fault)) ||
        (e = take_lists(c, fault)))
        return e;
    if (!c->any_grid && !c->cu && !c->lengths && !given(c, PE_OPTION_SEGMENTS))
        return pe__fault(fault, PE_MISSING, PE_OPTION_POSITION_IDS,
                         "position_ids, or another array to check, is required");
    return take_segments(c, comparable, fault);
}

bool pe__check_token(const struct pe_check *c, int64_t flat)
{
    if (c->mask && pe__at(c->mask, (uint64_t)flat) == 0)
        return false;
    if (c->labels)
        return pe__at(c->labels, (uint64_t)flat) != c->q.segment_base - 1;
    if (c->mask)
        return true;
    if (c->declared.row) {
        uint32_t i = pe__segment_at(&c->declared, flat / c->width, flat);
        return i != PE__NONE && flat < c->declared.segment[i].slot + c->declared.segment[i].length;
    }
    return true;
}
