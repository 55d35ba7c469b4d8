/* SPDX-License-Identifier: MIT
 *
 * test_rotation_reference.h: what the rotation tests hold right, by MPFR alone: functions at a high
 * precision rounded towards zero (so that nothing becomes a tie that is not one), then MPFR's own
 * rounding to the precision and exponent range of the element type. Shares no code with the
 * library.
 */
#ifndef TEST_ROTATION_REFERENCE_H
#define TEST_ROTATION_REFERENCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "posenc.h"

static const enum pe_dtype real_dtypes[] = {PE_DTYPE_F64, PE_DTYPE_F32, PE_DTYPE_F16, PE_DTYPE_BF16,
                                            PE_DTYPE_BF16_AS_F32};
#define REAL_DTYPES (sizeof real_dtypes / sizeof *real_dtypes)

static inline size_t reference_size(enum pe_dtype dtype)
{
    return dtype == PE_DTYPE_F64 ? 8 : dtype == PE_DTYPE_F16 || dtype == PE_DTYPE_BF16 ? 2 : 4;
}

/* The element as a number: its bits. */
static inline uint64_t reference_bits(const void *at, enum pe_dtype dtype)
{
    uint64_t bits = 0;
    memcpy(&bits, at, reference_size(dtype));
    return bits;
}

/* v rounded to the dtype, as bits. */
static inline uint64_t reference_round(mpfr_srcptr v, enum pe_dtype dtype)
{
    static const struct {
        mpfr_prec_t precision;
        mpfr_exp_t least, greatest; /* MPFR's exponents: one above IEEE's */
    } formats[] = {[PE_DTYPE_F64] = {53, -1073, 1024},
                   [PE_DTYPE_F32] = {24, -148, 128},
                   [PE_DTYPE_F16] = {11, -23, 16},
                   [PE_DTYPE_BF16] = {8, -132, 128},
                   [PE_DTYPE_BF16_AS_F32] = {8, -132, 128}};
    mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t x;
    mpfr_init2(x, formats[dtype].precision);
    mpfr_set_emin(formats[dtype].least);
    mpfr_set_emax(formats[dtype].greatest);
    int inexact = mpfr_set(x, v, MPFR_RNDN);
    inexact = mpfr_check_range(x, inexact, MPFR_RNDN);
    mpfr_subnormalize(x, inexact, MPFR_RNDN);
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    double d = mpfr_get_d(x, MPFR_RNDN);
    uint64_t sign = mpfr_signbit(x) ? 1 : 0;
    uint64_t bits = 0;
    if (dtype == PE_DTYPE_F64) {
        memcpy(&bits, &d, 8);
    } else if (dtype == PE_DTYPE_F16) {
        if (mpfr_inf_p(x))
            bits = 0x7c00;
        else if (!mpfr_zero_p(x) && mpfr_get_exp(x) >= -13)
            bits =
                (uint64_t)(mpfr_get_exp(x) + 14) << 10 |
                ((uint64_t)__builtin_ldexp(__builtin_fabs(d), 11 - (int)mpfr_get_exp(x)) & 0x3ff);
        else
            bits = (uint64_t)__builtin_ldexp(__builtin_fabs(d), 24);
        bits |= sign << 15;
    } else {
        float f = (float)d;
        memcpy(&bits, &f, 4);
        if (dtype == PE_DTYPE_BF16)
            bits >>= 16;
    }
    mpfr_clear(x);
    return bits;
}

enum reference_function { REFERENCE_COS, REFERENCE_SIN, REFERENCE_PHASE };

/* a * cos(p w), a * sin(p w) or p w, towards zero. */
static inline void reference_value(mpfr_ptr out, mpfr_srcptr w, int64_t p, mpfr_srcptr a,
                                   enum reference_function f)
{
    mpfr_t x;
    mpfr_init2(x, mpfr_get_prec(w) + 64);
    mpfr_mul_si(x, w, p, MPFR_RNDN); /* exact */
    if (f == REFERENCE_PHASE) {
        mpfr_set(out, x, MPFR_RNDZ);
    } else {
        if (f == REFERENCE_COS)
            mpfr_cos(out, x, MPFR_RNDZ);
        else
            mpfr_sin(out, x, MPFR_RNDZ);
        mpfr_mul(out, out, a, MPFR_RNDZ);
    }
    if (mpfr_zero_p(out))
        mpfr_set_zero(out, 1); /* zeros are +0 */
    mpfr_clear(x);
}

static inline uint64_t reference(mpfr_srcptr w, int64_t p, mpfr_srcptr a, enum reference_function f,
                                 enum pe_dtype dtype)
{
    mpfr_t v;
    /* Room for what the greatest frequencies of a test lose by reduction. */
    mpfr_init2(v, 512);
    reference_value(v, w, p, a, f);
    uint64_t bits = reference_round(v, dtype);
    mpfr_clear(v);
    return bits;
}

/* A small reproducible source of random numbers (xorshift64*, Vigna 2016). */
static inline uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* A random integer of at most `bits` bits and any number of leading zeros, of either sign. */
static inline int64_t draw_position(uint64_t *state, unsigned bits)
{
    int64_t p = (int64_t)(draw(state) >> (64 - bits));
    p >>= draw(state) % bits;
    return draw(state) & 1 ? -p : p;
}

/* w = m * 2^e with a random significand of `precision` bits. */
static inline void draw_real(uint64_t *state, mpfr_ptr w, long e)
{
    mpfr_set_ui(w, 1, MPFR_RNDN);
    for (mpfr_prec_t done = 0; done < mpfr_get_prec(w); done += 32) {
        mpfr_mul_2ui(w, w, 32, MPFR_RNDZ);
        mpfr_add_ui(w, w, draw(state) >> 32, MPFR_RNDZ);
    }
    mpfr_mul_2si(w, w, e - (long)mpfr_get_exp(w) + 1, MPFR_RNDN);
}

/* base^(-2r/width) to `precision` bits. */
static inline void ladder(mpfr_ptr w, const char *base, unsigned r, unsigned width)
{
    mpfr_t e;
    mpfr_init2(e, 600);
    double b = strtod(base, NULL);
    mpfr_set_si(e, -2L * (long)r, MPFR_RNDN);
    mpfr_div_ui(e, e, width, MPFR_RNDN);
    mpfr_t x;
    mpfr_init2(x, 600);
    mpfr_set_d(x, b, MPFR_RNDN);
    mpfr_pow(w, x, e, MPFR_RNDN);
    mpfr_clears(e, x, (mpfr_ptr)NULL);
}

#endif
