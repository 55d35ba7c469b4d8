/* SPDX-License-Identifier: MIT
 *
 * layouts_table.c: a layout as the tensors of a table, and its rows. Rows of a kind are filled by
 * runs of ids that rise by one; an id that comes again, as pads have it, is copied.
 */
#include "layouts_table.h"
#include "layouts.h"

#include <string.h>

/* Ids that are looked at together. */
#define IDS 512

/* The shape of the ids, then that of one row. */
static struct pe_tensor rows_of(const struct pe_tensor *ids, const struct pe_tensor *of_spec)
{
    struct pe_tensor t = *of_spec;
    t.rank = ids->rank + of_spec->rank - 1;
    memcpy(t.shape, ids->shape, ids->rank * sizeof *t.shape);
    memcpy(t.shape + ids->rank, of_spec->shape + 1, (of_spec->rank - 1) * sizeof *t.shape);
    t.rows = ids->rows;
    if (__builtin_mul_overflow(t.rows, t.row_elements, &t.bytes) ||
        __builtin_mul_overflow(t.bytes, pe_dtype_size(t.dtype), &t.bytes) || t.bytes > INT64_MAX)
        t.rows = t.bytes = UINT64_MAX;
    return t;
}

/* The rows of a stored table. */
static struct pe_tensor stored_row(const struct api_learned_table *t, const struct pe_spec *spec)
{
    return (struct pe_tensor){.name = "weight",
                              .dtype = (enum pe_dtype)spec->dtype,
                              .rank = 2,
                              .shape = {t->file.rows, t->file.width},
                              .rows = t->file.rows,
                              .row_elements = t->file.width};
}

static bool stands_before(const struct pe_tensor *a, const struct pe_tensor *b)
{
    return a->dtype != b->dtype ? a->dtype < b->dtype : strcmp(a->name, b->name) < 0;
}

static void insert(struct api_table *table, struct api_layout *l, struct pe_tensor t, bool is_rows,
                   enum pe_out out, unsigned spec)
{
    unsigned at = table->tensor_count++;
    for (; at > 0 && stands_before(&t, &table->tensors[at - 1]); at--) {
        table->tensors[at] = table->tensors[at - 1];
        l->source[at] = l->source[at - 1];
    }
    table->tensors[at] = t;
    l->source[at].is_rows = is_rows;
    l->source[at].out = out;
    l->source[at].spec = spec;
}

void api__layout_tensors(struct api__call *call, const struct pe_layout *layout,
                         const struct pe_spec *rows, struct api_table *table)
{
    struct pe_tensor tensors[PE_OUTS], of_spec[PE_MAX_TENSORS], ids;
    enum pe_out outs[PE_OUTS];
    struct api_layout *l = api__arena_take(call->arena, sizeof *l);
    memset(l, 0, sizeof *l);
    l->layout = layout;
    unsigned n = pe_layout_tensors(layout, tensors, outs);
    unsigned m = 0;
    if (rows && call->facts)
        of_spec[m++] = stored_row(call->facts->tables, rows);
    else if (rows)
        m = pe_spec_tensors(rows, of_spec);
    table->layout = l;
    table->tensors = api__arena_array(call->arena, n + m, sizeof *table->tensors);
    table->tensor_count = 0;
    for (unsigned i = 0; i < n; i++)
        insert(table, l, tensors[i], false, outs[i], 0);
    if (!rows)
        return;
    l->has_rows = true;
    l->first = rows->positions.count ? rows->positions.at[0] : rows->offset;
    pe_layout_positions_tensor(layout, &ids);
    for (unsigned i = 0; i < m; i++)
        insert(table, l, rows_of(&ids, &of_spec[i]), true, PE_OUT_POSITION_IDS, i);
}

bool api_layout_has_rows(const struct api_layout *l)
{
    return l->has_rows;
}

bool api_layout_is_rows(const struct api_layout *l, unsigned tensor)
{
    return l->source[tensor].is_rows;
}

void api_layout_positions(const struct api_layout *l, uint64_t first, uint64_t rows, int64_t *out)
{
    pe_layout_positions(l->layout, first, rows, out);
}

/* Where rows of one tensor of a spec go. */
struct filling {
    const struct pe_plan *plan;
    unsigned tensor;
    int64_t first; /* the id of row 0 */
    size_t row;    /* bytes */
    char *out;
};

/* Rows for ids [0, count): runs of neighbours at once. */
static bool fill_ids(const struct filling *f, const int64_t *ids, uint64_t count)
{
    for (uint64_t i = 0, n; i < count; i += n) {
        void *outs[PE_MAX_TENSORS] = {NULL};
        n = 1;
        if (i && ids[i] == ids[i - 1]) {
            memcpy(f->out + i * f->row, f->out + (i - 1) * f->row, f->row);
            continue;
        }
        while (i + n < count && ids[i + n] == ids[i] + (int64_t)n)
            n++;
        outs[f->tensor] = f->out + i * f->row;
        if (pe_fill(f->plan, (uint64_t)(ids[i] - f->first), n, outs) != PE_OK)
            return false;
    }
    return true;
}

static bool fill_rows(const struct pe_layout *layout, struct filling f, uint64_t first,
                      uint64_t rows)
{
    int64_t ids[IDS];
    while (rows) {
        uint64_t n = rows < IDS ? rows : IDS;
        pe_layout_positions(layout, first, n, ids);
        if (!fill_ids(&f, ids, n))
            return false;
        f.out += n * f.row;
        first += n;
        rows -= n;
    }
    return true;
}

bool api_table_fill(const struct api_table *table, const struct pe_plan *plan, unsigned tensor,
                    uint64_t first, uint64_t rows, void *out)
{
    const struct api_layout *l = table->layout;
    if (!l) {
        void *outs[PE_MAX_TENSORS] = {NULL};
        outs[tensor] = out;
        return pe_fill(plan, first, rows, outs) == PE_OK;
    }
    if (l->source[tensor].is_rows) {
        const struct pe_tensor *t = &table->tensors[tensor];
        struct filling f = {plan, l->source[tensor].spec, l->first,
                            (size_t)t->row_elements * pe_dtype_size(t->dtype), out};
        return fill_rows(l->layout, f, first, rows);
    }
    pe_layout_fill(l->layout, l->source[tensor].out, first, rows, out);
    return true;
}
