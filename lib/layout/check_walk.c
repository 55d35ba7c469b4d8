/* SPDX-License-Identifier: MIT
 *
 * check_walk.c: ids token by token: what each had to be, given the one before. After a finding the
 * walk goes on from the id found, so one mistake is one finding.
 */
#include "layout/check.h"

struct walk {
    struct pe_check *c;
    int64_t row;
    bool any;         /* a token of the row has been seen */
    int64_t flat, id; /* the last of them */
};

static int64_t distance(const struct walk *w, int64_t flat)
{
    return w->c->q.count == PE_COUNT_SLOTS ? flat - w->flat : 1;
}

static void report(struct walk *w, bool warning, enum pe__rule rule, int64_t flat, int64_t found,
                   int64_t expected)
{
    pe__report(w->c, rule,
               &(struct pe__said){.tensor = PE_OPTION_POSITION_IDS,
                                  .at = flat,
                                  .found = &found,
                                  .expected = &expected,
                                  .warning = warning});
}

/* The first token of a document. `declared` is its position where that was declared. */
static void first_token(struct walk *w, int64_t flat, int64_t past, const int64_t *declared)
{
    const struct pe_check *c = w->c;
    const struct pe_layout_request *q = &c->q;
    int64_t found = pe__id(c, flat), slot = flat - w->row * c->width;
    bool later = w->any, run_on = later && !q->restart && !declared;
    int64_t expected = q->start + past;
    if (declared)
        expected = *declared;
    else if (run_on)
        expected = w->id + distance(w, flat);
    else if (q->count == PE_COUNT_SLOTS && (c->by_rows || !q->restart))
        expected += slot;
    if (!c->known && !later && !q->given[PE_OPTION_PAST_LENGTHS])
        return;
    if (found == expected) {
        if (run_on && q->attention == PE_ATTENTION_DOCUMENT)
            report(w, true, PE__NO_RESTART, flat, found, q->start);
        return;
    }
    if (q->given[PE_OPTION_PAST_LENGTHS])
        report(w, false, PE__CACHE, flat, found, expected);
    else if (!later && slot > 0 && found == q->start + slot)
        report(w, false, PE__PADS_CONSUME, flat, found, expected);
    else if (later && q->restart && found == w->id + 1)
        report(w, false, PE__NO_RESTART, flat, found, expected);
    else
        report(w, false, PE__WRONG_FIRST, flat, found, expected);
}

static void later_token(struct walk *w, int64_t flat, const int64_t *declared)
{
    const struct pe_layout_request *q = &w->c->q;
    int64_t found = pe__id(w->c, flat), expected = declared ? *declared : w->id + distance(w, flat);
    int64_t away = flat - w->flat;
    if (found == expected)
        return;
    if (found <= w->id)
        report(w, q->attention == PE_ATTENTION_ROW, PE__RESTART_INSIDE, flat, found, expected);
    else if (away > 1 && found == w->id + away)
        report(w, false, PE__PADS_CONSUME, flat, found, expected);
    else
        report(w, false, PE__SKIP_INSIDE, flat, found, expected);
}

static void see(struct walk *w, int64_t flat)
{
    w->any = true;
    w->flat = flat;
    w->id = pe__id(w->c, flat);
}

/* A run of tokens whose first has been seen. */
static void rest_of_run(struct walk *w, int64_t flat, int64_t end)
{
    for (; flat < end; flat++) {
        int64_t id = pe__id(w->c, flat);
        if (id != w->id + 1)
            later_token(w, flat, NULL);
        see(w, flat);
    }
}

static void enter_row(struct walk *w, int64_t row)
{
    if (row != w->row)
        w->any = false;
    w->row = row;
}

static void walk_batch(struct walk *w)
{
    const struct pe__batch *b = &w->c->batch;
    for (uint64_t d = 0; d < b->documents; d++) {
        const struct pe__found *f = &b->document[d];
        for (uint64_t i = f[0].first_run; i < f[1].first_run; i++) {
            int64_t flat = b->run[i].slot, row = flat / w->c->width;
            bool first = i == f[0].first_run || row != w->row;
            enter_row(w, row);
            if (first)
                first_token(w, flat, f->past, NULL);
            else
                later_token(w, flat, NULL);
            see(w, flat);
            rest_of_run(w, flat + 1, flat + b->run[i].length);
        }
    }
}

/* A declared form says where each segment begins. */
static void walk_declared(struct walk *w)
{
    const struct pe__form *f = &w->c->declared;
    for (int64_t row = 0; row < f->rows; row++) {
        enter_row(w, row);
        for (uint32_t i = f->row[row].segment; i < f->row[row + 1].segment; i++) {
            const struct pe__segment *s = &f->segment[i];
            if (s->length == 0)
                continue;
            if (!w->any || s->reason == PE_REASON_DOCUMENT || s->reason == PE_REASON_CHUNK)
                first_token(w, s->slot, 0, &s->position);
            else
                later_token(w, s->slot, &s->position);
            see(w, s->slot);
            rest_of_run(w, s->slot + 1, s->slot + s->length);
        }
    }
}

void pe__check_walk(struct pe_check *c)
{
    struct walk w = {.c = c, .row = -1};
    if (c->declared.row)
        walk_declared(&w);
    else
        walk_batch(&w);
}
