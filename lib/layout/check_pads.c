/* SPDX-License-Identifier: MIT
 *
 * check_pads.c: ids slot by slot: inside the table, and what pads hold.
 */
#include "layout/check.h"

/* A row as the ids have it. */
struct row {
    int64_t begin, end; /* flat */
    int64_t past;       /* of its first document */
    int64_t first;      /* flat slot of its first token, -1 where there is none */
};

static int64_t inside(const struct pe_check *c, int64_t v)
{
    if (!c->q.given[PE_OPTION_TABLE_LENGTH])
        return v;
    return pe__min(pe__max(v, 0), c->q.table_length - 1);
}

/* What a pad holds by `fill`, counted from the ids found. `last`: flat slot of the token before, or
 * -1. */
static int64_t pad_value(const struct pe_check *c, const struct row *r, int64_t flat, int64_t last)
{
    const struct pe_layout_request *q = &c->q;
    int64_t base = r->first >= 0 ? pe__id(c, r->first) : q->start + r->past, run;
    if (q->fill < PE_A_WORD)
        return q->fill;
    switch (q->fill - PE_A_WORD) {
    case PE_FILL_LAST:
        return inside(c, last >= 0 ? pe__id(c, last) : base);
    case PE_FILL_NEXT:
        return inside(c, last >= 0 ? pe__id(c, last) + 1 : base);
    case PE_FILL_CONTINUE:
        if (last >= 0)
            return inside(c, pe__id(c, last) + flat - last);
        return inside(c, base + flat - (r->first >= 0 ? r->first : r->begin));
    case PE_FILL_RESTART:
        run = flat - (last >= 0 ? last + 1 : r->begin);
        if (q->given[PE_OPTION_TABLE_LENGTH])
            run %= q->table_length - q->start;
        return inside(c, q->start + run);
    default:
        return inside(c, q->start + (c->by_rows ? r->past : 0) + flat - r->begin);
    }
}

static void check_range(struct pe_check *c, int64_t flat, bool token)
{
    const struct pe_layout_request *q = &c->q;
    int64_t id = pe__id(c, flat), last = q->table_length - 1, zero = 0;
    bool meant = !token && q->given[PE_OPTION_FILL] &&
                 (q->fill == id || q->fill == PE_A_WORD + PE_FILL_CONTINUE);
    if (id < 0 && !meant)
        pe__report(
            c, PE__NEGATIVE,
            &(struct pe__said){
                .tensor = PE_OPTION_POSITION_IDS, .at = flat, .found = &id, .expected = &zero});
    if (q->given[PE_OPTION_TABLE_LENGTH] && id > last)
        pe__report(
            c, PE__OUT_OF_TABLE,
            &(struct pe__said){
                .tensor = PE_OPTION_POSITION_IDS, .at = flat, .found = &id, .expected = &last});
}

static void check_row(struct pe_check *c, const struct row *r)
{
    int64_t last = -1;
    bool told = false; /* this run of pads has been named as a restart */
    for (int64_t i = r->begin; i < r->end; i++) {
        bool token = pe__check_token(c, i);
        int64_t id = pe__id(c, i);
        check_range(c, i, token);
        if (token) {
            last = i;
            told = false;
            continue;
        }
        if (c->q.given[PE_OPTION_FILL]) {
            int64_t expected = pad_value(c, r, i, last);
            if (id != expected)
                pe__report(c, PE__PAD_DIFFERS,
                           &(struct pe__said){.tensor = PE_OPTION_POSITION_IDS,
                                              .at = i,
                                              .found = &id,
                                              .expected = &expected});
        }
        if (c->q.read_as_packed && !told && i > r->begin && id != pe__id(c, i - 1) + 1) {
            int64_t expected = pe__id(c, i - 1) + 1;
            pe__report(c, PE__PAD_RESTARTS,
                       &(struct pe__said){.tensor = PE_OPTION_POSITION_IDS,
                                          .at = i,
                                          .found = &id,
                                          .expected = &expected});
            told = true;
        }
    }
}

void pe__check_pads(struct pe_check *c)
{
    const struct pe__batch *b = &c->batch;
    uint64_t d = 0;
    for (int64_t n = 0; n < c->rows; n++) {
        struct row r = {n * c->width, (n + 1) * c->width, 0, -1};
        for (bool first = true; d < b->documents && b->document[d].row <= n; d++) {
            if (b->document[d].row < n)
                continue;
            if (first)
                r.past = b->document[d].past;
            first = false;
        }
        for (int64_t i = r.begin; i < r.end && r.first < 0; i++)
            if (pe__check_token(c, i))
                r.first = i;
        check_row(c, &r);
    }
}
