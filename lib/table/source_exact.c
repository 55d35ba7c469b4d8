/* SPDX-License-Identifier: MIT
 *
 * source_exact.c: the exact arithmetic: frequencies from MPFR, rows from rotors.
 *
 * A negative scale turns the other way: its sign is folded into the sines here, and nowhere else.
 */
#include "frequency/frequency.h"
#include "rotation/clocks.h"
#include "rotation/rotor.h"
#include "source.h"
#include "spec/spec.h"

#include <math.h>

static enum pe_error ladder_create(const struct pe_spec *s, void **ladder)
{
    struct pe__frequencies f;
    struct pe__clocks *clocks = NULL;
    enum pe_error error = pe__frequencies_init(&f, s);
    if (!error)
        error = pe__clocks_create((const mpfr_t *)f.w, f.pairs, f.amplitude, &clocks);
    pe__frequencies_clear(&f);
    *ladder = clocks;
    return error;
}

static void ladder_destroy(void **ladder)
{
    struct pe__clocks *clocks = *ladder;
    pe__clocks_destroy(&clocks);
    *ladder = NULL;
}

static size_t ladder_bytes(const void *ladder)
{
    const struct pe__clocks *clocks = ladder;
    return clocks->bytes;
}

static enum pe_error band_create(const void *ladder, const struct pe_spec *s,
                                 const struct pe__band *b, void **band)
{
    bool backwards = pe__use(s, PE_PARAM_SCALE) && signbit(s->scale);
    struct pe__rotor *rotor = NULL;
    enum pe_error error =
        pe__rotor_create(&(struct pe__rotor_spec){.clocks = ladder,
                                                  .first_pair = b->first,
                                                  .step = b->step,
                                                  .pairs = b->pairs,
                                                  .dtype = (enum pe_dtype)s->dtype,
                                                  .inverse = s->inverse != backwards,
                                                  .span = b->span,
                                                  .first = b->low,
                                                  .list = b->list,
                                                  .count = b->count,
                                                  .like = b->like},
                         &rotor);
    *band = rotor;
    return error;
}

static void band_destroy(void **band)
{
    struct pe__rotor *rotor = *band;
    if (rotor)
        pe__rotor_destroy(&rotor);
    *band = NULL;
}

static size_t band_bytes(const void *band)
{
    return pe__rotor_bytes(band);
}

static void rows(const void *band, int64_t first, size_t count, void *cos, void *sin, size_t stride)
{
    pe__rotor_rows(band, first, count, cos, sin, stride);
}

static void woven(const void *band, int64_t first, size_t count, const struct pe__woven *to)
{
    pe__rotor_woven(band, first, count, to);
}

static void phases(const void *band, int64_t first, size_t count, void *out, size_t stride)
{
    pe__rotor_phases(band, first, count, out, stride);
}

const struct pe__arithmetic pe__exact_arithmetic = {ladder_create, ladder_destroy, ladder_bytes,
                                                    band_create,   band_destroy,   band_bytes,
                                                    rows,          woven,          phases};
