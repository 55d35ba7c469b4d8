/* SPDX-License-Identifier: MIT
 *
 * decay.c: the scale of xpos: powers of zeta, made once.
 *
 * Each pair has zeta^(+-2^k / scale_base), as many as the positions need bits, to 250 bits: a row
 * anywhere is a product of at most 54 of them. For rows near each other it has zeta^(j /
 * scale_base), j < 32, as the sum of two doubles.
 */
#include "decay_tables.h"
#include "walk.h"

#include <stdlib.h>

/* Exponents beyond it are as good as infinite for any dtype; MPFR itself goes to 2^30. */
#define FAR_EXPONENT (INT64_C(1) << 24)

#define PRECISION 400

static unsigned bits(int64_t n)
{
    return n > 0 ? 64 - (unsigned)__builtin_clzll((uint64_t)n) : 0;
}

/* x, or a number of its side that rounds alike: then false. */
static bool set_wide(struct pe__wide *out, mpfr_ptr x)
{
    bool whole =
        mpfr_regular_p(x) && mpfr_get_exp(x) <= FAR_EXPONENT && mpfr_get_exp(x) >= -FAR_EXPONENT;
    bool great = mpfr_inf_p(x) || (mpfr_regular_p(x) && mpfr_get_exp(x) > 0);
    if (!whole)
        mpfr_set_ui_2exp(x, 1, great ? FAR_EXPONENT : -FAR_EXPONENT, MPFR_RNDN);
    pe__wide_from_mpfr(out, x);
    return whole;
}

/* zeta^(sign 2^k / scale_base), k < count; false where one of them is cut. */
static bool set_powers(struct pe__wide *out, unsigned count, mpfr_srcptr log_step, bool down)
{
    bool whole = true;
    mpfr_t power;
    mpfr_init2(power, PRECISION);
    mpfr_set(power, log_step, MPFR_RNDN);
    if (down)
        mpfr_neg(power, power, MPFR_RNDN);
    mpfr_exp(power, power, MPFR_RNDN);
    for (unsigned k = 0; k < count; k++) {
        whole = set_wide(&out[k], power) && whole;
        mpfr_sqr(power, power, MPFR_RNDN);
    }
    mpfr_clear(power);
    return whole;
}

/* zeta^(j / scale_base) as doubles; 0 where it is too small, which sends the rows to the exact path
 */
static void set_steps(struct pe__decay *d, size_t pair, const struct pe__wide *step)
{
    struct pe__wide x = {.m = {0, 0, 0, UINT64_C(1) << 63}, .exp = 1};
    for (size_t j = 0; j < PE__DECAY_ROWS; j++) {
        double parts[2] = {0, 0};
        if (x.exp > -450)
            pe__wide_to_dd(&x, parts);
        pe__decay_steps(d, pair, j, 0)[pair % PE__DECAY_LANES] = parts[0];
        pe__decay_steps(d, pair, j, 1)[pair % PE__DECAY_LANES] = parts[1];
        pe__wide_mul(&x, &x, step);
    }
}

/* ln(zeta) / scale_base, zeta = (10 r + 2 width) / (7 width) */
static void set_log_step(mpfr_ptr out, const struct pe_spec *s, size_t pair)
{
    mpfr_set_ui(out, 10 * pair + 2 * (unsigned long)s->width, MPFR_RNDN);
    mpfr_div_ui(out, out, 7 * (unsigned long)s->width, MPFR_RNDN);
    mpfr_log(out, out, MPFR_RNDN);
    mpfr_div_d(out, out, s->scale_base, MPFR_RNDN);
}

static struct pe__decay *allocate(const struct pe_spec *s)
{
    size_t pairs = (size_t)s->width / 2, padded = (pairs + PE__DECAY_LANES - 1) / PE__DECAY_LANES;
    int64_t low;
    uint64_t span;
    struct pe__decay *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    pe__walk_range(s, &low, &span);
    padded *= PE__DECAY_LANES;
    d->dtype = (enum pe_dtype)s->dtype;
    d->center = s->center;
    d->up = bits(low + (int64_t)(span - 1) - s->center);
    d->up = d->up < PE__DECAY_BITS + 1 ? PE__DECAY_BITS + 1
                                       : d->up; /* the steps inside and between blocks */
    d->down = bits(s->center - low);
    d->pairs = pairs;
    d->power_bytes = pairs * (d->up + d->down) * sizeof *d->powers;
    d->step_bytes = 2 * PE__DECAY_ROWS * padded * sizeof *d->steps;
    d->powers = malloc(d->power_bytes);
    d->steps = calloc(1, d->step_bytes);
    if (!d->powers || !d->steps)
        pe__decay_destroy(&d);
    return d;
}

enum pe_error pe__decay_create(const struct pe_spec *s, struct pe__decay **out)
{
    struct pe__decay *d = allocate(s);
    mpfr_t log_step;
    *out = d;
    if (!d)
        return PE_NO_MEMORY;
    mpfr_init2(log_step, PRECISION);
    for (size_t r = 0; r < d->pairs; r++) {
        struct pe__wide *powers = d->powers + r * (d->up + d->down);
        set_log_step(log_step, s, r);
        d->cut = !set_powers(powers, d->up, log_step, false) || d->cut;
        d->cut = !set_powers(powers + d->up, d->down, log_step, true) || d->cut;
        set_steps(d, r, powers);
    }
    mpfr_clear(log_step);
    return PE_OK;
}

void pe__decay_destroy(struct pe__decay **d)
{
    if (!*d)
        return;
    free((*d)->powers);
    free((*d)->steps);
    free(*d);
    *d = NULL;
}

size_t pe__decay_bytes(const struct pe__decay *d)
{
    return d ? sizeof *d + d->power_bytes + d->step_bytes : 0;
}
