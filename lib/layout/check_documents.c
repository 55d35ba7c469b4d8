/* SPDX-License-Identifier: MIT
 *
 * check_documents.c: which tokens are one document, read from arrays that may be wrong: what is out
 * of order is taken as far as it goes. The first of segments, segment_ids, cu_seqlens, lengths,
 * rows of the mask, else restarts in the ids.
 */
#include "layout/check.h"
#include "layout/labels.h"
#include "layout/list.h"

static bool more(struct pe_check *c, void *list, uint64_t count, uint64_t *room, size_t size)
{
    if (count < INT32_MAX && pe__list_more(list, count, room, size))
        return true;
    c->no_memory = true;
    return false;
}

static int64_t tokens_of(const struct pe__batch *b)
{
    return b->runs ? b->run[b->runs - 1].before + b->run[b->runs - 1].length : 0;
}

static void open_document(struct pe_check *c, int64_t row)
{
    struct pe__batch *b = &c->batch;
    if (!more(c, &b->document, b->documents, &b->room_documents, sizeof *b->document))
        return;
    b->document[b->documents++] =
        (struct pe__found){.first_run = b->runs, .first_token = tokens_of(b), .row = (uint32_t)row};
}

/* A token of the document under way; neighbours join. Every row opens a document. */
static void add_token(struct pe_check *c, int64_t flat)
{
    struct pe__batch *b = &c->batch;
    struct pe__origin *last = b->runs ? &b->run[b->runs - 1] : NULL;
    if (b->documents && b->document[b->documents - 1].first_run < b->runs &&
        last->slot + last->length == flat) {
        last->length++;
        return;
    }
    int64_t before = tokens_of(b);
    if (more(c, &b->run, b->runs, &b->room_runs, sizeof *b->run))
        b->run[b->runs++] = (struct pe__origin){flat, 1, before};
}

static void from_declared(struct pe_check *c)
{
    const struct pe__form *f = &c->declared;
    for (int64_t row = 0; row < f->rows; row++) {
        for (uint32_t i = f->row[row].segment; i < f->row[row + 1].segment && !c->no_memory; i++) {
            const struct pe__segment *s = &f->segment[i];
            if (s->reason == PE_REASON_DOCUMENT || s->reason == PE_REASON_CHUNK)
                open_document(c, row);
            for (int64_t k = 0; k < s->length && !c->no_memory; k++)
                add_token(c, s->slot + k);
        }
    }
}

static void from_labels(struct pe_check *c)
{
    struct pe__labels l = {.array = c->labels, .mask = c->mask, .pad = c->q.segment_base - 1};
    struct pe__label_run run;
    for (int64_t row = 0; row < c->rows && !c->no_memory; row++) {
        pe__labels_row(&l, (uint64_t)row);
        while (pe__labels_next(&l, &run) && !c->no_memory) {
            if (run.opens)
                open_document(c, row);
            for (int64_t k = 0; k < run.length && !c->no_memory; k++)
                add_token(c, row * c->width + run.slot + k);
        }
    }
    c->no_memory |= l.no_memory;
    pe__labels_clear(&l);
}

/* How many covered slots the i-th document has; false behind the last. */
static bool share_of(const struct pe_check *c, uint64_t i, int64_t *n)
{
    if (c->cu) {
        if (i + 1 >= c->cu->count)
            return false;
        *n = pe__max(0, pe__at(c->cu, i + 1) - pe__max(0, i ? pe__at(c->cu, i) : 0));
        return true;
    }
    if (i >= c->lengths->count)
        return false;
    *n = pe__at(c->lengths, i);
    return true;
}

/* Deals covered slots out: tokens, and by `tail` the pads at the end of a row. */
static void from_shares(struct pe_check *c)
{
    bool tails = c->cu && c->q.tail != PE_TAIL_PADS;
    uint64_t i = 0;
    int64_t left = 0, tail = 0;
    bool any = false;
    for (int64_t row = 0; row < c->rows && !c->no_memory; row++) {
        int64_t begin = row * c->width, end = begin + c->width;
        for (tail = end; tail > begin && !pe__check_token(c, tail - 1); tail--) {
        }
        bool first = true;
        for (int64_t flat = begin; flat < end && !c->no_memory; flat++) {
            bool token = pe__check_token(c, flat);
            if (!token && !(tails && flat >= tail))
                continue;
            bool opens = false;
            while (left == 0 && share_of(c, i, &left)) {
                opens = true;
                i++;
                if (left == 0)
                    open_document(c, row);
            }
            if (opens || (first && any) || !any)
                open_document(c, row);
            any = true;
            first = false;
            left -= left > 0;
            if (token)
                add_token(c, flat);
        }
    }
    while (share_of(c, i++, &left) && left == 0)
        open_document(c, c->rows - 1);
}

static void from_rows(struct pe_check *c)
{
    for (int64_t row = 0; row < c->rows && !c->no_memory; row++) {
        open_document(c, row);
        for (int64_t i = row * c->width; i < (row + 1) * c->width && !c->no_memory; i++)
            if (pe__check_token(c, i))
                add_token(c, i);
    }
}

/* Without any boundaries an id that is not above the one before opens a document. */
static void from_ids(struct pe_check *c)
{
    for (int64_t row = 0; row < c->rows && !c->no_memory; row++) {
        uint64_t before = c->batch.documents;
        int64_t last = (row + 1) * c->width - 1;
        for (int64_t i = row * c->width; i <= last && !c->no_memory; i++) {
            if (i == row * c->width || (c->q.restart && pe__id(c, i) <= pe__id(c, i - 1)))
                open_document(c, row);
            add_token(c, i);
        }
        const struct pe__batch *b = &c->batch;
        if (b->documents - before > 1 &&
            tokens_of(b) - b->document[b->documents - 1].first_token == 1)
            pe__report(
                c, PE__MAYBE_PADDING,
                &(struct pe__said){.tensor = PE_OPTION_POSITION_IDS, .at = last, .warning = true});
    }
}

static enum pe_error take_pasts(struct pe_check *c, struct pe_layout_fault *fault)
{
    const struct pe_array *a = &c->q.past_lengths;
    struct pe__batch *b = &c->batch;
    enum pe_error e =
        pe__entries(a, PE_OPTION_PAST_LENGTHS, c->known ? b->documents : (uint64_t)c->rows,
                    c->known ? "documents" : "rows", fault);
    for (uint64_t d = 0; !e && d < b->documents; d++) {
        bool first = d == 0 || b->document[d].row != b->document[d - 1].row;
        if (c->known || first)
            b->document[d].past = pe__entry(a, c->known ? d : b->document[d].row);
    }
    return e;
}

enum pe_error pe__check_documents(struct pe_check *c, struct pe_layout_fault *fault)
{
    struct pe__batch *b = &c->batch;
    b->rows = c->rows;
    b->width = c->width;
    c->known = true;
    if (!c->any_grid)
        return PE_OK;
    if (c->declared.row)
        from_declared(c);
    else if (c->labels)
        from_labels(c);
    else if ((c->cu || c->lengths) && c->rows)
        from_shares(c);
    else if (c->mask && (c->by_rows = true))
        from_rows(c);
    else if (c->ids && !c->axes)
        c->known = false, from_ids(c);
    else
        c->known = false, from_rows(c);
    if (!more(c, &b->document, b->documents, &b->room_documents, sizeof *b->document))
        return pe__fault(fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the check");
    b->document[b->documents] =
        (struct pe__found){.first_run = b->runs, .first_token = tokens_of(b)};
    return c->q.given[PE_OPTION_PAST_LENGTHS] ? take_pasts(c, fault) : PE_OK;
}
