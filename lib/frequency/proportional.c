/* SPDX-License-Identifier: MIT
 *
 * proportional.c: the ladder of the whole head, of which only the first part turns.
 *
 * Unlike a partial rotary width, which shortens the ladder, the exponents are those of head_dim,
 * and the pairs beyond the rotated share have frequency 0.
 */
#include "frequency.h"
#include "spec/spec.h"

#include <math.h>

void pe__bend_proportional(struct pe__frequencies *f, const struct pe_spec *s)
{
    int64_t width = pe__ladder_width(s);
    /* in binary64, as models do */
    size_t turning = (size_t)floor(s->partial_rotary_factor * (double)width / 2);
    pe__ladder(f, turning, 2, (unsigned long)width);
    for (size_t r = 0; r < f->pairs; r++) {
        if (r < turning)
            mpfr_div_d(f->w[r], f->w[r], s->factor, MPFR_RNDN);
        else
            mpfr_set_zero(f->w[r], 1);
    }
}
