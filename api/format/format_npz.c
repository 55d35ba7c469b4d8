/* SPDX-License-Identifier: MIT
 *
 * format_npz.c: a zip of stored NAME.npy members (PKWARE APPNOTE 6.3.10), written in one pass.
 *
 * A checksum stands behind its data, in a data descriptor (4.3.9), as the data are not seen before.
 * All sizes are ZIP64 (4.5.3), so that there is one form for tensors of every size, and known
 * beforehand, so that the body has a length. Dates are 1980-01-01, the first of zip: equal tables
 * give equal bytes.
 */
#include "format.h"

#include "cells.h"

#include <string.h>
#include <zlib.h>

enum {
    LOCAL_SIZE = 30,
    LOCAL_EXTRA = 20,
    DESCRIPTOR_SIZE = 24,
    CENTRAL_SIZE = 46,
    CENTRAL_EXTRA = 28,
    END_SIZE = 56 + 20 + 22,    /* ZIP64 record, its locator, the record of old */
    VERSION = 45,               /* 4.4.3.2: ZIP64 */
    MADE_BY = 3 << 8 | VERSION, /* 4.4.2: UNIX */
    DESCRIPTOR_FLAG = 1 << 3,   /* 4.4.4 */
    DATE = 1 << 5 | 1,          /* years since 1980, month 1, day 1; the time is 0 */
};

#define SUFFIX ".npy"
#define MODE                                                                            \
    (UINT32_C(0100600) << 16) /* a regular file, readable by its owner, as numpy has it \
                               */
#define SEE_ZIP64 UINT32_MAX

static char *put(char *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *out++ = (char)(value >> (8 * i) & 0xff);
    return out;
}

static char *put_name(char *out, const struct pe_tensor *tensor)
{
    const size_t n = strlen(tensor->name);
    memcpy(out, tensor->name, n);
    memcpy(out + n, SUFFIX, strlen(SUFFIX));
    return out + n + strlen(SUFFIX);
}

static size_t name_size(const struct pe_tensor *tensor)
{
    return strlen(tensor->name) + strlen(SUFFIX);
}

static uint64_t file_size(const struct api_table *table, const struct pe_tensor *tensor)
{
    char header[API__NPY_MAX];
    return api__npy_header(header, tensor, 0, table->bf16) + tensor->bytes;
}

/* Of a member with all that belongs to it in front of the central directory. */
static uint64_t member_size(const struct api_table *table, const struct pe_tensor *tensor)
{
    return LOCAL_SIZE + name_size(tensor) + LOCAL_EXTRA + file_size(table, tensor) +
           DESCRIPTOR_SIZE;
}

static uint64_t written_length(const struct api_table *table)
{
    uint64_t length = END_SIZE;
    for (unsigned t = 0; t < table->tensor_count; t++)
        if (api_sends(table, t))
            length += member_size(table, &table->tensors[t]) + CENTRAL_SIZE +
                      name_size(&table->tensors[t]) + CENTRAL_EXTRA;
    return length;
}

static size_t open_size(const struct api_table *table)
{
    (void)table;
    return 0;
}

static size_t frame_size(const struct api_table *table)
{
    size_t size = END_SIZE;
    for (unsigned t = 0; t < table->tensor_count; t++)
        size += LOCAL_SIZE + LOCAL_EXTRA + API__NPY_MAX + DESCRIPTOR_SIZE + CENTRAL_SIZE +
                CENTRAL_EXTRA + 2 * name_size(&table->tensors[t]);
    return size;
}

static size_t rows_size(const struct pe_tensor *tensor, uint64_t elements)
{
    return api__room(elements, pe_dtype_size(tensor->dtype), 0);
}

static char *open(struct api_writer *writer, char *out)
{
    (void)writer;
    return out;
}

/* 4.3.7. With a descriptor to come, sizes and checksum are 0 here; the extra field of ZIP64 says
 * that the descriptor has sizes of eight bytes. */
static char *begin(struct api_writer *writer, char *out)
{
    const struct pe_tensor *tensor = &writer->table->tensors[writer->tensor];
    out = put(out, 0x04034b50, 4);
    out = put(out, VERSION, 2);
    out = put(out, DESCRIPTOR_FLAG, 2);
    out = put(out, 0, 2); /* stored */
    out = put(out, 0, 2);
    out = put(out, DATE, 2);
    out = put(out, 0, 4);
    out = put(out, SEE_ZIP64, 4);
    out = put(out, SEE_ZIP64, 4);
    out = put(out, name_size(tensor), 2);
    out = put(out, LOCAL_EXTRA, 2);
    out = put_name(out, tensor);
    out = put(out, 1, 2);
    out = put(out, LOCAL_EXTRA - 4, 2);
    out = put(out, 0, 8);
    out = put(out, 0, 8);
    const size_t header = api__npy_header(out, tensor, 0, writer->table->bf16);
    writer->crc[writer->tensor] = (uint32_t)crc32_z(0, (const Bytef *)out, header);
    return out + header;
}

static char *rows(struct api_writer *writer, const void *data, uint64_t elements, char *out)
{
    const struct pe_tensor *tensor = &writer->table->tensors[writer->tensor];
    const size_t size = (size_t)elements * pe_dtype_size(tensor->dtype);
    uint32_t *crc = &writer->crc[writer->tensor];
    *crc = (uint32_t)crc32_z(*crc, data, size);
    memcpy(out, data, size);
    return out + size;
}

/* 4.3.9.2 */
static char *end(struct api_writer *writer, char *out)
{
    const uint64_t size = file_size(writer->table, &writer->table->tensors[writer->tensor]);
    out = put(out, 0x08074b50, 4);
    out = put(out, writer->crc[writer->tensor], 4);
    out = put(out, size, 8);
    out = put(out, size, 8);
    return out;
}

/* 4.3.12 */
static char *put_central(char *out, const struct api_writer *writer, unsigned t, uint64_t at)
{
    const struct pe_tensor *tensor = &writer->table->tensors[t];
    const uint64_t size = file_size(writer->table, tensor);
    out = put(out, 0x02014b50, 4);
    out = put(out, MADE_BY, 2);
    out = put(out, VERSION, 2);
    out = put(out, DESCRIPTOR_FLAG, 2);
    out = put(out, 0, 2);
    out = put(out, 0, 2);
    out = put(out, DATE, 2);
    out = put(out, writer->crc[t], 4);
    out = put(out, SEE_ZIP64, 4);
    out = put(out, SEE_ZIP64, 4);
    out = put(out, name_size(tensor), 2);
    out = put(out, CENTRAL_EXTRA, 2);
    out = put(out, 0, 2 + 2 + 2); /* no comment, first disk, binary data */
    out = put(out, MODE, 4);
    out = put(out, SEE_ZIP64, 4);
    out = put_name(out, tensor);
    out = put(out, 1, 2);
    out = put(out, CENTRAL_EXTRA - 4, 2);
    out = put(out, size, 8);
    out = put(out, size, 8);
    return put(out, at, 8);
}

/* 4.3.14 to 4.3.16: the directory lies at `from` and ends at `to`. */
static char *put_end(char *out, uint64_t from, uint64_t to, unsigned count)
{
    out = put(out, 0x06064b50, 4);
    out = put(out, 56 - 12, 8);
    out = put(out, MADE_BY, 2);
    out = put(out, VERSION, 2);
    out = put(out, 0, 8);
    out = put(out, count, 8);
    out = put(out, count, 8);
    out = put(out, to - from, 8);
    out = put(out, from, 8);
    out = put(out, 0x07064b50, 4);
    out = put(out, 0, 4);
    out = put(out, to, 8);
    out = put(out, 1, 4);
    out = put(out, 0x06054b50, 4);
    out = put(out, 0, 4);
    out = put(out, UINT16_MAX, 2);
    out = put(out, UINT16_MAX, 2);
    out = put(out, SEE_ZIP64, 4);
    out = put(out, SEE_ZIP64, 4);
    return put(out, 0, 2);
}

static char *tail(struct api_writer *writer, char *out)
{
    const struct api_table *table = writer->table;
    const char *const start = out;
    unsigned count = 0;
    uint64_t at = 0;
    for (unsigned t = 0; t < table->tensor_count; t++) {
        if (!api_sends(table, t))
            continue;
        out = put_central(out, writer, t, at);
        at += member_size(table, &table->tensors[t]);
        count++;
    }
    return put_end(out, at, at + (uint64_t)(out - start), count);
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
    .chained = true,
};

const struct api_format api__format_npz = {
    .name = "npz",
    .content_type = "application/x-npz",
    .media = {"application/x-npz", "application/zip"},
    .writing = &parts,
    .written_length = written_length,
};
