/* SPDX-License-Identifier: MIT
 *
 * longrope.c: LongRoPE (Ding et al. 2024): a divisor for each pair, from one of two lists.
 *
 * The short list serves sequences up to the original length, that length included; the long one all
 * others. The amplitude is the same for both.
 */
#include "frequency.h"
#include "spec/spec.h"

/* 1 for f <= 1, else sqrt(1 + ln f / ln L0), f = factor or Lmax / L0 */
static void set_amplitude(struct pe__frequencies *f, const struct pe_spec *s)
{
    mpfr_t below;
    if (pe__given(s, PE_PARAM_ATTENTION_FACTOR)) {
        mpfr_set_d(f->amplitude, s->attention_factor, MPFR_RNDN);
        return;
    }
    mpfr_init2(below, f->precision);
    mpfr_set_si(below, s->original_max_position_embeddings, MPFR_RNDN);
    if (pe__given(s, PE_PARAM_FACTOR)) {
        mpfr_set_d(f->amplitude, s->factor, MPFR_RNDN);
    } else {
        mpfr_set_si(f->amplitude, s->max_position_embeddings, MPFR_RNDN);
        mpfr_div(f->amplitude, f->amplitude, below, MPFR_RNDN);
    }
    if (mpfr_cmp_ui(f->amplitude, 1) <= 0) {
        mpfr_set_ui(f->amplitude, 1, MPFR_RNDN);
    } else {
        mpfr_log(f->amplitude, f->amplitude, MPFR_RNDN);
        mpfr_log(below, below, MPFR_RNDN);
        mpfr_div(f->amplitude, f->amplitude, below, MPFR_RNDN);
        mpfr_add_ui(f->amplitude, f->amplitude, 1, MPFR_RNDN);
        mpfr_sqrt(f->amplitude, f->amplitude, MPFR_RNDN);
        pe__settle(f->amplitude);
    }
    mpfr_clear(below);
}

void pe__bend_longrope(struct pe__frequencies *f, const struct pe_spec *s)
{
    bool longer = s->sequence_length > s->original_max_position_embeddings;
    const struct pe_reals *list = longer ? &s->long_factor : &s->short_factor;
    pe__rotary_ladder(f, s);
    for (size_t r = 0; r < f->pairs; r++)
        mpfr_div_d(f->w[r], f->w[r], list->at[r], MPFR_RNDN);
    set_amplitude(f, s);
}
