/* SPDX-License-Identifier: MIT
 *
 * dtype.h: real numbers into the floating element types, each rounded once, to nearest even,
 * straight from the number: never by way of another type. Subnormals are gradual, overflow is
 * infinity (IEEE 754-2019, 4.3.1). Elements are little-endian at any alignment. The integer dtypes
 * are no business of this file.
 */
#ifndef PE_DTYPE_H
#define PE_DTYPE_H

#include "posenc.h"

#include <mpfr.h>

/* A real number to 64 bits and a hint of the rest: (top + t) * 2^(exp - 64), where t is 0 if rest
 * == 0, 0 < t < 1 if rest > 0, -1 < t < 0 if rest < 0. Bit 63 of top is set, unless top == 0, which
 * is zero whatever the rest. */
struct pe__binary {
    uint64_t top;
    int64_t exp;
    int rest;
    bool negative;
};

/* Whether values of the dtype are rounded real numbers: F64, F32, F16, BF16, BF16_AS_F32. */
bool pe__dtype_real(enum pe_dtype);

/* Whether every |x| < 2^exp rounds to zero. */
bool pe__dtype_vanishes(enum pe_dtype, int64_t exp);

/* Writes one element. The dtype is a real one. A zero keeps the sign that `negative` says, also one
 * that is the result of underflow. */
void pe__store_binary(const struct pe__binary *, enum pe_dtype, void *out);

/* The same of a double; infinities stay, every NaN becomes the quiet NaN of the sign +. */
void pe__store_f64(double, enum pe_dtype, void *out);

/* The same of an MPFR number of any precision, which is taken as exact: a tie is a tie. */
void pe__store_mpfr(mpfr_srcptr, enum pe_dtype, void *out);

/* The element as a double, exactly. */
double pe__load_f64(const void *, enum pe_dtype);

#endif
