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

#include <math.h>

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

/* An edge rounded to a whole pair. Doubles do unless it comes to lie near a whole number: with libm
 * good to 2^-50, three logarithms below 2^10 are wrong by 2^-38 together, and the edge by less than
 * 2^-21 where base >= 2 (width / (2 ln 2) < 2^15.6) and |edge| < 2^20. */
static void whole_edge(mpfr_ptr out, const struct pe__frequencies *f, const struct pe_spec *s,
                       bool fast)
{
    double turns = fast ? s->beta_fast : s->beta_slow;
    double length = (double)s->original_max_position_embeddings;
    double near = (double)pe__ladder_width(s) *
                  (log(length) - log(0x1.921fb54442d18p+2) - log(turns)) / (2 * log(s->base));
    if (s->base >= 2 && fabs(near) < 0x1p20 && fabs(near - round(near)) > 0x1p-20) {
        mpfr_set_d(out, fast ? floor(near) : ceil(near), MPFR_RNDN);
        return;
    }
    edge(out, f, s, turns);
    if (fast)
        mpfr_floor(out, out);
    else
        mpfr_ceil(out, out);
}

static void correction_range(struct pe__frequencies *f, const struct pe_spec *s)
{
    long last = (long)pe__ladder_width(s) - 1;
    if (s->truncate) {
        whole_edge(f->low, f, s, true);
        whole_edge(f->high, f, s, false);
    } else {
        edge(f->low, f, s, s->beta_fast);
        edge(f->high, f, s, s->beta_slow);
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

/* keep = (1 - ramp) * extrapolation_factor; what w is multiplied by is (1 - keep) / factor + keep.
 * `keep` is 1 - ramp, and is used up. */
static void share(mpfr_ptr out, mpfr_ptr keep, const struct pe_spec *s)
{
    mpfr_mul_d(keep, keep, s->extrapolation_factor, MPFR_RNDN);
    mpfr_ui_sub(out, 1, keep, MPFR_RNDN);
    mpfr_div_d(out, out, s->factor, MPFR_RNDN);
    mpfr_add(out, out, keep, MPFR_RNDN);
}

/* out = (r - low) / span where that lies between 0 and 1: 0. Below: -1, above: 1. */
static int ramp(mpfr_ptr out, const struct pe__frequencies *f, mpfr_srcptr span, size_t r)
{
    mpfr_ui_sub(out, r, f->low, MPFR_RNDN);
    if (mpfr_zero_p(out) || mpfr_sgn(out) != mpfr_sgn(span))
        return -1;
    if (mpfr_cmpabs(out, span) >= 0)
        return 1;
    mpfr_div(out, out, span, MPFR_RNDN);
    return 0;
}

/* Most pairs lie before the ramp or behind it, and share two numbers. */
static void blend(struct pe__frequencies *f, const struct pe_spec *s, mpfr_srcptr span)
{
    mpfr_t keep, before, behind, part;
    mpfr_inits2(f->precision, keep, before, behind, part, (mpfr_ptr)0);
    mpfr_set_ui(keep, 1, MPFR_RNDN);
    share(before, keep, s);
    mpfr_set_zero(keep, 1);
    share(behind, keep, s);
    for (size_t r = 0; r < f->pairs; r++) {
        int side = ramp(keep, f, span, r);
        if (side == 0) {
            mpfr_ui_sub(keep, 1, keep, MPFR_RNDN);
            share(part, keep, s);
        }
        mpfr_mul(f->w[r], f->w[r], side < 0 ? before : side > 0 ? behind : part, MPFR_RNDN);
    }
    mpfr_clears(keep, before, behind, part, (mpfr_ptr)0);
}

void pe__bend_yarn(struct pe__frequencies *f, const struct pe_spec *s)
{
    mpfr_t span;
    mpfr_init2(span, f->precision);
    pe__rotary_ladder(f, s);
    correction_range(f, s);
    set_amplitude(f, s);
    mpfr_sub(span, f->high, f->low, MPFR_RNDN);
    if (mpfr_zero_p(span)) {
        mpfr_set_ui(span, 1, MPFR_RNDN);
        mpfr_div_ui(span, span, 1000, MPFR_RNDN);
    }
    blend(f, s, span);
    mpfr_clear(span);
}
