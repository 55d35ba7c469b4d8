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

#include "rotation/parts.h"
#include "rotation/rotor.h"

/* With 13 digits there is no top: 32 * 16^13 > 2^53. */
#define PE__MAX_LEVELS 13

/* Tops that have entries: the ones that a span touches are one or two, those of a list may be
 * more. */
#define PE__MOST_TOPS 16

/* Arrays over pairs have choice.padded entries. */
struct pe__rotor {
    struct pe__choice of;
    enum pe_dtype dtype;
    bool inverse;
    size_t bytes; /* of this struct and its arrays */
    unsigned levels, tops;
    double still;         /* the amplitude as an element: the cosine of frequency zero */
    struct pe__part *row; /* owned, as are the digits */
    struct pe__part *digit[PE__MAX_LEVELS];
    uint64_t top_is[PE__MOST_TOPS]; /* rising */
    double *top;                    /* [tops][4][padded] */
    double *cap,
        *slope;    /* bounds of error: cap for cos, min(cap, slope * greatest |position|) for sin */
    double *phase; /* [3][padded]: high, low, unsure of struct pe__phase_row */
    double at[];
};

/* A rotor with its tables. Errors as pe__rotor_create. */
enum pe_error pe__tables_create(const struct pe__rotor_spec *, const struct pe__kernel *,
                                struct pe__rotor **);
void pe__tables_destroy(struct pe__rotor **);

/* The entry of a top from a pair on; `at` is NULL where it has none. */
struct pe__turns pe__tables_top(const struct pe__rotor *, uint64_t top, size_t pair);

/* z(32 * 16^levels * top) by the exact path, for `n` pairs from `pair` on. */
void pe__tables_make_top(const struct pe__rotor *, uint64_t top, size_t pair, size_t n,
                         struct pe__turns out);

static inline const struct pe__freq *pe__rotor_freq(const struct pe__rotor *r, size_t pair)
{
    return &r->of.clocks->freq[pe__chosen(&r->of, pair)];
}

#endif
