/* SPDX-License-Identifier: MIT
 *
 * ladder.c: geometric ladders of frequencies.
 *
 * One root is computed, the rest are products of it. The r-th product carries an error of at most
 * 2r+1 units of the guarded precision: 17 bits for the widest table, of the 40 that are kept.
 */
#include "frequency.h"
#include "spec/spec.h"

#define GUARD_BITS 40

void pe__settle(mpfr_ptr x)
{
    mpfr_t near, gap;
    if (!mpfr_regular_p(x))
        return;
    mpfr_init2(near, 128);
    mpfr_init2(gap, 32);
    mpfr_set(near, x, MPFR_RNDN);
    mpfr_sub(gap, x, near, MPFR_RNDA);
    if (mpfr_zero_p(gap) || mpfr_get_exp(gap) < mpfr_get_exp(x) - 300)
        mpfr_set(x, near, MPFR_RNDN);
    mpfr_clears(near, gap, (mpfr_ptr)0);
}

void pe__ladder(struct pe__frequencies *f, size_t count, unsigned long num, unsigned long den)
{
    mpfr_t root, power;
    mpfr_init2(root, f->precision + GUARD_BITS);
    mpfr_init2(power, f->precision + GUARD_BITS);
    mpfr_log(root, f->base, MPFR_RNDN);
    mpfr_mul_ui(root, root, num, MPFR_RNDN);
    mpfr_div_ui(root, root, den, MPFR_RNDN);
    mpfr_neg(root, root, MPFR_RNDN);
    mpfr_exp(root, root, MPFR_RNDN);
    mpfr_set_ui(power, 1, MPFR_RNDN);
    for (size_t r = 0; r < count; r++) {
        mpfr_set(f->w[r], power, MPFR_RNDN);
        pe__settle(f->w[r]);
        mpfr_mul(power, power, root, MPFR_RNDN);
    }
    mpfr_clears(root, power, (mpfr_ptr)0);
}

void pe__rotary_ladder(struct pe__frequencies *f, const struct pe_spec *s)
{
    pe__ladder(f, f->pairs, 2, (unsigned long)pe__ladder_width(s));
}
