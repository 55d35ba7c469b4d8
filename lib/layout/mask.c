/* SPDX-License-Identifier: MIT
 *
 * mask.c: see mask.h. A query sees a key when one sequence covers both, the key is not ahead
 * (causal), it is nearer than the window, and it is in the trunk or in the query's own branch.
 */
#include "layout/mask.h"

#include <stdlib.h>
#include <string.h>

static uint32_t lane_of(const struct pe__form *f, uint32_t segment)
{
    return f->lane && segment != PE__NONE ? f->lane[segment] : 0;
}

/* Backwards over one row; ends[k] is the end of branch k of the sequence at hand, 0 while not met.
 */
static void branch_ends_of_row(struct pe__form *f, int64_t row, int64_t *ends, uint32_t *most)
{
    uint32_t first = f->row[row].segment, sequence = PE__NONE;
    for (uint32_t i = f->row[row + 1].segment; i-- > first;) {
        const struct pe__segment *s = &f->segment[i];
        if (s->sequence != sequence) {
            memset(ends, 0, (*most + (size_t)1) * sizeof *ends);
            *most = 0;
            sequence = s->sequence;
        }
        uint32_t k = f->lane[i];
        if (s->length && ends[k] == 0) {
            ends[k] = s->slot + s->length;
            *most = k > *most ? k : *most;
        }
        f->lane_end[i] = ends[k];
    }
}

enum pe_error pe__branch_ends(struct pe__form *f)
{
    if (!f->lane)
        return PE_OK;
    uint32_t lanes = 0, most = 0;
    for (uint32_t i = 0; i < f->segments; i++)
        lanes = f->lane[i] > lanes ? f->lane[i] : lanes;
    int64_t *ends = calloc((size_t)lanes + 1, sizeof *ends);
    f->lane_end = calloc((size_t)f->room_segments, sizeof *f->lane_end);
    if (!ends || !f->lane_end) {
        free(ends);
        return PE_NO_MEMORY;
    }
    for (int64_t row = 0; row < f->rows; row++)
        branch_ends_of_row(f, row, ends, &most);
    free(ends);
    return PE_OK;
}

/* The slot of a row, what covers it, and its branch. */
struct place {
    int64_t row;
    int64_t slot; /* of the row */
    uint32_t segment;
    uint32_t sequence;
    bool token;
};

static struct place place_of(const struct pe__form *f, int64_t flat)
{
    struct place p = {.row = flat / f->width, .sequence = PE__NONE};
    p.slot = flat - p.row * f->width;
    p.segment = pe__segment_at(f, p.row, flat);
    const struct pe__segment *s = p.segment != PE__NONE ? &f->segment[p.segment] : NULL;
    p.token = s && flat < s->slot + s->length;
    if (p.token)
        p.sequence = s->sequence;
    else if (p.slot >= f->row[p.row].cover)
        p.sequence = pe__row_last_sequence(f, p.row);
    return p;
}

/* Keys [lo, hi) of a row of marks that begins at key `from`. */
struct keys {
    int64_t lo, hi, from;
    unsigned char *out;
};

/* Marks those that the query sees. */
static void mark_seen(const struct pe__form *f, const struct place *query, const struct keys *keys,
                      unsigned char mark)
{
    int64_t lo = keys->lo, hi = keys->hi, from = keys->from;
    int64_t at = query->row * f->width;
    uint32_t lane = query->token ? lane_of(f, query->segment) : 0;
    uint32_t i = pe__segment_at(f, query->row, at + lo), end = f->row[query->row + 1].segment;
    if (i == PE__NONE)
        i = f->row[query->row].segment;
    for (; i < end && f->segment[i].slot - at < hi; i++) {
        const struct pe__segment *s = &f->segment[i];
        uint32_t k = lane_of(f, i);
        int64_t a = pe__max(lo, s->slot - at), b = pe__min(hi, s->slot - at + s->length);
        if (a < b && s->sequence == query->sequence && (k == 0 || k == lane))
            memset(keys->out + (a - from), mark, (size_t)(b - a));
    }
    int64_t tail = pe__max(lo, f->row[query->row].cover);
    if (tail < hi && pe__row_last_sequence(f, query->row) == query->sequence)
        memset(keys->out + (tail - from), mark, (size_t)(hi - tail));
}

void pe__mask(const struct pe__form *f, int64_t first, int64_t count, unsigned char *out)
{
    const struct pe_layout_request *q = f->q;
    unsigned char seen = q->polarity == PE_POLARITY_KEEP;
    while (count > 0) {
        struct place query = place_of(f, first / f->width);
        int64_t from = first % f->width, n = pe__min(count, f->width - from);
        memset(out, !seen, (size_t)n);
        int64_t lo = from, hi = from + n;
        if (q->causal)
            hi = pe__min(hi, query.slot + 1);
        if (q->given[PE_OPTION_WINDOW]) {
            lo = pe__max(lo, query.slot - q->window + 1);
            hi = pe__min(hi, query.slot + q->window);
        }
        if (query.sequence != PE__NONE && lo < hi)
            mark_seen(f, &query, &(struct keys){lo, hi, from, out}, seen);
        if (q->pad_self && query.slot >= from && query.slot < from + n)
            out[query.slot - from] = seen;
        out += n;
        first += n;
        count -= n;
    }
}

/* The interval of queries that see one key: behind its last, and the first. */
static void column_of(const struct pe__form *f, const struct place *key, int64_t out[2])
{
    const struct pe_layout_request *q = f->q;
    int64_t at = key->row * f->width;
    if (key->sequence == PE__NONE) {
        out[0] = key->slot + 1;
        out[1] = key->slot;
        return;
    }
    uint32_t first = f->sequence[key->sequence].first_tokens;
    uint32_t last = pe__last_tokens(f, key->sequence);
    bool tail = pe__tail_cover(f, key->sequence) > 0;
    out[0] = tail ? f->width : f->segment[last].slot + f->segment[last].length - at;
    out[1] = first != PE__NONE ? f->segment[first].slot - at : f->row[key->row].cover;
    if (key->token && lane_of(f, key->segment))
        out[0] = f->lane_end[key->segment] - at;
    if (q->given[PE_OPTION_WINDOW]) {
        out[0] = pe__min(out[0], key->slot + q->window);
        out[1] = pe__max(out[1], key->slot - q->window + 1);
    }
}

void pe__columns(const struct pe__form *f, int64_t first, int64_t count, struct pe__sink *out)
{
    int64_t each = f->q->causal ? 1 : 2;
    while (count > 0) {
        int64_t column[2], part = first % each;
        struct place key = place_of(f, first / each);
        column_of(f, &key, column);
        int64_t n = pe__min(count, each - part);
        for (int64_t i = 0; i < n; i++)
            pe__put(out, column[part + i]);
        first += n;
        count -= n;
    }
}
