/* SPDX-License-Identifier: MIT
 *
 * quick.h: rounding of products known to some 50 or 100 bits, which says when it cannot be certain.
 *
 * What it vouches for is the correctly rounded value; what it does not, the caller computes
 * exactly. So the bytes never depend on which of the two was taken.
 */
#ifndef PE_QUICK_H
#define PE_QUICK_H

#include "posenc.h"

#include <math.h>
#include <string.h>

/* A narrower type in terms of the bits of a double. */
struct pe__narrow {
    unsigned dropped;     /* bits of the fraction that go */
    uint64_t rebias;      /* difference of the exponent biases, at the place of the kept exponent */
    uint64_t least, most; /* doubles whose result is a normal number */
    unsigned size;
    unsigned shift; /* of the bits in an element that is wider than they are */
};

/* For F32, F16, BF16 and BF16_AS_F32. */
static inline struct pe__narrow pe__narrow_of(enum pe_dtype dtype)
{
    unsigned precision = dtype == PE_DTYPE_F32 ? 24 : dtype == PE_DTYPE_F16 ? 11 : 8;
    uint64_t bias = dtype == PE_DTYPE_F16 ? 15 : 127;
    return (struct pe__narrow){.dropped = 53 - precision,
                               .rebias = (1023 - bias) << (precision - 1),
                               .least = (1023 - bias + 1) << 52,
                               .most = (1023 + bias) << 52,
                               .size =
                                   dtype == PE_DTYPE_F32 || dtype == PE_DTYPE_BF16_AS_F32 ? 4 : 2,
                               .shift = dtype == PE_DTYPE_BF16_AS_F32 ? 16 : 0};
}

/* Rounds v >= 0, whose relative error is below 2^-50.5. False where the result is not certain: v
 * lies within eight units of a boundary, or the result may not be a normal number. */
static inline bool pe__round_narrow(double v, const struct pe__narrow *to, uint32_t *bits)
{
    uint64_t b, half = UINT64_C(1) << (to->dropped - 1), rest;
    memcpy(&b, &v, sizeof b);
    rest = b & (2 * half - 1);
    *bits = (uint32_t)(((b + half) >> to->dropped) - to->rebias) << to->shift;
    return (rest - half + 8 > 16) & (b >= to->least) & (b < to->most);
}

/* The 26 upper bits of a double: products of two such are exact. */
static inline double pe__upper(double x)
{
    double c = x * 0x1.000002p+27; /* 2^27 + 1 (Dekker 1971) */
    return c - (c - x);
}

/* Rounds (a + a_low) * (b + b_low) to binary64: each a sum whose second part is the rest of the
 * first to 2^-104. False where the result is not certain, and for products outside 2^-900 .. 2^900.
 */
static inline bool pe__round_product(const double a[2], const double b[2], double *out)
{
    double p = a[0] * b[0], size = fabs(p);
    double au = pe__upper(a[0]), bu = pe__upper(b[0]), al = a[0] - au, bl = b[0] - bu;
    double rest = al * bl - (((p - au * bu) - al * bu) - au * bl);
    rest += a[0] * b[1] + a[1] * b[0];
    *out = p + rest;
    return (p + (rest + size * 0x1p-98) == *out) & (p + (rest - size * 0x1p-98) == *out) &
           (size > 0x1p-900) & (size < 0x1p+900);
}

#endif
