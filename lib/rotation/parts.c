/* SPDX-License-Identifier: MIT
 *
 * parts.c: builds the tables behind a rotor by products in two doubles.
 *
 * A product of n numbers z is wrong by less than 3 n 2^-100 S, S being 1 for a cosine and min(1, n
 * |angle of z|) for a sine, where z comes from pe__seed. For write what a computed z is, divided by
 * what it should be, as 1 + x + i y. Such deviations add up in products (their own products are
 * below 2^-150), and each of the n - 1 products adds |x| and |y| below 2^0.5 2^-100, since both
 * parts are wrong by 2^-100 of terms whose sum is at most 1; at angles a and b the sine is wrong by
 * 2^-100 (|a| + |b|), so that |y| grows by less than 2^-99 (|a| + |b|) as well. Pairs of halves are
 * multiplied, so these sums over all products are at most log2(n) times n |angle|; together with
 * 2^0.5 n 2^-100 for x and 2^-104 n for the seeds that is below 3 n 2^-100 n |angle|.
 *
 * Rows are made of 16 steps z(1). So are digits of levels 0 and 1, of up to 2^13 steps: 2^-85.4.
 * Each higher level begins with numbers of its own, of which up to 16 steps are made. An anchor is
 * a product of one entry of each level and of a top, which is a seed or, as the next step of the
 * highest level, 2^-85.4 once more: below 2^-84 S in all. kernel.c has room for 2^-81.4.
 */
#include "rotation/parts.h"

#include "rotation/seed.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- life */

/* Not aligned_alloc: the blocks that glibc 2.36 gives for it do not fit its next request of the
 * same size, so that a daemon that makes many plans would grow. */
static struct pe__part *part_create(size_t doubles)
{
    size_t bytes;
    void *memory;
    if (__builtin_mul_overflow(doubles, sizeof(double), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct pe__part) + 63, &bytes) ||
        !(memory = malloc(bytes)))
        return NULL;
    struct pe__part *part = (void *)(((uintptr_t)memory + 63) / 64 * 64);
    part->owners = 1;
    part->memory = memory;
    part->bytes = bytes;
    return part;
}

struct pe__part *pe__part_share(struct pe__part *part)
{
    atomic_fetch_add_explicit(&part->owners, 1, memory_order_relaxed);
    return part;
}

void pe__part_drop(struct pe__part **address)
{
    struct pe__part *part = *address;
    *address = NULL;
    if (part && atomic_fetch_sub_explicit(&part->owners, 1, memory_order_acq_rel) == 1)
        free(part->memory);
}

/* ---------------------------------------------------------------- seeds */

static void put(struct pe__turns out, size_t i, const double z[4])
{
    for (unsigned part = 0; part < 4; part++)
        out.at[part * out.part + i] = z[part];
}

/* z(1) of n lanes from pair i on; zeros behind the last pair. */
static void steps(const struct pe__choice *c, size_t i, size_t n, struct pe__turns out)
{
    static const double none[4] = {0};
    for (size_t k = 0; k < n; k++)
        put(out, k, i + k < c->pairs ? c->clocks->step[pe__chosen(c, i + k)] : none);
}

void pe__seeds(const struct pe__choice *c, int64_t position, size_t i, size_t n,
               struct pe__turns out)
{
    for (size_t k = 0; k < n; k++) {
        size_t pair = pe__chosen(c, i + k);
        const struct pe__freq *f = &c->clocks->freq[pair];
        double z[4] = {1};
        if (!pe__wide_is_zero(&f->w) && pe__clocks_carry(c->clocks, pair))
            pe__seed(f, position, z);
        put(out, k, z);
    }
}

/* ---------------------------------------------------------------- digits */

/* z(32 * 16^level) */
static void first_entry(const struct pe__choice *c, unsigned level, const struct pe__part *below,
                        struct pe__turns out)
{
    static const double none[4] = {0};
    if (level == 0) {
        steps(c, 0, c->padded, out);
        for (unsigned i = 0; 1 << i < PE__BLOCK; i++)
            c->kernel->compose(out, out, out, c->padded);
    } else if (level == 1) {
        struct pe__turns half = pe__digit_entry(below, c->padded, PE__DIGITS / 2, 0);
        c->kernel->compose(half, half, out, c->padded);
    } else {
        pe__seeds(c, (int64_t)PE__BLOCK << (PE__DIGIT_BITS * level), 0, c->pairs, out);
        for (size_t i = c->pairs; i < c->padded; i++)
            put(out, i, none);
    }
}

struct pe__part *pe__digits_create(const struct pe__choice *c, unsigned level,
                                   const struct pe__part *below)
{
    struct pe__part *part = part_create((PE__DIGITS - 1) * 4 * c->padded);
    if (!part)
        return NULL;
    first_entry(c, level, below, pe__digit_entry(part, c->padded, 1, 0));
    for (unsigned v = 2; v < PE__DIGITS; v++)
        c->kernel->compose(pe__digit_entry(part, c->padded, v / 2, 0),
                           pe__digit_entry(part, c->padded, v - v / 2, 0),
                           pe__digit_entry(part, c->padded, v, 0), c->padded);
    return part;
}

/* ---------------------------------------------------------------- rows */

/* Entries of one group of pairs in two doubles. */
struct entries {
    double z[PE__ROW_ENTRIES][4][PE__GROUP];
};

static struct pe__turns entry(struct entries *e, unsigned j)
{
    return (struct pe__turns){e->z[j][0], PE__GROUP};
}

/* The amplitude as a factor: two doubles, or for frequency zero the very element. */
static void amplitude_of(const struct pe__clocks *c, size_t pair, double still, double a[2])
{
    a[0] = 1;
    a[1] = 0;
    if (!pe__clocks_carry(c, pair))
        return;
    if (pe__wide_is_zero(&c->freq[pair].w))
        a[0] = still - still == 0 ? still : 1;
    else
        pe__wide_to_dd(&c->amplitude, a);
}

static void amplify(const struct pe__choice *c, struct entries *e, size_t i, double still)
{
    double amplitude[4][PE__GROUP] = {{0}};
    struct pe__turns factor = {amplitude[0], PE__GROUP};
    size_t n = c->padded - i < PE__GROUP ? c->padded - i : PE__GROUP;
    for (size_t k = 0; k < n && i + k < c->pairs; k++) {
        double a[2];
        amplitude_of(c->clocks, pe__chosen(c, i + k), still, a);
        amplitude[0][k] = a[0];
        amplitude[1][k] = a[1];
    }
    for (unsigned j = 0; j < PE__ROW_ENTRIES; j++)
        c->kernel->compose(entry(e, j), factor, entry(e, j), n);
}

static void multiply_rows(const struct pe__choice *c, struct entries *e, size_t i)
{
    size_t n = c->padded - i < PE__GROUP ? c->padded - i : PE__GROUP;
    memset(e->z[0], 0, sizeof e->z[0]);
    for (size_t k = 0; k < n; k++)
        e->z[0][0][k] = 1;
    steps(c, i, n, entry(e, 1));
    for (unsigned j = 2; j < PE__ROW_ENTRIES; j++)
        c->kernel->compose(entry(e, j / 2), entry(e, j - j / 2), entry(e, j), n);
}

/* Splits one part of an entry to what the kernel wants. */
static void store_part(const double *high, const double *low, size_t n, double *const to[2])
{
    if (!to[1]) {
        memcpy(to[0], high, n * sizeof *high);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double first = pe__first_bits(high[i], 27);
        to[0][i] = first;
        to[1][i] = (high[i] - first) + low[i];
    }
}

struct pe__part *pe__rows_create(const struct pe__choice *c, enum pe_dtype dtype, double still)
{
    size_t parts = pe__row_parts(dtype);
    struct pe__part *part = part_create(PE__ROW_ENTRIES * parts * c->padded);
    struct entries e;
    if (!part)
        return NULL;
    for (size_t i = 0; i < c->padded; i += PE__GROUP) {
        size_t n = c->padded - i < PE__GROUP ? c->padded - i : PE__GROUP;
        multiply_rows(c, &e, i);
        if (!c->clocks->unit)
            amplify(c, &e, i, still);
        for (unsigned j = 0; j < PE__ROW_ENTRIES; j++)
            for (unsigned k = 0; k < 2; k++) {
                double *to = part->at + (j * parts + k * parts / 2) * c->padded + i;
                store_part(e.z[j][2 * k], e.z[j][2 * k + 1], n,
                           (double *[]){to, parts == 4 ? to + c->padded : NULL});
            }
    }
    return part;
}
