/* SPDX-License-Identifier: MIT
 *
 * shard_runs.c: the rank's own sequences, and the pieces that an attention kernel is handed. One
 * walk over the rank's spans, from one change of the layout to the next; stripes are counted, not
 * walked.
 */
#include "layout/list.h"
#include "layout/shard.h"

#include <stdlib.h>

struct walk {
    struct pe__shard *s;
    bool want_parts;
    bool failed;
    uint64_t next_span;
    uint32_t room, unit;          /* by row: of the last run */
    uint64_t run_room, part_room; /* lists grow */
    int64_t covered;
    int64_t last_row; /* of the last part */
};

/* The rank's slots among the first z of a unit. */
static int64_t own_slots(const struct pe__shard *s, int64_t z)
{
    int64_t stripe = s->q->stripe, skip;
    int64_t round = pe__shard_multiple(PE_SPLIT_ROUND_ROBIN, s->count, stripe);
    if (__builtin_mul_overflow(s->q->shard, stripe, &skip))
        return 0;
    return z / round * stripe + pe__min(stripe, pe__max(0, z % round - skip));
}

static void open_run(struct walk *w, uint32_t sequence, int64_t local)
{
    struct pe__shard *s = w->s;
    if (w->failed || !pe__list_more(&s->run, s->runs + 1, &w->run_room, sizeof *s->run)) {
        w->failed = true;
        return;
    }
    s->run[s->runs++] = (struct pe__local){sequence, local, w->covered, 0};
}

static uint64_t pieces_of(const struct pe__shard *s, const struct pe__part *p)
{
    int64_t stripe = s->q->stripe;
    if (!s->stripes)
        return 1;
    return (uint64_t)((p->inside + p->length - 1) / stripe - p->inside / stripe + 1);
}

static void add_part(struct walk *w, const struct pe__part *part, int64_t row)
{
    struct pe__shard *s = w->s;
    struct pe__part *last = s->parts ? &s->part[s->parts - 1] : NULL;
    bool joins = last && last->room == part->room && last->token == part->token &&
                 w->last_row == row &&
                 (s->stripes ? last->unit == part->unit : last->slot + last->length == part->slot);
    if (joins) {
        s->pieces -= pieces_of(s, last);
        last->length += part->length;
    } else {
        if (!pe__list_more(&s->part, s->parts, &w->part_room, sizeof *s->part)) {
            w->failed = true;
            return;
        }
        last = &s->part[s->parts++];
        *last = *part;
        last->pieces = s->pieces;
        w->last_row = row;
    }
    s->pieces += pieces_of(s, last);
}

/* One stretch of the layout without a change: all tokens, or pads that are alike. */
static void stretch(struct walk *w, const struct pe__span *span, int64_t flat, int64_t end,
                    bool token, bool covered)
{
    struct pe__shard *s = w->s;
    int64_t from = flat - span->slot, to = end - span->slot;
    if (s->stripes) {
        from = own_slots(s, from);
        to = own_slots(s, to);
    }
    if (from == to)
        return;
    if (!s->by_document && s->form->sequences) {
        uint32_t room = w->room;
        while (room + 1 < s->form->sequences && pe__room(s->form, room + 1) <= flat)
            room++;
        if (s->runs == 0 || room != w->room || span->unit != w->unit)
            open_run(w, room, span->local + from);
        w->room = room;
        w->unit = span->unit;
    }
    if (w->failed)
        return;
    if (covered)
        w->covered += to - from;
    if (token)
        s->run[s->runs - 1].used += to - from;
    struct pe__part part = {.local = span->local + from,
                            .slot = pe__span_slot(s, span, from),
                            .length = to - from,
                            .inside = from,
                            .room = s->form->sequences ? s->run[s->runs - 1].sequence : PE__NONE,
                            .unit = span->unit,
                            .token = token};
    if (w->want_parts)
        add_part(w, &part, flat / s->form->width);
}

/* From change to change over the slots that a span lies in. */
static void walk_span(struct walk *w, const struct pe__span *span)
{
    const struct pe__form *f = w->s->form;
    int64_t flat = span->slot;
    int64_t stop =
        w->s->stripes ? pe__unit_first(w->s, span->unit + UINT64_C(1)) : flat + span->length;
    while (flat < stop && !w->failed) {
        int64_t row = flat / f->width, row_end = (row + 1) * f->width;
        uint32_t i = pe__segment_at(f, row, flat), last = f->row[row + 1].segment;
        for (; flat < pe__min(stop, row_end) && !w->failed;
             i = i == PE__NONE ? f->row[row].segment : i + 1) {
            int64_t next = row_end, tokens = flat, cover = row * f->width + f->row[row].cover;
            uint32_t after = i == PE__NONE ? f->row[row].segment : i + 1;
            if (after < last)
                next = f->segment[after].slot;
            if (i != PE__NONE)
                tokens = f->segment[i].slot + f->segment[i].length;
            int64_t ends[3] = {tokens, pe__min(next, pe__max(cover, tokens)), next};
            for (int k = 0; k < 3; k++) {
                int64_t end = pe__min(ends[k], stop);
                if (end <= flat)
                    continue;
                stretch(w, span, flat, end, k == 0, k != 1);
                flat = end;
            }
        }
    }
}

static void walk_documents(struct walk *w, uint64_t end)
{
    struct pe__shard *s = w->s;
    for (uint64_t u = 0; u < s->units && !w->failed; u++) {
        int64_t local = w->next_span < s->spans ? s->span[w->next_span].local : s->slots;
        open_run(w, (uint32_t)u, local);
        while (w->next_span < end && s->span[w->next_span].unit == u && !w->failed)
            walk_span(w, &s->span[w->next_span++]);
    }
}

/* Leaves out runs without a covered slot; the room of one joins the run before. */
static void drop_empty(struct pe__shard *s)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < s->runs; i++)
        if (s->run[i].covered != s->run[i + 1].covered)
            s->run[kept++] = s->run[i];
    s->run[kept] = s->run[s->runs];
    s->runs = kept;
    s->run[0].first = 0;
}

enum pe_error pe__shard_runs(struct pe__shard *s, bool parts)
{
    struct walk w = {.s = s, .want_parts = parts, .last_row = -1};
    if (s->by_document) {
        walk_documents(&w, s->heads ? s->head_spans : s->spans);
        if (s->heads)
            walk_documents(&w, s->spans);
    } else {
        for (uint64_t i = 0; i < s->spans && !w.failed; i++)
            walk_span(&w, &s->span[i]);
    }
    if (w.failed || !pe__list_more(&s->run, s->runs + 1, &w.run_room, sizeof *s->run))
        return PE_NO_MEMORY;
    s->run[s->runs] = (struct pe__local){PE__NONE, s->runs ? s->slots : 0, w.covered, 0};
    if (s->q->empty == PE_EMPTY_DROP)
        drop_empty(s);
    return PE_OK;
}
