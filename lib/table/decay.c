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

/* step^(2^k), k < count; false where one of them is cut. The step is used up. */
static bool set_powers(struct pe__wide *out, unsigned count, mpfr_ptr step)
{
    bool whole = true;
    for (unsigned k = 0; k < count; k++) {
        whole = set_wide(&out[k], step) && whole;
        mpfr_sqr(step, step, MPFR_RNDN);
    }
    return whole;
}

/* zeta^(j / scale_base) as doubles; 0 where it is too small, which sends the rows to the exact path
 */
static void set_steps(struct pe__zetas *z, size_t pair, const struct pe__wide *step)
{
    struct pe__wide x = {.m = {0, 0, 0, UINT64_C(1) << 63}, .exp = 1};
    for (size_t j = 0; j < PE__DECAY_ROWS; j++) {
        double parts[2] = {0, 0};
        if (x.exp > -450)
            pe__wide_to_dd(&x, parts);
        pe__decay_steps(z, pair, j, 0)[pair % PE__DECAY_LANES] = parts[0];
        pe__decay_steps(z, pair, j, 1)[pair % PE__DECAY_LANES] = parts[1];
        pe__wide_mul(&x, &x, step);
    }
}

/* zeta^(1 / scale_base), zeta = (10 r + 2 width) / (7 width), and the reciprocal. */
static void set_first(mpfr_ptr step, mpfr_ptr back, const struct pe_spec *s, size_t pair)
{
    mpfr_set_ui(step, 10 * pair + 2 * (unsigned long)s->width, MPFR_RNDN);
    mpfr_div_ui(step, step, 7 * (unsigned long)s->width, MPFR_RNDN);
    mpfr_log(step, step, MPFR_RNDN);
    mpfr_div_d(step, step, s->scale_base, MPFR_RNDN);
    mpfr_exp(step, step, MPFR_RNDN);
    mpfr_ui_div(back, 1, step, MPFR_RNDN);
}

static void zetas_drop(struct pe__zetas **address)
{
    struct pe__zetas *z = *address;
    *address = NULL;
    if (!z || atomic_fetch_sub_explicit(&z->owners, 1, memory_order_acq_rel) != 1)
        return;
    free(z->powers);
    free(z->steps);
    free(z);
}

/* How many powers up and down the positions need, by the eight, so that tables of other lengths are
 * served as well; those up are also the steps in and between blocks. */
static void choose(const struct pe_spec *s, unsigned *up, unsigned *down)
{
    int64_t low;
    uint64_t span;
    pe__walk_range(s, &low, &span);
    *up = bits(low + (int64_t)(span - 1) - s->center);
    *up = *up > PE__DECAY_BITS ? (*up + 7) / 8 * 8 : 8;
    *down = (bits(s->center - low) + 7) / 8 * 8;
}

static struct pe__zetas *zetas_create(const struct pe_spec *s, unsigned up, unsigned down)
{
    size_t pairs = (size_t)s->width / 2, padded = (pairs + PE__DECAY_LANES - 1) / PE__DECAY_LANES;
    struct pe__zetas *z = calloc(1, sizeof *z);
    mpfr_t step, back;
    if (!z)
        return NULL;
    padded *= PE__DECAY_LANES;
    size_t power_bytes = pairs * (up + down) * sizeof *z->powers;
    size_t step_bytes = 2 * PE__DECAY_ROWS * padded * sizeof *z->steps;
    *z = (struct pe__zetas){.owners = 1,
                            .pairs = pairs,
                            .bytes = sizeof *z + power_bytes + step_bytes,
                            .scale_base = s->scale_base,
                            .up = up,
                            .down = down,
                            .powers = malloc(power_bytes),
                            .steps = calloc(1, step_bytes)};
    if (!z->powers || !z->steps) {
        zetas_drop(&z);
        return NULL;
    }
    mpfr_inits2(PRECISION, step, back, (mpfr_ptr)0);
    for (size_t r = 0; r < pairs; r++) {
        struct pe__wide *powers = z->powers + r * (up + down);
        set_first(step, back, s, r);
        z->cut = !set_powers(powers, up, step) || z->cut;
        z->cut = !set_powers(powers + up, down, back) || z->cut;
        set_steps(z, r, powers);
    }
    mpfr_clears(step, back, (mpfr_ptr)0);
    return z;
}

enum pe_error pe__decay_create(const struct pe_spec *s, const struct pe__decay *like,
                               struct pe__decay **out)
{
    unsigned up, down;
    struct pe__zetas *z = like ? like->zetas : NULL;
    struct pe__decay *d = malloc(sizeof *d);
    *out = d;
    if (!d)
        return PE_NO_MEMORY;
    choose(s, &up, &down);
    if (z && z->pairs == (size_t)s->width / 2 && z->scale_base == s->scale_base && z->up >= up &&
        z->down >= down)
        atomic_fetch_add_explicit(&z->owners, 1, memory_order_relaxed);
    else
        z = zetas_create(s, up, down);
    *d = (struct pe__decay){(enum pe_dtype)s->dtype, s->center, z};
    if (!z)
        pe__decay_destroy(out);
    return z ? PE_OK : PE_NO_MEMORY;
}

void pe__decay_destroy(struct pe__decay **d)
{
    if (!*d)
        return;
    zetas_drop(&(*d)->zetas);
    free(*d);
    *d = NULL;
}

size_t pe__decay_bytes(const struct pe__decay *d)
{
    return d ? sizeof *d + d->zetas->bytes : 0;
}
