/* SPDX-License-Identifier: MIT
 *
 * wide.h: floating-point numbers of 256 bits on the stack, for the exact path. Results are
 * truncated: the relative error of each operation is stated, in units of u = 2^-255. Nothing is
 * allocated, nothing fails; exponents stay far inside int64_t for every frequency that a rotor
 * accepts.
 */
#ifndef PE_ROTATION_WIDE_H
#define PE_ROTATION_WIDE_H

#include "dtype.h"

#include <string.h>

#define PE__LIMBS 4

__extension__ typedef unsigned __int128 pe__u128;

/* +-0.m * 2^exp with the lowest limb first and the highest bit of m set; zero is m[PE__LIMBS - 1]
 * == 0. */
struct pe__wide {
    uint64_t m[PE__LIMBS];
    int64_t exp;
    bool negative;
};

static inline bool pe__wide_is_zero(const struct pe__wide *x)
{
    return x->m[PE__LIMBS - 1] == 0;
}

/* The top of 0.limb[n-1]...limb[0] * 2^exp: error below 1 u, none where the number fits. */
void pe__wide_from_limbs(struct pe__wide *, const uint64_t *limb, size_t n, int64_t exp);

/* Error below 1 u. The number is regular or zero. */
void pe__wide_from_mpfr(struct pe__wide *, mpfr_srcptr);

/* r = a * b: error below 1 u. r may be a or b. */
void pe__wide_mul(struct pe__wide *r, const struct pe__wide *a, const struct pe__wide *b);

/* r = a * k: error below 1 u. r may be a. */
void pe__wide_mul_u64(struct pe__wide *r, const struct pe__wide *a, uint64_t k);

/* full = a * b for integers of n <= 4 limbs: 2 n limbs. n is a constant wherever this is called. */
static inline __attribute__((always_inline)) void pe__limbs_mul(uint64_t *full, const uint64_t *a,
                                                                const uint64_t *b, const unsigned n)
{
#pragma GCC unroll 4
    for (unsigned i = 0; i < n; i++) {
        uint64_t carry = 0;
#pragma GCC unroll 4
        for (unsigned j = 0; j < n; j++) {
            pe__u128 t = (pe__u128)a[i] * b[j] + (i ? full[i + j] : 0) + carry;
            full[i + j] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        full[i + n] = carry;
    }
}

/* 2^e, -1022 <= e <= 1023. */
static inline double pe__power_of_two(int e)
{
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* out[0] + out[1], the first being their rounded sum: error 2^-105 relative. For exponents that
 * keep both normal: |exp| <= 900. */
void pe__wide_to_dd(const struct pe__wide *, double out[2]);

/* An upper bound of |x| as a double, at most 2^-52 above it; infinity beyond the doubles. */
double pe__wide_above(const struct pe__wide *);

/* Rounds x, whose relative error is below 2^-190, to the dtype. Where x is so near to a number of
 * 64 bits that the error hides the side, the true value is taken to be that number (`below` ==
 * false: a tie goes to even) or to lie next to it towards zero (`below` == true). */
void pe__wide_store(const struct pe__wide *x, bool below, enum pe_dtype dtype, void *out);

#endif
