/* SPDX-License-Identifier: MIT
 *
 * exact.h: cos and sin of p * w, and p * w itself, to more than 190 bits for any integer |p| <=
 * 2^53 and any real w: the reference inside the library, for the seeds of tables and for the values
 * that the quick kernels cannot round with certainty. Reentrant, no allocation, no global state.
 */
#ifndef PE_ROTATION_EXACT_H
#define PE_ROTATION_EXACT_H

#include "rotation/wide.h"

#define PE__TURN_LIMBS 12

/* Greatest exponent of a frequency: 2^2200. */
#define PE__FREQ_MAX_EXP 2200

/* w to 256 bits, and the turns of one step, |w| / (2 pi) mod 1, as a fraction of 768 bits (lowest
 * limb first); zero where no position turns w as far as 1/2. */
struct pe__freq {
    struct pe__wide w;
    uint64_t turn[PE__TURN_LIMBS];
};

/* Reads w, whose value is taken as exact. To be right at position p the caller has to know w to an
 * absolute error below 2^-320 / |p| and a relative error below 2^-320. False where w is not finite,
 * or its exponent is above PE__FREQ_MAX_EXP or below -2^40. |turn - exact| < 2^-760. */
bool pe__freq_init(struct pe__freq *, mpfr_srcptr w);

/* cos(p w) and sin(p w); either may be NULL. `limbs` says how good: 4 gives a relative error below
 * 2^-240, 2 one below 2^-115 at half the cost. (Both suppose that p w is not within 2^-440 of a
 * multiple of pi / 2 other than 0, which takes a w made for that end.) cos is 1 for zero phases,
 * sin is +0. */
void pe__exact_cos_sin(const struct pe__freq *, int64_t p, unsigned limbs, struct pe__wide *cos,
                       struct pe__wide *sin);

#endif
