/* SPDX-License-Identifier: MIT
 *
 * extent.c: see extent.h. Pure arithmetic over the tensors of a table, apart from the call that
 * fills.
 */
#include "extent.h"
#include "must.h"

#include <string.h>

bool extent_of(const struct api_table *table, struct extent *x)
{
    memset(x, 0, sizeof *x);
    x->count = table->tensor_count;
    for (unsigned t = 0; t < x->count; t++) {
        const struct pe_tensor *in = &table->tensors[t];
        x->offset[t] = x->bytes;
        x->rows[t] = in->bytes ? in->rows : 0; /* nothing to make */
        if (__builtin_mul_overflow(in->row_elements, pe_dtype_size(in->dtype), &x->row_bytes[t]) ||
            __builtin_add_overflow(x->bytes, in->bytes, &x->bytes))
            return false;
        unsigned same = 0;
        while (same < t && x->rows[same] != x->rows[t])
            same++;
        x->base[t] = same < t ? x->base[same] : x->goal;
        if (same == t && __builtin_add_overflow(x->goal, x->rows[t], &x->goal))
            return false;
    }
    return x->bytes < INT64_MAX;
}

/* The tensors whose rows are next after `progress`: the progress at which they begin, how many rows
 * they have, and how many bytes a row takes in all of them. */
struct group {
    uint64_t base, rows, row_bytes;
};

static struct group group_at(const struct extent *x, uint64_t progress)
{
    struct group g = {0, 0, 0};
    for (unsigned t = 0; t < x->count; t++)
        if (progress >= x->base[t] && progress - x->base[t] < x->rows[t]) {
            g.base = x->base[t];
            g.rows = x->rows[t];
            g.row_bytes += x->row_bytes[t];
        }
    must(g.rows > 0 && g.row_bytes > 0);
    return g;
}

static uint64_t rows_of(struct group g, uint64_t progress, uint64_t bytes)
{
    uint64_t n = bytes / g.row_bytes, left = g.rows - (progress - g.base);
    n = n ? n : 1;
    return n < left ? n : left;
}

uint64_t extent_next(const struct extent *x, uint64_t progress, uint64_t bytes)
{
    return progress + rows_of(group_at(x, progress), progress, bytes);
}

uint64_t extent_back(const struct extent *x, uint64_t progress, uint64_t least, uint64_t *bytes)
{
    struct group g = group_at(x, progress - 1);
    uint64_t n = *bytes / g.row_bytes, first = g.base > least ? g.base : least;
    n = n ? n : 1;
    n = n < progress - first ? n : progress - first;
    *bytes = n * g.row_bytes;
    return progress - n;
}

uint64_t extent_fill(const struct extent *x, const struct api_table *table,
                     const struct pe_plan *plan, uint64_t progress, uint64_t bytes,
                     unsigned char *at)
{
    void *out[API_MAX_TENSORS] = {NULL};
    struct group g = group_at(x, progress);
    uint64_t first = progress - g.base, n = rows_of(g, progress, bytes);
    bool good = true;
    for (unsigned t = 0; good && t < x->count; t++) {
        if (x->base[t] != g.base || x->rows[t] != g.rows)
            continue;
        out[t] = at + x->offset[t] + first * x->row_bytes[t];
        if (table->layout)
            good = api_table_fill(table, plan, t, first, n, out[t]);
    }
    if (!table->layout)
        good = pe_fill(plan, first, n, out) == PE_OK;
    return good ? progress + n : 0;
}

unsigned extent_tensor(const struct extent *x, uint64_t at)
{
    unsigned t = x->count - 1;
    while (t > 0 && at < x->offset[t])
        t--;
    return t;
}
