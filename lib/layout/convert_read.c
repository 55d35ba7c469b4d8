/* SPDX-License-Identifier: MIT
 *
 * convert_read.c: see convert.h: from arrays to documents. Which slots are tokens, then which tokens are one
 * document, then what came before it. What cannot be known, or contradicts itself, is blamed at its slot.
 */
#include "layout/convert.h"
#include "layout/fault.h"
#include "layout/labels.h"

#include <stdlib.h>

struct reading {
    struct pe__batch *b;
    const struct pe_layout_request *q;
    struct pe_layout_fault *fault;
    const struct pe_array *ids, *mask, *labels, *heads; /* grids that were sent, or NULL */
    const struct pe_array *lengths, *cu;
    enum pe_error error;
    int64_t tokens;
};

static void fail(struct reading *r, enum pe_error e)
{
    if (!r->error)
        r->error = e;
}

static bool more(struct reading *r, void *list, uint64_t count, uint64_t *room, size_t item)
{
    if (count < *room)
        return true;
    uint64_t grown = *room ? *room + *room / 2 : 64;
    void *at = grown < INT32_MAX ? realloc(*(void **)list, grown * item) : NULL;
    if (!at) {
        fail(r, pe__fault(r->fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout"));
        return false;
    }
    *(void **)list = at;
    *room = grown;
    return true;
}

/* ---------------------------------------------------------------- shape */

static enum pe_error read_grid(struct reading *r, enum pe_option o, const struct pe_array *a,
                               const struct pe_array **out, bool *any)
{
    uint64_t rows, width;
    if (!r->q->given[o])
        return PE_OK;
    enum pe_error e = pe__grid(a, o, &rows, &width, r->fault);
    if (e)
        return e;
    if (*any && ((int64_t)rows != r->b->rows || (int64_t)width != r->b->width))
        return pe__fault(r->fault, PE_CONFLICT, o, "%s has not the shape of the other arrays",
                         pe_option_info(o)->name);
    r->b->rows = (int64_t)rows;
    r->b->width = (int64_t)width;
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

static enum pe_error read_lists(struct reading *r, bool any)
{
    const struct pe_layout_request *q = r->q;
    enum pe_error e;
    if (q->given[PE_OPTION_LENGTHS]) {
        r->lengths = &q->lengths;
        if (r->lengths->rank == 0 || r->lengths->rank > 2)
            return pe__fault(r->fault, PE_RANGE, PE_OPTION_LENGTHS, "lengths must be a list, or a list of rows");
        if ((e = pe__sums(r->lengths, PE_OPTION_LENGTHS, NULL, r->fault)))
            return e;
        if (any && (int64_t)pe__rows(r->lengths) != r->b->rows)
            return pe__fault(r->fault, PE_CONFLICT, PE_OPTION_LENGTHS, "lengths has not as many rows as the other arrays");
        if (!any) {
            r->b->rows = (int64_t)pe__rows(r->lengths);
            r->b->width = widest(r->lengths);
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
    r->b->rows = 1;
    r->b->width = q->given[PE_OPTION_TOTAL] ? q->total : pe__max(end, 0);
    if (end > r->b->width)
        return pe__fault_at(r->fault, PE_CONFLICT, PE_OPTION_CU_SEQLENS, r->cu->count - 1,
                            "the last offset is beyond total");
    return PE_OK;
}

static enum pe_error read_shapes(struct reading *r)
{
    const struct pe_layout_request *q = r->q;
    bool any = false;
    enum pe_error e;
    if ((e = read_grid(r, PE_OPTION_POSITION_IDS, &q->position_ids, &r->ids, &any)) ||
        (e = read_grid(r, PE_OPTION_ATTENTION_MASK, &q->attention_mask, &r->mask, &any)) ||
        (e = read_grid(r, PE_OPTION_SEGMENT_IDS, &q->segment_ids, &r->labels, &any)) ||
        (e = read_grid(r, PE_OPTION_ATTENTION_MASK_IN_LENGTH, &q->attention_mask_in_length, &r->heads, &any)))
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
static int64_t head_tokens(const struct reading *r, uint64_t row)
{
    const struct pe_array *a = r->heads ? r->heads : r->lengths;
    int64_t sum = 0;
    if (!a)
        return r->cu && !r->ids ? pe__at(r->cu, r->cu->count - 1) : r->b->width;
    for (uint64_t i = pe__row_first(a, row); i < pe__row_end(a, row); i++)
        sum += pe__at(a, i);
    return sum;
}

/* The run of tokens of a row at or behind a slot: [*from, *to); false where there is none. */
static bool next_tokens(const struct reading *r, uint64_t row, int64_t *from, int64_t *to)
{
    int64_t at = *from, width = r->b->width;
    const struct pe_array *a = r->mask ? r->mask : r->labels;
    if (!a) {
        *to = pe__min(width, head_tokens(r, row));
        return at < *to;
    }
    int64_t pad = r->mask ? 0 : r->q->from_segment_base - 1;
    uint64_t first = row * (uint64_t)width;
    while (at < width && pe__at(a, first + (uint64_t)at) == pad)
        at++;
    *from = at;
    while (at < width && pe__at(a, first + (uint64_t)at) != pad)
        at++;
    *to = at;
    return *from < at;
}

/* ---------------------------------------------------------------- documents */

static void open_document(struct reading *r, uint64_t row)
{
    struct pe__batch *b = r->b;
    if (r->error || !more(r, &b->document, b->documents, &b->room_documents, sizeof *b->document))
        return;
    b->document[b->documents++] =
        (struct pe__found){.first_run = b->runs, .first_token = r->tokens, .row = (uint32_t)row};
}

static void add_tokens(struct reading *r, uint64_t row, int64_t slot, int64_t length)
{
    struct pe__batch *b = r->b;
    int64_t flat = (int64_t)row * b->width + slot;
    if (r->error || length == 0 || !more(r, &b->run, b->runs, &b->room_runs, sizeof *b->run))
        return;
    b->run[b->runs++] = (struct pe__origin){flat, length, r->tokens};
    r->tokens += length;
}

static void from_labels(struct reading *r)
{
    struct pe__labels l = {.array = r->labels, .pad = r->q->from_segment_base - 1};
    struct pe__label_run run;
    for (uint64_t row = 0; row < (uint64_t)r->b->rows && !r->error; row++) {
        pe__labels_row(&l, row);
        while (!r->error && pe__labels_next(&l, &run)) {
            if (run.repeated) {
                fail(r, pe__fault_in(r->fault, PE_CONFLICT, PE_OPTION_SEGMENT_IDS, row, (uint64_t)run.slot,
                                     "the number comes back after another one"));
                if (r->fault)
                    r->fault->rule = "segment_repeated";
            }
            if (run.opens)
                open_document(r, row);
            add_tokens(r, row, run.slot, run.length);
        }
    }
    if (l.no_memory)
        fail(r, pe__fault(r->fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout"));
    pe__labels_clear(&l);
}

/* Takes the next `n` tokens of the row for the document under way; false where the row has fewer. */
static bool take(struct reading *r, uint64_t row, int64_t *slot, int64_t n)
{
    int64_t end;
    while (n > 0 && !r->error) {
        if (!next_tokens(r, row, slot, &end))
            return false;
        int64_t now = pe__min(n, end - *slot);
        add_tokens(r, row, *slot, now);
        *slot += now;
        n -= now;
    }
    return true;
}

static void from_offsets(struct reading *r)
{
    const struct pe_array *cu = r->cu;
    const enum pe_option o = PE_OPTION_CU_SEQLENS;
    uint64_t row = 0, last = cu->count - 1;
    int64_t slot = 0, from, to;
    if (pe__at(cu, 0) != 0)
        fail(r, pe__fault_at(r->fault, PE_CONFLICT, o, 0, "the first offset must be 0"));
    for (uint64_t i = 1; i < cu->count && !r->error; i++) {
        int64_t n = pe__at(cu, i) - pe__at(cu, i - 1);
        if (n < 0)
            fail(r, pe__fault_at(r->fault, PE_CONFLICT, o, i, "the offset is below the one before"));
        from = slot;
        while (n > 0 && !next_tokens(r, row, &from, &to) && row + 1 < (uint64_t)r->b->rows) {
            row++;
            from = slot = 0;
        }
        open_document(r, row);
        if (!r->error && !take(r, row, &slot, n))
            fail(r, pe__fault_at(r->fault, PE_CONFLICT, o, i, "the document does not end where its row does"));
    }
    for (; row < (uint64_t)r->b->rows && !r->error; row++, slot = 0)
        if (next_tokens(r, row, &slot, &to))
            fail(r, pe__fault_at(r->fault, PE_CONFLICT, o, last, "the last offset is below the tokens"));
}

static void from_counts(struct reading *r)
{
    const struct pe_array *a = r->heads ? r->heads : r->lengths;
    enum pe_option o = r->heads ? PE_OPTION_ATTENTION_MASK_IN_LENGTH : PE_OPTION_LENGTHS;
    for (uint64_t row = 0; row < (uint64_t)r->b->rows && !r->error; row++) {
        int64_t slot = 0, to;
        uint64_t i = pe__row_first(a, row);
        for (; i < pe__row_end(a, row) && !r->error; i++) {
            int64_t n = pe__at(a, i);
            if (r->heads && n == 0)
                continue;
            open_document(r, row);
            if (!r->error && !take(r, row, &slot, n))
                fail(r, pe__fault_entry(r->fault, PE_CONFLICT, a, o, i, "the row has fewer tokens"));
        }
        if (!r->error && next_tokens(r, row, &slot, &to))
            fail(r, pe__fault_in(r->fault, PE_CONFLICT, o, row, (uint64_t)slot,
                                 "the row has a token behind the last document"));
    }
}

static int64_t id_at(const struct reading *r, uint64_t row, int64_t slot)
{
    return pe__at(r->ids, row * (uint64_t)r->b->width + (uint64_t)slot);
}

/* A document begins where an id is not above the one before; a jump ahead tells nothing. */
static void from_restarts(struct reading *r)
{
    for (uint64_t row = 0; row < (uint64_t)r->b->rows && !r->error; row++) {
        uint64_t before = r->b->documents;
        int64_t slot = 0, to, last = 0, opened = 0;
        bool any = false;
        for (; next_tokens(r, row, &slot, &to) && !r->error; slot = to) {
            int64_t from = slot;
            for (int64_t s = slot; s < to && !r->error; s++) {
                int64_t id = id_at(r, row, s);
                if (!any || id <= last) {
                    add_tokens(r, row, from, s - from);
                    from = s;
                    open_document(r, row);
                    opened = r->tokens;
                } else if (id != last + 1) {
                    fail(r, pe__fault_in(r->fault, PE_CONFLICT, PE_OPTION_POSITION_IDS, row, (uint64_t)s,
                                         "the id jumps ahead and nothing says where a document begins"));
                }
                any = true;
                last = id;
            }
            add_tokens(r, row, from, to - from);
        }
        if (!r->mask && r->b->documents - before > 1 && r->tokens - opened == 1)
            r->b->may_end_in_pads = true;
    }
}

static void from_rows(struct reading *r)
{
    for (uint64_t row = 0; row < (uint64_t)r->b->rows && !r->error; row++) {
        int64_t slot = 0, to;
        open_document(r, row);
        for (; next_tokens(r, row, &slot, &to) && !r->error; slot = to)
            add_tokens(r, row, slot, to - slot);
    }
}

/* ---------------------------------------------------------------- contradictions, and pasts */

static void compare_mask_and_labels(struct reading *r)
{
    uint64_t width = (uint64_t)r->b->width;
    for (uint64_t i = 0; i < r->mask->count && !r->error; i++) {
        bool token = pe__at(r->mask, i) == 1;
        if (token != (pe__at(r->labels, i) != r->q->from_segment_base - 1))
            fail(r, pe__fault_in(r->fault, PE_CONFLICT, PE_OPTION_ATTENTION_MASK, i / width, i % width,
                                 "the mask and the segment number disagree"));
    }
}

/* With from_restart, ids of a document rise by one over holes; its first, above from_start, is its past. */
static void read_pasts(struct reading *r)
{
    struct pe__batch *b = r->b;
    for (uint64_t d = 0; r->ids && r->q->from_restart && d < b->documents && !r->error; d++) {
        struct pe__found *f = &b->document[d];
        int64_t expected = 0;
        uint64_t end = d + 1 < b->documents ? b->document[d + 1].first_run : b->runs;
        for (uint64_t i = f->first_run; i < end && !r->error; i++) {
            for (int64_t k = 0; k < b->run[i].length && !r->error; k++) {
                int64_t flat = b->run[i].slot + k, id = pe__at(r->ids, (uint64_t)flat);
                bool first = i == f->first_run && k == 0;
                if (first)
                    f->past = id - r->q->from_start;
                if ((first && f->past < 0) || (!first && id != expected))
                    fail(r, pe__fault_in(r->fault, PE_CONFLICT, PE_OPTION_POSITION_IDS, (uint64_t)(flat / b->width),
                                         (uint64_t)(flat % b->width),
                                         first ? "the id is below from_start"
                                               : "the id does not follow the one before in its document"));
                expected = id + 1;
            }
        }
    }
}

enum pe_error pe__batch_read(struct pe__batch *b, const struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    struct reading r = {.b = b, .q = q, .fault = fault};
    enum pe_error e = read_shapes(&r);
    if (e)
        return e;
    if (r.mask && r.labels)
        compare_mask_and_labels(&r);
    if (r.error)
        return r.error;
    if (r.labels)
        from_labels(&r);
    else if (r.cu)
        from_offsets(&r);
    else if (r.heads || r.lengths)
        from_counts(&r);
    else if (r.ids)
        from_restarts(&r);
    else
        from_rows(&r);
    read_pasts(&r);
    if (!r.error && more(&r, &b->document, b->documents, &b->room_documents, sizeof *b->document))
        b->document[b->documents] = (struct pe__found){.first_run = b->runs, .first_token = r.tokens};
    return r.error;
}

void pe__batch_clear(struct pe__batch *b)
{
    free(b->document);
    free(b->run);
    free(b->lengths);
    free(b->pasts);
    *b = (struct pe__batch){0};
}
