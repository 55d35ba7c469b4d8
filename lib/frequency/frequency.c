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

static bool has_lone_sine(const struct pe_spec *s)
{
    return s->width % 2 && s->odd == PE_ODD_SINE;
}

/* Sinusoids: exponents 2r/width, of an odd width with odd=zero 2r/(width-1); closed: r/(width/2-1).
 */
static void sinusoidal_ladder(struct pe__frequencies *f, const struct pe_spec *s)
{
    unsigned long width = (unsigned long)s->width, half = width / 2;
    if (s->ladder == PE_LADDER_CLOSED)
        pe__ladder(f, f->pairs, 1, half > 2 ? half - 1 : 1);
    else
        pe__ladder(f, f->pairs, 2,
                   width % 2 && s->odd == PE_ODD_ZERO && width > 1 ? width - 1 : width);
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

static void set_precision(struct pe__frequencies *f, mpfr_prec_t precision)
{
    f->precision = precision;
    mpfr_set_prec(f->base, precision);
    mpfr_set_prec(f->amplitude, precision);
    mpfr_set_prec(f->low, precision);
    mpfr_set_prec(f->high, precision);
    for (size_t r = 0; r < f->pairs; r++)
        mpfr_set_prec(f->w[r], precision);
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
    size_t pairs = (size_t)pe__ladder_width(s) / 2 + (has_lone_sine(s) ? 1 : 0);
    mpfr_exp_t top;
    f->pairs = 0;
    mpfr_inits2(PRECISION, f->amplitude, f->base, f->low, f->high, (mpfr_ptr)0);
    f->w = malloc((pairs ? pairs : 1) * sizeof *f->w);
    if (!f->w)
        return PE_NO_MEMORY;
    for (; f->pairs < pairs; f->pairs++)
        mpfr_init2(f->w[f->pairs], PRECISION);
    f->precision = PRECISION;
    compute(f, s);
    top = greatest_exponent(f);
    if (top > 1) {
        set_precision(f, PRECISION + top);
        compute(f, s);
    }
    return PE_OK;
}

void pe__frequencies_clear(struct pe__frequencies *f)
{
    for (size_t r = 0; r < f->pairs; r++)
        mpfr_clear(f->w[r]);
    free(f->w);
    f->w = NULL;
    f->pairs = 0;
    mpfr_clears(f->amplitude, f->base, f->low, f->high, (mpfr_ptr)0);
}
