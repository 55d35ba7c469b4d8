/* SPDX-License-Identifier: MIT
 *
 * tables.c: builds a rotor: which digits and which tops its positions need, what of that another
 * rotor of the same clocks already has, and the bounds of error of each pair. Pairs that doubles
 * cannot carry get an infinite bound, which sends each of their values to the exact path.
 */
#include "rotation/tables.h"

#include <math.h>
#include <stdlib.h>

/* Tables of digits may take this much, but for the first two: 2^13 positions. */
#define DIGIT_BUDGET ((size_t)16 << 20)

/* ---------------------------------------------------------------- sizes */

/* As many digits as the span has: then it lies under two tops. */
static unsigned levels_of(const struct pe__rotor_spec *spec, size_t padded)
{
    size_t level_bytes = (PE__DIGITS - 1) * 4 * sizeof(double) * padded;
    unsigned levels = 0;
    while (levels < PE__MAX_LEVELS &&
           (spec->span - (spec->span > 0)) >> (5 + PE__DIGIT_BITS * levels)) {
        if (levels >= 2 && (levels + 1) * level_bytes > DIGIT_BUDGET)
            break;
        levels++;
    }
    return levels;
}

static uint64_t block_of(int64_t position)
{
    int64_t n = position + PE__REACH;
    n = n >= 0 ? n / PE__BLOCK : -((PE__BLOCK - 1 - n) / PE__BLOCK);
    return n < 0 ? (uint64_t)-n : (uint64_t)n;
}

/* Keeps the list of tops in order and free of doubles and of 0, which is no turn at all. False
 * where one would be more than `most`. */
static bool add_top(struct pe__rotor *r, uint64_t top, unsigned most)
{
    unsigned at = r->tops;
    while (at > 0 && r->top_is[at - 1] > top)
        at--;
    if (top == 0 || (at > 0 && r->top_is[at - 1] == top))
        return true;
    if (r->tops == most)
        return false;
    memmove(r->top_is + at + 1, r->top_is + at, (r->tops - at) * sizeof r->top_is[0]);
    r->top_is[at] = top;
    r->tops++;
    return true;
}

/* The tops above the levels that the span touches, or the first two of them. */
static void tops_of_span(struct pe__rotor *r, const struct pe__rotor_spec *spec)
{
    int64_t limit = PE_POSITION_END;
    int64_t first = spec->first < -limit ? -limit : spec->first > limit ? limit : spec->first;
    uint64_t room = (uint64_t)(limit - first);
    int64_t last = spec->span > room ? limit : first + (int64_t)(spec->span - (spec->span > 0));
    uint64_t a = block_of(first) >> (PE__DIGIT_BITS * r->levels);
    uint64_t b = block_of(last) >> (PE__DIGIT_BITS * r->levels);
    uint64_t least = first <= 0 && last >= 0 ? 0 : a < b ? a : b, most = a < b ? b : a;
    for (uint64_t top = least; top <= most && top - least < 3 && add_top(r, top, 2); top++)
        ;
}

/* The tops of a list, where they cost less than `missing` further digits would. In seeds for each
 * pair: a top costs 1, a digit 2 of which the lowest two save their seeds. */
static bool tops_of_list(struct pe__rotor *r, const struct pe__rotor_spec *spec, unsigned missing)
{
    unsigned own = r->levels < 2 ? 2 - r->levels : 0;
    unsigned most = 2 * missing - (own < missing ? own : missing);
    most = most < PE__MOST_TOPS ? most : PE__MOST_TOPS;
    for (size_t i = 0; i < spec->count; i++) {
        int64_t p = spec->list[i];
        if (p < -PE_POSITION_END || p > PE_POSITION_END ||
            !add_top(r, block_of(p) >> (PE__DIGIT_BITS * r->levels), most)) {
            r->tops = 0;
            return false;
        }
    }
    return true;
}

static void choose(struct pe__rotor *r, const struct pe__rotor_spec *spec,
                   const struct pe__rotor *like)
{
    unsigned needed = levels_of(spec, r->of.padded);
    r->levels = like ? like->levels : 0;
    if (r->levels > needed)
        r->levels = needed;
    if (spec->count && r->levels < needed && tops_of_list(r, spec, needed - r->levels))
        return;
    r->levels = needed;
    tops_of_span(r, spec);
}

/* ---------------------------------------------------------------- pairs */

static bool quick(const struct pe__rotor *r, size_t pair)
{
    return pe__clocks_carry(r->of.clocks, pe__chosen(&r->of, pair)) &&
           (!pe__wide_is_zero(&pe__rotor_freq(r, pair)->w) || isfinite(r->still));
}

/* The bounds E of kernel.c. */
static void bound(struct pe__rotor *r, double amplitude, size_t pair)
{
    bool sixteen = r->dtype != PE_DTYPE_F64 && r->dtype != PE_DTYPE_F32;
    double e = (r->dtype == PE_DTYPE_F64 ? 0x1p-75 : 0x1p-50) * amplitude;
    const struct pe__wide *w = &pe__rotor_freq(r, pair)->w;
    if (!quick(r, pair)) {
        r->cap[pair] = r->slope[pair] = INFINITY;
    } else if (pe__wide_is_zero(w)) {
        r->cap[pair] = r->slope[pair] = 0; /* the row holds the amplitude as rounded */
    } else {
        /* odd24 asks for 2^-147 more; the slope is used from 16 positions on. */
        double more = sixteen ? 0x1p-147 : 0;
        r->cap[pair] = e + more;
        r->slope[pair] = e * pe__wide_above(w) + more / PE__REACH;
    }
}

static void phase_of(struct pe__rotor *r, size_t pair)
{
    const struct pe__wide *w = &pe__rotor_freq(r, pair)->w;
    double dd[2] = {0, 0};
    bool small = w->exp >= PE__LEAST_EXP && w->exp <= -PE__LEAST_EXP;
    if (small)
        pe__wide_to_dd(w, dd);
    double high = pe__first_bits(dd[0], 26);
    bool sixteen = r->dtype != PE_DTYPE_F64 && r->dtype != PE_DTYPE_F32;
    r->phase[pair] = high;
    r->phase[r->of.padded + pair] = (dd[0] - high) + dd[1];
    r->phase[2 * r->of.padded + pair] = !small                            ? INFINITY
                                        : sixteen && !pe__wide_is_zero(w) ? 0x1p-147
                                                                          : 0;
}

/* ---------------------------------------------------------------- tops */

void pe__tables_make_top(const struct pe__rotor *r, uint64_t top, size_t pair, size_t n,
                         struct pe__turns out)
{
    pe__seeds(&r->of, (int64_t)(top << (5 + PE__DIGIT_BITS * r->levels)), pair, n, out);
}

struct pe__turns pe__tables_top(const struct pe__rotor *r, uint64_t top, size_t pair)
{
    for (unsigned i = 0; i < r->tops; i++)
        if (r->top_is[i] == top)
            return (struct pe__turns){r->top + i * 4 * r->of.padded + pair, r->of.padded};
    return (struct pe__turns){NULL, 0};
}

/* ---------------------------------------------------------------- life */

void pe__tables_destroy(struct pe__rotor **address)
{
    struct pe__rotor *r = *address;
    *address = NULL;
    if (!r)
        return;
    for (unsigned level = 0; level < r->levels; level++)
        pe__part_drop(&r->digit[level]);
    pe__part_drop(&r->row);
    free(r);
}

/* Rows hold the amplitude as an element where a frequency is zero, else nothing of the dtype but
 * the number of parts. */
static bool same_rows(const struct pe__rotor *r, const struct pe__rotor *like)
{
    return r->dtype == like->dtype ||
           (r->of.clocks->unit && pe__row_parts(r->dtype) == pe__row_parts(like->dtype));
}

static bool build_parts(struct pe__rotor *r, const struct pe__rotor *like)
{
    r->row = like && same_rows(r, like) ? pe__part_share(like->row)
                                        : pe__rows_create(&r->of, r->dtype, r->still);
    for (unsigned level = 0; level < r->levels && r->row; level++) {
        r->digit[level] =
            like && level < like->levels
                ? pe__part_share(like->digit[level])
                : pe__digits_create(&r->of, level, level ? r->digit[level - 1] : NULL);
        if (!r->digit[level])
            return false;
    }
    return r->row;
}

/* The first top is twice half of what the highest digit counts to; others grow from exact numbers.
 */
static void build_tops(struct pe__rotor *r)
{
    size_t padded = r->of.padded;
    for (unsigned i = 0; i < r->tops; i++) {
        struct pe__turns out = {r->top + i * 4 * padded, padded};
        if (r->top_is[i] == 1 && r->levels > 0) {
            struct pe__turns half =
                pe__digit_entry(r->digit[r->levels - 1], padded, PE__DIGITS / 2, 0);
            r->of.kernel->compose(half, half, out, padded);
        } else {
            pe__tables_make_top(r, r->top_is[i], 0, r->of.pairs, out);
        }
    }
}

/* The arrays behind the struct, with zeros behind the last pair. */
static void build_arrays(struct pe__rotor *r)
{
    size_t padded = r->of.padded;
    r->cap = r->at;
    r->slope = r->cap + padded;
    r->phase = r->slope + padded;
    r->top = r->phase + 3 * padded;
    for (size_t row = 0; row < 5 + 4 * (size_t)r->tops; row++)
        for (size_t i = r->of.pairs; i < padded; i++)
            r->at[row * padded + i] = 0;
    double amplitude = pe__wide_above(&r->of.clocks->amplitude);
    for (size_t i = 0; i < r->of.pairs; i++) {
        bound(r, amplitude, i);
        phase_of(r, i);
    }
    build_tops(r);
}

static bool alike(const struct pe__rotor_spec *spec, const struct pe__rotor *like)
{
    return like && like->of.clocks == spec->clocks && like->of.first == spec->first_pair &&
           like->of.step == spec->step && like->of.pairs == spec->pairs;
}

static bool has_pairs(const struct pe__rotor_spec *spec)
{
    size_t all = spec->clocks->pairs;
    return spec->pairs == 0 || (spec->step > 0 && spec->first_pair < all &&
                                spec->pairs - 1 <= (all - 1 - spec->first_pair) / spec->step);
}

enum pe_error pe__tables_create(const struct pe__rotor_spec *spec, const struct pe__kernel *kernel,
                                struct pe__rotor **out)
{
    const struct pe__rotor *like = alike(spec, spec->like) ? spec->like : NULL;
    *out = NULL;
    if (!pe__dtype_real(spec->dtype) || !has_pairs(spec))
        return PE_INVALID;
    struct pe__rotor shape = {.of = {.clocks = spec->clocks,
                                     .kernel = kernel,
                                     .first = spec->first_pair,
                                     .step = spec->step,
                                     .pairs = spec->pairs,
                                     .padded = (spec->pairs + 7) / 8 * 8},
                              .dtype = spec->dtype,
                              .inverse = spec->inverse};
    choose(&shape, spec, like);
    shape.bytes = sizeof shape + (5 + 4 * shape.tops) * shape.of.padded * sizeof shape.at[0];
    struct pe__rotor *r = malloc(shape.bytes);
    if (!r)
        return PE_NO_MEMORY;
    *r = shape;
    char element[8];
    pe__wide_store(&r->of.clocks->amplitude, false, r->dtype, element);
    r->still = pe__load_f64(element, r->dtype);
    if (build_parts(r, like))
        build_arrays(r);
    else
        pe__tables_destroy(&r);
    *out = r;
    return r ? PE_OK : PE_NO_MEMORY;
}
