/* SPDX-License-Identifier: MIT
 *
 * tables.c: builds a rotor. Each table grows from one exact seed for each pair by products in two
 * doubles; an entry is a product of at most 16 seeds, so its error is below 2^-96 relative to the
 * sum of its terms. Pairs that doubles cannot carry get an infinite bound of error, which sends
 * each of their values to the exact path. Integer arithmetic and doubles only: MPFR numbers are
 * read, never made.
 */
#include "rotation/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tables of digits may take this much, but for the first two: 2^13 positions. */
#define DIGIT_BUDGET ((size_t)16 << 20)

/* Doubles carry frequencies and their products with the amplitude where 2^-107 of these, the last
 * of a product in two doubles, is above 2^-1022, and 2^27 of the amplitude, for splitting, below
 * 2^1024. */
#define LEAST_EXP (-900)
#define LEAST_AMPLITUDE_EXP (-800)
#define GREATEST_AMPLITUDE_EXP 950

static size_t padded_size(size_t pairs)
{
    return (pairs + 7) / 8 * 8;
}

/* ---------------------------------------------------------------- sizes */

/* As many digits as the span has: then it lies under two tops. */
static unsigned choose_levels(const struct pe__rotor_spec *spec, size_t padded)
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

/* The least top that the span touches. */
static uint64_t choose_home(const struct pe__rotor_spec *spec, unsigned levels)
{
    int64_t limit = PE_POSITION_END;
    int64_t first = spec->first < -limit ? -limit : spec->first > limit ? limit : spec->first;
    uint64_t room = (uint64_t)(limit - first);
    int64_t last = spec->span > room ? limit : first + (int64_t)(spec->span - (spec->span > 0));
    if (first <= 0 && last >= 0)
        return 0;
    uint64_t a = block_of(first), b = block_of(last);
    return (a < b ? a : b) >> (PE__DIGIT_BITS * levels);
}

/* Sets the arrays of a rotor inside one piece of memory of r->bytes; false where that overflows.
 * Called with r->bytes == 0 it only finds the size. */
static bool place(struct pe__rotor *r)
{
    size_t rows = PE__ROW_ENTRIES * pe__row_parts(r->dtype);
    size_t digits = (size_t)r->levels * (PE__DIGITS - 1) * 4;
    size_t arrays = rows + digits + 2 * 4 + 2 + 3;
    size_t doubles, bytes, freqs;
    if (__builtin_mul_overflow(arrays, r->padded, &doubles) ||
        __builtin_mul_overflow(doubles, sizeof(double), &bytes) ||
        __builtin_mul_overflow(r->pairs, sizeof *r->freq, &freqs) ||
        __builtin_add_overflow(bytes, freqs, &bytes) || bytes > SIZE_MAX / 2)
        return false;
    size_t head = (sizeof *r + 63) / 64 * 64;
    r->bytes = (head + bytes + 63) / 64 * 64;
    return true;
}

static void divide(struct pe__rotor *r)
{
    double *at = (double *)(void *)((char *)r + (sizeof *r + 63) / 64 * 64);
    r->row = at;
    at += PE__ROW_ENTRIES * pe__row_parts(r->dtype) * r->padded;
    r->digit = at;
    at += (size_t)r->levels * (PE__DIGITS - 1) * 4 * r->padded;
    r->top = at;
    at += 2 * 4 * r->padded;
    r->cap = at;
    r->slope = at + r->padded;
    r->phase = at + 2 * r->padded;
    r->freq = (struct pe__freq *)(void *)(at + 5 * r->padded);
}

/* ---------------------------------------------------------------- pairs */

/* Whether doubles carry the pair. */
static bool quick(const struct pe__rotor *r, size_t pair)
{
    const struct pe__wide *w = &r->freq[pair].w;
    int64_t a = r->amplitude.exp;
    if (a < LEAST_AMPLITUDE_EXP || a > GREATEST_AMPLITUDE_EXP)
        return false;
    if (pe__wide_is_zero(w))
        return isfinite(r->still);
    return w->exp >= LEAST_EXP && w->exp + a >= LEAST_EXP;
}

/* The bounds E of kernel.c. */
static void bound(struct pe__rotor *r, size_t pair)
{
    bool sixteen = r->dtype != PE_DTYPE_F64 && r->dtype != PE_DTYPE_F32;
    double a = pe__wide_above(&r->amplitude);
    double e = (r->dtype == PE_DTYPE_F64 ? 0x1p-75 : 0x1p-50) * a;
    const struct pe__wide *w = &r->freq[pair].w;
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

static double first_bits(double v, unsigned bits)
{
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    b = (b + (UINT64_C(1) << (52 - bits))) >> (53 - bits) << (53 - bits);
    memcpy(&v, &b, sizeof v);
    return v;
}

static void phase_of(struct pe__rotor *r, size_t pair)
{
    const struct pe__wide *w = &r->freq[pair].w;
    double dd[2] = {0, 0};
    bool small = w->exp >= LEAST_EXP && w->exp <= -LEAST_EXP;
    if (small)
        pe__wide_to_dd(w, dd);
    double high = first_bits(dd[0], 26);
    bool sixteen = r->dtype != PE_DTYPE_F64 && r->dtype != PE_DTYPE_F32;
    r->phase[pair] = high;
    r->phase[r->padded + pair] = (dd[0] - high) + dd[1];
    r->phase[2 * r->padded + pair] = !small                            ? INFINITY
                                     : sixteen && !pe__wide_is_zero(w) ? 0x1p-147
                                                                       : 0;
}

/* z(position) as two doubles for each part; 1 for pairs that doubles do not carry. */
static void seed(const struct pe__rotor *r, int64_t position, size_t pair, struct pe__turns out)
{
    double c[2] = {1, 0}, s[2] = {0, 0};
    if (quick(r, pair)) {
        struct pe__wide wc, ws;
        pe__exact_cos_sin(&r->freq[pair], position, 2, &wc, &ws);
        pe__wide_to_dd(&wc, c);
        pe__wide_to_dd(&ws, s);
    }
    out.at[0] = c[0];
    out.at[out.part] = c[1];
    out.at[2 * out.part] = s[0];
    out.at[3 * out.part] = s[1];
}

void pe__tables_top(const struct pe__rotor *r, uint64_t top, size_t pair, size_t n,
                    struct pe__turns out)
{
    int64_t position = (int64_t)(top << (5 + PE__DIGIT_BITS * r->levels));
    for (size_t i = 0; i < n; i++)
        seed(r, position, pair + i, (struct pe__turns){out.at + i, out.part});
}

/* ---------------------------------------------------------------- tables */

static void build_digits(struct pe__rotor *r)
{
    for (unsigned level = 0; level < r->levels; level++) {
        struct pe__turns one = pe__digit_entry(r, level, 1, 0);
        int64_t step = INT64_C(1) << (5 + PE__DIGIT_BITS * level);
        for (size_t i = 0; i < r->pairs; i++)
            seed(r, step, i, (struct pe__turns){one.at + i, one.part});
        for (unsigned v = 2; v < PE__DIGITS; v++)
            r->kernel->compose(pe__digit_entry(r, level, v / 2, 0),
                               pe__digit_entry(r, level, v - v / 2, 0),
                               pe__digit_entry(r, level, v, 0), r->padded);
    }
}

static void build_tops(struct pe__rotor *r)
{
    uint64_t end =
        ((uint64_t)PE_POSITION_END + PE__REACH) / PE__BLOCK >> (PE__DIGIT_BITS * r->levels);
    for (unsigned i = 0; i < 2; i++)
        if (r->home + i > 0 && r->home + i <= end)
            pe__tables_top(r, r->home + i, 0, r->pairs,
                           (struct pe__turns){r->top + i * 4 * r->padded, r->padded});
}

/* The amplitude as a factor: two doubles, or for frequency zero the very element. */
static void amplitude_of(const struct pe__rotor *r, size_t pair, double a[2])
{
    a[0] = 1;
    a[1] = 0;
    if (r->unit || !quick(r, pair))
        return;
    if (pe__wide_is_zero(&r->freq[pair].w))
        a[0] = r->still;
    else
        pe__wide_to_dd(&r->amplitude, a);
}

/* Row entries 0 .. 16 of one group of pairs, made in two doubles and split to what the kernel
 * wants. */
static void build_rows(struct pe__rotor *r, size_t pair)
{
    double dd[PE__ROW_ENTRIES][4][PE__GROUP] = {{{0}}};
    double amplitude[4][PE__GROUP] = {{0}};
    struct pe__turns factor = {amplitude[0], PE__GROUP};
    size_t n = r->padded - pair < PE__GROUP ? r->padded - pair : PE__GROUP;
    size_t real = r->pairs - pair < n ? r->pairs - pair : n;
    for (size_t i = 0; i < real; i++) {
        double a[2];
        amplitude_of(r, pair + i, a);
        amplitude[0][i] = a[0];
        amplitude[1][i] = a[1];
        dd[0][0][i] = 1;
        seed(r, 1, pair + i, (struct pe__turns){&dd[1][0][i], PE__GROUP});
    }
    for (unsigned j = 2; j < PE__ROW_ENTRIES; j++)
        r->kernel->compose((struct pe__turns){dd[j / 2][0], PE__GROUP},
                           (struct pe__turns){dd[j - j / 2][0], PE__GROUP},
                           (struct pe__turns){dd[j][0], PE__GROUP}, n);
    size_t parts = pe__row_parts(r->dtype);
    for (unsigned j = 0; j < PE__ROW_ENTRIES; j++) {
        struct pe__turns entry = {dd[j][0], PE__GROUP};
        if (!r->unit)
            r->kernel->compose(entry, factor, entry, n);
        double *to = r->row + j * parts * r->padded + pair;
        for (size_t i = 0; i < n; i++) {
            for (unsigned part = 0; part < 2; part++) {
                double h = dd[j][2 * part][i], l = dd[j][2 * part + 1][i];
                if (parts == 4) {
                    double high = first_bits(h, 27);
                    to[2 * part * r->padded + i] = high;
                    to[(2 * part + 1) * r->padded + i] = (h - high) + l;
                } else {
                    to[part * r->padded + i] = h;
                }
            }
        }
    }
}

static bool is_one(const struct pe__wide *a)
{
    return a->exp == 1 && a->m[3] == UINT64_C(1) << 63 && a->m[2] == 0 && a->m[1] == 0 &&
           a->m[0] == 0;
}

enum pe_error pe__tables_create(const struct pe__rotor_spec *spec, const struct pe__kernel *kernel,
                                struct pe__rotor **out)
{
    *out = NULL;
    if (!pe__dtype_real(spec->dtype) || !mpfr_regular_p(spec->amplitude) ||
        mpfr_sgn(spec->amplitude) < 0)
        return PE_INVALID;
    struct pe__rotor shape = {.kernel = kernel,
                              .dtype = spec->dtype,
                              .inverse = spec->inverse,
                              .pairs = spec->pairs,
                              .padded = padded_size(spec->pairs)};
    if (shape.padded < shape.pairs)
        return PE_NO_MEMORY;
    shape.levels = choose_levels(spec, shape.padded);
    shape.home = choose_home(spec, shape.levels);
    if (!place(&shape))
        return PE_NO_MEMORY;
    /* Not aligned_alloc: the blocks that glibc 2.36 gives for it do not fit its next request of the
     * same size, so that a daemon that makes many plans would grow. */
    shape.memory = malloc(shape.bytes + 63);
    if (!shape.memory)
        return PE_NO_MEMORY;
    struct pe__rotor *r = (void *)(((uintptr_t)shape.memory + 63) / 64 * 64);
    memset(r, 0, shape.bytes);
    *r = shape;
    divide(r);
    pe__wide_from_mpfr(&r->amplitude, spec->amplitude);
    r->unit = is_one(&r->amplitude);
    char element[8];
    pe__wide_store(&r->amplitude, false, r->dtype, element);
    r->still = pe__load_f64(element, r->dtype);
    for (size_t i = 0; i < r->pairs; i++) {
        if (!pe__freq_init(&r->freq[i], spec->w[i])) {
            free(shape.memory);
            return PE_INVALID;
        }
        bound(r, i);
        phase_of(r, i);
    }
    build_digits(r);
    build_tops(r);
    for (size_t pair = 0; pair < r->pairs; pair += PE__GROUP)
        build_rows(r, pair);
    *out = r;
    return PE_OK;
}
