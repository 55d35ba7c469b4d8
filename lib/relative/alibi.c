/* SPDX-License-Identifier: MIT
 *
 * alibi.c: attention with linear biases (Press et al. 2022): slopes and biases, correctly rounded.
 *
 * A bias is a slope, a power of two with a broken exponent, times an integer. A product in
 * binary64, or in twice as many bits for that type itself, rounds as the exact one does unless it
 * comes to lie near a boundary; there 256 bits decide.
 */
#include "dtype.h"
#include "table/producer.h"
#include "table/quick.h"
#include "rotation/wide.h"
#include "spec/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION 320

struct slope {
    struct pe__wide exact;
    double near[2]; /* and the rest; 0 and 0 where it is too small for that */
};

struct alibi {
    const struct pe_spec *spec;
    enum pe_dtype dtype;
    size_t size;
    struct slope slopes[];
};

/* ---------------------------------------------------------------- slopes */

/* 2^(-bias_max (h+1) / c), c = 2^floor(log2 heads), for h < c; the rest 2^(-bias_max (2 (h-c) + 1)
 * / 2c) */
static void set_slope(mpfr_ptr out, const struct pe_spec *s, uint64_t head)
{
    unsigned bits = 63 - (unsigned)__builtin_clzll((uint64_t)s->width);
    uint64_t whole = UINT64_C(1) << bits;
    uint64_t steps = head < whole ? 2 * (head + 1) : 2 * (head - whole) + 1;
    mpfr_set_d(out, -s->alibi_bias_max, MPFR_RNDN);
    mpfr_mul_ui(out, out, steps, MPFR_RNDN);
    mpfr_div_2ui(out, out, bits + 1, MPFR_RNDN);
    mpfr_exp2(out, out, MPFR_RNDN);
}

/* Beyond any dtype: 2^-4000 keeps its sign and rounds to zero, also 2^53 times as great. */
static void bound(mpfr_ptr slope)
{
    if (mpfr_zero_p(slope) || mpfr_get_exp(slope) < -4000)
        mpfr_set_ui_2exp(slope, 1, -4000, MPFR_RNDN);
}

static enum pe_error create(const struct pe__making *m, void **state)
{
    const struct pe_spec *s = m->spec;
    size_t heads = (size_t)s->width;
    struct alibi *a = malloc(sizeof *a + heads * sizeof a->slopes[0]);
    mpfr_t slope;
    *state = a;
    if (!a)
        return PE_NO_MEMORY;
    *a = (struct alibi){s, (enum pe_dtype)s->dtype, pe_dtype_size((enum pe_dtype)s->dtype)};
    mpfr_init2(slope, PRECISION);
    for (size_t h = 0; h < heads; h++) {
        set_slope(slope, s, h);
        bound(slope);
        pe__wide_from_mpfr(&a->slopes[h].exact, slope);
        a->slopes[h].near[0] = a->slopes[h].near[1] = 0;
        if (mpfr_get_exp(slope) > -900)
            pe__wide_to_dd(&a->slopes[h].exact, a->slopes[h].near);
    }
    mpfr_clear(slope);
    return PE_OK;
}

static void destroy(void **state)
{
    free(*state);
    *state = NULL;
}

static size_t bytes(const void *state)
{
    const struct alibi *a = state;
    return sizeof *a + (size_t)a->spec->width * sizeof a->slopes[0];
}

static void fill_slopes(const struct alibi *a, uint64_t first, uint64_t rows, char *out)
{
    for (uint64_t i = 0; i < rows; i++)
        pe__wide_store(&a->slopes[first + i].exact, false, a->dtype, out + i * a->size);
}

/* ---------------------------------------------------------------- biases */

/* slope * distance for distances `from`, `from` + step, ... >= 0, `n` of them. */
struct stretch {
    const struct slope *slope;
    int64_t from;
    int step;
    size_t n;
    bool negative;
};

static void store_exact(const struct alibi *a, const struct stretch *s, size_t i, char *out)
{
    uint64_t distance = (uint64_t)(s->from + (int64_t)i * s->step);
    struct pe__wide product;
    pe__wide_mul_u64(&product, &s->slope->exact, distance);
    product.negative = s->negative;
    if (distance == 0)
        memset(out, 0, a->size);
    else
        pe__wide_store(&product, false, a->dtype, out);
}

static void fill_wide(const struct alibi *a, const struct stretch *s, char *out)
{
    for (size_t i = 0; i < s->n; i++) {
        double distance[2] = {(double)(s->from + (int64_t)i * s->step), 0}, v;
        if (pe__round_product(s->slope->near, distance, &v)) {
            v = s->negative ? -v : v;
            memcpy(out + i * sizeof v, &v, sizeof v);
        } else {
            store_exact(a, s, i, out + i * sizeof v);
        }
    }
}

static void fill_narrow(const struct alibi *a, const struct stretch *s, char *out)
{
    const struct pe__narrow to = pe__narrow_of(a->dtype);
    uint32_t sign = (uint32_t)s->negative << (8 * to.size - 1);
    for (size_t i = 0; i < s->n; i++, out += to.size) {
        uint32_t bits;
        uint16_t half;
        double v = s->slope->near[0] * (double)(s->from + (int64_t)i * s->step);
        bool certain = pe__round_narrow(v, &to, &bits);
        bits |= sign;
        half = (uint16_t)bits;
        if (!certain)
            store_exact(a, s, i, out);
        else if (to.size == 4)
            memcpy(out, &bits, sizeof bits);
        else
            memcpy(out, &half, sizeof half);
    }
}

static void fill_stretch(const struct alibi *a, const struct stretch *s, char *out)
{
    if (a->dtype == PE_DTYPE_F64)
        fill_wide(a, s, out);
    else
        fill_narrow(a, s, out);
}

static void fill_masked(const struct alibi *a, size_t n, char *out)
{
    for (size_t i = 0; i < n; i++)
        pe__store_f64(-INFINITY, a->dtype, out + i * a->size);
}

/* Keys key .. end-1 of one query of one head. */
struct keys {
    uint64_t head;
    int64_t query, key, end;
};

/* Those up to the query, then those ahead. */
static void fill_query(const struct alibi *a, const struct keys *k, char *out)
{
    const struct slope *slope = &a->slopes[k->head];
    int64_t next = k->query + 1;
    int64_t split = next < k->key ? k->key : next > k->end ? k->end : next;
    struct stretch behind = {slope, k->query - k->key, -1, (size_t)(split - k->key), true};
    struct stretch ahead = {slope, split - k->query, 1, (size_t)(k->end - split),
                            a->spec->symmetric};
    fill_stretch(a, &behind, out);
    out += behind.n * a->size;
    if (a->spec->masked)
        fill_masked(a, ahead.n, out);
    else
        fill_stretch(a, &ahead, out);
}

static void fill_bias(const struct alibi *a, uint64_t first, uint64_t rows, char *out)
{
    uint64_t length = (uint64_t)a->spec->length, queries = (uint64_t)a->spec->queries;
    uint64_t key = first % length, query = first / length % queries;
    uint64_t head = first / length / queries;
    for (uint64_t n; rows; rows -= n, key = 0) {
        n = length - key < rows ? length - key : rows;
        struct keys keys = {head, a->spec->offset + (int64_t)query, (int64_t)key,
                            (int64_t)(key + n)};
        fill_query(a, &keys, out);
        out += n * a->size;
        query++;
        if (query == queries) {
            query = 0;
            head++;
        }
    }
}

/* The tensors are slopes alone, or bias and slopes. */
static void fill(const void *state, uint64_t first, uint64_t rows, void *const out[])
{
    const struct alibi *a = state;
    bool biases = pe__given(a->spec, PE_PARAM_LENGTH);
    if (biases && out[0])
        fill_bias(a, first, rows, out[0]);
    if (out[biases])
        fill_slopes(a, first, rows, out[biases]);
}

const struct pe__producer pe__alibi_producer = {create, destroy, bytes, fill};
