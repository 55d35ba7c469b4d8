/* SPDX-License-Identifier: MIT
 *
 * inverse.c: the place of every slot in the concatenation of all ranks.
 *
 * Rank r's own slots begin behind those of all lower ranks, and a piece of it behind the pieces of
 * the same index in earlier units. Both are sums over units of pe__cut, and a cut depends on the
 * piece index only by how that compares with `many`. So sums over units at every step-th one, apart
 * for each different value of `many`, and a short walk from there, give any of them; memory follows
 * the units, never the ranks.
 */
#include "layout/shard.h"
#include "must.h"

#include <stdlib.h>

#define AT_ONCE 512 /* pieces whose sums are made in one walk */

static struct pe__cut cut_of(const struct pe__shard *s, uint64_t unit)
{
    return pe__cut_unit(s, pe__unit_first(s, unit + 1) - pe__unit_first(s, unit));
}

/* The first value that is at least `many`. */
static size_t value_at(const struct pe__ahead *a, int64_t many)
{
    size_t lo = 0, hi = a->values;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (a->value[mid] < many)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool find_values(struct pe__shard *s)
{
    struct pe__ahead *a = &s->ahead;
    a->value = malloc((s->units + 1) * sizeof *a->value);
    if (!a->value)
        return false;
    size_t n = 0;
    for (uint64_t u = 0; u < s->units; u++) {
        int64_t many = cut_of(s, u).many;
        if (n == 0 || a->value[n - 1] != many)
            a->value[n++] = many;
    }
    qsort(a->value, n, sizeof *a->value, compare);
    for (size_t i = 0; i < n; i++)
        if (a->values == 0 || a->value[a->values - 1] != a->value[i])
            a->value[a->values++] = a->value[i];
    return true;
}

/* One mark: what lies in front of unit mark * step. `more` is summed from the largest value down.
 */
static void set_mark(struct pe__ahead *a, uint64_t mark, int64_t base, const int64_t *more,
                     const int64_t *rest)
{
    a->base[mark] = base;
    int64_t *sums = &a->more[mark * (a->values + 1)];
    sums[a->values] = 0;
    for (size_t i = a->values; i-- > 0;)
        sums[i] = sums[i + 1] + more[i];
    for (size_t i = 0; i < a->values; i++)
        a->rest[mark * a->values + i] = rest[i];
}

enum pe_error pe__ahead_make(struct pe__shard *s)
{
    struct pe__ahead *a = &s->ahead;
    if (!find_values(s))
        return PE_NO_MEMORY;
    a->step = a->values > 64 ? a->values : 64;
    /* The last mark is of all units. */
    a->marks = s->units / a->step + 2;
    a->base = malloc(a->marks * sizeof *a->base);
    a->more = malloc(a->marks * (a->values + 1) * sizeof *a->more);
    a->rest = malloc((a->marks * a->values + 1) * sizeof *a->rest);
    a->spent = calloc(a->values + 1, sizeof *a->spent);
    int64_t *more = calloc(2 * a->values + 1, sizeof *more), *rest = more ? more + a->values : NULL;
    bool fine = a->base && a->more && a->rest && a->spent && more;
    int64_t base = 0;
    for (uint64_t u = 0; fine && u < s->units; u++) {
        if (u % a->step == 0)
            set_mark(a, u / a->step, base, more, rest);
        struct pe__cut c = cut_of(s, u);
        size_t i = value_at(a, c.many);
        base += c.base;
        more[i] += c.more;
        rest[i] += c.rest;
        a->spent[i + 1] += c.many * c.more + c.rest;
    }
    if (fine) {
        set_mark(a, a->marks - 1, base, more, rest);
        for (size_t i = 0; i < a->values; i++)
            a->spent[i + 1] += a->spent[i];
    }
    free(more);
    return fine ? PE_OK : PE_NO_MEMORY;
}

/* What a mark says of piece i, values being looked at from `v` on: the first that is at least i. */
static int64_t at_mark(const struct pe__ahead *a, uint64_t mark, size_t v, int64_t i)
{
    bool met = v < a->values && a->value[v] == i;
    return a->base[mark] + a->more[mark * (a->values + 1) + v + met] +
           (met ? a->rest[mark * a->values + v] : 0);
}

/* out[k] = slots of pieces i + k in units in front of `unit`; n at most AT_ONCE. */
static void pieces_ahead(const struct pe__shard *s, uint64_t unit, int64_t i, int64_t n,
                         int64_t *out)
{
    const struct pe__ahead *a = &s->ahead;
    int64_t step[AT_ONCE + 1];
    uint64_t mark = unit == s->units ? a->marks - 1 : unit / a->step;
    uint64_t from = unit == s->units ? unit : mark * a->step;
    size_t v = value_at(a, i);
    memset(step, 0, ((size_t)n + 1) * sizeof *step);
    memset(out, 0, (size_t)n * sizeof *out);
    for (uint64_t u = from; u < unit; u++) {
        struct pe__cut c = cut_of(s, u);
        int64_t many = c.many - i;
        step[0] += c.base;
        if (many >= 0) {
            step[0] += c.more;
            step[pe__min(many, n)] -= c.more;
        }
        if (many >= 0 && many < n)
            out[many] += c.rest;
    }
    int64_t sum = 0;
    for (int64_t k = 0; k < n; k++) {
        while (v < a->values && a->value[v] < i + k)
            v++;
        sum += step[k];
        out[k] += sum + at_mark(a, mark, v, i + k);
    }
}

/* Slots of all pieces in front of piece i, of all units. */
static int64_t all_before(const struct pe__shard *s, int64_t i)
{
    const struct pe__ahead *a = &s->ahead;
    size_t v = value_at(a, i);
    uint64_t last = a->marks - 1;
    return i * a->base[last] + i * a->more[last * (a->values + 1) + v] + a->spent[v];
}

static int64_t piece_total(const struct pe__shard *s, int64_t i)
{
    int64_t out;
    pieces_ahead(s, s->units, i, 1, &out);
    return out;
}

/* Where rank r's own slots begin. */
static int64_t rank_first(const struct pe__shard *s, int64_t r)
{
    int64_t tails = 0;
    if (s->q->split == PE_SPLIT_ZIGZAG)
        tails = all_before(s, s->count) - all_before(s, s->count - r);
    return all_before(s, r) + tails;
}

/* The place of the first slot of piece i of a unit; `ahead` and `mirror` are what pieces_ahead says
 * of it and of the piece that the same rank has at the other end. */
static int64_t piece_place(const struct pe__shard *s, const struct pe__cut *c, int64_t i,
                           int64_t ahead, int64_t mirror)
{
    bool zigzag = s->q->split == PE_SPLIT_ZIGZAG;
    int64_t other = s->count - 1 - i;
    bool tail = zigzag && i > other;
    int64_t rank = tail ? other : i, place = rank_first(s, rank) + ahead;
    if (!zigzag)
        return place;
    if (s->heads)
        return place + (tail ? piece_total(s, other) : 0);
    return place + mirror + (tail ? pe__piece_size(c, other) : 0);
}

/* Stripes: each rank's slots of the unit in turn, `stripe` at a time. */
static void put_stripes(const struct pe__shard *s, uint64_t unit, int64_t at, int64_t n,
                        struct pe__sink *out)
{
    struct pe__cut c = cut_of(s, unit);
    int64_t stripe = s->q->stripe;
    while (n > 0) {
        int64_t rank = at / stripe % s->count, ahead[AT_ONCE];
        int64_t ranks = pe__min(AT_ONCE, s->count - rank);
        ranks = pe__min(ranks, (at % stripe + n - 1) / stripe + 1);
        pieces_ahead(s, unit, rank, ranks, ahead);
        for (int64_t k = 0; k < ranks; k++) {
            int64_t inside = at % stripe, now = pe__min(n, stripe - inside);
            int64_t round = at / stripe / s->count;
            pe__put_run(out, piece_place(s, &c, rank + k, ahead[k], 0) + round * stripe + inside, 1,
                        now);
            at += now;
            n -= now;
        }
    }
}

/* The piece that slot `at` of a unit is in. */
static int64_t piece_at(const struct pe__cut *c, int64_t at)
{
    int64_t each = c->base + c->more, large = each * c->many;
    if (at < large)
        return at / each;
    if (at < large + c->base + c->rest)
        return c->many;
    return c->many + 1 + (at - large - c->base - c->rest) / c->base;
}

static void put_pieces(const struct pe__shard *s, uint64_t unit, int64_t at, int64_t n,
                       struct pe__sink *out)
{
    struct pe__cut c = cut_of(s, unit);
    bool zigzag = s->q->split == PE_SPLIT_ZIGZAG;
    int64_t ahead[AT_ONCE], mirror[AT_ONCE] = {0};
    while (n > 0) {
        int64_t i = piece_at(&c, at);
        int64_t pieces = pe__min(AT_ONCE, piece_at(&c, at + n - 1) - i + 1);
        pieces_ahead(s, unit, i, pieces, ahead);
        if (zigzag && !s->heads)
            pieces_ahead(s, unit, s->count - i - pieces, pieces, mirror);
        for (int64_t k = 0; k < pieces; k++) {
            int64_t inside = at - pe__piece_first(&c, i + k);
            int64_t now = pe__min(n, pe__piece_size(&c, i + k) - inside);
            must(now >= 0);
            pe__put_run(out, piece_place(s, &c, i + k, ahead[k], mirror[pieces - 1 - k]) + inside,
                        1, now);
            at += now;
            n -= now;
        }
    }
}

static uint64_t unit_at(const struct pe__shard *s, int64_t flat)
{
    return s->by_document ? pe__room_at(s->form, flat) : (uint64_t)(flat / s->form->width);
}

void pe__inverse(const struct pe__shard *s, int64_t first, int64_t count, struct pe__sink *out)
{
    if (s->units == 0) {
        pe__put_run(out, -1, 0, count);
        return;
    }
    uint64_t unit = count ? unit_at(s, first) : 0;
    while (count > 0) {
        int64_t begin = pe__unit_first(s, unit), end = pe__unit_first(s, unit + 1);
        int64_t n = pe__min(count, end - first);
        if (n > 0 && s->stripes)
            put_stripes(s, unit, first - begin, n, out);
        else if (n > 0)
            put_pieces(s, unit, first - begin, n, out);
        first += n;
        count -= n;
        unit++;
    }
}
