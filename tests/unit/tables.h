/* SPDX-License-Identifier: MIT
 *
 * tables.h: tables made by hand, without a spec, and their bodies made in portions of any size with
 * guarded room: what the tests of formats share.
 */
#ifndef TESTS_TABLES_H
#define TESTS_TABLES_H

#include "format/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GUARD 0xa5

struct body {
    char *at;
    size_t len;
};

/* A tensor of that shape; the last axis is a row, or (`flat`) one element is. */
static inline struct pe_tensor tensor_of(const char *name, enum pe_dtype dtype, unsigned rank,
                                         const uint64_t *shape, bool flat)
{
    struct pe_tensor t = {.name = name, .dtype = dtype, .rank = rank, .rows = 1, .row_elements = 1};
    for (unsigned a = 0; a < rank; a++) {
        t.shape[a] = shape[a];
        if (a + 1 == rank && !flat)
            t.row_elements = shape[a];
        else
            t.rows *= shape[a];
    }
    t.bytes = t.rows * t.row_elements * pe_dtype_size(dtype);
    return t;
}

static inline struct api_table table_of(const char *format, const struct pe_tensor *tensors,
                                        unsigned count)
{
    struct api_table table = {.format = api__format_find(format, strlen(format)),
                              .tensors = (struct pe_tensor *)tensors,
                              .tensor_count = count,
                              .tensor = -1,
                              .kind = "rope",
                              .parameters = "{\"length\":4}"};
    assert_non_null(table.format);
    return table;
}

static inline void append(struct body *body, size_t room, size_t wrote, const char *from)
{
    assert_true(wrote <= room);
    body->at = realloc(body->at, body->len + wrote + 1);
    assert_non_null(body->at);
    memcpy(body->at + body->len, from, wrote);
    body->len += wrote;
    body->at[body->len] = 0;
}

static inline char *guarded(size_t room)
{
    assert_true(room < SIZE_MAX / 2);
    char *out = malloc(room + 1);
    assert_non_null(out);
    out[room] = (char)GUARD;
    return out;
}

/* The written body of a table, `portion` rows at a time (the last may be shorter); data[t] of
 * tensor t. With `apart` each portion is written by a copy of a writer that goes past it. */
static inline struct body written(const struct api_table *table, const void *const data[],
                                  uint64_t portion, bool apart)
{
    struct body body = {NULL, 0};
    struct api_writer writer, copy;
    size_t room = api_writer_head_size(table);
    char *out = guarded(room);
    append(&body, room, api_writer_open(&writer, table, out), out);
    assert_int_equal((unsigned char)out[room], GUARD);
    free(out);
    for (unsigned t = 0; t < table->tensor_count; t++) {
        const struct pe_tensor *tensor = &table->tensors[t];
        if (!api_sends(table, t) || tensor->bytes == 0)
            continue;
        for (uint64_t row = 0, n; row < tensor->rows; row += n) {
            n = tensor->rows - row < portion ? tensor->rows - row : portion;
            room = api_writer_room(table, t, n);
            out = guarded(room);
            const char *from =
                (const char *)data[t] + row * tensor->row_elements * pe_dtype_size(tensor->dtype);
            copy = writer;
            append(&body, room, api_writer_rows(apart ? &copy : &writer, t, from, n, out), out);
            if (apart)
                api_writer_skip(&writer, t, n);
            assert_int_equal((unsigned char)out[room], GUARD);
            free(out);
        }
    }
    room = api_writer_room(table, table->tensor_count - 1, 0);
    out = guarded(room);
    append(&body, room, api_writer_tail(&writer, out), out);
    assert_int_equal((unsigned char)out[room], GUARD);
    free(out);
    return body;
}

#endif
