/* SPDX-License-Identifier: MIT
 *
 * format_txt.c: rows for the eye. A cell is as wide as its dtype needs, so that any part of a table
 * can be written without having seen the rest: integers stand to the right, reals begin under each
 * other behind the place of a sign, so that points of values below 10 stand in one column. The
 * numbers are exact ones, as in JSON. A line is a row along the last axis (one value where there is
 * one axis or none); an empty line stands between the blocks of higher axes and between tensors
 * that are stacked.
 */
#include "cells.h"

#include <string.h>

/* Width of a value without its sign. Reals: "0.00012345678" of an f32 and its kin,
 * "2.2250738585072014e-308"; what is longer (an f32 from 10^12 up) pushes its neighbours. Integers:
 * as many as position ids need. */
static unsigned width(enum pe_dtype dtype)
{
    switch (dtype) {
    case PE_DTYPE_F64:
        return 23;
    case PE_DTYPE_I64:
    case PE_DTYPE_I32:
        return 10;
    case PE_DTYPE_U8:
        return 3;
    case PE_DTYPE_BOOL:
        return 1;
    default:
        return 14;
    }
}

static bool real(enum pe_dtype dtype)
{
    return dtype != PE_DTYPE_I64 && dtype != PE_DTYPE_I32 && dtype != PE_DTYPE_U8 &&
           dtype != PE_DTYPE_BOOL;
}

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

/* A cell: sign or blank, value, padding, and a blank or newline; an empty line behind it at most.
 */
static size_t rows_size(const struct pe_tensor *tensor, uint64_t elements)
{
    return api__room(elements, api__cell_max(tensor->dtype) + width(tensor->dtype) + 4,
                     API__CELL_SLACK);
}

static char *put_integer(char *out, const struct pe_tensor *tensor, const char *from)
{
    char text[64];
    const size_t n = (size_t)(api__cells(text, tensor->dtype, API__PLAIN, from, 1) - text);
    const size_t room =
        width(tensor->dtype) + (tensor->dtype == PE_DTYPE_I64 || tensor->dtype == PE_DTYPE_I32);
    const size_t blanks = n < room ? room - n : 0;
    memset(out, ' ', blanks);
    memcpy(out + blanks, text, n);
    return out + blanks + n;
}

static char *put_real(char *out, const struct pe_tensor *tensor, const char *from, bool last)
{
    char text[64];
    const size_t n = (size_t)(api__cells(text, tensor->dtype, API__PLAIN, from, 1) - text);
    const size_t room = width(tensor->dtype) + 1;
    if (text[0] != '-')
        *out++ = ' ';
    memcpy(out, text, n);
    const size_t used = n + (text[0] != '-'), blanks = used < room && !last ? room - used : 0;
    memset(out + n, ' ', blanks);
    return out + n + blanks;
}

static char *rows(struct api_writer *writer, const void *data, uint64_t elements, char *out)
{
    const struct pe_tensor *tensor = &writer->table->tensors[writer->tensor];
    const uint64_t line = tensor->rank > 1 ? api__line_length(tensor) : 1;
    const size_t size = pe_dtype_size(tensor->dtype);
    uint64_t none = 0, *place = tensor->rank > 1 ? &writer->index[tensor->rank - 1] : &none;
    const char *from = data;
    for (; elements; elements--, from += size) {
        const bool last = ++*place == line;
        out = real(tensor->dtype) ? put_real(out, tensor, from, last)
                                  : put_integer(out, tensor, from);
        *out++ = last ? '\n' : ' ';
        if (!last)
            continue;
        *place = 0;
        if (tensor->rank > 1)
            api__next_line(writer, tensor);
        if (tensor->rank > 2 && writer->rolled > 0 && writer->rolled < tensor->rank - 1)
            *out++ = '\n';
    }
    return out;
}

static char *begin(struct api_writer *writer, char *out)
{
    if (writer->table->tensor < 0 && writer->tensor > 0)
        *out++ = '\n';
    return out;
}

static size_t frame_size(const struct api_table *table)
{
    return table->tensor_count;
}

static const struct api__writing parts = {
    .open_size = nothing,
    .frame_size = frame_size,
    .rows_size = rows_size,
    .open = silent,
    .begin = begin,
    .rows = rows,
    .end = silent,
    .tail = silent,
};

const struct api_format api__format_txt = {
    .name = "txt",
    .content_type = "text/plain; charset=utf-8",
    .media = {"text/plain"},
    .single = true,
    .compresses = true,
    .writing = &parts,
};
