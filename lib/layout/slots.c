/* SPDX-License-Identifier: MIT
 *
 * slots.c: see slots.h. A walk goes from run to run: tokens of one segment, or pads that are alike.
 * On a run every tensor is constant or rises by one, but for the first and the last token of a
 * segment.
 */
#include "layout/slots.h"
#include "layout/fault.h"
#include "must.h"

/* The past of a padded row, read back from its first position. */
static int64_t padded_past(const struct pe__form *f, int64_t row)
{
    const struct pe__row *r = &f->row[row];
    uint32_t i = r->first_tokens != PE__NONE ? r->first_tokens : r->segment;
    const struct pe__segment *s = &f->segment[i];
    int64_t moved = f->q->count == PE_COUNT_SLOTS && s->length ? s->slot - row * f->width : 0;
    return s->position - f->q->start - moved;
}

static struct pe__pads drawn_on(const struct pe__form *f, int64_t row, uint32_t anchor,
                                int64_t flat)
{
    const struct pe__row *r = &f->row[row];
    struct pe__pads p = {.step = 1};
    uint32_t near = anchor != PE__NONE ? anchor : r->first_tokens;
    if (near != PE__NONE)
        p.value = f->segment[near].position + (flat - f->segment[near].slot);
    else
        p.value = pe__row_base(f, row) + (flat - row * f->width);
    return p;
}

struct pe__pads pe__pads_at(const struct pe__form *f, int64_t row, uint32_t segment, int64_t flat)
{
    const struct pe_layout_request *q = f->q;
    uint32_t anchor = segment != PE__NONE ? f->segment[segment].anchor : PE__NONE;
    const struct pe__segment *a = anchor != PE__NONE ? &f->segment[anchor] : NULL;
    struct pe__pads p = {0};
    if (q->fill < PE_A_WORD) {
        p.value = q->fill;
        return p;
    }
    switch (q->fill - PE_A_WORD) {
    case PE_FILL_LAST:
        p.value = a ? a->position + a->length - 1 : pe__row_base(f, row);
        break;
    case PE_FILL_NEXT:
        p.value = a ? a->position + a->length : pe__row_base(f, row);
        break;
    case PE_FILL_CONTINUE:
        return drawn_on(f, row, anchor, flat);
    case PE_FILL_RESTART:
        p.step = 1;
        p.phase = flat - (a ? a->slot + a->length : row * f->width);
        p.again = q->start;
        if (q->given[PE_OPTION_TABLE_LENGTH]) {
            p.cycle = q->table_length - q->start;
            p.phase %= p.cycle;
        }
        p.value = q->start + p.phase;
        break;
    default:
        must(q->fill - PE_A_WORD == PE_FILL_SLOT);
        p.step = 1;
        p.value = q->start + (f->padded ? padded_past(f, row) : 0) + flat - row * f->width;
    }
    return p;
}

int64_t pe__pad_inside(const struct pe__form *f, int64_t value)
{
    if (!f->q->given[PE_OPTION_TABLE_LENGTH])
        return value;
    return pe__min(pe__max(value, 0), f->q->table_length - 1);
}

/* A rising run, cut off at the ends of the table. */
static void put_inside(const struct pe__form *f, struct pe__sink *out, int64_t v, int64_t step,
                       int64_t n)
{
    if (!f->q->given[PE_OPTION_TABLE_LENGTH] || step == 0) {
        pe__put_run(out, pe__pad_inside(f, v), step, n);
        return;
    }
    int64_t last = f->q->table_length - 1;
    int64_t below = pe__min(n, pe__max(0, -v));
    pe__put_run(out, 0, 0, below);
    int64_t inside = pe__min(n - below, pe__max(0, last + 1 - (v + below)));
    pe__put_run(out, v + below, 1, inside);
    pe__put_run(out, last, 0, n - below - inside);
}

static void put_pads(const struct pe__form *f, struct pe__sink *out, struct pe__pads p, int64_t n)
{
    while (p.cycle && n) {
        int64_t now = pe__min(n, p.cycle - p.phase);
        put_inside(f, out, p.again + p.phase, 1, now);
        p.phase = 0;
        n -= now;
    }
    put_inside(f, out, p.value, p.step, n);
}

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

static void put_tokens(const struct pe__form *f, enum pe_out id, int64_t row, uint32_t segment,
                       int64_t flat, int64_t n, struct pe__sink *out)
{
    const struct pe__segment *s = &f->segment[segment];
    int64_t k = flat - s->slot;
    switch (id) {
    case PE_OUT_POSITION_IDS:
        pe__put_run(out, s->position + k, 1, n);
        break;
    case PE_OUT_ATTENTION_MASK:
        pe__put_run(out, 1, 0, n);
        break;
    case PE_OUT_SEGMENT_IDS:
        pe__put_run(out, f->q->segment_base + (int64_t)(s->sequence - f->row[row].sequence), 0, n);
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
        put_origins(f, out, f->source[segment] + k, n);
        break;
    case PE_OUT_REPAD_INDICES:
        pe__put_run(out, s->cover + k, 1, n);
        break;
    default:
        must(id == PE_OUT_RUN_LENGTH);
        pe__put_run(out, covered_by(f, s->sequence), 0, n);
    }
}

static void put_no_tokens(const struct pe__form *f, enum pe_out id, int64_t row, uint32_t segment,
                          int64_t flat, int64_t n, struct pe__sink *out)
{
    const struct pe__row *r = &f->row[row];
    int64_t end = (row + 1) * f->width;
    bool covered = flat - row * f->width >= r->cover;
    switch (id) {
    case PE_OUT_POSITION_IDS:
        put_pads(f, out, pe__pads_at(f, row, segment, flat), n);
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
        int64_t n;
        if (s && flat < s->slot + s->length) {
            n = pe__min(count, s->slot + s->length - flat);
            put_tokens(f, id, at->row, at->segment, flat, n, out);
        } else {
            uint32_t next = s ? at->segment + 1 : f->row[at->row].segment;
            int64_t end = next < f->row[at->row + 1].segment ? f->segment[next].slot : row_end;
            int64_t cover = row_end - f->width + f->row[at->row].cover;
            if (flat < cover)
                end = pe__min(end, cover);
            n = pe__min(count, end - flat);
            put_no_tokens(f, id, at->row, at->segment, flat, n, out);
        }
        flat += n;
        count -= n;
    }
}

/* ---------------------------------------------------------------- smallest and largest */

struct extent {
    bool any;
    int64_t least, most;
};

static void widen(struct extent *e, int64_t a, int64_t b)
{
    e->least = e->any ? pe__min(e->least, a) : a;
    e->most = e->any ? pe__max(e->most, b) : b;
    e->any = true;
}

static void widen_by_pads(const struct pe__form *f, struct extent *e, int64_t row, uint32_t segment,
                          int64_t flat, int64_t end)
{
    int64_t n = end - flat;
    if (n <= 0)
        return;
    struct pe__pads p = pe__pads_at(f, row, segment, flat);
    int64_t least = p.value, most = p.value + p.step * (n - 1);
    if (p.cycle && p.phase + n > p.cycle) {
        least = p.again;
        most = p.again + p.cycle - 1;
    }
    widen(e, pe__pad_inside(f, least), pe__pad_inside(f, most));
}

bool pe__position_extent(const struct pe__form *f, int64_t *least, int64_t *most)
{
    struct extent e = {0};
    for (int64_t row = 0; row < f->rows; row++) {
        uint32_t i = f->row[row].segment, end = f->row[row + 1].segment;
        int64_t at = row * f->width, row_end = at + f->width;
        widen_by_pads(f, &e, row, PE__NONE, at, i < end ? f->segment[i].slot : row_end);
        for (; i < end; i++) {
            const struct pe__segment *s = &f->segment[i];
            if (s->length)
                widen(&e, s->position, s->position + s->length - 1);
            widen_by_pads(f, &e, row, i, s->slot + s->length, i + 1 < end ? s[1].slot : row_end);
        }
    }
    *least = e.least;
    *most = e.most;
    return e.any;
}
