/* SPDX-License-Identifier: MIT
 *
 * llama3.c: the scaling of Llama 3.1: short wavelengths stay, long ones are divided by factor, and
 * between original / high_freq_factor and original / low_freq_factor the two are blended. The
 * boundaries belong to the middle.
 */
#include "frequency.h"

/* smooth = (L0 / wavelength - low) / (high - low); w = w * ((1 - smooth) / factor + smooth) */
static void blend(mpfr_ptr w, mpfr_ptr turns, const struct pe_spec *s)
{
    mpfr_t span;
    mpfr_init2(span, mpfr_get_prec(w));
    mpfr_set_d(span, s->high_freq_factor, MPFR_RNDN);
    mpfr_sub_d(span, span, s->low_freq_factor, MPFR_RNDN);
    mpfr_sub_d(turns, turns, s->low_freq_factor, MPFR_RNDN);
    mpfr_div(turns, turns, span, MPFR_RNDN);
    mpfr_ui_sub(span, 1, turns, MPFR_RNDN);
    mpfr_div_d(span, span, s->factor, MPFR_RNDN);
    mpfr_add(span, span, turns, MPFR_RNDN);
    mpfr_mul(w, w, span, MPFR_RNDN);
    mpfr_clear(span);
}

void pe__bend_llama3(struct pe__frequencies *f, const struct pe_spec *s)
{
    mpfr_t per_w, turns;
    mpfr_inits2(f->precision, per_w, turns, (mpfr_ptr)0);
    pe__rotary_ladder(f, s);
    /* turns in the original length = L0 / wavelength = L0 w / 2 pi; no w makes it a binary64
     * exactly, so the comparisons are never ties */
    mpfr_const_pi(per_w, MPFR_RNDN);
    mpfr_mul_2ui(per_w, per_w, 1, MPFR_RNDN);
    mpfr_si_div(per_w, s->original_max_position_embeddings, per_w, MPFR_RNDN);
    for (size_t r = 0; r < f->pairs; r++) {
        mpfr_mul(turns, per_w, f->w[r], MPFR_RNDN);
        if (mpfr_cmp_d(turns, s->high_freq_factor) > 0)
            continue;
        if (mpfr_cmp_d(turns, s->low_freq_factor) < 0)
            mpfr_div_d(f->w[r], f->w[r], s->factor, MPFR_RNDN);
        else
            blend(f->w[r], turns, s);
    }
    mpfr_clears(per_w, turns, (mpfr_ptr)0);
}
