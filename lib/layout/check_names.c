/* SPDX-License-Identifier: MIT
 *
 * check_names.c: which conventions would have given exactly these ids for these documents. Each
 * that numbers otherwise than those before is laid out and compared, window by window.
 */
#include "layout/check.h"
#include "layout/slots.h"

#include <stdlib.h>

/* How a convention numbers: all that position_ids depends on. */
struct numbering {
    int64_t start, fill;
    int count;
    bool restart;
    bool same; /* as the ids */
};

static struct numbering numbering_of(const struct pe_convention *c)
{
    struct numbering n = {.count = PE_COUNT_TOKENS, .restart = true};
    for (unsigned i = 0; i < c->count; i++) {
        switch (c->settings[i].option) {
        case PE_OPTION_START:
            n.start = c->settings[i].value;
            break;
        case PE_OPTION_FILL:
            n.fill = c->settings[i].value;
            break;
        case PE_OPTION_COUNT:
            n.count = (int)c->settings[i].value;
            break;
        case PE_OPTION_RESTART:
            n.restart = c->settings[i].value != 0;
            break;
        default:
            break;
        }
    }
    return n;
}

static bool ids_are(const struct pe_check *c, const struct pe__form *f)
{
    int64_t ids[1024] = {0}, slots = c->rows * c->width;
    struct pe__spot at = {0};
    for (int64_t flat = 0; flat < slots; flat += 1024) {
        int64_t n = pe__min(1024, slots - flat);
        struct pe__sink sink = {(char *)ids, true};
        pe__slots(f, PE_OUT_POSITION_IDS, flat, n, &sink, &at);
        for (int64_t i = 0; i < n; i++)
            if (ids[i] != pe__id(c, flat + i))
                return false;
    }
    return true;
}

/* Lays the documents out by one numbering: rows of the mask, or the documents found. */
static bool numbered_so(struct pe_check *c, const struct numbering *n)
{
    struct pe_layout_request q;
    struct pe__form form = {0};
    struct pe__plan no_plan = {0};
    struct pe__source s = {&q, NULL, &form, &no_plan};
    pe_layout_request_init(&q, c->by_rows ? PE_PADDED : PE_CONVERT);
    q.start = n->start;
    q.fill = n->fill;
    q.count = n->count;
    q.restart = n->restart;
    enum pe_error e;
    if (c->by_rows) {
        q.attention_mask = c->q.attention_mask;
        q.given[PE_OPTION_ATTENTION_MASK] = true;
        q.past_lengths = c->q.past_lengths;
        e = pe__from_padded(&s);
    } else {
        e = pe__arrange(&c->batch, &s, &q);
    }
    bool same = !e && ids_are(c, &form);
    pe__form_clear(&form);
    c->no_memory |= e == PE_NO_MEMORY;
    return same;
}

static bool try_numbering(struct pe_check *c, struct numbering *tried, unsigned *count,
                          struct numbering now)
{
    for (unsigned i = 0; i < *count; i++)
        if (tried[i].start == now.start && tried[i].fill == now.fill &&
            tried[i].count == now.count && tried[i].restart == now.restart)
            return tried[i].same;
    now.same = numbered_so(c, &now);
    tried[(*count)++] = now;
    return now.same;
}

void pe__check_names(struct pe_check *c)
{
    enum pe_endpoint endpoint = c->by_rows ? PE_PADDED : PE_PACKED;
    struct numbering tried[64];
    unsigned count = 0, rows = 0;
    bool named = c->by_rows ? c->numbers_clean : c->labels || c->cu;
    while (pe_convention(rows))
        rows++;
    c->conventions = calloc(rows, sizeof *c->conventions);
    if (!c->conventions) {
        c->no_memory = true;
        return;
    }
    for (unsigned row = 0; named && row < rows; row++) {
        const struct pe_convention *v = pe_convention(row);
        if (v->endpoint == endpoint && count < 64 &&
            try_numbering(c, tried, &count, numbering_of(v)))
            c->conventions[c->convention_count++] = row;
    }
}
