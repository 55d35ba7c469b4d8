/* SPDX-License-Identifier: MIT
 *
 * precision.c: how far the values of a table are from the exact ones.
 *
 * What a client would get is filled as for a client, and compared with the exact values rounded to
 * binary64, which are 2^29 times finer than a float32. Only where binary64 itself is to be judged
 * does MPFR give the exact values, to 256 bits. Work and memory are bounded by the budget and by
 * one row.
 */
#include "precision.h"

#include "dtype.h"
#include "precision_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one value from MPFR costs, in values from a kernel. */
#define SLOW 64

/* What a row costs besides its values, likewise: rows far apart share little. */
#define ROW 32

#define EXACT_BITS 256

double pe__ulps(double error, double exact, enum pe_dtype dtype)
{
    static const struct {
        int bits, least;
    } formats[] = {[PE_DTYPE_F64] = {53, -1022},
                   [PE_DTYPE_F32] = {24, -126},
                   [PE_DTYPE_F16] = {11, -14},
                   [PE_DTYPE_BF16] = {8, -126}};
    int e = exact == 0 ? -2000 : ilogb(exact);
    e = e < formats[dtype].least ? formats[dtype].least : e;
    /* in two steps: 2^1074 is no double */
    return ldexp(ldexp(error, -e), formats[dtype].bits - 1);
}

uint64_t pe__examined_row(uint64_t i, uint64_t n, uint64_t rows)
{
    __extension__ unsigned __int128 spread = (unsigned __int128)i * (rows - 1);
    return n == rows ? i : n < 2 ? 0 : (uint64_t)(spread / (n - 1));
}

double pe_value(const void *element, enum pe_dtype dtype)
{
    int64_t wide;
    int32_t narrow;
    if (pe__dtype_real(dtype))
        return pe__load_f64(element, dtype);
    if (dtype == PE_DTYPE_I64) {
        memcpy(&wide, element, sizeof wide);
        return (double)wide;
    }
    if (dtype == PE_DTYPE_I32) {
        memcpy(&narrow, element, sizeof narrow);
        return (double)narrow;
    }
    return *(const unsigned char *)element;
}

struct study {
    const struct pe_spec *spec;
    const struct pe_tensor *tensor;
    unsigned index;
    struct pe_plan *plan, *finer;  /* finer: exact, in binary64; or NULL and */
    struct pe__exact_table *exact; /* this instead */
    char *values, *reference;
    mpfr_t x;
};

static void note(struct pe_worst *w, double error, const struct pe__place *at)
{
    if (error <= w->error)
        return;
    *w = (struct pe_worst){error, at->row, at->element};
}

/* The error of one value, and the exact value as a double. */
static double error_of(struct study *s, const struct pe__place *at, double value, double *exact)
{
    if (!s->exact) {
        memcpy(exact, s->reference + at->element * sizeof *exact, sizeof *exact);
        return fabs(value - *exact);
    }
    pe__exact_value(s->exact, at, s->x);
    *exact = mpfr_get_d(s->x, MPFR_RNDZ);
    mpfr_sub_d(s->x, s->x, value, MPFR_RNDN);
    return fabs(mpfr_get_d(s->x, MPFR_RNDN));
}

static void study_row(struct study *s, uint64_t row, struct pe_precision *out)
{
    enum pe_dtype dtype = s->tensor->dtype;
    for (uint64_t e = 0; e < s->tensor->row_elements; e++) {
        struct pe__place at = {s->index, row, e};
        double exact, value = pe__load_f64(s->values + e * pe_dtype_size(dtype), dtype);
        double error = error_of(s, &at, value, &exact);
        if (isinf(value)) {
            out->infinite++;
            continue;
        }
        note(&out->absolute, error, &at);
        note(&out->ulp, pe__ulps(error, exact, dtype), &at);
    }
}

static enum pe_error fill(const struct study *s, const struct pe_plan *plan, uint64_t row, void *at)
{
    void *out[PE_MAX_TENSORS] = {0};
    out[s->index] = at;
    return pe_fill(plan, row, 1, out);
}

static enum pe_error study_tensor(struct study *s, uint64_t budget, struct pe_precision *out)
{
    const struct pe_tensor *t = s->tensor;
    uint64_t cost = t->row_elements * (s->exact ? SLOW : 1) + ROW;
    uint64_t n = budget / cost;
    enum pe_error error = PE_OK;
    n = n < 2 ? 2 : n;
    n = n < t->rows ? n : t->rows;
    *out =
        (struct pe_precision){.tensor = t->name, .dtype = t->dtype, .rows = t->rows, .examined = n};
    s->values = malloc(t->row_elements * pe_dtype_size(t->dtype) + 1);
    s->reference = malloc(t->row_elements * sizeof(double) + 1);
    if (!s->values || !s->reference)
        error = PE_NO_MEMORY;
    for (uint64_t i = 0; !error && i < n; i++) {
        uint64_t row = pe__examined_row(i, n, t->rows);
        error = fill(s, s->plan, row, s->values);
        if (!error && s->finer)
            error = fill(s, s->finer, row, s->reference);
        if (!error)
            study_row(s, row, out);
    }
    free(s->values);
    free(s->reference);
    return error;
}

/* Plans for both sides. */
static enum pe_error prepare(struct study *s)
{
    struct pe_spec finer = *s->spec;
    enum pe_error error = pe_plan_create(s->spec, &s->plan);
    if (error)
        return error;
    finer.arithmetic = PE_ARITHMETIC_EXACT;
    finer.dtype = PE_DTYPE_F64;
    finer.given |= UINT64_C(1) << PE_PARAM_DTYPE;
    if (s->spec->dtype == PE_DTYPE_F64 && s->spec->arithmetic == PE_ARITHMETIC_EXACT)
        return pe__exact_table_create(s->spec, &s->exact);
    return pe_plan_create(&finer, &s->finer);
}

enum pe_error pe_precision_study(const struct pe_spec *spec, uint64_t budget,
                                 struct pe_precision out[PE_MAX_TENSORS], unsigned *count)
{
    struct pe_tensor tensors[PE_MAX_TENSORS];
    struct study s = {.spec = spec};
    unsigned tensor_count;
    *count = 0;
    if (spec->resource != PE_RESOURCE_TABLE || spec->kind == PE_KIND_T5 ||
        spec->kind == PE_KIND_DEBERTA)
        return PE_INVALID;
    tensor_count = pe_spec_tensors(spec, tensors);
    enum pe_error error = prepare(&s);
    mpfr_init2(s.x, EXACT_BITS);
    for (unsigned t = 0; !error && t < tensor_count; t++) {
        s.index = t;
        s.tensor = &tensors[t];
        error = study_tensor(&s, budget / tensor_count, &out[(*count)++]);
    }
    mpfr_clear(s.x);
    pe_plan_destroy(&s.plan);
    pe_plan_destroy(&s.finer);
    pe__exact_table_destroy(&s.exact);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    return error;
}
