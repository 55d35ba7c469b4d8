/* SPDX-License-Identifier: MIT
 *
 * convert_arrays.c: see convert_arrays.h.
 */
#include "layout/convert_arrays.h"
#include "layout/fault.h"
#include "layout/form.h"

/* ---------------------------------------------------------------- shape */

static enum pe_error read_grid(struct pe__arrays *r, enum pe_option o, const struct pe_array *a,
                               const struct pe_array **out, bool *any)
{
    uint64_t rows, width;
    if (!r->q->given[o])
        return PE_OK;
    enum pe_error e = pe__grid(a, o, &rows, &width, r->fault);
    if (e)
        return e;
    if (*any && ((int64_t)rows != r->rows || (int64_t)width != r->width))
        return pe__fault(r->fault, PE_CONFLICT, o, "%s has not the shape of the other arrays",
                         pe_option_info(o)->name);
    r->rows = (int64_t)rows;
    r->width = (int64_t)width;
    *out = a;
    *any = true;
    return PE_OK;
}

/* The fullest row of lengths. */
static int64_t widest(const struct pe_array *a)
{
    int64_t most = 0;
    for (uint64_t row = 0; row < pe__rows(a); row++) {
        int64_t sum = 0;
        for (uint64_t i = pe__row_first(a, row); i < pe__row_end(a, row); i++)
            sum += pe__at(a, i);
        most = pe__max(most, sum);
    }
    return most;
}

static enum pe_error read_lists(struct pe__arrays *r, bool any)
{
    const struct pe_layout_request *q = r->q;
    enum pe_error e;
    if (q->given[PE_OPTION_LENGTHS]) {
        r->lengths = &q->lengths;
        if (r->lengths->rank == 0 || r->lengths->rank > 2)
            return pe__fault(r->fault, PE_RANGE, PE_OPTION_LENGTHS,
                             "lengths must be a list, or a list of rows");
        if ((e = pe__sums(r->lengths, PE_OPTION_LENGTHS, NULL, r->fault)))
            return e;
        if (any && (int64_t)pe__rows(r->lengths) != r->rows)
            return pe__fault(r->fault, PE_CONFLICT, PE_OPTION_LENGTHS,
                             "lengths has not as many rows as the other arrays");
        if (!any) {
            r->rows = (int64_t)pe__rows(r->lengths);
            r->width = widest(r->lengths);
            if (r->width && r->rows > PE_SLOT_END / r->width)
                return pe__fault(r->fault, PE_RANGE, PE_OPTION_LENGTHS,
                                 "lengths name more than 2^53 slots");
            any = true;
        }
    }
    if (!q->given[PE_OPTION_CU_SEQLENS])
        return any ? PE_OK
                   : pe__fault(r->fault, PE_MISSING, PE_OPTION_POSITION_IDS,
                               "position_ids, or another array, is required");
    r->cu = &q->cu_seqlens;
    if (r->cu->rank != 1 || r->cu->count == 0)
        return pe__fault(r->fault, PE_RANGE, PE_OPTION_CU_SEQLENS,
                         "cu_seqlens must be a flat list of at least one entry");
    if (any)
        return PE_OK;
    int64_t end = pe__at(r->cu, r->cu->count - 1);
    r->rows = 1;
    r->width = q->given[PE_OPTION_TOTAL] ? q->total : pe__max(end, 0);
    if (end > r->width)
        return pe__fault_at(r->fault, PE_CONFLICT, PE_OPTION_CU_SEQLENS, r->cu->count - 1,
                            "the last offset is beyond total");
    return PE_OK;
}

enum pe_error pe__arrays_read(struct pe__arrays *r, const struct pe_layout_request *q,
                              struct pe_layout_fault *fault)
{
    bool any = false;
    enum pe_error e;
    r->q = q;
    r->fault = fault;
    if ((e = read_grid(r, PE_OPTION_POSITION_IDS, &q->position_ids, &r->ids, &any)) ||
        (e = read_grid(r, PE_OPTION_ATTENTION_MASK, &q->attention_mask, &r->mask, &any)) ||
        (e = read_grid(r, PE_OPTION_SEGMENT_IDS, &q->segment_ids, &r->labels, &any)) ||
        (e = read_grid(r, PE_OPTION_ATTENTION_MASK_IN_LENGTH, &q->attention_mask_in_length,
                       &r->heads, &any)))
        return e;
    bool alone = !any && !q->given[PE_OPTION_LENGTHS];
    if (q->given[PE_OPTION_TOTAL] && !alone)
        return pe__fault(r->fault, PE_UNUSED, PE_OPTION_TOTAL, "total is for cu_seqlens alone");
    if (r->mask && (e = pe__within(r->mask, PE_OPTION_ATTENTION_MASK, 0, 1, r->fault)))
        return e;
    if (r->heads && (e = pe__sums(r->heads, PE_OPTION_ATTENTION_MASK_IN_LENGTH, NULL, r->fault)))
        return e;
    return read_lists(r, any);
}

/* ---------------------------------------------------------------- tokens */

/* Tokens at the head of a row, where nothing tells slot by slot. */
static int64_t head_tokens(const struct pe__arrays *r, uint64_t row)
{
    const struct pe_array *a = r->heads ? r->heads : r->lengths;
    int64_t sum = 0;
    if (!a)
        return r->cu && !r->ids ? pe__at(r->cu, r->cu->count - 1) : r->width;
    for (uint64_t i = pe__row_first(a, row); i < pe__row_end(a, row); i++)
        sum += pe__at(a, i);
    return sum;
}

/* The run at or behind slot `at`, by what tells of every slot, or by the number of tokens. */
static void find_run(struct pe__arrays *r, uint64_t row, int64_t at)
{
    int64_t width = r->width;
    const struct pe_array *a = r->mask ? r->mask : r->labels;
    r->found = true;
    r->row = row;
    r->from = at;
    if (!a) {
        r->to = pe__max(at, pe__min(width, head_tokens(r, row)));
        return;
    }
    int64_t pad = r->mask ? 0 : r->q->from_segment_base - 1;
    uint64_t first = row * (uint64_t)width;
    while (at < width && pe__at(a, first + (uint64_t)at) == pad)
        at++;
    r->from = at;
    while (at < width && pe__at(a, first + (uint64_t)at) != pad)
        at++;
    r->to = at;
}

bool pe__next_tokens(struct pe__arrays *r, uint64_t row, int64_t *from, int64_t *to)
{
    if (!r->found || r->row != row || *from < r->from || *from >= r->to)
        find_run(r, row, *from);
    *from = pe__max(*from, r->from);
    *to = r->to;
    return *from < *to;
}
