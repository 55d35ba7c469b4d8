/* SPDX-License-Identifier: MIT
 *
 * frequency.c: the frequencies of a spec, at the precision that their size asks for.
 *
 * Kinds without rope_type have ladders of their own here; the rest is the table of scalings.def.
 * Leaves out float32 arithmetic, which rounds every step and lives elsewhere.
 */
#include "frequency.h"
#include "spec/spec.h"

#include <math.h>
#include <stdlib.h>

/* 400 good bits, and room for the errors of a dozen operations and for cancellation in 1 - ramp. */
#define PRECISION 448

static void (*const bend[PE_ROPE_TYPE_COUNT])(struct pe__frequencies *, const struct pe_spec *) = {
#define PE_SCALING(id, name) [PE_ROPE_TYPE_##id] = pe__bend_##name,
#include "scalings.def"
#undef PE_SCALING
};

static void sinusoidal_ladder(struct pe__frequencies *f, const struct pe_spec *s)
{
    int64_t num, den;
    pe__ladder_exponents(s, &num, &den);
    pe__ladder(f, f->pairs, (unsigned long)num, (unsigned long)den);
    if (!pe__use(s, PE_PARAM_SCALE))
        return;
    for (size_t r = 0; r < f->pairs; r++)
        mpfr_mul_d(f->w[r], f->w[r], fabs(s->scale), MPFR_RNDN);
}

static void compute(struct pe__frequencies *f, const struct pe_spec *s)
{
    mpfr_set_d(f->base, s->base, MPFR_RNDN);
    mpfr_set_ui(f->amplitude, 1, MPFR_RNDN);
    mpfr_set_zero(f->low, 1);
    mpfr_set_zero(f->high, 1);
    if (s->kind == PE_KIND_SINUSOIDAL)
        sinusoidal_ladder(f, s);
    else if (s->kind == PE_KIND_GRID)
        pe__rotary_ladder(f, s);
    else
        bend[s->rope_type](f, s);
}

/* Room for the frequencies at that precision, in one piece. False without memory. */
static bool allocate(struct pe__frequencies *f, mpfr_prec_t precision)
{
    size_t size = mpfr_custom_get_size(precision);
    char *limbs = malloc((f->pairs ? f->pairs : 1) * size);
    if (!limbs)
        return false;
    free(f->limbs);
    f->limbs = limbs;
    f->precision = precision;
    for (size_t r = 0; r < f->pairs; r++) {
        mpfr_custom_init(limbs + r * size, precision);
        mpfr_custom_init_set(f->w[r], MPFR_ZERO_KIND, 0, precision, limbs + r * size);
    }
    mpfr_set_prec(f->base, precision);
    mpfr_set_prec(f->amplitude, precision);
    mpfr_set_prec(f->low, precision);
    mpfr_set_prec(f->high, precision);
    return true;
}

/* Bits in front of the point of the greatest frequency. */
static mpfr_exp_t greatest_exponent(const struct pe__frequencies *f)
{
    mpfr_exp_t top = 0;
    for (size_t r = 0; r < f->pairs; r++)
        if (mpfr_regular_p(f->w[r]) && mpfr_get_exp(f->w[r]) > top)
            top = mpfr_get_exp(f->w[r]);
    return top;
}

enum pe_error pe__frequencies_init(struct pe__frequencies *f, const struct pe_spec *s)
{
    mpfr_exp_t top;
    mpfr_inits2(PRECISION, f->amplitude, f->base, f->low, f->high, (mpfr_ptr)0);
    f->pairs = pe__ladder_pairs(s);
    f->limbs = NULL;
    f->w = malloc((f->pairs ? f->pairs : 1) * sizeof *f->w);
    if (!f->w || !allocate(f, PRECISION))
        return PE_NO_MEMORY;
    compute(f, s);
    top = greatest_exponent(f);
    if (top > 1) {
        if (!allocate(f, PRECISION + top))
            return PE_NO_MEMORY;
        compute(f, s);
    }
    return PE_OK;
}

void pe__frequencies_clear(struct pe__frequencies *f)
{
    free(f->limbs);
    free(f->w);
    f->limbs = NULL;
    f->w = NULL;
    f->pairs = 0;
    mpfr_clears(f->amplitude, f->base, f->low, f->high, (mpfr_ptr)0);
}
