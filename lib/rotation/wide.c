/* SPDX-License-Identifier: MIT
 *
 * wide.c: 256-bit floating point by schoolbook arithmetic on 64-bit limbs. Plain C, no allocation;
 * the order of operations is fixed, so the bits are the same everywhere.
 */
#include "rotation/wide.h"

#include <math.h>
#include <string.h>

#define TOP (PE__LIMBS - 1)

void pe__wide_from_limbs(struct pe__wide *r, const uint64_t *limb, size_t n, int64_t exp)
{
    *r = (struct pe__wide){.exp = exp};
    while (n > 0 && limb[n - 1] == 0) {
        n--;
        r->exp -= 64;
    }
    if (n == 0) {
        r->exp = 0;
        return;
    }
    int shift = __builtin_clzll(limb[n - 1]);
    r->exp -= shift;
    for (size_t i = 0; i < PE__LIMBS && i < n; i++) {
        uint64_t low = i + 1 < n && shift ? limb[n - 2 - i] >> (64 - shift) : 0;
        r->m[TOP - i] = limb[n - 1 - i] << shift | low;
    }
}

void pe__wide_from_mpfr(struct pe__wide *r, mpfr_srcptr v)
{
    *r = (struct pe__wide){.exp = 0};
    if (mpfr_zero_p(v))
        return;
    size_t n = ((size_t)mpfr_get_prec(v) - 1) / 64 + 1;
    const mp_limb_t *limb = mpfr_custom_get_significand(v);
    for (size_t i = 0; i < PE__LIMBS && i < n; i++)
        r->m[TOP - i] = limb[n - 1 - i];
    r->exp = mpfr_get_exp(v);
    r->negative = mpfr_signbit(v);
}

void pe__wide_mul(struct pe__wide *r, const struct pe__wide *a, const struct pe__wide *b)
{
    uint64_t full[2 * PE__LIMBS];
    bool negative = a->negative != b->negative;
    int64_t exp = a->exp + b->exp;
    pe__limbs_mul(full, a->m, b->m, PE__LIMBS);
    pe__wide_from_limbs(r, full, 2 * PE__LIMBS, exp);
    r->negative = negative;
}

void pe__wide_mul_u64(struct pe__wide *r, const struct pe__wide *a, uint64_t k)
{
    uint64_t full[PE__LIMBS + 1];
    uint64_t carry = 0;
    for (unsigned i = 0; i < PE__LIMBS; i++) {
        pe__u128 t = (pe__u128)a->m[i] * k + carry;
        full[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    full[PE__LIMBS] = carry;
    bool negative = a->negative;
    pe__wide_from_limbs(r, full, PE__LIMBS + 1, a->exp + 64);
    r->negative = negative;
}

void pe__wide_to_dd(const struct pe__wide *x, double out[2])
{
    /* The first 53 bits, the next 53: both integers are exact in a double. */
    uint64_t next = x->m[TOP] << 53 | x->m[TOP - 1] >> 11;
    int e = (int)x->exp;
    double scale = pe__power_of_two(e - 53);
    double high = (double)(x->m[TOP] >> 11) * scale;
    double low = (double)(next >> 11) * (scale * 0x1p-53);
    double sum = high + low;
    low -= sum - high;
    out[0] = x->negative ? -sum : sum;
    out[1] = x->negative ? -low : low;
}

double pe__wide_above(const struct pe__wide *x)
{
    if (pe__wide_is_zero(x))
        return 0;
    double v = (double)((x->m[TOP] >> 11) + 1);
    if (x->exp >= -900 && x->exp <= 900)
        return v * pe__power_of_two((int)x->exp - 53);
    int e = x->exp > 2000 ? 2000 : x->exp < -2000 ? -2000 : (int)x->exp;
    v = ldexp(v, e - 53);
    return v > 0 ? v : 0x1p-1074;
}

void pe__wide_store(const struct pe__wide *x, bool below, enum pe_dtype dtype, void *out)
{
    struct pe__binary b = {x->m[TOP], x->exp, 1, x->negative};
    /* The rest of 192 bits decides unless it is all zeros or all ones but for its last 66 bits. The
     * error 2^-190 of x < 2^exp is at most 2^(256 - 190) = 2^66 units of the last bit. */
    uint64_t hidden = x->m[1] >> 2;
    if (x->m[2] == 0 && hidden == 0) {
        b.rest = below ? -1 : 0;
    } else if (x->m[2] == UINT64_MAX && hidden == UINT64_MAX >> 2) {
        b.rest = below ? -1 : 0;
        b.top++;
        if (b.top == 0) {
            b.top = UINT64_C(1) << 63;
            b.exp++;
        }
    }
    if (pe__wide_is_zero(x))
        b = (struct pe__binary){.negative = x->negative};
    pe__store_binary(&b, dtype, out);
}
