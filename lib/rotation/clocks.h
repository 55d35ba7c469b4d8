/* SPDX-License-Identifier: MIT
 *
 * clocks.h: the exact numbers of a ladder, made once and shared by all its rotors: each frequency
 * with its turns, the amplitude, and one step of each pair, from which tables grow.
 */
#ifndef PE_ROTATION_CLOCKS_H
#define PE_ROTATION_CLOCKS_H

#include "rotation/exact.h"

/* Doubles carry frequencies and their products with the amplitude where 2^-107 of these, the last
 * of a product in two doubles, is above 2^-1022, and 2^27 of the amplitude, for splitting, below
 * 2^1024. */
#define PE__LEAST_EXP (-900)
#define PE__LEAST_AMPLITUDE_EXP (-800)
#define PE__GREATEST_AMPLITUDE_EXP 950

/* Immutable once made. */
struct pe__clocks {
    bool unit; /* the amplitude is 1 */
    size_t pairs, bytes;
    struct pe__wide amplitude;
    double (
        *step)[4]; /* [pairs]: z(1) as pe__seed gives it; 1 for pairs that doubles do not carry */
    struct pe__freq freq[];
};

/* Frequencies in radians per position (finite, any sign or zero, below 2^2200) and what multiplies
 * both functions (finite, above 0); both are borrowed for the call, and their values are taken as
 * exact: they have to be the ones that are meant with an error below 2^-320 relative and, for w >
 * 1, below 2^-373 absolute. Some 0.1 microseconds for each pair. Errors: INVALID (numbers outside
 * what is said here), NO_MEMORY. Destroying nulls the pointer and accepts NULL. */
enum pe_error pe__clocks_create(const mpfr_t *w, size_t pairs, mpfr_srcptr amplitude,
                                struct pe__clocks **);
void pe__clocks_destroy(struct pe__clocks **);

/* Whether doubles carry the pair: its frequency and, unless that is zero, the products. */
static inline bool pe__clocks_carry(const struct pe__clocks *c, size_t pair)
{
    const struct pe__wide *w = &c->freq[pair].w;
    int64_t a = c->amplitude.exp;
    if (a < PE__LEAST_AMPLITUDE_EXP || a > PE__GREATEST_AMPLITUDE_EXP)
        return false;
    return pe__wide_is_zero(w) || (w->exp >= PE__LEAST_EXP && w->exp + a >= PE__LEAST_EXP);
}

#endif
