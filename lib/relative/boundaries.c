/* SPDX-License-Identifier: MIT
 *
 * boundaries.c: where logarithmic buckets begin, in integers.
 *
 * A floating logarithm puts powers on either side of a boundary as its library likes. Here x_k is
 * known to be rational or not by taking roots of integers, and is either computed in integers or so
 * exactly that its integer neighbours are certain: an irrational number is never an integer, so
 * that more bits always decide in the end.
 */
#include "relative/boundaries.h"

#include <gmp.h>
#include <mpfr.h>

#define PRECISION 256

/* What x_k would have to be nearer to than this to leave a doubt; its error is below 2^-180. */
#define DOUBT (-160)

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* n = root^degree, in positive integers below 2^53? */
static bool root(uint64_t n, uint64_t degree, uint64_t *root)
{
    mpz_t z;
    bool exact = n == 1;
    *root = 1;
    if (exact || degree > 53) /* 2^54 is too great already */
        return exact;
    mpz_init_set_ui(z, n);
    exact = mpz_root(z, z, degree);
    *root = mpz_get_ui(z);
    mpz_clear(z);
    return exact;
}

/* Least integer not below (or above) from * (u / v)^p. */
static int64_t rational(const struct pe__logarithmic *l, uint64_t u, uint64_t v, uint64_t p)
{
    mpz_t num, den, rest;
    int64_t least;
    mpz_inits(num, den, rest, NULL);
    mpz_ui_pow_ui(num, u, p);
    mpz_mul_si(num, num, l->from);
    mpz_ui_pow_ui(den, v, p);
    mpz_fdiv_qr(num, rest, num, den);
    least = mpz_get_si(num) + (l->strict || mpz_sgn(rest) != 0);
    mpz_clears(num, den, rest, NULL);
    return least;
}

/* x_k to about its own precision. */
static void compute(mpfr_ptr x, const struct pe__logarithmic *l, size_t k)
{
    mpfr_set_si(x, l->to, MPFR_RNDN);
    mpfr_div_si(x, x, l->from, MPFR_RNDN);
    mpfr_log(x, x, MPFR_RNDN);
    mpfr_mul_ui(x, x, k, MPFR_RNDN);
    mpfr_div_si(x, x, l->steps, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    mpfr_mul_si(x, x, l->from, MPFR_RNDN);
}

/* x_k where it is irrational: more bits until they decide. */
static int64_t irrational(const struct pe__logarithmic *l, size_t k)
{
    for (mpfr_prec_t precision = 2 * PRECISION;; precision *= 2) {
        mpfr_t x, near;
        int64_t least;
        bool certain;
        mpfr_inits2(precision, x, near, (mpfr_ptr)0);
        compute(x, l, k);
        mpfr_rint(near, x, MPFR_RNDN);
        least = mpfr_get_si(x, MPFR_RNDU);
        mpfr_sub(near, x, near, MPFR_RNDN);
        certain = mpfr_regular_p(near) && mpfr_get_exp(near) > 100 - precision;
        mpfr_clears(x, near, (mpfr_ptr)0);
        if (certain)
            return least;
    }
}

/* (to / from)^(p / q) in lowest terms is rational exactly where both terms are q-th powers. */
static int64_t decide(const struct pe__logarithmic *l, size_t k)
{
    uint64_t common = gcd(k, (uint64_t)l->steps), u, v;
    uint64_t p = k / common, q = (uint64_t)l->steps / common;
    uint64_t factor = gcd((uint64_t)l->from, (uint64_t)l->to);
    if (root((uint64_t)l->to / factor, q, &u) && root((uint64_t)l->from / factor, q, &v))
        return rational(l, u, v, p);
    return irrational(l, k);
}

size_t pe__boundaries(const struct pe__logarithmic *l, size_t first, size_t count, int64_t *out)
{
    size_t n = 0;
    mpfr_t step, x, near;
    mpfr_inits2(PRECISION, step, x, near, (mpfr_ptr)0);
    compute(step, l, 1);
    mpfr_div_si(step, step, l->from, MPFR_RNDN);
    compute(x, l, first);
    for (; n < count && mpfr_cmp_si(x, l->limit + 1) <= 0; n++) {
        mpfr_rint(near, x, MPFR_RNDN);
        mpfr_sub(near, x, near, MPFR_RNDN);
        if (mpfr_regular_p(near) && mpfr_get_exp(near) > DOUBT)
            out[n] = mpfr_get_si(x, MPFR_RNDU);
        else
            out[n] = decide(l, first + n);
        if (out[n] > l->limit)
            break;
        mpfr_mul(x, x, step, MPFR_RNDN);
    }
    mpfr_clears(step, x, near, (mpfr_ptr)0);
    return n;
}
