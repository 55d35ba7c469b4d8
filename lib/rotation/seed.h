/* SPDX-License-Identifier: MIT
 *
 * seed.h: cos and sin of p * w as two doubles each: the numbers that tables grow from. The exact
 * path in 128 bits, a few times as fast as it.
 */
#ifndef PE_ROTATION_SEED_H
#define PE_ROTATION_SEED_H

#include "rotation/exact.h"

/* out = {c, rest of c, s, rest of s}: cos(p w) and sin(p w), each the unevaluated sum of two
 * doubles of which the first is their rounded sum, with a relative error below 2^-104. p != 0, and
 * the exponent of w is -900 or more. Pure. */
void pe__seed(const struct pe__freq *, int64_t p, double out[4]);

#endif
