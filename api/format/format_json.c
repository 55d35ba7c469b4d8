/* SPDX-License-Identifier: MIT
 *
 * format_json.c: {"kind","parameters","tensors"}, arrays nested as the shape says, written as rows
 * come.
 *
 * Brackets are opened and closed at the ends of lines, from the axes that roll over there; inside a
 * line there is nothing but numbers and commas. Left out: infinities and NaN, which JSON does not
 * have (RFC 8259, section 6): null stands for them where the contract lets them come this far.
 */
#include "cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char *put(char *out, const char *text)
{
    const size_t n = strlen(text);
    memcpy(out, text, n);
    return out + n;
}

static char *repeat(char *out, char c, uint64_t count)
{
    memset(out, c, (size_t)count);
    return out + count;
}

static size_t open_size(const struct api_table *table)
{
    return 64 + strlen(table->kind) + strlen(table->parameters) +
           (table->members ? strlen(table->members) : 0);
}

static char *open(struct api_writer *writer, char *out)
{
    const struct api_table *table = writer->table;
    out = put(out, "{\"kind\":\"");
    out = put(out, table->kind);
    out = put(out, "\",\"parameters\":");
    out = put(out, table->parameters);
    if (table->members) {
        *out++ = ',';
        out = put(out, table->members);
    }
    return put(out, ",\"tensors\":{");
}

/* The axis of size 0 that empties a tensor, with the lists in front of it: [[],[]] for shape [2,
 * 0]. Returns how many lists are empty; *depth is how deep they lie. 0 where the tensor has
 * elements. */
static uint64_t empty_lists(const struct pe_tensor *tensor, unsigned *depth)
{
    uint64_t lists = 1;
    for (*depth = 0; *depth < tensor->rank; ++*depth) {
        if (tensor->shape[*depth] == 0)
            return lists;
        if (__builtin_mul_overflow(lists, tensor->shape[*depth], &lists))
            lists = UINT64_MAX;
    }
    return 0;
}

/* What an empty tensor takes: all its brackets and commas, at most three bytes for a list at each
 * depth. */
static size_t empty_size(const struct pe_tensor *tensor)
{
    unsigned depth;
    const uint64_t lists = empty_lists(tensor, &depth);
    return lists ? api__room(lists, 3 * (uint64_t)(depth + 1), 0) : 0;
}

static size_t frame_size(const struct api_table *table)
{
    size_t size = 16;
    for (unsigned t = 0; t < table->tensor_count; t++) {
        const struct pe_tensor *tensor = &table->tensors[t];
        const size_t own = 64 + strlen(tensor->name) + 22 * (size_t)tensor->rank;
        size =
            api_sends(table, t) ? api__room(size, 1, api__room(own, 1, empty_size(tensor))) : size;
    }
    return size;
}

static size_t rows_size(const struct pe_tensor *tensor, uint64_t elements)
{
    const uint64_t line = api__line_length(tensor);
    const uint64_t lines = line ? elements / line + 2 : 0;
    const size_t brackets = api__room(lines, 2 * (uint64_t)tensor->rank + 1, API__CELL_SLACK);
    return api__room(elements, api__cell_max(tensor->dtype), brackets);
}

static char *begin(struct api_writer *writer, char *out)
{
    const struct api_table *table = writer->table;
    const struct pe_tensor *tensor = &table->tensors[writer->tensor];
    const char *dtype =
        pe_dtype_name(tensor->dtype == PE_DTYPE_BF16_AS_F32 ? PE_DTYPE_F32 : tensor->dtype);
    const bool first = table->tensor >= 0 || writer->tensor == 0;
    out = put(out, first ? "\"" : ",\"");
    out = put(out, tensor->name);
    out = put(out, "\":{\"dtype\":\"");
    out = put(out, dtype);
    out = put(out, "\",\"shape\":[");
    for (unsigned a = 0; a < tensor->rank; a++)
        out += snprintf(out, 22, "%s%" PRIu64, a ? "," : "", tensor->shape[a]);
    return put(out, "],\"data\":");
}

/* The last axis counts places in a line; `rolled` of the other axes begin anew with it. */
static char *rows(struct api_writer *writer, const void *data, uint64_t elements, char *out)
{
    const struct pe_tensor *tensor = &writer->table->tensors[writer->tensor];
    const uint64_t line = api__line_length(tensor);
    const size_t size = pe_dtype_size(tensor->dtype);
    uint64_t *place = &writer->index[tensor->rank ? tensor->rank - 1 : 0];
    const char *from = data;
    while (elements) {
        const uint64_t rest = line - *place, n = elements < rest ? elements : rest;
        if (*place || writer->rolled + 1 < tensor->rank)
            *out++ = ',';
        if (*place == 0 && tensor->rank)
            out = repeat(out, '[', writer->rolled + 1);
        out = api__cells(out, tensor->dtype, API__JSON, from, (size_t)n);
        from += n * size;
        elements -= n;
        *place += n;
        if (*place == line) {
            *place = 0;
            api__next_line(writer, tensor);
            if (tensor->rank)
                out = repeat(out, ']', writer->rolled + 1);
        }
    }
    return out;
}

/* All lists of an empty tensor, by the same walk over the axes in front of the empty one. */
static char *put_empty(struct api_writer *writer, struct pe_tensor tensor, char *out)
{
    unsigned depth;
    uint64_t lists = empty_lists(&tensor, &depth);
    tensor.rank = depth + 1;
    writer->rolled = tensor.rank - 1;
    for (; lists; lists--) {
        if (writer->rolled + 1 < tensor.rank)
            *out++ = ',';
        out = repeat(out, '[', writer->rolled + 1);
        api__next_line(writer, &tensor);
        out = repeat(out, ']', writer->rolled + 1);
    }
    return out;
}

static char *end(struct api_writer *writer, char *out)
{
    const struct pe_tensor *tensor = &writer->table->tensors[writer->tensor];
    if (tensor->rows * tensor->row_elements == 0)
        out = put_empty(writer, *tensor, out);
    return put(out, "}");
}

static char *tail(struct api_writer *writer, char *out)
{
    (void)writer;
    return put(out, "}}\n");
}

static const struct api__writing parts = {
    .open_size = open_size,
    .frame_size = frame_size,
    .rows_size = rows_size,
    .open = open,
    .begin = begin,
    .rows = rows,
    .end = end,
    .tail = tail,
};

const struct api_format api__format_json = {
    .name = "json",
    .content_type = "application/json",
    .media = {"application/json"},
    .compresses = true,
    .writing = &parts,
};
