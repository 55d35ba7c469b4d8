/* SPDX-License-Identifier: MIT
 *
 * ladder.c: geometric ladders of frequencies.
 *
 * One root is computed, the rest are products of it. In units of the guarded precision the root is
 * wrong by at most 1, so the r-th product by at most 2r+1: 17 bits for the widest table, of the 40
 * that are kept. Roots are found without logarithms, for whose constants MPFR would pay each time.
 */
#include "frequency.h"
#include "must.h"
#include "spec/spec.h"

#include <math.h>

#define GUARD_BITS 40

/* Whether the 64 bits behind the first 128 are all alike: else the nearest number of 128 bits is at
 * least 2^-192 away. */
static bool may_settle(mpfr_srcptr x)
{
    size_t n = ((size_t)mpfr_get_prec(x) - 1) / (8 * sizeof(mp_limb_t)) + 1;
    const mp_limb_t *limb = mpfr_custom_get_significand(x);
    return n < 3 || limb[n - 3] == 0 || limb[n - 3] == ~(mp_limb_t)0;
}

void pe__settle(mpfr_ptr x)
{
    mpfr_t near, gap;
    if (!mpfr_regular_p(x) || !may_settle(x))
        return;
    mpfr_init2(near, 128);
    mpfr_init2(gap, 32);
    mpfr_set(near, x, MPFR_RNDN);
    mpfr_sub(gap, x, near, MPFR_RNDA);
    if (mpfr_zero_p(gap) || mpfr_get_exp(gap) < mpfr_get_exp(x) - 300)
        mpfr_set(x, near, MPFR_RNDN);
    mpfr_clears(near, gap, (mpfr_ptr)0);
}

/* sum = (1 + u)^(-1/den) by the binomial series, for a small u. */
static void root_of_near_one(mpfr_ptr sum, mpfr_srcptr u, unsigned long den)
{
    mpfr_t term;
    mpfr_init2(term, mpfr_get_prec(sum));
    mpfr_set_ui(sum, 1, MPFR_RNDN);
    mpfr_set_ui(term, 1, MPFR_RNDN);
    for (unsigned long k = 0;
         mpfr_regular_p(term) && mpfr_get_exp(term) > -(mpfr_exp_t)mpfr_get_prec(sum); k++) {
        mpfr_mul(term, term, u, MPFR_RNDN);
        mpfr_mul_si(term, term, -(long)(1 + k * den), MPFR_RNDN);
        mpfr_div_ui(term, term, den * (k + 1), MPFR_RNDN);
        mpfr_add(sum, sum, term, MPFR_RNDN);
    }
    mpfr_clear(term);
}

/* y is the power as doubles have it, so u = y^den x^num - 1 is small: den errors of y, 2^-37 at
 * most. Then x^(-num/den) = y (1 + u)^(-1/den). Of the error of u, 3 units of the working
 * precision, the root hands on 1/den; each term of the series, smaller than the one before it by u,
 * adds little to the first one's: below 8 units in all, and 16 bits more than asked for are
 * carried.
 */
void pe__inverse_power(mpfr_ptr out, mpfr_srcptr x, unsigned long num, unsigned long den)
{
    double y = pow(mpfr_get_d(x, MPFR_RNDN), -(double)num / (double)den);
    mpfr_t u, part;
    mpfr_inits2(mpfr_get_prec(out) + 16, u, part, (mpfr_ptr)0);
    mpfr_set_d(part, y, MPFR_RNDN);
    mpfr_pow_ui(u, part, den, MPFR_RNDN);
    mpfr_pow_ui(part, x, num, MPFR_RNDN);
    mpfr_mul(u, u, part, MPFR_RNDN);
    mpfr_sub_ui(u, u, 1, MPFR_RNDN);
    must(mpfr_zero_p(u) || (mpfr_regular_p(u) && mpfr_get_exp(u) < -20));
    root_of_near_one(part, u, den);
    mpfr_mul_d(out, part, y, MPFR_RNDN);
    mpfr_clears(u, part, (mpfr_ptr)0);
}

static unsigned long common_divisor(unsigned long a, unsigned long b)
{
    while (b) {
        unsigned long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void pe__ladder(struct pe__frequencies *f, size_t count, unsigned long num, unsigned long den)
{
    unsigned long shared = common_divisor(num, den);
    mpfr_t root, power;
    mpfr_inits2(f->precision + GUARD_BITS, root, power, (mpfr_ptr)0);
    if (count > 1)
        pe__inverse_power(root, f->base, num / shared, den / shared);
    mpfr_set_ui(power, 1, MPFR_RNDN);
    for (size_t r = 0; r < count; r++) {
        mpfr_set(f->w[r], power, MPFR_RNDN);
        pe__settle(f->w[r]);
        if (r + 1 < count)
            mpfr_mul(power, power, root, MPFR_RNDN);
    }
    mpfr_clears(root, power, (mpfr_ptr)0);
}

void pe__rotary_ladder(struct pe__frequencies *f, const struct pe_spec *s)
{
    pe__ladder(f, f->pairs, 2, (unsigned long)pe__ladder_width(s));
}
