/* SPDX-License-Identifier: MIT
 *
 * tables.h: what a rotor holds, shared by the file that builds it and the file that uses it.
 *
 * A position p lies in the block of anchor 32 n, n = floor((p + 16) / 32). |n| is written in digits
 * of base 16: the lowest `levels` digits have tables, what is above them is the top. z(p) = z(top)
 * * the product of the digits' entries * row entry, conjugated where n is negative.
 */
#ifndef PE_ROTATION_TABLES_H
#define PE_ROTATION_TABLES_H

#include "rotation/exact.h"
#include "rotation/kernel.h"
#include "rotation/rotor.h"

#define PE__DIGIT_BITS 4
#define PE__DIGITS (1 << PE__DIGIT_BITS)

/* Entries of the row table: offsets 0 .. 16. */
#define PE__ROW_ENTRIES (PE__REACH + 1)

/* With 13 digits there is no top: 32 * 16^13 > 2^53. */
#define PE__MAX_LEVELS 13

/* Arrays over pairs have `padded` entries; the ones behind the last pair are harmless. */
struct pe__rotor {
    void *memory; /* what malloc gave; this struct begins at the next multiple of 64 */
    const struct pe__kernel *kernel;
    enum pe_dtype dtype;
    bool inverse;
    bool unit; /* the amplitude is 1 */
    size_t pairs, padded, bytes;
    unsigned levels;
    struct pe__wide amplitude;
    double still;          /* the amplitude as an element: the cosine of frequency zero */
    uint64_t home;         /* the tops `home` and `home + 1` have entries in the table of tops */
    struct pe__freq *freq; /* [pairs] */
    double *row;           /* [entry][4 or 2][padded], amplitude in it: see struct pe__block */
    double *digit;         /* [level][digit - 1][4][padded], two doubles for each part */
    double *top;           /* [2][4][padded] */
    double *cap,
        *slope;    /* bounds of error: cap for cos, min(cap, slope * greatest |position|) for sin */
    double *phase; /* [3][padded]: high, low, unsure of struct pe__phase_row */
};

/* A rotor with its tables. Errors as pe__rotor_create. */
enum pe_error pe__tables_create(const struct pe__rotor_spec *, const struct pe__kernel *,
                                struct pe__rotor **);

/* z(32 * 16^levels * top) by the exact path, for `n` pairs from `pair` on. */
void pe__tables_top(const struct pe__rotor *, uint64_t top, size_t pair, size_t n,
                    struct pe__turns out);

static inline size_t pe__row_parts(enum pe_dtype dtype)
{
    return dtype == PE_DTYPE_F64 ? 4 : 2;
}

/* Entry `value` (1 .. 15) of a digit (0: the lowest) at a pair. */
static inline struct pe__turns pe__digit_entry(const struct pe__rotor *r, unsigned level,
                                               unsigned value, size_t pair)
{
    size_t entry = (size_t)level * (PE__DIGITS - 1) + value - 1;
    return (struct pe__turns){r->digit + entry * 4 * r->padded + pair, r->padded};
}

#endif
