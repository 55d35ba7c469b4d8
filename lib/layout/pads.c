/* SPDX-License-Identifier: MIT
 *
 * pads.c: what pads hold, as slots.h says: a number, or a line that is drawn on or begins anew,
 * kept inside of the table.
 */
#include "layout/slots.h"
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

void pe__put_pads(const struct pe__form *f, struct pe__sink *out, struct pe__pads p, int64_t n)
{
    while (p.cycle && n) {
        int64_t now = pe__min(n, p.cycle - p.phase);
        put_inside(f, out, p.again + p.phase, 1, now);
        p.phase = 0;
        n -= now;
    }
    put_inside(f, out, p.value, p.step, n);
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
