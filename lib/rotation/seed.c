/* SPDX-License-Identifier: MIT
 *
 * seed.c: as exact.c, in integers of 128 bits. What is left of the angle after quarter turns is
 * taken to a multiple of 1/64, whose functions are tabled, and a rest below 1/64, for which seven
 * terms of the series do. Angles that are too near to a quarter turn for this go to the exact path.
 *
 * Errors, with u = 2^-128. The angle y is right to 2^-124 of itself (reduce). Let t be the square
 * of the rest d < 2^-6; it is wrong by less than 3 u. A = 1 - cos d < 2^-13 and B = 1 - sin(d)/d
 * are wrong by less than 12 u: 6 u of the sum in 64 bits, 2 u of the last product, half of 3 u for
 * t; what earlier products and coefficients add shrinks by t. So d (1 - B) is wrong by less than 3
 * u, and each part of the turned pair by less than 1 + 12 + 3 + 2 * 2 = 20 u, beside the 2^-124 of
 * the angle: 2^-122.8 in all, which is 2^-116 of a sine that is above 2^-6.1. Below, where nothing
 * is turned, the sine has the error of y, of B and of a product: 2^-123. The doubles keep 2^-105.
 */
#include "rotation/seed.h"

#define TOP (PE__LIMBS - 1)

typedef pe__u128 u128;

#define WIDE(low, high) ((u128)UINT64_C(high) << 64 | UINT64_C(low))

/* Fractions of 128 bits, indexed by n; 0 and 1 are not used. */
static const u128 inverse_factorial[] = {
#define PE_INVERSE_FACTORIAL(n, a, b, c, d) [n] = WIDE(c, d),
#include "rotation/constants.def"
#undef PE_INVERSE_FACTORIAL
};

static const struct {
    u128 cos, sin;
} tabled[] = {
#define PE_COS_SIN(k, a, b, c, d) [k] = {WIDE(a, b), WIDE(c, d)},
#include "rotation/constants.def"
#undef PE_COS_SIN
};

#define PE_TWO_PI(a, b, c, d) WIDE(c, d)
static const u128 two_pi = /* over 2^3 */
#include "rotation/constants.def"
    ;
#undef PE_TWO_PI

/* a b / 2^128, less by under 2 units. */
static inline u128 high(u128 a, u128 b)
{
    uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
    u128 x = (u128)a1 * b0, y = (u128)a0 * b1;
    return (u128)a1 * b1 + (x >> 64) + (y >> 64) + (((u128)(uint64_t)x + (uint64_t)y) >> 64);
}

static inline uint64_t high64(uint64_t a, uint64_t b)
{
    return (uint64_t)(((u128)a * b) >> 64);
}

/* +-m 2^(exp - 128), the highest bit of m set. */
struct number {
    u128 m;
    int exp;
    bool negative;
};

/* The first 128 bits of three limbs, the highest of them at `top` and not zero, as a fraction *
 * 2^exp. */
static inline struct number normal(const uint64_t *top, int exp)
{
    int shift = __builtin_clzll(top[0]);
    u128 m = (u128)top[0] << 64 | top[-1];
    if (shift)
        m = m << shift | top[-2] >> (64 - shift);
    return (struct number){m, exp - shift, false};
}

/* Of the turns so many limbs are looked at; with q <= 2^53 their product is wrong by 2^-331. */
#define TURN_LIMBS 6

/* p w = quadrant * pi/2 + y, |y| <= pi/4, for q = |p| and |w|. Where the product is small, y is
 * wrong by three truncations to 128 bits of numbers of at least 127; else, for the part of a turn
 * is at least 2^-192, by 2^-331 / 2^-193, one truncation, that of 2 pi and 2 units of a product of
 * at least 2^126: below 2^-124. False where the part of a turn is less. */
static bool reduce(const struct pe__freq *f, uint64_t q, unsigned *quadrant, struct number *y)
{
    int bits = 64 - __builtin_clzll(q);
    *quadrant = 0;
    if (f->w.exp + bits <= -1) { /* below 1/2 */
        u128 a = (u128)f->w.m[TOP - 1] * q, b = (u128)f->w.m[TOP] * q + (a >> 64);
        uint64_t limb[] = {0, (uint64_t)a, (uint64_t)b, (uint64_t)(b >> 64)};
        *y = limb[3] ? normal(limb + 3, (int)f->w.exp + 64) : normal(limb + 2, (int)f->w.exp);
        return true;
    }
    uint64_t turn[TURN_LIMBS], carry = 0;
    for (unsigned i = 0; i < TURN_LIMBS; i++) {
        u128 t = (u128)f->turn[PE__TURN_LIMBS - TURN_LIMBS + i] * q + carry;
        turn[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    uint64_t *top = &turn[TURN_LIMBS - 1];
    unsigned quarters = (unsigned)((*top >> 61) + 1) >> 1;
    *top -= (uint64_t)quarters << 62;
    *quadrant = quarters & 3;
    bool negative = *top >> 63;
    for (unsigned i = 0; negative && i < TURN_LIMBS; i++)
        turn[i] = ~turn[i]; /* a unit of 2^-384 too little */
    int exp = 0;
    for (; *top == 0; top--)
        if ((exp -= 64) == -192)
            return false;
    struct number part = normal(top, exp);
    u128 m = high(part.m, two_pi);
    int shift = m >> 127 ? 0 : 1;
    *y = (struct number){m << shift, part.exp + 3 - shift, negative};
    return true;
}

/* 1 - cos d and 1 - sin(d) / d for t = d^2 < 2^-12, by Horner's rule: the terms from t^4 on in 64
 * bits, scaled by 2^15 and 2^18 to use them all, 3 units of which are 3 u 2^(128 - 79 - 48). */
static inline void series(u128 t, u128 *a, u128 *b)
{
    uint64_t t64 = (uint64_t)(t >> 64);
    uint64_t x = (uint64_t)(inverse_factorial[14] >> 49),
             y = (uint64_t)(inverse_factorial[15] >> 46);
    x = (uint64_t)(inverse_factorial[12] >> 49) - high64(x, t64);
    y = (uint64_t)(inverse_factorial[13] >> 46) - high64(y, t64);
    x = (uint64_t)(inverse_factorial[10] >> 49) - high64(x, t64);
    y = (uint64_t)(inverse_factorial[11] >> 46) - high64(y, t64);
    x = (uint64_t)(inverse_factorial[8] >> 49) - high64(x, t64);
    y = (uint64_t)(inverse_factorial[9] >> 46) - high64(y, t64);
    u128 c = (u128)x << 49, s = (u128)y << 46;
    c = inverse_factorial[6] - high(c, t);
    s = inverse_factorial[7] - high(s, t);
    c = inverse_factorial[4] - high(c, t);
    s = inverse_factorial[5] - high(s, t);
    c = inverse_factorial[2] - high(c, t);
    s = inverse_factorial[3] - high(s, t);
    *a = high(c, t);
    *b = high(s, t);
}

/* x as two doubles: its first 53 bits, the next 53; both are exact. */
static inline void split(struct number x, double out[2])
{
    double scale = pe__power_of_two(x.exp - 53);
    double first = (double)(uint64_t)(x.m >> 75) * scale;
    double next = (double)((uint64_t)(x.m >> 22) & ((UINT64_C(1) << 53) - 1)) * (scale * 0x1p-53);
    double sum = first + next;
    next -= sum - first;
    out[0] = x.negative ? -sum : sum;
    out[1] = x.negative ? -next : next;
}

/* A fraction above 2^-64. */
static inline struct number fraction(u128 m)
{
    int shift = __builtin_clzll((uint64_t)(m >> 64));
    return (struct number){m << shift, -shift, false};
}

static void cos_sin(struct number y, double cos[2], double sin[2])
{
    u128 t, a, b;
    if (y.exp <= -6) {
        t = high(y.m, y.m);
        t = y.exp > -64 ? t >> (-2 * y.exp) : 0;
        series(t, &a, &b);
        if (a) {
            split((struct number){-a, 0, false}, cos);
        } else {
            cos[0] = 1;
            cos[1] = 0;
        }
        u128 m = y.m - high(y.m, b);
        int shift = m >> 127 ? 0 : 1;
        split((struct number){m << shift, y.exp - shift, y.negative}, sin);
        return;
    }
    u128 whole = y.m >> -y.exp;
    unsigned k = (unsigned)(whole >> 122);
    u128 d = whole - ((u128)k << 122);
    series(high(d, d), &a, &b);
    d -= high(d, b);
    u128 c = tabled[k].cos, s = tabled[k].sin;
    split(fraction(c - high(c, a) - high(s, d)), cos);
    struct number x = fraction(s - high(s, a) + high(c, d));
    x.negative = y.negative;
    split(x, sin);
}

static void by_the_exact_path(const struct pe__freq *f, int64_t p, double out[4])
{
    struct pe__wide c, s;
    pe__exact_cos_sin(f, p, 2, &c, &s);
    pe__wide_to_dd(&c, out);
    pe__wide_to_dd(&s, out + 2);
}

void pe__seed(const struct pe__freq *f, int64_t p, double out[4])
{
    uint64_t q = p < 0 ? -(uint64_t)p : (uint64_t)p;
    unsigned quadrant;
    struct number y;
    double part[4];
    if (pe__wide_is_zero(&f->w) || !reduce(f, q, &quadrant, &y)) {
        by_the_exact_path(f, p, out);
        return;
    }
    cos_sin(y, part, part + 2);
    const double *cos = part + (quadrant & 1 ? 2 : 0), *sin = part + (quadrant & 1 ? 0 : 2);
    double cos_sign = quadrant == 1 || quadrant == 2 ? -1 : 1;
    double sin_sign = (quadrant >= 2) != ((p < 0) != f->w.negative) ? -1 : 1;
    out[0] = cos_sign * cos[0];
    out[1] = cos_sign * cos[1];
    out[2] = sin_sign * sin[0];
    out[3] = sin_sign * sin[1];
}
