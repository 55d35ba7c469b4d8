/* SPDX-License-Identifier: MIT
 *
 * precision_exact.c: single values of tables, straight from their formulas, in MPFR.
 *
 * One function for each family of kinds finds out which function of which pair at which position an
 * element is. Nothing is remembered between values, so that no error can spread.
 */
#include "precision_exact.h"

#include "frequency/frequency.h"
#include "spec/spec.h"

#include <math.h>
#include <stdlib.h>

struct pe__exact_table {
    struct pe_spec spec;
    struct pe_tensor tensors[PE_MAX_TENSORS];
    struct pe__frequencies f;
    mpfr_t phase;
};

static bool has_frequencies(const struct pe_spec *s)
{
    return pe__is_rope(s->kind) || s->kind == PE_KIND_SINUSOIDAL || s->kind == PE_KIND_GRID;
}

void pe__exact_table_destroy(struct pe__exact_table **t)
{
    if (!*t)
        return;
    if (has_frequencies(&(*t)->spec))
        pe__frequencies_clear(&(*t)->f);
    mpfr_clear((*t)->phase);
    free(*t);
    *t = NULL;
}

enum pe_error pe__exact_table_create(const struct pe_spec *s, struct pe__exact_table **out)
{
    enum pe_error error = PE_OK;
    *out = NULL;
    if (s->resource != PE_RESOURCE_TABLE || s->kind == PE_KIND_T5 || s->kind == PE_KIND_DEBERTA)
        return PE_INVALID;
    struct pe__exact_table *t = malloc(sizeof *t);
    if (!t)
        return PE_NO_MEMORY;
    t->spec = *s;
    pe_spec_tensors(s, t->tensors);
    mpfr_init2(t->phase, 64);
    if (has_frequencies(s)) {
        error = pe__frequencies_init(&t->f, s);
        mpfr_set_prec(t->phase, t->f.precision + 64);
    }
    *out = t;
    if (error)
        pe__exact_table_destroy(out);
    return error;
}

unsigned pe_row_positions(const struct pe_spec *s, uint64_t row, int64_t out[3])
{
    unsigned axes = s->kind == PE_KIND_MROPE ? 3 : s->kind == PE_KIND_AXIAL_ROPE ? 2 : 1;
    if (s->resource != PE_RESOURCE_TABLE ||
        !(pe__is_rope(s->kind) || s->kind == PE_KIND_SINUSOIDAL))
        return 0;
    for (unsigned a = 0; a < axes; a++) {
        if (pe__given(s, PE_PARAM_POSITIONS))
            out[a] = s->positions.at[a * (s->positions.count / axes) + row];
        else if (s->kind == PE_KIND_AXIAL_ROPE)
            out[a] = (int64_t)(a ? row % (uint64_t)s->columns : row / (uint64_t)s->columns);
        else
            out[a] = s->offset + (int64_t)row;
    }
    return axes;
}

/* ---------------------------------------------------------------- sines and cosines */

enum part { COS, SIN, MINUS_SIN, PHASE, SCALE, ZERO };

static void negate(mpfr_ptr x)
{
    mpfr_neg(x, x, MPFR_RNDN);
}

static void evaluate(struct pe__exact_table *t, enum part part, size_t pair, int64_t p,
                     mpfr_ptr out)
{
    mpfr_mul_si(t->phase, t->f.w[pair], p, MPFR_RNDN);
    if (part == PHASE) {
        mpfr_set(out, t->phase, MPFR_RNDN);
        return;
    }
    if (part == COS)
        mpfr_cos(out, t->phase, MPFR_RNDN);
    else
        mpfr_sin(out, t->phase, MPFR_RNDN);
    if (part == MINUS_SIN)
        negate(out);
    mpfr_mul(out, out, t->f.amplitude, MPFR_RNDN);
}

/* ((2r + 0.4 d) / 1.4 d)^((p - center) / scale_base) */
static void xpos_scale(const struct pe_spec *s, size_t pair, int64_t p, mpfr_ptr out)
{
    mpfr_t power;
    mpfr_init2(power, mpfr_get_prec(out) + 128);
    mpfr_set_si(power, 20 * (long)pair + 4 * (long)s->width, MPFR_RNDN);
    mpfr_div_si(power, power, 14 * (long)s->width, MPFR_RNDN);
    mpfr_log(power, power, MPFR_RNDN);
    mpfr_mul_si(power, power, p - s->center, MPFR_RNDN);
    mpfr_div_d(power, power, s->scale_base, MPFR_RNDN);
    mpfr_exp(out, power, MPFR_RNDN);
    mpfr_clear(power);
}

/* Which pair and which function an element of a rotary table is. */
static enum part rope_part(const struct pe_spec *s, char tensor, uint64_t e, size_t *pair)
{
    static const enum part matrix[] = {COS, MINUS_SIN, SIN, COS};
    size_t half = (size_t)s->width / 2;
    enum part plane = tensor == 'c' ? COS : tensor == 's' ? SIN : SCALE;
    *pair = (size_t)e;
    switch (s->layout) {
    case PE_LAYOUT_SPLIT:
        *pair = (size_t)e % half;
        return plane;
    case PE_LAYOUT_INTERLEAVED:
        *pair = (size_t)e / 2;
        return plane;
    case PE_LAYOUT_COS_SIN:
        *pair = (size_t)e % half;
        return e < half ? COS : SIN;
    case PE_LAYOUT_COMPLEX:
        *pair = (size_t)e / 2;
        return e % 2 ? SIN : COS;
    case PE_LAYOUT_MATRIX:
        *pair = (size_t)e / 4;
        return matrix[e % 4];
    case PE_LAYOUT_PHASE:
        return PHASE;
    default:
        return plane;
    }
}

static void rope_value(struct pe__exact_table *t, const struct pe__place *at, mpfr_ptr out)
{
    const struct pe_spec *s = &t->spec;
    const char *name = t->tensors[at->tensor].name;
    int64_t p[3];
    size_t pair;
    unsigned axis = 0;
    /* "cos", "sin", "scale" or "table" */
    enum part part =
        rope_part(s, name[0] == 's' && name[1] == 'c' ? 'x' : name[0], at->element, &pair);
    pe_row_positions(s, at->row, p);
    if (part == SCALE) {
        xpos_scale(s, pair, p[0], out);
        return;
    }
    if (s->kind == PE_KIND_MROPE)
        axis = pe__mrope_axis(s, pair);
    if (s->kind == PE_KIND_AXIAL_ROPE) {
        axis = pair >= t->f.pairs;
        pair %= t->f.pairs;
    }
    evaluate(t, part, pair, p[axis], out);
    if (s->inverse && (part == SIN || part == MINUS_SIN))
        negate(out);
}

/* An odd width ends in a zero or in a lone sine; of two blocks the longer one is that of the sines.
 */
static enum part sinusoidal_part(const struct pe_spec *s, uint64_t e, size_t *pair)
{
    uint64_t width = (uint64_t)s->width, half = width / 2;
    bool cos_first = s->order == PE_ORDER_COS, second;
    if (width % 2 && s->odd == PE_ODD_ZERO && e == width - 1)
        return ZERO;
    if (s->layout == PE_LAYOUT_SPLIT) {
        uint64_t block = cos_first ? half : half + (width % 2 && s->odd == PE_ODD_SINE);
        second = e >= block;
        *pair = (size_t)(second ? e - block : e);
    } else {
        second = e % 2;
        *pair = (size_t)e / 2;
        if (width % 2 && e == width - 1)
            return SIN;
    }
    return second != cos_first ? COS : SIN;
}

static void sinusoidal_value(struct pe__exact_table *t, const struct pe__place *at, mpfr_ptr out)
{
    const struct pe_spec *s = &t->spec;
    int64_t p[3];
    size_t pair = 0;
    enum part part = sinusoidal_part(s, at->element, &pair);
    pe_row_positions(s, at->row, p);
    if (part == ZERO || (pe__given(s, PE_PARAM_PADDING_IDX) && p[0] == s->padding_idx)) {
        mpfr_set_zero(out, 1);
        return;
    }
    evaluate(t, part, pair, p[0], out);
    if (part == SIN && signbit(s->scale))
        negate(out);
}

/* Sines then cosines of one axis in one half of the columns, of the other in the other. */
static void grid_value(struct pe__exact_table *t, const struct pe__place *at, mpfr_ptr out)
{
    const struct pe_spec *s = &t->spec;
    uint64_t quarter = (uint64_t)s->width / 4, block = at->element / quarter;
    uint64_t row = at->row - (s->cls_token ? 1 : 0), columns = (uint64_t)s->columns;
    bool column = (block / 2 == 1) != (s->order == PE_ORDER_WH);
    if (s->cls_token && at->row == 0) {
        mpfr_set_zero(out, 1);
        return;
    }
    evaluate(t, block % 2 ? COS : SIN, (size_t)(at->element % quarter),
             (int64_t)(column ? row % columns : row / columns), out);
}

/* ---------------------------------------------------------------- alibi */

/* 2^(-max (h+1) / c) for h < c, the greatest power of 2 up to the heads; then 2^(-max (2(h-c)+1) /
 * 2c). Press, Smith and Lewis, 2022. */
static void slope(const struct pe_spec *s, int64_t h, mpfr_ptr out)
{
    int64_t c = 1;
    mpfr_t e;
    while (c <= s->width / 2)
        c *= 2;
    mpfr_init2(e, 53 + 64);
    mpfr_set_d(e, -s->alibi_bias_max, MPFR_RNDN);
    mpfr_mul_si(e, e, h < c ? h + 1 : 2 * (h - c) + 1, MPFR_RNDN);
    mpfr_div_si(e, e, h < c ? c : 2 * c, MPFR_RNDN);
    mpfr_exp2(out, e, MPFR_RNDN);
    mpfr_clear(e);
}

static void alibi_value(struct pe__exact_table *t, const struct pe__place *at, mpfr_ptr out)
{
    const struct pe_spec *s = &t->spec;
    const struct pe_tensor *tensor = &t->tensors[at->tensor];
    uint64_t index = at->row * tensor->row_elements + at->element;
    if (tensor->rank == 1) {
        slope(s, (int64_t)index, out);
        return;
    }
    int64_t key = (int64_t)(index % (uint64_t)s->length);
    int64_t query = (int64_t)(index / (uint64_t)s->length % (uint64_t)s->queries) + s->offset;
    int64_t head = (int64_t)(index / (uint64_t)s->length / (uint64_t)s->queries);
    int64_t distance = key - query;
    if (distance > 0 && s->masked) {
        mpfr_set_inf(out, -1);
        return;
    }
    if (distance > 0 && s->symmetric)
        distance = -distance;
    mpfr_t x;
    mpfr_init2(x, mpfr_get_prec(out) + 64);
    slope(s, head, x);
    mpfr_mul_si(out, x, distance, MPFR_RNDN);
    mpfr_clear(x);
}

void pe__exact_value(struct pe__exact_table *t, const struct pe__place *at, mpfr_ptr out)
{
    switch (t->spec.kind) {
    case PE_KIND_SINUSOIDAL:
        sinusoidal_value(t, at, out);
        break;
    case PE_KIND_GRID:
        grid_value(t, at, out);
        break;
    case PE_KIND_ALIBI:
        alibi_value(t, at, out);
        break;
    default:
        rope_value(t, at, out);
    }
}
