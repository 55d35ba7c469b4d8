/* SPDX-License-Identifier: MIT
 *
 * writer.c: the order of a written body: head, then for each tensor that is sent its begin, rows
 * and end, then the tail. Which tensor is under way follows from the calls; tensors without
 * elements get no rows and are begun and ended in passing. Formats say what each part looks like
 * (format.h).
 */
#include "cells.h"

#include "must.h"

#include <string.h>

static const struct api__writing *writing(const struct api_table *table)
{
    must(table->format->writing);
    return table->format->writing;
}

size_t api_writer_head_size(const struct api_table *table)
{
    return writing(table)->open_size(table);
}

size_t api_writer_room(const struct api_table *table, unsigned tensor, uint64_t rows)
{
    must(tensor < table->tensor_count);
    const struct pe_tensor *t = &table->tensors[tensor];
    uint64_t elements;
    if (__builtin_mul_overflow(rows, t->row_elements, &elements))
        return SIZE_MAX;
    return api__room(writing(table)->rows_size(t, elements), 1, writing(table)->frame_size(table));
}

size_t api_writer_open(struct api_writer *writer, const struct api_table *table, char *out)
{
    must(table->tensor_count <= API_MAX_TENSORS);
    *writer = (struct api_writer){.table = table};
    return (size_t)(writing(table)->open(writer, out) - out);
}

/* Is at the start of its tensor, of which nothing was written. */
static void enter(struct api_writer *writer)
{
    const struct pe_tensor *t = &writer->table->tensors[writer->tensor];
    writer->begun = true;
    writer->left = t->rows * t->row_elements;
    memset(writer->index, 0, sizeof writer->index);
    writer->rolled = t->rank ? t->rank - 1 : 0;
}

static char *begin(struct api_writer *writer, char *out)
{
    enter(writer);
    return writing(writer->table)->begin(writer, out);
}

static char *end(struct api_writer *writer, char *out)
{
    must(writer->left == 0);
    out = writing(writer->table)->end(writer, out);
    writer->begun = false;
    writer->tensor++;
    return out;
}

/* Begins and ends what comes before tensor `to`. */
static char *pass(struct api_writer *writer, unsigned to, char *out)
{
    while (writer->tensor < to) {
        if (!api_sends(writer->table, writer->tensor)) {
            writer->tensor++;
            continue;
        }
        if (!writer->begun)
            out = begin(writer, out);
        out = end(writer, out);
    }
    return out;
}

size_t api_writer_rows(struct api_writer *writer, unsigned tensor, const void *rows, uint64_t count,
                       char *out)
{
    const struct api_table *table = writer->table;
    must(tensor < table->tensor_count && tensor >= writer->tensor && api_sends(table, tensor));
    char *at = pass(writer, tensor, out);
    if (!writer->begun)
        at = begin(writer, at);
    uint64_t elements;
    must(!__builtin_mul_overflow(count, table->tensors[tensor].row_elements, &elements) &&
         elements <= writer->left);
    if (elements)
        at = writing(table)->rows(writer, rows, elements, at);
    writer->left -= elements;
    return (size_t)(at - out);
}

size_t api_writer_tail(struct api_writer *writer, char *out)
{
    char *at = pass(writer, writer->table->tensor_count, out);
    return (size_t)(writing(writer->table)->tail(writer, at) - out);
}

bool api_writer_splits(const struct api_table *table)
{
    return !writing(table)->chained;
}

void api_writer_skip(struct api_writer *writer, unsigned tensor, uint64_t count)
{
    const struct pe_tensor *t = &writer->table->tensors[tensor];
    uint64_t elements;
    must(api_writer_splits(writer->table) && tensor >= writer->tensor &&
         api_sends(writer->table, tensor));
    if (writer->tensor != tensor || !writer->begun) {
        writer->tensor = tensor;
        enter(writer);
    }
    must(!__builtin_mul_overflow(count, t->row_elements, &elements) && elements <= writer->left);
    writer->left -= elements;
    uint64_t at = t->rows * t->row_elements - writer->left;
    for (unsigned a = t->rank; a-- > 0; at /= t->shape[a] ? t->shape[a] : 1)
        writer->index[a] = t->shape[a] ? at % t->shape[a] : 0;
    writer->rolled = 0;
    for (unsigned a = t->rank ? t->rank - 1 : 0; a-- > 0 && !writer->index[a];)
        writer->rolled++;
}
