/* SPDX-License-Identifier: MIT
 *
 * plan.c: see plan.h. Documents are cut into items, put in order, placed, and listed row by row.
 * How many items there will be is known before anything is made.
 */
#include "layout/plan.h"
#include "layout/fault.h"
#include "layout/fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool decreasing(int algorithm)
{
    return algorithm >= PE_ALGORITHM_NEXT_FIT_DECREASING &&
           algorithm <= PE_ALGORITHM_WORST_FIT_DECREASING;
}

static enum pe__fit fit_of(int algorithm)
{
    switch (algorithm) {
    case PE_ALGORITHM_NEXT_FIT:
    case PE_ALGORITHM_NEXT_FIT_DECREASING:
        return PE__NEXT;
    case PE_ALGORITHM_BEST_FIT:
    case PE_ALGORITHM_BEST_FIT_DECREASING:
        return PE__BEST;
    case PE_ALGORITHM_WORST_FIT:
    case PE_ALGORITHM_WORST_FIT_DECREASING:
        return PE__WORST;
    default:
        return PE__FIRST;
    }
}

bool pe__item_goes_on(const struct pe_layout_request *q, const struct pe__item *item)
{
    return item->offset > 0 && q->too_long != PE_LONG_KEEP_LAST;
}

int64_t pe__item_past(const struct pe_layout_request *q, const struct pe__item *item)
{
    int64_t past = pe__entry(&q->past_lengths, item->document);
    if (!pe__item_goes_on(q, item))
        return past;
    return q->continuation == PE_CONTINUATION_COUNT ? past + item->offset : 0;
}

/* ---------------------------------------------------------------- cutting */

struct cutting {
    const struct pe_layout_request *q;
    struct pe_layout_fault *fault;
    struct pe__plan *plan; /* lists are NULL while things are only counted */
    int64_t most;          /* tokens that a row can hold */
    uint64_t items, dropped;
};

static void add_item(struct cutting *c, uint64_t document, int64_t offset, int64_t length)
{
    if (c->plan->item)
        c->plan->item[c->items] = (struct pe__item){offset, length, (uint32_t)document, 0};
    c->items++;
    c->plan->tokens += length;
}

static enum pe_error cut_long(struct cutting *c, uint64_t d, int64_t n)
{
    const struct pe_layout_request *q = c->q;
    char what[96];
    switch (q->too_long) {
    case PE_LONG_DROP:
        if (c->plan->dropped)
            c->plan->dropped[c->dropped] = (int64_t)d;
        c->dropped++;
        c->plan->lost += n;
        return PE_OK;
    case PE_LONG_KEEP_FIRST:
    case PE_LONG_KEEP_LAST:
        add_item(c, d, q->too_long == PE_LONG_KEEP_LAST ? n - c->most : 0, c->most);
        c->plan->lost += n - c->most;
        return PE_OK;
    case PE_LONG_SPLIT:
        if (c->most == 0)
            return pe__fault(c->fault, PE_RANGE, PE_OPTION_CAPACITY,
                             "capacity %" PRId64 " has no room for a piece of a document",
                             q->capacity);
        if (!c->plan->item) {
            c->items += (uint64_t)(n / c->most + (n % c->most != 0));
            return PE_OK;
        }
        for (int64_t at = 0; at < n; at += c->most)
            add_item(c, d, at, n - at < c->most ? n - at : c->most);
        return PE_OK;
    default:
        snprintf(what, sizeof what, "%" PRId64 " tokens do not fit into a row of %" PRId64, n,
                 c->most);
        return pe__fault_at(c->fault, PE_RANGE, PE_OPTION_LENGTHS, d, what);
    }
}

/* Whether a document takes part: one without tokens may be left out or refused. */
static enum pe_error takes_part(const struct cutting *c, uint64_t d, int64_t n, bool *part)
{
    *part = n > 0 || c->q->empty == PE_EMPTY_KEEP;
    if (n == 0 && c->q->empty == PE_EMPTY_ERROR)
        return pe__fault_at(c->fault, PE_RANGE, PE_OPTION_LENGTHS, d, "the document is empty");
    return PE_OK;
}

static enum pe_error cut_all(struct cutting *c)
{
    for (uint64_t d = 0; d < c->q->lengths.count; d++) {
        int64_t n = pe__at(&c->q->lengths, d);
        bool part;
        enum pe_error e = takes_part(c, d, n, &part);
        if (e)
            return e;
        if (!part)
            continue;
        if (n <= c->most)
            add_item(c, d, 0, n);
        else if ((e = cut_long(c, d, n)))
            return e;
        if (c->items > c->q->most_pieces)
            return pe__fault(c->fault, PE_TOO_LARGE, PE_OPTION_LENGTHS,
                             "the documents would be cut into more than %" PRIu64 " pieces",
                             c->q->most_pieces);
    }
    return PE_OK;
}

/* End to end, cut at the capacity. A row opens only when a token needs it. */
static enum pe_error concatenate(struct cutting *c)
{
    int64_t capacity = c->q->capacity, room = 0;
    uint64_t rows = 0;
    for (uint64_t d = 0; d < c->q->lengths.count; d++) {
        int64_t n = pe__at(&c->q->lengths, d), at = 0;
        bool part;
        enum pe_error e = takes_part(c, d, n, &part);
        if (e)
            return e;
        if (!part)
            continue;
        if (capacity == 0 && n)
            return pe__fault(c->fault, PE_RANGE, PE_OPTION_CAPACITY, "capacity 0 holds no token");
        if (!c->plan->item && capacity && (uint64_t)(n / capacity) > c->q->most_pieces)
            at = n - n % capacity; /* far too many already: counted by the check below */
        if (at)
            c->items += (uint64_t)(n / capacity);
        do {
            if (rows == 0 || (room == 0 && at < n)) {
                if (c->plan->row_ends && rows)
                    c->plan->row_ends[rows - 1] = c->items;
                rows++;
                room = capacity;
            }
            int64_t take = n - at < room ? n - at : room;
            add_item(c, d, at, take);
            if (c->plan->item)
                c->plan->item[c->items - 1].row = (uint32_t)(rows - 1);
            at += take;
            room -= take;
        } while (at < n);
        if (c->items > c->q->most_pieces)
            return pe__fault(c->fault, PE_TOO_LARGE, PE_OPTION_LENGTHS,
                             "the documents would be cut into more than %" PRIu64 " pieces",
                             c->q->most_pieces);
    }
    if (c->plan->row_ends && rows)
        c->plan->row_ends[rows - 1] = c->items;
    c->plan->rows = rows;
    return PE_OK;
}

/* ---------------------------------------------------------------- order and rows */

/* Longest first, equals in the order they have: a radix sort from the low byte up, on complemented
 * lengths. */
static struct pe__item *sort_by_length(struct pe__item *from, struct pe__item *to, uint64_t n)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < n; i++)
        all |= (uint64_t)from[i].length;
    for (unsigned shift = 0; shift < 64 && all >> shift; shift += 8) {
        uint64_t start[257] = {0};
        for (uint64_t i = 0; i < n; i++)
            start[1 + (~(uint64_t)from[i].length >> shift & 255)]++;
        for (unsigned k = 0; k < 256; k++)
            start[k + 1] += start[k];
        for (uint64_t i = 0; i < n; i++)
            to[start[~(uint64_t)from[i].length >> shift & 255]++] = from[i];
        struct pe__item *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Lists items row by row, in order of placing. */
static enum pe_error by_rows(struct pe__plan *plan, const struct pe__item *from,
                             struct pe__item *to)
{
    plan->row_ends = calloc(plan->rows + 1, sizeof *plan->row_ends);
    if (!plan->row_ends)
        return PE_NO_MEMORY;
    for (uint64_t i = 0; i < plan->items; i++)
        plan->row_ends[from[i].row + 1]++;
    for (uint64_t r = 0; r < plan->rows; r++)
        plan->row_ends[r + 1] += plan->row_ends[r];
    /* row_ends[r] is where row r begins, and moves to its end. */
    for (uint64_t i = 0; i < plan->items; i++)
        to[plan->row_ends[from[i].row]++] = from[i];
    return PE_OK;
}

static enum pe_error arrange(struct pe__plan *plan, const struct pe_layout_request *q)
{
    struct pe__bins bins = {fit_of(q->algorithm), q->capacity, q->pad_each_to_multiple_of,
                            q->max_documents};
    struct pe__item *spare = malloc((plan->items + 1) * sizeof *spare);
    if (!spare)
        return PE_NO_MEMORY;
    struct pe__item *now = plan->item;
    if (decreasing(q->algorithm))
        now = sort_by_length(plan->item, spare, plan->items);
    struct pe__item *other = now == plan->item ? spare : plan->item;
    uint32_t rows = 0;
    enum pe_error e = pe__place(&bins, now, plan->items, &rows);
    plan->rows = rows;
    if (e == PE_OK)
        e = by_rows(plan, now, other);
    plan->item = other;
    free(now);
    return e;
}

static enum pe_error check_options(const struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    static const enum pe_option not_concat[] = {PE_OPTION_TOO_LONG, PE_OPTION_MAX_DOCUMENTS,
                                                PE_OPTION_PAD_EACH_TO_MULTIPLE_OF};
    if (!q->given[PE_OPTION_CAPACITY])
        return pe__fault(fault, PE_MISSING, PE_OPTION_CAPACITY,
                         "capacity is required for planning");
    for (unsigned i = 0; q->algorithm == PE_ALGORITHM_CONCAT && i < 3; i++)
        if (q->given[not_concat[i]])
            return pe__fault(fault, PE_UNUSED, not_concat[i],
                             "%s is not used with algorithm=concat",
                             pe_option_info(not_concat[i])->name);
    if (q->lengths.rank != 1)
        return pe__fault(fault, PE_RANGE, PE_OPTION_LENGTHS,
                         "lengths must be a flat list to be planned");
    enum pe_error e = pe__sums(&q->lengths, PE_OPTION_LENGTHS, NULL, fault);
    if (e)
        return e;
    return pe__entries(&q->past_lengths, PE_OPTION_PAST_LENGTHS, q->lengths.count, "documents",
                       fault);
}

enum pe_error pe__plan_make(struct pe__plan *plan, const struct pe_layout_request *q,
                            struct pe_layout_fault *fault)
{
    bool concat = q->algorithm == PE_ALGORITHM_CONCAT;
    enum pe_error e = check_options(q, fault);
    if (e)
        return e;
    struct cutting c = {.q = q, .fault = fault, .plan = plan};
    c.most = q->capacity - q->capacity % q->pad_each_to_multiple_of;
    e = concat ? concatenate(&c) : cut_all(&c);
    if (e)
        return e;
    plan->items = c.items;
    plan->dropped_count = c.dropped;
    plan->item = malloc((c.items + 1) * sizeof *plan->item);
    plan->dropped = malloc((c.dropped + 1) * sizeof *plan->dropped);
    if (concat)
        plan->row_ends = malloc((plan->rows + 1) * sizeof *plan->row_ends);
    if (!plan->item || !plan->dropped || (concat && !plan->row_ends))
        e = PE_NO_MEMORY;
    c.items = c.dropped = 0;
    plan->tokens = plan->lost = 0;
    if (!e)
        e = concat ? concatenate(&c) : cut_all(&c);
    if (!e && !concat)
        e = arrange(plan, q);
    return e == PE_NO_MEMORY ? pe__fault(fault, e, PE_OPTION_NONE, "no memory for the plan") : e;
}

void pe__plan_clear(struct pe__plan *plan)
{
    free(plan->item);
    free(plan->row_ends);
    free(plan->dropped);
    *plan = (struct pe__plan){0};
}

size_t pe__plan_bytes(const struct pe__plan *plan)
{
    return plan->items * sizeof *plan->item + plan->rows * sizeof *plan->row_ends +
           plan->dropped_count * sizeof *plan->dropped;
}
