/* SPDX-License-Identifier: MIT
 *
 * staged.c: rows of arithmetic=float32.
 *
 * Works in portions on the stack: phases, then both functions, then the amplitude, then the cast.
 * Layouts, axes and rows that are not trigonometric are the business of the caller.
 */
#include "dtype.h"
#include "table/source.h"
#include "spec/spec.h"
#include "staged_ladder.h"
#include "staged_trig.h"

#include <stdlib.h>
#include <string.h>

#define PORTION 64

struct band {
    enum pe_dtype dtype;
    float scale, amplitude;
    bool inverse;
    size_t pairs;
    float w[];
};

static void ladder_destroy(void **ladder)
{
    if (*ladder)
        pe__staged_ladder_clear(*ladder);
    free(*ladder);
    *ladder = NULL;
}

static enum pe_error ladder_create(const struct pe_spec *s, void **ladder)
{
    struct pe__staged_ladder *l = malloc(sizeof *l);
    *ladder = l;
    if (!l)
        return PE_NO_MEMORY;
    enum pe_error error = pe__staged_ladder_init(l, s);
    if (error)
        ladder_destroy(ladder);
    return error;
}

static size_t ladder_bytes(const void *ladder)
{
    const struct pe__staged_ladder *l = ladder;
    return sizeof *l + l->pairs * sizeof *l->w;
}

static enum pe_error band_create(const void *ladder, const struct pe_spec *s,
                                 const struct pe__band *part, void **out)
{
    const struct pe__staged_ladder *l = ladder;
    struct band *b = malloc(sizeof *b + part->pairs * sizeof *b->w);
    *out = b;
    if (!b)
        return PE_NO_MEMORY;
    b->dtype = (enum pe_dtype)s->dtype;
    b->scale = pe__use(s, PE_PARAM_SCALE) ? (float)s->scale : 1;
    b->amplitude = l->amplitude;
    b->inverse = s->inverse;
    b->pairs = part->pairs;
    for (size_t k = 0; k < b->pairs; k++)
        b->w[k] = l->w[part->first + k * part->step];
    return PE_OK;
}

static void band_destroy(void **band)
{
    free(*band);
    *band = NULL;
}

static size_t band_bytes(const void *band)
{
    const struct band *b = band;
    return sizeof *b + b->pairs * sizeof *b->w;
}

/* float32 to bf16, to nearest even; nothing here is NaN. */
static uint16_t to_bf16(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return (uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

/* What models end with: a cast from float32. */
static void cast(const float *x, size_t n, enum pe_dtype dtype, void *out)
{
    size_t size = pe_dtype_size(dtype);
    if (dtype == PE_DTYPE_F32) {
        memcpy(out, x, n * size);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        char *at = (char *)out + i * size;
        if (dtype == PE_DTYPE_BF16) {
            uint16_t bits = to_bf16(x[i]);
            memcpy(at, &bits, sizeof bits);
        } else {
            pe__store_f64((double)x[i], dtype, at);
        }
    }
}

static void set_phases(const struct band *b, float position, size_t first, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = position * b->w[first + i] * b->scale;
}

static void phase_row(const struct band *b, float position, char *out)
{
    for (size_t at = 0; at < b->pairs; at += PORTION) {
        float x[PORTION];
        size_t n = b->pairs - at < PORTION ? b->pairs - at : PORTION;
        set_phases(b, position, at, n, x);
        cast(x, n, b->dtype, out + at * pe_dtype_size(b->dtype));
    }
}

static void multiply(float *x, size_t n, float by)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= by;
}

static void row(const struct band *b, float position, char *cos, char *sin)
{
    for (size_t at = 0; at < b->pairs; at += PORTION) {
        float x[PORTION], c[PORTION], s[PORTION];
        size_t n = b->pairs - at < PORTION ? b->pairs - at : PORTION;
        size_t to = at * pe_dtype_size(b->dtype);
        set_phases(b, position, at, n, x);
        pe__sincos32(x, n, s, c);
        multiply(c, n, b->amplitude);
        multiply(s, n, b->inverse ? -b->amplitude : b->amplitude);
        if (cos)
            cast(c, n, b->dtype, cos + to);
        if (sin)
            cast(s, n, b->dtype, sin + to);
    }
}

static void rows(const void *band, int64_t first, size_t count, void *cos, void *sin, size_t stride)
{
    for (size_t i = 0; i < count; i++)
        row(band, (float)(first + (int64_t)i), cos ? (char *)cos + i * stride : NULL,
            sin ? (char *)sin + i * stride : NULL);
}

static void phases(const void *band, int64_t first, size_t count, void *out, size_t stride)
{
    for (size_t i = 0; i < count; i++)
        phase_row(band, (float)(first + (int64_t)i), (char *)out + i * stride);
}

const struct pe__arithmetic pe__staged_arithmetic = {ladder_create, ladder_destroy, ladder_bytes,
                                                     band_create,   band_destroy,   band_bytes,
                                                     rows,          NULL,           phases};
