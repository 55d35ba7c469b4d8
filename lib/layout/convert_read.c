/* SPDX-License-Identifier: MIT
 *
 * convert_read.c: see convert.h: from arrays to documents. Which slots are tokens, then which
 * tokens are one document, then what came before it. What cannot be known, or contradicts itself,
 * is blamed at its slot.
 */
#include "layout/convert.h"
#include "layout/convert_arrays.h"
#include "layout/fault.h"
#include "layout/labels.h"
#include "layout/list.h"

#include <stdlib.h>

struct reading {
    struct pe__batch *b;
    const struct pe_layout_request *q;
    struct pe_layout_fault *fault;
    struct pe__arrays sent;
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
    if (count < INT32_MAX && pe__list_more(list, count, room, item))
        return true;
    fail(r, pe__fault(r->fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout"));
    return false;
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
    struct pe__labels l = {.array = r->sent.labels, .pad = r->q->from_segment_base - 1};
    struct pe__label_run run;
    for (uint64_t row = 0; row < (uint64_t)r->b->rows && !r->error; row++) {
        pe__labels_row(&l, row);
        while (!r->error && pe__labels_next(&l, &run)) {
            if (run.repeated) {
                fail(r,
                     pe__fault_in(r->fault, PE_CONFLICT, PE_OPTION_SEGMENT_IDS, row,
                                  (uint64_t)run.slot, "the number comes back after another one"));
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

/* Takes the next `n` tokens of the row for the document under way; false where the row has fewer.
 */
static bool take(struct reading *r, uint64_t row, int64_t *slot, int64_t n)
{
    int64_t end;
    while (n > 0 && !r->error) {
        if (!pe__next_tokens(&r->sent, row, slot, &end))
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
    const struct pe_array *cu = r->sent.cu;
    const enum pe_option o = PE_OPTION_CU_SEQLENS;
    uint64_t row = 0, last = cu->count - 1;
    int64_t slot = 0, from, to;
    if (pe__at(cu, 0) != 0)
        fail(r, pe__fault_at(r->fault, PE_CONFLICT, o, 0, "the first offset must be 0"));
    for (uint64_t i = 1; i < cu->count && !r->error; i++) {
        int64_t n = pe__at(cu, i) - pe__at(cu, i - 1);
        if (n < 0)
            fail(r,
                 pe__fault_at(r->fault, PE_CONFLICT, o, i, "the offset is below the one before"));
        from = slot;
        while (n > 0 && !pe__next_tokens(&r->sent, row, &from, &to) &&
               row + 1 < (uint64_t)r->b->rows) {
            row++;
            from = slot = 0;
        }
        open_document(r, row);
        if (!r->error && !take(r, row, &slot, n))
            fail(r, pe__fault_at(r->fault, PE_CONFLICT, o, i,
                                 "the document does not end where its row does"));
    }
    for (; row < (uint64_t)r->b->rows && !r->error; row++, slot = 0)
        if (pe__next_tokens(&r->sent, row, &slot, &to))
            fail(r, pe__fault_at(r->fault, PE_CONFLICT, o, last,
                                 "the last offset is below the tokens"));
}

static void from_counts(struct reading *r)
{
    const struct pe_array *a = r->sent.heads ? r->sent.heads : r->sent.lengths;
    enum pe_option o = r->sent.heads ? PE_OPTION_ATTENTION_MASK_IN_LENGTH : PE_OPTION_LENGTHS;
    for (uint64_t row = 0; row < (uint64_t)r->b->rows && !r->error; row++) {
        int64_t slot = 0, to;
        uint64_t i = pe__row_first(a, row);
        for (; i < pe__row_end(a, row) && !r->error; i++) {
            int64_t n = pe__at(a, i);
            if (r->sent.heads && n == 0)
                continue;
            open_document(r, row);
            if (!r->error && !take(r, row, &slot, n))
                fail(r,
                     pe__fault_entry(r->fault, PE_CONFLICT, a, o, i, "the row has fewer tokens"));
        }
        if (!r->error && pe__next_tokens(&r->sent, row, &slot, &to))
            fail(r, pe__fault_in(r->fault, PE_CONFLICT, o, row, (uint64_t)slot,
                                 "the row has a token behind the last document"));
    }
}

static int64_t id_at(const struct reading *r, uint64_t row, int64_t slot)
{
    return pe__at(r->sent.ids, row * (uint64_t)r->b->width + (uint64_t)slot);
}

/* A document begins where an id is not above the one before; a jump ahead tells nothing. */
static void from_restarts(struct reading *r)
{
    for (uint64_t row = 0; row < (uint64_t)r->b->rows && !r->error; row++) {
        uint64_t before = r->b->documents;
        int64_t slot = 0, to, last = 0, opened = 0;
        bool any = false;
        for (; pe__next_tokens(&r->sent, row, &slot, &to) && !r->error; slot = to) {
            int64_t from = slot;
            for (int64_t s = slot; s < to && !r->error; s++) {
                int64_t id = id_at(r, row, s);
                if (!any || id <= last) {
                    add_tokens(r, row, from, s - from);
                    from = s;
                    open_document(r, row);
                    opened = r->tokens;
                } else if (id != last + 1) {
                    fail(r, pe__fault_in(
                                r->fault, PE_CONFLICT, PE_OPTION_POSITION_IDS, row, (uint64_t)s,
                                "the id jumps ahead and nothing says where a document begins"));
                }
                any = true;
                last = id;
            }
            add_tokens(r, row, from, to - from);
        }
        if (!r->sent.mask && r->b->documents - before > 1 && r->tokens - opened == 1)
            r->b->may_end_in_pads = true;
    }
}

static void from_rows(struct reading *r)
{
    for (uint64_t row = 0; row < (uint64_t)r->b->rows && !r->error; row++) {
        int64_t slot = 0, to;
        open_document(r, row);
        for (; pe__next_tokens(&r->sent, row, &slot, &to) && !r->error; slot = to)
            add_tokens(r, row, slot, to - slot);
    }
}

/* ---------------------------------------------------------------- contradictions, and pasts */

static void compare_mask_and_labels(struct reading *r)
{
    uint64_t width = (uint64_t)r->b->width;
    for (uint64_t i = 0; i < r->sent.mask->count && !r->error; i++) {
        bool token = pe__at(r->sent.mask, i) == 1;
        if (token != (pe__at(r->sent.labels, i) != r->q->from_segment_base - 1))
            fail(r, pe__fault_in(r->fault, PE_CONFLICT, PE_OPTION_ATTENTION_MASK, i / width,
                                 i % width, "the mask and the segment number disagree"));
    }
}

/* With from_restart, ids of a document rise by one over holes; its first, above from_start, is its
 * past. */
static void read_pasts(struct reading *r)
{
    struct pe__batch *b = r->b;
    for (uint64_t d = 0; r->sent.ids && r->q->from_restart && d < b->documents && !r->error; d++) {
        struct pe__found *f = &b->document[d];
        int64_t expected = 0;
        uint64_t end = d + 1 < b->documents ? b->document[d + 1].first_run : b->runs;
        for (uint64_t i = f->first_run; i < end && !r->error; i++) {
            for (int64_t k = 0; k < b->run[i].length && !r->error; k++) {
                int64_t flat = b->run[i].slot + k, id = pe__at(r->sent.ids, (uint64_t)flat);
                bool first = i == f->first_run && k == 0;
                if (first)
                    f->past = id - r->q->from_start;
                if ((first && f->past < 0) || (!first && id != expected))
                    fail(r, pe__fault_in(
                                r->fault, PE_CONFLICT, PE_OPTION_POSITION_IDS,
                                (uint64_t)(flat / b->width), (uint64_t)(flat % b->width),
                                first ? "the id is below from_start"
                                      : "the id does not follow the one before in its document"));
                expected = id + 1;
            }
        }
    }
}

enum pe_error pe__batch_read(struct pe__batch *b, const struct pe_layout_request *q,
                             struct pe_layout_fault *fault)
{
    struct reading r = {.b = b, .q = q, .fault = fault};
    enum pe_error e = pe__arrays_read(&r.sent, q, fault);
    if (e)
        return e;
    b->rows = r.sent.rows;
    b->width = r.sent.width;
    if (r.sent.mask && r.sent.labels)
        compare_mask_and_labels(&r);
    if (r.error)
        return r.error;
    if (r.sent.labels)
        from_labels(&r);
    else if (r.sent.cu)
        from_offsets(&r);
    else if (r.sent.heads || r.sent.lengths)
        from_counts(&r);
    else if (r.sent.ids)
        from_restarts(&r);
    else
        from_rows(&r);
    read_pasts(&r);
    if (!r.error && more(&r, &b->document, b->documents, &b->room_documents, sizeof *b->document))
        b->document[b->documents] =
            (struct pe__found){.first_run = b->runs, .first_token = r.tokens};
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
