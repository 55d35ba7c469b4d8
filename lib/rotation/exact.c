/* SPDX-License-Identifier: MIT
 *
 * exact.c: argument reduction by integer multiplication of the position with the turns of one step
 * (after Payne and Hanek, SIGNUM Newsletter 18, 1983), then Taylor series in fixed point. Small
 * phases never lose relative precision: sin(y) is y * (1 - f) with y in floating point.
 */
#include "rotation/exact.h"

#include <string.h>

#define TOP (PE__LIMBS - 1)

/* Indexed by n; 0 and 1 are not used. */
static const uint64_t inverse_factorial[][PE__LIMBS] = {
#define PE_INVERSE_FACTORIAL(n, a, b, c, d) [n] = {a, b, c, d},
#include "rotation/constants.def"
#undef PE_INVERSE_FACTORIAL
};

/* t^27 / 56! and t^27 / 57! with t <= (pi/4)^2 are below 2^-267: 26 terms after the first do. */
#define MAX_TERMS 26

static const struct pe__wide two_pi = {
#define PE_TWO_PI(a, b, c, d) {a, b, c, d}, 3, false
#include "rotation/constants.def"
#undef PE_TWO_PI
};

static const struct pe__wide unit = {{0, 0, 0, UINT64_C(1) << 63}, 1, false};

#define INVERSE_LIMBS 48
static const uint64_t inverse_two_pi[INVERSE_LIMBS] = {
#define PE_INVERSE_TWO_PI(a, b, c, d) a, b, c, d,
#include "rotation/constants.def"
#undef PE_INVERSE_TWO_PI
};

/* The turns to come, before the last shift to the left by less than a limb: two limbs more than the
 * turns, so the lowest weighs 2^-896. */
#define WINDOW (PE__TURN_LIMBS + 2)

_Static_assert(sizeof(mp_limb_t) == sizeof(uint64_t), "limbs of 64 bits");

/* Of the greatest |position|, 2^53. */
#define POSITION_BITS 54

/* Limbs of a frequency that are looked at: all but those of numbers of more than 2^14 bits. */
#define MOST_LIMBS 256

/* w = 2^(64 whole) times a number whose point stands below the highest limb: limb i of it, from the
 * top, weighs 2^(64 (whole - i - 1)), limb j of 1/(2 pi) 2^(-64 (j + 1)). Of these, `low` to `end`
 * reach into the window: those above are whole turns with any limb of w, those below are left out,
 * and come to less than w 2^(-64 end) <= 2^-896, or 2^(2200 - 3072) with the end of the constant.
 * After the shift that is below 2^-808, and cutting to the turns leaves an error below 2^-767. */
static void multiply_turns(uint64_t window[WINDOW], const mp_limb_t *w, int64_t n, int64_t whole)
{
    int64_t low = whole > n ? whole - n : 0;
    int64_t end = whole + WINDOW < INVERSE_LIMBS ? whole + WINDOW : INVERSE_LIMBS;
    mp_limb_t product[MOST_LIMBS + INVERSE_LIMBS];
    const mp_limb_t *constant = (const mp_limb_t *)inverse_two_pi + (INVERSE_LIMBS - end);
    if (n >= end - low)
        mpn_mul(product, w, n, constant, end - low);
    else
        mpn_mul(product, constant, end - low, w, n);
    /* The lowest limb of the product weighs 2^(64 (whole - n - end)), that of the window 2^-896. */
    int64_t place = WINDOW + whole - n - end;
    for (int64_t i = 0; i < WINDOW; i++)
        window[i] = i >= place && i - place < n + end - low ? product[i - place] : 0;
}

bool pe__freq_init(struct pe__freq *f, mpfr_srcptr w)
{
    *f = (struct pe__freq){.w = {.exp = 0}};
    if (!mpfr_number_p(w))
        return false;
    if (mpfr_zero_p(w))
        return true;
    int64_t exp = mpfr_get_exp(w);
    if (exp > PE__FREQ_MAX_EXP || exp < -(INT64_C(1) << 40))
        return false;
    pe__wide_from_mpfr(&f->w, w);
    if (exp + POSITION_BITS <= -1)
        return true; /* p w is below 1/2: the turns are not asked for */

    /* exp = 64 whole + part, 0 <= part < 64 */
    int64_t whole = exp >= 0 ? exp / 64 : -((63 - exp) / 64);
    unsigned part = (unsigned)(exp - 64 * whole);
    uint64_t window[WINDOW];
    int64_t n = (mpfr_get_prec(w) - 1) / 64 + 1, cut = n > MOST_LIMBS ? n - MOST_LIMBS : 0;
    const mp_limb_t *limb = mpfr_custom_get_significand(w);
    multiply_turns(window, limb + cut, n - cut, whole);
    for (size_t i = 0; i < PE__TURN_LIMBS; i++) {
        uint64_t high = window[i + 2];
        uint64_t low = window[i + 1];
        f->turn[i] = part ? high << part | low >> (64 - part) : high;
    }
    return true;
}

/* p w = quadrant * pi/2 + y, |y| <= pi/4, for q = |p| and |w|; the sign of y is in y. */
static unsigned reduce(const struct pe__freq *f, uint64_t q, struct pe__wide *y)
{
    int bits = 64 - __builtin_clzll(q);
    if (f->w.exp + bits <= -1) { /* below 1/2 */
        pe__wide_mul_u64(y, &f->w, q);
        y->negative = false;
        return 0;
    }
    uint64_t turn[PE__TURN_LIMBS];
    uint64_t carry = 0;
    for (unsigned i = 0; i < PE__TURN_LIMBS; i++) {
        pe__u128 t = (pe__u128)f->turn[i] * q + carry;
        turn[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    uint64_t *top = &turn[PE__TURN_LIMBS - 1];
    unsigned quadrant = (unsigned)((*top >> 61) + 1) >> 1;
    *top -= (uint64_t)quadrant << 62;
    bool negative = *top >> 63;
    if (negative) {
        uint64_t one = 1;
        for (unsigned i = 0; i < PE__TURN_LIMBS; i++) {
            turn[i] = ~turn[i] + one;
            one = one && turn[i] == 0;
        }
    }
    pe__wide_from_limbs(y, turn, PE__TURN_LIMBS, 0);
    pe__wide_mul(y, y, &two_pi);
    y->negative = negative;
    return quadrant & 3;
}

/* t = y^2 as a fraction of 256 bits. */
static void square(const struct pe__wide *y, uint64_t t[PE__LIMBS])
{
    struct pe__wide s;
    pe__wide_mul(&s, y, y);
    memset(t, 0, PE__LIMBS * sizeof *t);
    if (s.exp > 0 || s.exp <= -64 * PE__LIMBS)
        return; /* y <= pi/4 makes t < 1, so only zero and what is below the fraction come here */
    size_t whole = (size_t)(-s.exp) / 64;
    unsigned part = (unsigned)(-s.exp) % 64;
    for (size_t i = 0; i + whole < PE__LIMBS; i++) {
        uint64_t high = i + whole + 1 < PE__LIMBS && part ? s.m[i + whole + 1] << (64 - part) : 0;
        t[i] = s.m[i + whole] >> part | high;
    }
}

static int leading_zeros(const uint64_t v[PE__LIMBS])
{
    int zeros = 0;
    for (int i = TOP; i >= 0; i--) {
        if (v[i])
            return zeros + __builtin_clzll(v[i]);
        zeros += 64;
    }
    return zeros;
}

/* sum = c - sum * t, all three fractions, in the lowest n limbs; returns the borrow from the next.
 * Only these of the sum and the highest n of t count, for the limbs of the sum above are zeros. */
static inline __attribute__((always_inline)) uint64_t step(uint64_t *sum, const uint64_t *c,
                                                           const uint64_t *t, const unsigned n)
{
    uint64_t product[2 * PE__LIMBS];
    pe__limbs_mul(product, sum, t + (PE__LIMBS - n), n);
    uint64_t borrow = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < n; i++) {
        pe__u128 d = (pe__u128)c[i] - product[n + i] - borrow;
        sum[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
    return borrow;
}

/* f with cos(y) = 1 - f (first == 2) or sin(y)/y = 1 - f (first == 3): the series
 * t/first! - t^2/(first+2)! + ... by Horner's rule in `limbs` limbs. The sums are below
 * 1/(first+2k)!, so early ones have zeros in front, and only the limbs behind these are multiplied.
 * Each step is wrong by less than 6 units of the last limb and hands on less than t/12 of what it
 * was given: below 8 units. */
static void series(const uint64_t t[PE__LIMBS], unsigned first, unsigned limbs,
                   uint64_t f[PE__LIMBS])
{
    int zeros = leading_zeros(t);
    int enough = 64 * (int)limbs + 2;
    unsigned terms = 1;
    while (terms < MAX_TERMS &&
           zeros * (int)(terms + 1) + leading_zeros(inverse_factorial[first + 2 * terms]) < enough)
        terms++;

    unsigned lowest = PE__LIMBS - limbs;
    uint64_t sum[PE__LIMBS] = {0}; /* the `limbs` limbs, moved down to 0 */
    memcpy(sum, inverse_factorial[first + 2 * (terms - 1)] + lowest, limbs * sizeof *sum);
    unsigned used = limbs; /* those that are not zeros in front */
    while (used > 1 && sum[used - 1] == 0)
        used--;
    for (unsigned k = terms - 1; k-- > 0;) {
        const uint64_t *c = inverse_factorial[first + 2 * k] + lowest;
        uint64_t borrow;
        switch (used) {
        case 1:
            borrow = step(sum, c, t, 1);
            break;
        case 2:
            borrow = step(sum, c, t, 2);
            break;
        case 3:
            borrow = step(sum, c, t, 3);
            break;
        default:
            borrow = step(sum, c, t, 4);
            break;
        }
        if (used < limbs) /* c may have one limb more */
            sum[used] = c[used] - borrow;
        while (used < limbs && sum[used])
            used++;
    }
    uint64_t product[2 * PE__LIMBS];
    memset(f, 0, PE__LIMBS * sizeof *f);
    if (limbs == 2)
        pe__limbs_mul(product, sum, t + lowest, 2);
    else
        pe__limbs_mul(product, sum, t, PE__LIMBS);
    memcpy(f + lowest, product + limbs, limbs * sizeof *f);
}

/* 1 - f for a fraction f. */
static void one_minus(struct pe__wide *r, const uint64_t f[PE__LIMBS])
{
    uint64_t v[PE__LIMBS + 1] = {0};
    uint64_t one = 1;
    for (unsigned i = 0; i < PE__LIMBS; i++) {
        v[i] = ~f[i] + one;
        one = one && v[i] == 0;
    }
    v[PE__LIMBS] = one;
    pe__wide_from_limbs(r, v, PE__LIMBS + 1, 64);
}

void pe__exact_cos_sin(const struct pe__freq *f, int64_t p, unsigned limbs, struct pe__wide *cos,
                       struct pe__wide *sin)
{
    uint64_t q = p < 0 ? -(uint64_t)p : (uint64_t)p;
    if (q == 0 || pe__wide_is_zero(&f->w)) {
        if (cos)
            *cos = unit;
        if (sin)
            *sin = (struct pe__wide){.exp = 0};
        return;
    }
    struct pe__wide y;
    unsigned quadrant = reduce(f, q, &y);
    bool odd = quadrant & 1;
    uint64_t t[PE__LIMBS], fraction[PE__LIMBS];
    square(&y, t);
    struct pe__wide *even_part = odd ? sin : cos; /* which is asked for as +-cos(y) */
    struct pe__wide *odd_part = odd ? cos : sin;
    if (even_part) {
        series(t, 2, limbs, fraction);
        one_minus(even_part, fraction);
    }
    if (odd_part) {
        series(t, 3, limbs, fraction);
        one_minus(odd_part, fraction);
        pe__wide_mul(odd_part, odd_part, &y);
        odd_part->negative = y.negative;
    }
    if (cos && (quadrant == 1 || quadrant == 2))
        cos->negative = !cos->negative;
    if (sin && (quadrant >= 2) != ((p < 0) != f->w.negative))
        sin->negative = !sin->negative;
}
