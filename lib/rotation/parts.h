/* SPDX-License-Identifier: MIT
 *
 * parts.h: the tables behind a rotor, each in a piece of its own that several rotors may own: the
 * rows around an anchor, and one piece for each digit of the number of an anchor. All of them
 * depend on the clocks alone, but for the form of the rows.
 */
#ifndef PE_ROTATION_PARTS_H
#define PE_ROTATION_PARTS_H

#include "rotation/clocks.h"
#include "rotation/kernel.h"

#include <stdatomic.h>

#define PE__DIGIT_BITS 4
#define PE__DIGITS (1 << PE__DIGIT_BITS)

/* Entries of the row table: offsets 0 .. 16. */
#define PE__ROW_ENTRIES (PE__REACH + 1)

/* Immutable once made, but for the count of owners. */
struct pe__part {
    atomic_uint owners;
    void *memory; /* what malloc gave; this struct begins at the next multiple of 64 */
    size_t bytes;
    _Alignas(64) double at[];
};

/* The pairs of clocks that a table is for: first, first + step ..; arrays over them have `padded`
 * entries, a multiple of 8, and what is behind the last pair is harmless. */
struct pe__choice {
    const struct pe__clocks *clocks;
    const struct pe__kernel *kernel;
    size_t first, step, pairs, padded;
};

static inline size_t pe__chosen(const struct pe__choice *c, size_t i)
{
    return c->first + i * c->step;
}

static inline size_t pe__row_parts(enum pe_dtype dtype)
{
    return dtype == PE_DTYPE_F64 ? 4 : 2;
}

/* Rows: [entry][4 or 2][padded], the amplitude in them: see struct pe__block. `still` is the
 * amplitude as an element, which is the cosine of frequency zero. NULL without memory. */
struct pe__part *pe__rows_create(const struct pe__choice *, enum pe_dtype, double still);

/* Digit `level` (0: the lowest): [digit - 1][4][padded], two doubles for each part. `below` is the
 * part of level - 1, asked for by level 1 alone. NULL without memory. */
struct pe__part *pe__digits_create(const struct pe__choice *, unsigned level,
                                   const struct pe__part *below);

/* z(position) of n of the chosen pairs, from pair i on, each from the exact numbers. */
void pe__seeds(const struct pe__choice *, int64_t position, size_t i, size_t n,
               struct pe__turns out);

/* The same part for one more owner. Thread-safe, as is dropping it, which nulls the pointer and
 * accepts NULL; the last owner's drop frees. */
struct pe__part *pe__part_share(struct pe__part *);
void pe__part_drop(struct pe__part **);

/* Entry `value` (1 .. 15) of a digit, from a pair on. */
static inline struct pe__turns pe__digit_entry(const struct pe__part *digit, size_t padded,
                                               unsigned value, size_t pair)
{
    return (struct pe__turns){(double *)digit->at + (value - 1) * 4 * padded + pair, padded};
}

/* The first bits of a double, rounded. */
static inline double pe__first_bits(double v, unsigned bits)
{
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    b = (b + (UINT64_C(1) << (52 - bits))) >> (53 - bits) << (53 - bits);
    memcpy(&v, &b, sizeof v);
    return v;
}

#endif
