/* SPDX-License-Identifier: MIT
 *
 * staged_ladder.c: the frequencies that model code computes in float32, step by step.
 *
 * Sums, products and quotients of floats are the processor's own, which IEEE 754 rounds once;
 * powers, and what a step makes of a number that models keep in higher precision (base, edges,
 * amplitude), come from MPFR. Leaves out the exact numbers: those are frequency/.
 */
#include "staged_ladder.h"

#include "frequency/frequency.h"
#include "spec/spec.h"

#include <float.h>
#include <stdlib.h>

_Static_assert(FLT_EVAL_METHOD == 0, "float expressions round to float");

#define TWO_PI 0x1.921fb6p+2f

/* base^RN(num r / den). The integers are below 2^17: exact as floats. */
static float power(float base, size_t r, int64_t num, int64_t den)
{
    mpfr_t x, e;
    mpfr_inits2(FLT_MANT_DIG, x, e, (mpfr_ptr)0);
    mpfr_set_flt(x, base, MPFR_RNDN);
    mpfr_set_flt(e, (float)(num * (int64_t)r) / (float)den, MPFR_RNDN);
    mpfr_pow(x, x, e, MPFR_RNDN);
    float p = mpfr_get_flt(x, MPFR_RNDN);
    mpfr_clears(x, e, (mpfr_ptr)0);
    return p;
}

/* n / d with n unrounded. */
static float quotient(int64_t n, float d)
{
    mpfr_t x;
    mpfr_init2(x, 128);
    mpfr_set_flt(x, d, MPFR_RNDN);
    mpfr_si_div(x, n, x, MPFR_RNDN);
    float q = mpfr_get_flt(x, MPFR_RNDN);
    mpfr_clear(x);
    return q;
}

/* n <=> x * y, exactly. */
static int compare(int64_t n, float x, double y)
{
    mpfr_t p;
    mpfr_init2(p, FLT_MANT_DIG + DBL_MANT_DIG);
    mpfr_set_flt(p, x, MPFR_RNDN);
    mpfr_mul_d(p, p, y, MPFR_RNDN);
    int order = -mpfr_cmp_si(p, n);
    mpfr_clear(p);
    return order;
}

/* ---------------------------------------------------------------- rope_type */

/* inter = 1 / (factor p); ramp = (r - low) / (high - low); w = inter (1 - keep) + (1/p) keep */
static void yarn(struct pe__staged_ladder *l, const struct pe_spec *s,
                 const struct pe__frequencies *f)
{
    mpfr_t width;
    float factor = (float)s->factor, extrapolation = (float)s->extrapolation_factor;
    float low = mpfr_get_flt(f->low, MPFR_RNDN);
    mpfr_init2(width, f->precision);
    mpfr_sub(width, f->high, f->low, MPFR_RNDN);
    float span = mpfr_zero_p(width) ? 0.001f : mpfr_get_flt(width, MPFR_RNDN);
    mpfr_clear(width);
    for (size_t r = 0; r < l->pairs; r++) {
        float p = l->w[r], inter = 1 / (factor * p), extra = 1 / p;
        float ramp = ((float)r - low) / span;
        ramp = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
        float keep = (1 - ramp) * extrapolation;
        l->w[r] = inter * (1 - keep) + extra * keep;
    }
}

/* A wavelength is compared with the unrounded boundaries. Where both factors round to one float the
 * middle has no width, and belongs to the scaled side. */
static float llama3(float w, const struct pe_spec *s)
{
    int64_t length = s->original_max_position_embeddings;
    float factor = (float)s->factor, low = (float)s->low_freq_factor;
    float span = (float)s->high_freq_factor - low, wavelength = TWO_PI / w;
    if (compare(length, wavelength, s->high_freq_factor) > 0)
        return w;
    if (compare(length, wavelength, s->low_freq_factor) < 0 || span == 0)
        return w / factor;
    float smooth = (quotient(length, wavelength) - low) / span;
    return (1 - smooth) * w / factor + smooth * w;
}

static void bend(struct pe__staged_ladder *l, const struct pe_spec *s,
                 const struct pe__frequencies *f)
{
    const struct pe_reals *list = s->sequence_length > s->original_max_position_embeddings
                                      ? &s->long_factor
                                      : &s->short_factor;
    for (size_t r = 0; r < l->pairs; r++) {
        float w = 1 / l->w[r];
        switch (s->rope_type) {
        case PE_ROPE_TYPE_LINEAR:
            w = w / (float)s->factor;
            break;
        case PE_ROPE_TYPE_LONGROPE:
            w = 1 / ((float)list->at[r] * l->w[r]);
            break;
        case PE_ROPE_TYPE_LLAMA3:
            w = llama3(w, s);
            break;
        case PE_ROPE_TYPE_PROPORTIONAL:
            w = mpfr_zero_p(f->w[r]) ? 0 : w / (float)s->factor;
            break;
        default:
            break;
        }
        l->w[r] = w;
    }
}

enum pe_error pe__staged_ladder_init(struct pe__staged_ladder *l, const struct pe_spec *s)
{
    struct pe__frequencies f;
    int64_t num, den;
    *l = (struct pe__staged_ladder){0};
    enum pe_error error = pe__frequencies_init(&f, s);
    if (!error && !(l->w = malloc((f.pairs ? f.pairs : 1) * sizeof *l->w)))
        error = PE_NO_MEMORY;
    if (error) {
        pe__frequencies_clear(&f);
        return error;
    }
    l->pairs = f.pairs;
    l->amplitude = mpfr_get_flt(f.amplitude, MPFR_RNDN);
    pe__ladder_exponents(s, &num, &den);
    for (size_t r = 0; r < l->pairs; r++)
        l->w[r] = power(mpfr_get_flt(f.base, MPFR_RNDN), r, num, den);
    if (s->kind != PE_KIND_SINUSOIDAL && s->rope_type == PE_ROPE_TYPE_YARN)
        yarn(l, s, &f);
    else
        bend(l, s, &f);
    pe__frequencies_clear(&f);
    return PE_OK;
}

void pe__staged_ladder_clear(struct pe__staged_ladder *l)
{
    free(l->w);
    *l = (struct pe__staged_ladder){0};
}
