/* SPDX-License-Identifier: MIT
 *
 * dtype.c: one rounding routine for all floating element types, and the ways into it. It works on
 * the bits of the number, so the result depends neither on the processor's rounding mode nor on
 * MPFR's exponent range.
 */
#include "dtype.h"

#include <math.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are stored as the processor holds them");
_Static_assert(GMP_NUMB_BITS == 64, "limbs of MPFR numbers are read as 64-bit words");

/* Precision with the hidden bit, the exponents of the least and the greatest normal number. */
struct format {
    int precision, least, greatest;
};

static struct format format_of(enum pe_dtype dtype)
{
    switch (dtype) {
    case PE_DTYPE_F64:
        return (struct format){53, -1022, 1023};
    case PE_DTYPE_F32:
        return (struct format){24, -126, 127};
    case PE_DTYPE_F16:
        return (struct format){11, -14, 15};
    default:
        return (struct format){8, -126, 127};
    }
}

bool pe__dtype_real(enum pe_dtype dtype)
{
    return dtype == PE_DTYPE_F64 || dtype == PE_DTYPE_F32 || dtype == PE_DTYPE_F16 ||
           dtype == PE_DTYPE_BF16 || dtype == PE_DTYPE_BF16_AS_F32;
}

bool pe__dtype_vanishes(enum pe_dtype dtype, int64_t exp)
{
    struct format f = format_of(dtype);
    return exp <= f.least - f.precision; /* half of the least subnormal */
}

static uint64_t infinity_bits(struct format f)
{
    return (uint64_t)(f.greatest - f.least + 2) << (f.precision - 1);
}

/* The magnitude as bits of the format. */
static uint64_t round_bits(const struct pe__binary *x, struct format f)
{
    int64_t e = x->exp - 1; /* |x| = 1.f * 2^e */
    if (x->top == 0 || e < f.least - f.precision)
        return 0; /* below half of the least subnormal */
    if (e > f.greatest)
        return infinity_bits(f);
    bool normal = e >= f.least;
    int keep = normal ? f.precision : f.precision - (int)(f.least - e);
    uint64_t kept = keep ? x->top >> (64 - keep) : 0;
    uint64_t rest = x->top << keep;
    uint64_t half = UINT64_C(1) << 63;
    bool up = rest > half || (rest == half && (x->rest > 0 || (x->rest == 0 && (kept & 1))));
    if (normal)
        kept += (uint64_t)(e - f.least) << (f.precision - 1);
    return kept + up; /* the hidden bit adds one to the exponent field; a carry may do so too */
}

static void put(uint64_t magnitude, bool negative, enum pe_dtype dtype, void *out)
{
    uint64_t b64 = magnitude | (uint64_t)negative << 63;
    uint32_t b32 = (uint32_t)magnitude | (uint32_t)negative << 31;
    uint16_t b16 = (uint16_t)(magnitude | (uint64_t)negative << 15);
    switch (dtype) {
    case PE_DTYPE_F64:
        memcpy(out, &b64, sizeof b64);
        break;
    case PE_DTYPE_F32:
        memcpy(out, &b32, sizeof b32);
        break;
    case PE_DTYPE_BF16_AS_F32:
        b32 = (uint32_t)b16 << 16;
        memcpy(out, &b32, sizeof b32);
        break;
    default:
        memcpy(out, &b16, sizeof b16);
        break;
    }
}

void pe__store_binary(const struct pe__binary *x, enum pe_dtype dtype, void *out)
{
    put(round_bits(x, format_of(dtype)), x->negative, dtype, out);
}

static void store_infinity(bool negative, enum pe_dtype dtype, void *out)
{
    put(infinity_bits(format_of(dtype)), negative, dtype, out);
}

static void store_nan(enum pe_dtype dtype, void *out)
{
    struct format f = format_of(dtype);
    put(infinity_bits(f) | UINT64_C(1) << (f.precision - 2), false, dtype, out);
}

void pe__store_f64(double v, enum pe_dtype dtype, void *out)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint64_t fraction = bits & (UINT64_MAX >> 12);
    int field = (int)(bits >> 52 & 0x7ff);
    bool negative = bits >> 63;
    if (field == 0x7ff) {
        if (fraction)
            store_nan(dtype, out);
        else
            store_infinity(negative, dtype, out);
        return;
    }
    struct pe__binary x = {.negative = negative};
    if (field) {
        x.top = (fraction | UINT64_C(1) << 52) << 11;
        x.exp = field - 1022;
    } else if (fraction) {
        int zeros = __builtin_clzll(fraction);
        x.top = fraction << zeros;
        x.exp = -1010 - zeros; /* fraction * 2^-1074 */
    }
    pe__store_binary(&x, dtype, out);
}

void pe__store_mpfr(mpfr_srcptr v, enum pe_dtype dtype, void *out)
{
    bool negative = mpfr_signbit(v);
    if (mpfr_nan_p(v)) {
        store_nan(dtype, out);
        return;
    }
    if (mpfr_inf_p(v)) {
        store_infinity(negative, dtype, out);
        return;
    }
    struct pe__binary x = {.negative = negative};
    if (!mpfr_zero_p(v)) {
        const mp_limb_t *limb = mpfr_custom_get_significand(v);
        size_t last = ((size_t)mpfr_get_prec(v) - 1) / 64;
        x.top = limb[last];
        x.exp = mpfr_get_exp(v);
        for (size_t i = 0; i < last; i++)
            x.rest |= limb[i] != 0;
    }
    pe__store_binary(&x, dtype, out);
}

double pe__load_f64(const void *at, enum pe_dtype dtype)
{
    if (dtype == PE_DTYPE_F64) {
        double v;
        memcpy(&v, at, sizeof v);
        return v;
    }
    if (dtype == PE_DTYPE_F16) {
        uint16_t b;
        memcpy(&b, at, sizeof b);
        int field = b >> 10 & 0x1f;
        int fraction = b & 0x3ff;
        double v = field == 0x1f ? (fraction ? NAN : INFINITY)
                   : field       ? ldexp(fraction | 0x400, field - 25)
                                 : ldexp(fraction, -24);
        return b >> 15 ? -v : v;
    }
    uint32_t b = 0;
    if (dtype == PE_DTYPE_BF16)
        memcpy((char *)&b + 2, at, 2);
    else
        memcpy(&b, at, sizeof b);
    float v;
    memcpy(&v, &b, sizeof v);
    return v;
}
