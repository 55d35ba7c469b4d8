/* SPDX-License-Identifier: MIT
 *
 * stretch.c: rope_types that divide all frequencies or raise the base.
 *
 * default: nothing. linear: w / factor (Chen et al. 2023, position interpolation). ntk: the base
 * grows by factor^(width/(width-2)), which divides the last frequency by factor and leaves the
 * first alone. dynamic: the same with a factor that grows with the sequence.
 */
#include "frequency.h"
#include "spec/spec.h"

void pe__bend_default(struct pe__frequencies *f, const struct pe_spec *s)
{
    pe__rotary_ladder(f, s);
}

void pe__bend_linear(struct pe__frequencies *f, const struct pe_spec *s)
{
    pe__rotary_ladder(f, s);
    for (size_t r = 0; r < f->pairs; r++)
        mpfr_div_d(f->w[r], f->w[r], s->factor, MPFR_RNDN);
}

/* base * growth^(width/(width-2)), the exponent being 1 + 1/(width/2 - 1); with a single pair,
 * whose frequency is 1, there is nothing to do. */
static void raise_base(struct pe__frequencies *f, const struct pe_spec *s, mpfr_srcptr growth)
{
    unsigned long half = (unsigned long)pe__ladder_width(s) / 2;
    mpfr_t root;
    if (half == 1)
        return;
    mpfr_init2(root, f->precision);
    pe__inverse_power(root, growth, 1, half - 1);
    mpfr_mul(f->base, f->base, growth, MPFR_RNDN);
    mpfr_div(f->base, f->base, root, MPFR_RNDN);
    pe__settle(f->base);
    mpfr_clear(root);
}

void pe__bend_ntk(struct pe__frequencies *f, const struct pe_spec *s)
{
    mpfr_t growth;
    mpfr_init2(growth, f->precision);
    mpfr_set_d(growth, s->factor, MPFR_RNDN);
    raise_base(f, s, growth);
    mpfr_clear(growth);
    pe__rotary_ladder(f, s);
}

/* growth = factor * L / Lmax - (factor - 1), 1 up to Lmax. */
void pe__bend_dynamic(struct pe__frequencies *f, const struct pe_spec *s)
{
    int64_t over = s->sequence_length - s->max_position_embeddings;
    mpfr_t growth;
    mpfr_init2(growth, f->precision);
    mpfr_set_si(growth, over > 0 ? over : 0, MPFR_RNDN);
    mpfr_mul_d(growth, growth, s->factor, MPFR_RNDN);
    mpfr_div_si(growth, growth, s->max_position_embeddings, MPFR_RNDN);
    mpfr_add_ui(growth, growth, 1, MPFR_RNDN);
    raise_base(f, s, growth);
    mpfr_clear(growth);
    pe__rotary_ladder(f, s);
}
