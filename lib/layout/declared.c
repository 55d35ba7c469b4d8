/* SPDX-License-Identifier: MIT
 *
 * declared.c: rows of segments as a client declares them: the form itself, checked and completed.
 */
#include "layout/fault.h"
#include "layout/sources.h"

/* What positions of later segments are counted from. */
struct chain {
    int64_t previous; /* behind the segment before */
    int64_t opened;   /* first of the document */
    int64_t trunk;    /* behind what stood before the first branch */
    bool branched;
};

static uint64_t first_of(const struct pe_declared_rows *d, uint64_t row)
{
    return row ? d->row_ends[row - 1] : 0;
}

static enum pe_error widest(const struct pe__source *s, int64_t *width)
{
    const struct pe_declared_rows *d = &s->q->segments;
    int64_t limit = PE_SLOT_END;
    if (s->q->given[PE_OPTION_CAPACITY] &&
        !pe__round_up(s->q->capacity, s->q->pad_to_multiple_of, &limit))
        limit = PE_SLOT_END;
    for (uint64_t row = 0; row < d->rows; row++) {
        int64_t at = 0;
        for (uint64_t i = first_of(d, row); i < d->row_ends[row]; i++) {
            at += d->at[i].length;
            if (at <= limit)
                at += d->at[i].pads;
            if (at > limit)
                return pe__fault_in(s->fault, PE_RANGE, PE_OPTION_SEGMENTS, row,
                                    i - first_of(d, row),
                                    "the segment does not fit into its row any more");
        }
        *width = pe__max(*width, at);
    }
    if (s->q->given[PE_OPTION_CAPACITY])
        *width = s->q->capacity;
    return PE_OK;
}

/* The position of a segment, or what is wrong with it. */
static const char *place(struct chain *c, const struct pe_declared *g, bool first, int64_t start,
                         int64_t *position)
{
    bool document = g->reason == PE_REASON_DOCUMENT || g->reason == PE_REASON_CHUNK;
    if (first && !document)
        return "a row begins with a document or a chunk";
    if (!g->has_position && g->reason == PE_REASON_CHUNK)
        return "a chunk needs a position";
    if (!g->has_position && g->reason == PE_REASON_SKIP)
        return "a skip needs a position";
    if (document) {
        *position = g->has_position ? g->position : start;
        c->opened = *position;
        c->branched = false;
    } else if (g->reason == PE_REASON_COPY) {
        *position = g->has_position ? g->position : c->opened;
    } else if (g->reason == PE_REASON_BRANCH) {
        if (!c->branched)
            c->trunk = c->previous;
        c->branched = true;
        *position = g->has_position ? g->position : c->trunk;
    } else {
        *position = g->position;
        if (*position < c->previous)
            return "a skip goes ahead";
    }
    c->previous = *position + g->length;
    return NULL;
}

static void build_row(const struct pe__source *s, struct pe__builder *b, uint64_t row,
                      int32_t *document)
{
    const struct pe_declared_rows *d = &s->q->segments;
    struct chain c = {0};
    int64_t at = 0, start = s->q->start;
    for (uint64_t i = first_of(d, row); i < d->row_ends[row] && !b->error; i++) {
        const struct pe_declared *g = &d->at[i];
        int64_t position;
        const char *wrong = place(&c, g, i == first_of(d, row), start, &position);
        if (wrong) {
            b->error = pe__fault_in(s->fault, PE_RANGE, PE_OPTION_SEGMENTS, row,
                                    i - first_of(d, row), wrong);
            return;
        }
        bool opens = g->reason == PE_REASON_DOCUMENT || g->reason == PE_REASON_CHUNK;
        *document += opens;
        struct pe__piece piece = {.document = *document,
                                  .reason = g->reason,
                                  .first = at,
                                  .past = opens ? pe__max(0, position - start) : 0,
                                  .position = position,
                                  .has_position = true};
        pe__build_piece(b, &piece);
        pe__build_run(b, at, g->length, -1);
        at += g->length + g->pads;
        pe__build_piece_end(b, at);
    }
}

enum pe_error pe__from_segments(const struct pe__source *s)
{
    static const enum pe_option others[] = {PE_OPTION_PAD_EACH_TO_MULTIPLE_OF,
                                            PE_OPTION_PAST_LENGTHS, PE_OPTION_RESTART,
                                            PE_OPTION_COUNT};
    const struct pe_declared_rows *d = &s->q->segments;
    int64_t width = 0;
    int32_t document = -1;
    enum pe_error e = pe__not_with(s, PE_OPTION_SEGMENTS, others, 4);
    for (uint64_t row = 0; !e && row < d->rows; row++)
        if (first_of(d, row) == d->row_ends[row])
            e = pe__fault_at(s->fault, PE_RANGE, PE_OPTION_SEGMENTS, row, "the row is empty");
    if (e || (e = widest(s, &width)) ||
        (e = pe__final_width(s, (int64_t)d->rows, &width,
                             s->q->given[PE_OPTION_CAPACITY] ? PE_OPTION_CAPACITY
                                                             : PE_OPTION_SEGMENTS)))
        return e;
    bool branches = false;
    for (uint64_t i = 0; d->rows && i < d->row_ends[d->rows - 1]; i++)
        branches |= d->at[i].reason == PE_REASON_BRANCH;
    struct pe__builder b = {.fault = s->fault, .with_lanes = branches};
    pe__build_begin(&b, s->form, s->q, (int64_t)d->rows, width,
                    d->rows ? d->row_ends[d->rows - 1] : 0);
    for (uint64_t row = 0; row < d->rows && !b.error; row++) {
        pe__build_row(&b);
        build_row(s, &b, row, &document);
        pe__build_row_end(&b);
    }
    return pe__build_end(&b);
}
