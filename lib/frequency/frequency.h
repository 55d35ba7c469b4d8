/* SPDX-License-Identifier: MIT
 *
 * frequency.h: which clocks: the angular frequencies behind a table, as exact as they are ever
 * needed.
 *
 * Made once for a plan, in MPFR. A relative error of 2^-400 and an absolute error of 2^-400 both
 * hold for every w: a phase p*w, |p| <= 2^53, still has over 300 good bits behind the point after
 * whole turns are taken away, however large w is.
 */
#ifndef PE_FREQUENCY_H
#define PE_FREQUENCY_H

#include "posenc.h"

#include <mpfr.h>

struct pe__frequencies {
    mpfr_prec_t precision;
    size_t pairs;
    mpfr_t *w;   /* radians per position; negative only by yarn with factor < 1 < extrapolation */
    void *limbs; /* of all w, which MPFR must neither free nor make wider */
    mpfr_t amplitude; /* attention_factor: multiplies cos and sin */
    mpfr_t base;      /* the effective one */
    mpfr_t low, high; /* yarn: correction range, in pairs */
};

/* The frequencies of a checked spec of a kind that has some. |scale| is in w, its sign is not. One
 * ladder where the kind has several axes. Errors: NO_MEMORY. Cleared by pe__frequencies_clear, also
 * after an error. */
enum pe_error pe__frequencies_init(struct pe__frequencies *, const struct pe_spec *);
void pe__frequencies_clear(struct pe__frequencies *);

/* ---------------------------------------------------------------- inside this folder */

/* out = x^(-num / den), with an error below one unit of its last place, for x whose power a double
 * holds, num > 0, 0 < den < 2^20. No constants are cached by MPFR. */
void pe__inverse_power(mpfr_ptr out, mpfr_srcptr x, unsigned long num, unsigned long den);

/* w[r] = base^(-r * num / den) for r < count, from one root by repeated products, 40 bits of which
 * guard against their errors. */
void pe__ladder(struct pe__frequencies *, size_t count, unsigned long num, unsigned long den);

/* The ladder of rotary tables, exponents 2r/width, over all pairs. */
void pe__rotary_ladder(struct pe__frequencies *, const struct pe_spec *);

/* A number that is dyadic but for an error of computation becomes that number: what lies within
 * 2^-300 of a number of at most 128 bits is taken for it. Ties in rounding depend on this. */
void pe__settle(mpfr_ptr);

/* One function for each rope_type: fills in w, and whatever else of the struct differs from the
 * default (base as given, amplitude 1, low = high = 0). */
#define PE_SCALING(id, name) void pe__bend_##name(struct pe__frequencies *, const struct pe_spec *);
#include "scalings.def"
#undef PE_SCALING

#endif
