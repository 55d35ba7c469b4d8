/* SPDX-License-Identifier: MIT
 *
 * rotor.c: rows from tables. For each block of 32 rows and group of 64 pairs: the anchor, the
 * kernel's rows, and the exact path for the few values whose rounding the kernel could not vouch
 * for. All that varies while rows are made is on the stack.
 */
#include "rotation/rotor.h"

#include "rotation/tables.h"

#include <string.h>

enum pe_error pe__rotor_create_on(const struct pe__rotor_spec *spec,
                                  const struct pe__kernel *kernel, struct pe__rotor **out)
{
    return pe__tables_create(spec, kernel, out);
}

enum pe_error pe__rotor_create(const struct pe__rotor_spec *spec, struct pe__rotor **out)
{
    return pe__tables_create(spec, pe__isa_kernel(), out);
}

void pe__rotor_destroy(struct pe__rotor **r)
{
    pe__tables_destroy(r);
}

size_t pe__rotor_bytes(const struct pe__rotor *r)
{
    size_t sum = r->bytes + r->row->bytes;
    for (unsigned level = 0; level < r->levels; level++)
        sum += r->digit[level]->bytes;
    return sum;
}

/* ---------------------------------------------------------------- values by the exact path */

static void store_value(const struct pe__rotor *r, struct pe__wide *v, bool below, void *out)
{
    const struct pe__clocks *clocks = r->of.clocks;
    if (!clocks->unit && !pe__wide_is_zero(v)) {
        bool negative = v->negative;
        pe__wide_mul(v, v, &clocks->amplitude);
        v->negative = negative;
    }
    pe__wide_store(v, below, r->dtype, out);
}

/* Where p w != 0, |cos| < 1 and |sin| < |p w|, however small the difference: what looks like a tie,
 * of A or of A p w, lies below it. */
static void exact_cos(const struct pe__rotor *r, int64_t p, size_t pair, void *out)
{
    struct pe__wide v;
    const struct pe__freq *f = pe__rotor_freq(r, pair);
    pe__exact_cos_sin(f, p, PE__LIMBS, &v, NULL);
    store_value(r, &v, p != 0 && !pe__wide_is_zero(&f->w), out);
}

static void exact_sin(const struct pe__rotor *r, int64_t p, size_t pair, void *out)
{
    const struct pe__freq *f = pe__rotor_freq(r, pair);
    struct pe__wide v = {.exp = 0};
    if (r->inverse)
        p = -p;
    int64_t exp = f->w.exp + (p ? 64 - __builtin_clzll((uint64_t)(p < 0 ? -p : p)) : 0);
    if (exp <= 1 &&
        pe__dtype_vanishes(r->dtype,
                           exp + r->of.clocks->amplitude.exp)) /* |p w| < 2: sin has its sign */
        v.negative = p && !pe__wide_is_zero(&f->w) && (p < 0) != f->w.negative;
    else
        pe__exact_cos_sin(f, p, PE__LIMBS, NULL, &v);
    store_value(r, &v, true, out);
}

static void exact_phase(const struct pe__rotor *r, int64_t p, size_t pair, void *out)
{
    struct pe__wide v;
    uint64_t q = p < 0 ? -(uint64_t)p : (uint64_t)p;
    pe__wide_mul_u64(&v, &pe__rotor_freq(r, pair)->w, q);
    if (!pe__wide_is_zero(&v))
        v.negative = v.negative != (p < 0);
    pe__wide_store(&v, false, r->dtype, out);
}

/* ---------------------------------------------------------------- anchors */

/* The work space of `n` pairs from `pair` on. `upper` is the product of the top and all digits but
 * the lowest, at upper_at, for the number of blocks it was made for. */
struct group {
    const struct pe__rotor *r;
    size_t pair, n;
    double top[4][PE__GROUP], upper[4][PE__GROUP], anchor[4][PE__GROUP];
    double cap[PE__GROUP], bound[PE__GROUP];
    uint64_t top_of, upper_of;
    struct pe__turns upper_at;
    uint16_t pending[PE__PENDING_MAX];
};

#define NOTHING UINT64_MAX

static struct pe__turns turns(double array[4][PE__GROUP])
{
    return (struct pe__turns){array[0], PE__GROUP};
}

static void set_one(struct pe__turns t)
{
    for (unsigned part = 0; part < 4; part++)
        for (size_t i = 0; i < PE__GROUP; i++)
            t.at[part * t.part + i] = part == 0;
}

/* out = at * entry. */
static struct pe__turns turn(struct group *g, struct pe__turns at, struct pe__turns entry,
                             struct pe__turns out)
{
    g->r->of.kernel->compose(at, entry, out, (g->n + 7) / 8 * 8);
    return out;
}

static struct pe__turns digit_entry(const struct group *g, unsigned level, unsigned digit)
{
    return pe__digit_entry(g->r->digit[level], g->r->of.padded, digit, g->pair);
}

static struct pe__turns top_of(struct group *g, uint64_t top)
{
    struct pe__turns held = pe__tables_top(g->r, top, g->pair);
    if (held.at)
        return held;
    if (g->top_of != top) {
        set_one(turns(g->top));
        if (top > 0)
            pe__tables_make_top(g->r, top, g->pair, g->n, turns(g->top));
        g->top_of = top;
    }
    return turns(g->top);
}

/* What the digits from 1 on of a number of blocks, and its top, make. */
static struct pe__turns upper_of(struct group *g, uint64_t blocks)
{
    uint64_t key = blocks >> PE__DIGIT_BITS;
    if (g->upper_of == key)
        return g->upper_at;
    unsigned levels = g->r->levels;
    struct pe__turns at = top_of(g, blocks >> (PE__DIGIT_BITS * levels));
    for (unsigned level = levels; level-- > 1;) {
        unsigned digit = blocks >> (PE__DIGIT_BITS * level) & (PE__DIGITS - 1);
        if (digit)
            at = turn(g, at, digit_entry(g, level, digit), turns(g->upper));
    }
    g->upper_of = levels ? key : NOTHING;
    g->upper_at = at;
    return at;
}

static struct pe__turns anchor_of(struct group *g, uint64_t blocks)
{
    struct pe__turns at = upper_of(g, blocks);
    unsigned digit = g->r->levels ? blocks & (PE__DIGITS - 1) : 0;
    return digit ? turn(g, at, digit_entry(g, 0, digit), turns(g->anchor)) : at;
}

/* ---------------------------------------------------------------- rows */

/* A window of rows: position first + i at cos + i * stride. A pitch of 2 is of rows in which
 * cosines and sines are neighbours. */
struct window {
    int64_t first;
    size_t rows;
    unsigned char *cos, *sin;
    size_t stride, pitch;
};

static int64_t floor_block(int64_t position)
{
    int64_t n = position + PE__REACH;
    return n >= 0 ? n / PE__BLOCK : -((PE__BLOCK - 1 - n) / PE__BLOCK);
}

/* The values that the kernel left over, by the exact path. */
static void finish(struct group *g, const struct window *w, int64_t centre, size_t count)
{
    const struct pe__rotor *r = g->r;
    size_t size = pe_dtype_size(r->dtype);
    for (size_t i = 0; i < count; i++) {
        uint16_t x = g->pending[i];
        int64_t p = centre + (r->inverse ? -PE__PENDING_OFFSET(x) : PE__PENDING_OFFSET(x));
        size_t pair = g->pair + PE__PENDING_PAIR(x);
        size_t at = (size_t)(p - w->first) * w->stride + pair * w->pitch * size;
        if (PE__PENDING_PLANE(x))
            exact_sin(r, p, pair, w->sin + at);
        else
            exact_cos(r, p, pair, w->cos + at);
    }
}

/* The rows of block n that the window holds. */
static void make_block(struct group *g, const struct window *w, int64_t n)
{
    const struct pe__rotor *r = g->r;
    int64_t centre = n * PE__BLOCK;
    int64_t from = centre - PE__REACH > w->first ? centre - PE__REACH : w->first;
    int64_t last = w->first + (int64_t)(w->rows - 1);
    int64_t to = centre + PE__REACH - 1 < last ? centre + PE__REACH - 1 : last;
    uint64_t blocks = n < 0 ? (uint64_t)-n : (uint64_t)n;

    double reach = (double)(blocks * PE__BLOCK + PE__REACH);
    for (size_t i = 0; i < g->n; i++) {
        double b = r->slope[g->pair + i] * reach;
        g->bound[i] = b < g->cap[i] ? b : g->cap[i];
    }
    /* An inverse rotor wants z(-p): the conjugate anchor, and offset j stands in the row of -j. */
    size_t place = (size_t)((r->inverse ? to : from) - w->first) * w->stride +
                   g->pair * w->pitch * pe_dtype_size(r->dtype);
    bool woven = w->pitch == 2, cos_first = woven && w->cos < w->sin;
    unsigned char *cos = woven && !cos_first ? w->sin : w->cos, *sin = woven ? cos : w->sin;
    struct pe__block b = {.dtype = r->dtype,
                          .conjugate = (n < 0) != r->inverse,
                          .lo = (int)(r->inverse ? centre - to : from - centre),
                          .hi = (int)(r->inverse ? centre - from : to - centre) + 1,
                          .pairs = g->n,
                          .row = r->row->at + g->pair,
                          .row_step = pe__row_parts(r->dtype) * r->of.padded,
                          .row_part = r->of.padded,
                          .anchor = anchor_of(g, blocks),
                          .error = {g->cap, g->bound},
                          .cos = cos ? cos + place : NULL,
                          .sin = sin ? sin + place : NULL,
                          .woven = woven,
                          .cos_first = cos_first,
                          .stride = r->inverse ? -(ptrdiff_t)w->stride : (ptrdiff_t)w->stride};
    finish(g, w, centre, r->of.kernel->block(&b, g->pending));
}

static void make_group(const struct pe__rotor *r, const struct window *w, size_t pair)
{
    struct group g;
    g.r = r;
    g.pair = pair;
    g.n = r->of.pairs - pair < PE__GROUP ? r->of.pairs - pair : PE__GROUP;
    g.top_of = g.upper_of = NOTHING;
    memset(g.cap, 0, sizeof g.cap);
    memset(g.bound, 0, sizeof g.bound);
    memcpy(g.cap, r->cap + pair, g.n * sizeof *g.cap);
    int64_t last = floor_block(w->first + (int64_t)(w->rows - 1));
    for (int64_t n = floor_block(w->first); n <= last; n++)
        make_block(&g, w, n);
}

/* How many rows of one group are made before the next group's turn. Wide rows go block by block, so
 * that the pages of few rows are written whole while they are mapped; but not where each group
 * needs a top by the exact path, whose cost many rows must share. A power of two, and at least one
 * block. */
static size_t band_of(const struct pe__rotor *r, int64_t first)
{
    int64_t n = floor_block(first);
    uint64_t top = (n < 0 ? (uint64_t)-n : (uint64_t)n) >> (PE__DIGIT_BITS * r->levels);
    bool held = top == 0 || pe__tables_top(r, top, 0).at;
    return held && r->of.pairs > 4 * PE__GROUP ? PE__BLOCK : 128 * PE__BLOCK;
}

static void make_rows(const struct pe__rotor *r, const struct window *all)
{
    size_t band = band_of(r, all->first);
    for (size_t done = 0, some; done < all->rows; done += some) {
        struct window w = *all;
        w.first += (int64_t)done;
        some = band -
               (size_t)((uint64_t)(w.first + PE__REACH) & (band - 1)); /* to the end of a block */
        if (some > all->rows - done)
            some = all->rows - done;
        w.rows = some;
        w.cos = w.cos ? w.cos + done * w.stride : NULL;
        w.sin = w.sin ? w.sin + done * w.stride : NULL;
        for (size_t pair = 0; pair < r->of.pairs; pair += PE__GROUP)
            make_group(r, &w, pair);
    }
}

void pe__rotor_rows(const struct pe__rotor *r, int64_t first, size_t rows, void *cos, void *sin,
                    size_t stride_bytes)
{
    if (cos || sin)
        make_rows(r, &(struct window){first, rows, cos, sin, stride_bytes, 1});
}

void pe__rotor_woven(const struct pe__rotor *r, int64_t first, size_t rows,
                     const struct pe__woven *to)
{
    unsigned char *at = to->at, *next = at + pe_dtype_size(r->dtype);
    make_rows(r, &(struct window){first, rows, to->cos_first ? at : next, to->cos_first ? next : at,
                                  to->stride_bytes, 2});
}

void pe__rotor_phases(const struct pe__rotor *r, int64_t first, size_t rows, void *out,
                      size_t stride_bytes)
{
    size_t size = pe_dtype_size(r->dtype);
    uint16_t pending[PE__GROUP];
    for (size_t i = 0; i < rows; i++) {
        for (size_t pair = 0; pair < r->of.pairs; pair += PE__GROUP) {
            unsigned char *at = (unsigned char *)out + i * stride_bytes + pair * size;
            struct pe__phase_row row = {.dtype = r->dtype,
                                        .position = first + (int64_t)i,
                                        .pairs = r->of.pairs - pair < PE__GROUP ? r->of.pairs - pair
                                                                                : PE__GROUP,
                                        .high = r->phase + pair,
                                        .low = r->phase + r->of.padded + pair,
                                        .unsure = r->phase + 2 * r->of.padded + pair,
                                        .out = at};
            size_t count = r->of.kernel->phases(&row, pending);
            for (size_t k = 0; k < count; k++)
                exact_phase(r, row.position, pair + pending[k], at + pending[k] * size);
        }
    }
}
