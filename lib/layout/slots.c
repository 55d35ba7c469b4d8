/* SPDX-License-Identifier: MIT
 *
 * slots.c: see slots.h. A walk goes from run to run: tokens of one segment, or pads that are alike.
 * On a run every tensor is constant or rises by one, but for the first and the last token of a
 * segment.
 */
#include "layout/slots.h"
#include "layout/fault.h"
#include "must.h"

static int64_t last_slot(const struct pe__segment *s)
{
    return s->slot + s->length - 1;
}

/* Runs whose first value is apart: predicted_by. */
static void put_before(const struct pe__form *f, struct pe__sink *out, const struct pe__segment *s,
                       int64_t flat, int64_t n)
{
    if (flat == s->slot) {
        pe__put(out, s->before != PE__NONE ? last_slot(&f->segment[s->before]) : -1);
        flat++;
        n--;
    }
    pe__put_run(out, flat - 1, 1, n);
}

/* Runs whose last value is apart: label_index. */
static void put_after(const struct pe__form *f, struct pe__sink *out, const struct pe__segment *s,
                      int64_t flat, int64_t n)
{
    bool ends = flat + n - 1 == last_slot(s);
    pe__put_run(out, flat + 1, 1, n - ends);
    if (ends)
        pe__put(out, s->after != PE__NONE ? f->segment[s->after].slot : -1);
}

static void put_loss(const struct pe__form *f, struct pe__sink *out, const struct pe__segment *s,
                     int64_t flat, int64_t n)
{
    int64_t last = flat + n - 1;
    switch (f->q->loss_skip) {
    case PE_LOSS_FIRST:
        if (flat == s->slot) {
            bool follows = s->before != PE__NONE && last_slot(&f->segment[s->before]) == flat - 1;
            pe__put(out, follows);
            n--;
        }
        pe__put_run(out, 1, 0, n);
        break;
    case PE_LOSS_LAST: {
        bool ends = last == last_slot(s);
        pe__put_run(out, 1, 0, n - ends);
        if (ends)
            pe__put(out, s->after != PE__NONE && f->segment[s->after].slot == last + 1);
        break;
    }
    case PE_LOSS_EOS:
        for (; flat <= last; flat++)
            pe__put(out, pe__at(f->tokens_in, (uint64_t)flat) != f->q->eos_token_id);
        break;
    default:
        pe__put_run(out, 1, 0, n);
    }
}

static int64_t covered_by(const struct pe__form *f, uint32_t sequence)
{
    return pe__cu(f, sequence + 1) - pe__cu(f, sequence);
}

/* Where tokens, by number, came from. */
static void put_origins(const struct pe__form *f, struct pe__sink *out, int64_t token, int64_t n)
{
    uint64_t lo = 0, hi = f->origins;
    while (hi - lo > 1) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (f->origin[mid].before <= token)
            lo = mid;
        else
            hi = mid;
    }
    for (; n > 0; lo++) {
        const struct pe__origin *o = &f->origin[lo];
        int64_t k = token - o->before, now = pe__min(n, o->length - k);
        pe__put_run(out, o->slot + k, 1, now);
        token += now;
        n -= now;
    }
}

/* Slots that are alike: tokens of one segment, or pads. */
struct stretch {
    int64_t row;
    uint32_t segment; /* as in pe__spot */
    int64_t flat, n;
};

static void put_tokens(const struct pe__form *f, enum pe_out id, const struct stretch *t,
                       struct pe__sink *out)
{
    const struct pe__segment *s = &f->segment[t->segment];
    int64_t flat = t->flat, n = t->n, k = flat - s->slot;
    switch (id) {
    case PE_OUT_POSITION_IDS:
        pe__put_run(out, s->position + k, 1, n);
        break;
    case PE_OUT_ATTENTION_MASK:
        pe__put_run(out, 1, 0, n);
        break;
    case PE_OUT_SEGMENT_IDS:
        pe__put_run(out, f->q->segment_base + (int64_t)(s->sequence - f->row[t->row].sequence), 0,
                    n);
        break;
    case PE_OUT_DOCUMENT_IDS:
        pe__put_run(out, s->document, 0, n);
        break;
    case PE_OUT_PREDICTED_BY:
        put_before(f, out, s, flat, n);
        break;
    case PE_OUT_LABEL_INDEX:
        put_after(f, out, s, flat, n);
        break;
    case PE_OUT_LOSS_MASK:
        put_loss(f, out, s, flat, n);
        break;
    case PE_OUT_GATHER:
        put_origins(f, out, f->source[t->segment] + k, n);
        break;
    case PE_OUT_REPAD_INDICES:
        pe__put_run(out, s->cover + k, 1, n);
        break;
    default:
        must(id == PE_OUT_RUN_LENGTH);
        pe__put_run(out, covered_by(f, s->sequence), 0, n);
    }
}

static void put_no_tokens(const struct pe__form *f, enum pe_out id, const struct stretch *t,
                          struct pe__sink *out)
{
    int64_t row = t->row, flat = t->flat, n = t->n;
    const struct pe__row *r = &f->row[row];
    int64_t end = (row + 1) * f->width;
    bool covered = flat - row * f->width >= r->cover;
    switch (id) {
    case PE_OUT_POSITION_IDS:
        pe__put_pads(f, out, pe__pads_at(f, row, t->segment, flat), n);
        break;
    case PE_OUT_ATTENTION_MASK:
    case PE_OUT_LOSS_MASK:
        pe__put_run(out, 0, 0, n);
        break;
    case PE_OUT_SEGMENT_IDS:
        pe__put_run(out,
                    f->q->segment_base +
                        (covered ? (int64_t)(r[1].sequence - 1 - r->sequence) : INT64_C(-1)),
                    0, n);
        break;
    case PE_OUT_REPAD_INDICES:
        pe__put_run(out, covered ? r[1].cover_before - (end - flat) : -1, covered, n);
        break;
    case PE_OUT_RUN_LENGTH:
        pe__put_run(out, covered ? covered_by(f, r[1].sequence - 1) : 0, 0, n);
        break;
    default:
        pe__put_run(out, -1, 0, n);
    }
}

/* Puts the spot on a flat slot: a few steps on, or a search. */
static void seek(const struct pe__form *f, struct pe__spot *at, int64_t flat)
{
    if (at->valid && flat >= at->row * f->width && flat < (at->row + 1) * f->width) {
        uint32_t end = f->row[at->row + 1].segment;
        uint32_t next = at->segment != PE__NONE ? at->segment + 1 : f->row[at->row].segment;
        bool behind = at->segment == PE__NONE || f->segment[at->segment].slot <= flat;
        for (int steps = 0; behind && steps < 8; steps++) {
            if (next >= end || f->segment[next].slot > flat)
                return;
            at->segment = next++;
        }
    }
    at->valid = true;
    at->row = flat / f->width;
    at->segment = pe__segment_at(f, at->row, flat);
}

void pe__slots(const struct pe__form *f, enum pe_out id, int64_t flat, int64_t count,
               struct pe__sink *out, struct pe__spot *at)
{
    while (count > 0) {
        seek(f, at, flat);
        int64_t row_end = (at->row + 1) * f->width;
        const struct pe__segment *s = at->segment != PE__NONE ? &f->segment[at->segment] : NULL;
        struct stretch t = {at->row, at->segment, flat, 0};
        if (s && flat < s->slot + s->length) {
            t.n = pe__min(count, s->slot + s->length - flat);
            put_tokens(f, id, &t, out);
        } else {
            uint32_t next = s ? at->segment + 1 : f->row[at->row].segment;
            int64_t end = next < f->row[at->row + 1].segment ? f->segment[next].slot : row_end;
            int64_t cover = row_end - f->width + f->row[at->row].cover;
            if (flat < cover)
                end = pe__min(end, cover);
            t.n = pe__min(count, end - flat);
            put_no_tokens(f, id, &t, out);
        }
        flat += t.n;
        count -= t.n;
    }
}
