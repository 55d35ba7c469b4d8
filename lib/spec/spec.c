/* SPDX-License-Identifier: MIT
 *
 * spec.c: the tensors of a spec: names, shapes, rows, bytes.
 *
 * Every product is checked before anybody allocates or promises a length. Tensors come in payload
 * order: by element size downwards, then by dtype as in dtypes.def, then by name. A row is as much
 * as one position owns; where a position owns a whole plane of keys it is one element, so that any
 * length streams in bounded memory.
 */
#include "must.h"
#include "spec.h"

#include <string.h>

struct shape {
    unsigned rank;
    uint64_t at[PE_MAX_RANK + 4];
};

struct list {
    struct pe_tensor *at;
    enum pe_dtype dtype;
    unsigned count;
    bool fits;
};

static bool multiply(const struct shape *s, unsigned first, unsigned end, uint64_t *product)
{
    bool fits = true;
    *product = 1;
    for (unsigned i = first; i < end; i++)
        fits = !__builtin_mul_overflow(*product, s->at[i], product) && fits;
    return fits;
}

/* A row is what follows the first `lead` axes. */
static void add(struct list *list, const char *name, unsigned lead, const struct shape *shape)
{
    struct pe_tensor *t = &list->at[list->count++];
    bool fits;
    *t = (struct pe_tensor){.name = name, .dtype = list->dtype, .rank = shape->rank};
    memcpy(t->shape, shape->at, sizeof t->shape);
    fits = multiply(shape, 0, lead, &t->rows);
    fits = multiply(shape, lead, shape->rank, &t->row_elements) && fits;
    fits = !__builtin_mul_overflow(t->rows, t->row_elements, &t->bytes) && fits;
    fits =
        !__builtin_mul_overflow(t->bytes, (uint64_t)pe_dtype_size(list->dtype), &t->bytes) && fits;
    list->fits = list->fits && fits && t->bytes <= INT64_MAX;
}

static struct shape shape_of(unsigned rank, int64_t a, int64_t b, int64_t c)
{
    return (struct shape){rank, {(uint64_t)a, (uint64_t)b, (uint64_t)c}};
}

static void append(struct shape *s, int64_t n)
{
    must(s->rank < sizeof s->at / sizeof *s->at);
    s->at[s->rank++] = (uint64_t)n;
}

/* ---------------------------------------------------------------- tables */

/* One row for each position. */
static struct shape lead_shape(const struct pe_spec *s, bool *fits)
{
    struct shape lead = {0};
    unsigned axes = s->kind == PE_KIND_MROPE || s->kind == PE_KIND_AXIAL_ROPE ? 1 : 0;
    if (pe__given(s, PE_PARAM_POSITIONS)) {
        for (unsigned i = axes; i < s->rank; i++)
            lead.at[lead.rank++] = s->shape[i];
        return lead;
    }
    if (s->kind == PE_KIND_GRID || s->kind == PE_KIND_AXIAL_ROPE) {
        int64_t rows;
        *fits = !__builtin_mul_overflow(s->height, s->columns, &rows) &&
                !__builtin_add_overflow(rows, s->cls_token ? 1 : 0, &rows) && *fits;
        return shape_of(1, rows, 0, 0);
    }
    return shape_of(1, s->length, 0, 0);
}

static void rope_tensors(const struct pe_spec *s, struct list *list)
{
    struct shape shape = lead_shape(s, &list->fits);
    unsigned lead = shape.rank;
    bool twice = s->layout == PE_LAYOUT_SPLIT || s->layout == PE_LAYOUT_INTERLEAVED;
    bool planes = twice || s->layout == PE_LAYOUT_PAIRS;
    append(&shape, twice || s->layout == PE_LAYOUT_COS_SIN ? s->width : s->width / 2);
    if (s->layout == PE_LAYOUT_COMPLEX || s->layout == PE_LAYOUT_MATRIX)
        append(&shape, 2);
    if (s->layout == PE_LAYOUT_MATRIX)
        append(&shape, 2);
    if (!planes) {
        add(list, "table", lead, &shape);
        return;
    }
    add(list, "cos", lead, &shape);
    if (s->kind == PE_KIND_XPOS)
        add(list, "scale", lead, &shape);
    add(list, "sin", lead, &shape);
}

static void weight_tensor(const struct pe_spec *s, struct list *list)
{
    struct shape shape = lead_shape(s, &list->fits);
    unsigned lead = shape.rank;
    append(&shape, s->width);
    add(list, "weight", lead, &shape);
}

static void alibi_tensors(const struct pe_spec *s, struct list *list)
{
    struct shape slopes = shape_of(1, s->width, 0, 0);
    struct shape bias = shape_of(3, s->width, s->queries, s->length);
    if (pe__given(s, PE_PARAM_LENGTH))
        add(list, "bias", 3, &bias);
    add(list, "slopes", 1, &slopes);
}

static void bucket_tensor(const struct pe_spec *s, struct list *list)
{
    struct shape shape = shape_of(2, s->queries, s->length, 0);
    list->dtype = PE_DTYPE_I32;
    add(list, "bucket", 2, &shape);
}

/* ---------------------------------------------------------------- beside a table */

static void frequency_tensors(const struct pe_spec *s, struct list *list)
{
    struct shape scalar = {0}, range = shape_of(1, 2, 0, 0);
    struct shape ladder = shape_of(1, (int64_t)pe__ladder_pairs(s), 0, 0);
    list->dtype = PE_DTYPE_F64;
    add(list, "attention_factor", 0, &scalar);
    add(list, "base", 0, &scalar);
    if (s->rope_type == PE_ROPE_TYPE_YARN)
        add(list, "correction_range", 1, &range);
    add(list, "inv_freq", 1, &ladder);
    add(list, "wavelength", 1, &ladder);
}

static void shift_tensor(const struct pe_spec *s, struct list *list)
{
    struct shape shape =
        s->compact ? shape_of(2, s->width / 2, 2, 0) : shape_of(2, s->width, s->width, 0);
    add(list, "matrix", 1, &shape);
}

static void similarity_tensor(const struct pe_spec *s, struct list *list)
{
    struct shape shape = shape_of(1, s->max_offset + 1, 0, 0);
    add(list, "similarity", 1, &shape);
}

/* ---------------------------------------------------------------- all of them */

static void table_tensors(const struct pe_spec *s, struct list *list)
{
    switch (s->kind) {
    case PE_KIND_ALIBI:
        alibi_tensors(s, list);
        break;
    case PE_KIND_T5:
    case PE_KIND_DEBERTA:
        bucket_tensor(s, list);
        break;
    case PE_KIND_SINUSOIDAL:
    case PE_KIND_GRID:
        weight_tensor(s, list);
        break;
    default:
        rope_tensors(s, list);
    }
}

bool pe__spec_shapes(const struct pe_spec *s, struct pe_tensor out[PE_MAX_TENSORS], unsigned *count)
{
    struct list list = {out, (enum pe_dtype)s->dtype, 0, true};
    switch (s->resource) {
    case PE_RESOURCE_FREQUENCIES:
        frequency_tensors(s, &list);
        break;
    case PE_RESOURCE_SHIFT:
        shift_tensor(s, &list);
        break;
    case PE_RESOURCE_SIMILARITY:
        similarity_tensor(s, &list);
        break;
    default:
        table_tensors(s, &list);
    }
    must(list.count <= PE_MAX_TENSORS);
    *count = list.count;
    return list.fits;
}

unsigned pe_spec_tensors(const struct pe_spec *s, struct pe_tensor out[PE_MAX_TENSORS])
{
    unsigned count;
    must(pe__spec_shapes(s, out, &count));
    return count;
}
