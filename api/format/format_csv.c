/* SPDX-License-Identifier: MIT
 *
 * format_csv.c: a line for each row along the last axis, no header line (RFC 4180,
 * "header=absent"); one value a line where there is one axis or none. Higher axes, and tensors that
 * are stacked, follow one after the other. Lines end in a bare newline, which every reader of CSV
 * takes and the tools of a shell expect.
 */
#include "cells.h"

#include <string.h>

static size_t nothing(const struct api_table *table)
{
    (void)table;
    return 0;
}

static char *silent(struct api_writer *writer, char *out)
{
    (void)writer;
    return out;
}

static size_t rows_size(const struct pe_tensor *tensor, uint64_t elements)
{
    return api__room(elements, api__cell_max(tensor->dtype), API__CELL_SLACK);
}

static char *rows(struct api_writer *writer, const void *data, uint64_t elements, char *out)
{
    const struct pe_tensor *tensor = &writer->table->tensors[writer->tensor];
    const uint64_t line = tensor->rank > 1 ? api__line_length(tensor) : elements;
    const size_t size = pe_dtype_size(tensor->dtype);
    uint64_t none = 0, *place = tensor->rank > 1 ? &writer->index[tensor->rank - 1] : &none;
    const char *from = data;
    while (elements) {
        const uint64_t rest = line - *place, n = elements < rest ? elements : rest;
        char *const start = out;
        out = api__cells(out, tensor->dtype, API__PLAIN, from, (size_t)n);
        if (tensor->rank < 2)
            for (char *c = start; (c = memchr(c, ',', (size_t)(out - c))); c++)
                *c = '\n';
        from += n * size;
        elements -= n;
        *place = *place + n == line ? 0 : *place + n;
        *out++ = *place ? ',' : '\n';
    }
    return out;
}

static const struct api__writing parts = {
    .open_size = nothing,
    .frame_size = nothing,
    .rows_size = rows_size,
    .open = silent,
    .begin = silent,
    .rows = rows,
    .end = silent,
    .tail = silent,
};

const struct api_format api__format_csv = {
    .name = "csv",
    .content_type = "text/csv; charset=utf-8; header=absent",
    .media = {"text/csv"},
    .single = true,
    .compresses = true,
    .writing = &parts,
};
