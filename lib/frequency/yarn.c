/* SPDX-License-Identifier: MIT
 *
 * yarn.c: YaRN (Peng et al. 2023): fast pairs keep their frequency, slow ones are divided by
 * factor, and between the two edges of the correction range a ramp blends them.
 *
 * The edges are the pairs that turn beta_fast and beta_slow times in the original length; they are
 * rounded outwards unless truncate is false, and clamped to 0 .. width-1.
 */
#include "frequency.h"
#include "spec/spec.h"

/* edge = width * ln(L0 / (2 pi turns)) / (2 ln base) */
static void edge(mpfr_ptr out, const struct pe__frequencies *f, const struct pe_spec *s,
                 double turns)
{
    mpfr_t x;
    mpfr_init2(x, f->precision);
    mpfr_const_pi(x, MPFR_RNDN);
    mpfr_mul_2ui(x, x, 1, MPFR_RNDN);
    mpfr_mul_d(x, x, turns, MPFR_RNDN);
    mpfr_si_div(x, s->original_max_position_embeddings, x, MPFR_RNDN);
    mpfr_log(out, x, MPFR_RNDN);
    mpfr_mul_si(out, out, pe__ladder_width(s), MPFR_RNDN);
    mpfr_log(x, f->base, MPFR_RNDN);
    mpfr_mul_2ui(x, x, 1, MPFR_RNDN);
    mpfr_div(out, out, x, MPFR_RNDN);
    mpfr_clear(x);
}

static void correction_range(struct pe__frequencies *f, const struct pe_spec *s)
{
    long last = (long)pe__ladder_width(s) - 1;
    edge(f->low, f, s, s->beta_fast);
    edge(f->high, f, s, s->beta_slow);
    if (s->truncate) {
        mpfr_floor(f->low, f->low);
        mpfr_ceil(f->high, f->high);
    }
    if (mpfr_sgn(f->low) <= 0)
        mpfr_set_zero(f->low, 1);
    if (mpfr_cmp_si(f->high, last) > 0)
        mpfr_set_si(f->high, last, MPFR_RNDN);
}

/* 1 for s <= 1, else 0.1 m ln s + 1 */
static void gain(mpfr_ptr out, double scale, double m)
{
    mpfr_set_d(out, scale, MPFR_RNDN);
    if (scale <= 1) {
        mpfr_set_ui(out, 1, MPFR_RNDN);
        return;
    }
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_mul_d(out, out, m, MPFR_RNDN);
    mpfr_div_ui(out, out, 10, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
}

static void set_amplitude(struct pe__frequencies *f, const struct pe_spec *s)
{
    mpfr_t below;
    if (pe__given(s, PE_PARAM_ATTENTION_FACTOR)) {
        mpfr_set_d(f->amplitude, s->attention_factor, MPFR_RNDN);
        return;
    }
    if (s->mscale == 0 || s->mscale_all_dim == 0) {
        gain(f->amplitude, s->factor, 1);
        return;
    }
    mpfr_init2(below, f->precision);
    gain(f->amplitude, s->factor, s->mscale);
    gain(below, s->factor, s->mscale_all_dim);
    mpfr_div(f->amplitude, f->amplitude, below, MPFR_RNDN);
    mpfr_clear(below);
}

/* keep = (1 - ramp) * extrapolation_factor; w = w / factor * (1 - keep) + w * keep */
static void blend(mpfr_ptr w, mpfr_ptr keep, const struct pe_spec *s)
{
    mpfr_t part;
    mpfr_init2(part, mpfr_get_prec(w));
    mpfr_ui_sub(part, 1, keep, MPFR_RNDN);
    mpfr_div_d(part, part, s->factor, MPFR_RNDN);
    mpfr_add(part, part, keep, MPFR_RNDN);
    mpfr_mul(w, w, part, MPFR_RNDN);
    mpfr_clear(part);
}

void pe__bend_yarn(struct pe__frequencies *f, const struct pe_spec *s)
{
    mpfr_t span, keep;
    mpfr_inits2(f->precision, span, keep, (mpfr_ptr)0);
    pe__rotary_ladder(f, s);
    correction_range(f, s);
    set_amplitude(f, s);
    mpfr_sub(span, f->high, f->low, MPFR_RNDN);
    if (mpfr_zero_p(span)) {
        mpfr_set_ui(span, 1, MPFR_RNDN);
        mpfr_div_ui(span, span, 1000, MPFR_RNDN);
    }
    for (size_t r = 0; r < f->pairs; r++) {
        mpfr_ui_sub(keep, r, f->low, MPFR_RNDN);
        mpfr_div(keep, keep, span, MPFR_RNDN);
        if (mpfr_sgn(keep) < 0)
            mpfr_set_zero(keep, 1);
        if (mpfr_cmp_ui(keep, 1) > 0)
            mpfr_set_ui(keep, 1, MPFR_RNDN);
        mpfr_ui_sub(keep, 1, keep, MPFR_RNDN);
        mpfr_mul_d(keep, keep, s->extrapolation_factor, MPFR_RNDN);
        blend(f->w[r], keep, s);
    }
    mpfr_clears(span, keep, (mpfr_ptr)0);
}
