/* SPDX-License-Identifier: MIT
 *
 * ladder_tables.c: the frequencies themselves as tensors: inv_freq, wavelength, attention_factor,
 * base and, for yarn, correction_range. All are binary64, rounded once from the exact numbers when
 * the plan is made.
 */
#include "dtype.h"
#include "frequency/frequency.h"
#include "producer.h"

#include <stdlib.h>
#include <string.h>

/* In the order of pe_spec_tensors; correction_range is left out where there is none. */
enum { FACTOR, BASE, RANGE, LADDER, WAVELENGTH, TENSORS };

struct tables {
    bool ranged;
    size_t pairs;
    double scalar[2]; /* factor, base */
    double range[2];
    double ladder[]; /* pairs frequencies, then as many wavelengths */
};

/* 2 pi / w; infinite for a pair that does not turn. */
static void set_wavelengths(struct tables *t, const struct pe__frequencies *f)
{
    mpfr_t turn, length;
    mpfr_inits2(f->precision, turn, length, (mpfr_ptr)0);
    mpfr_const_pi(turn, MPFR_RNDN);
    mpfr_mul_2ui(turn, turn, 1, MPFR_RNDN);
    for (size_t r = 0; r < f->pairs; r++) {
        mpfr_div(length, turn, f->w[r], MPFR_RNDN);
        pe__store_mpfr(length, PE_DTYPE_F64, &t->ladder[f->pairs + r]);
    }
    mpfr_clears(turn, length, (mpfr_ptr)0);
}

static enum pe_error create(const struct pe__making *m, void **state)
{
    const struct pe_spec *s = m->spec;
    struct pe__frequencies f;
    struct tables *t = NULL;
    enum pe_error error = pe__frequencies_init(&f, s);
    if (!error && !(t = malloc(sizeof *t + 2 * f.pairs * sizeof t->ladder[0])))
        error = PE_NO_MEMORY;
    if (!error) {
        t->ranged = s->rope_type == PE_ROPE_TYPE_YARN;
        t->pairs = f.pairs;
        pe__store_mpfr(f.amplitude, PE_DTYPE_F64, &t->scalar[0]);
        pe__store_mpfr(f.base, PE_DTYPE_F64, &t->scalar[1]);
        pe__store_mpfr(f.low, PE_DTYPE_F64, &t->range[0]);
        pe__store_mpfr(f.high, PE_DTYPE_F64, &t->range[1]);
        for (size_t r = 0; r < f.pairs; r++)
            pe__store_mpfr(f.w[r], PE_DTYPE_F64, &t->ladder[r]);
        set_wavelengths(t, &f);
    }
    pe__frequencies_clear(&f);
    *state = t;
    return error;
}

static void destroy(void **state)
{
    free(*state);
    *state = NULL;
}

static size_t bytes(const void *state)
{
    const struct tables *t = state;
    return sizeof *t + 2 * t->pairs * sizeof t->ladder[0];
}

static void fill(const void *state, uint64_t first, uint64_t rows, void *const out[])
{
    const struct tables *t = state;
    const double *from[TENSORS] = {&t->scalar[0], &t->scalar[1], t->range, t->ladder,
                                   t->ladder + t->pairs};
    unsigned at = 0;
    for (int i = 0; i < TENSORS; i++) {
        if (i == RANGE && !t->ranged)
            continue;
        if (out[at])
            memcpy(out[at], from[i] + first, rows * sizeof(double));
        at++;
    }
}

const struct pe__producer pe__frequency_producer = {create, destroy, bytes, fill};
