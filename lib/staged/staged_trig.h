/* SPDX-License-Identifier: MIT
 *
 * staged_trig.h: sine and cosine of float32 arguments, correctly rounded to float32.
 */
#ifndef PE_STAGED_TRIG_H
#define PE_STAGED_TRIG_H

#include <stddef.h>

/* sin[i] and cos[i] of x[i] for i < n: the exact values rounded once, to nearest. Every finite
 * float32 is a valid argument; `sin` and `cos` do not overlap with `x`. Pure, thread-safe, no
 * allocation, the same bits on every instruction set. */
void pe__sincos32(const float *x, size_t n, float *sin, float *cos);

/* The same from 126-bit fixed point alone, one argument: the referee of the fast path. |x| is 0 or
 * at least 2^-14. */
void pe__sincos32_wide(float x, float *sin, float *cos);

#endif
