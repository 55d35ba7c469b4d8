/* SPDX-License-Identifier: MIT
 *
 * safetensors_in.c: the header of a .safetensors file that a client sent: eight bytes of length,
 * one JSON object of that length, padded with spaces at its end. Exactly one tensor, whose offsets
 * cover what lies behind the header, no more and no less; metadata of texts. Values that the
 * format's own reader would not take (signs, points, exponents, names twice, further keys) are
 * refused.
 */
#include "learned_file.h"
#include "request/json.h"

#include <string.h>

/* Members of the metadata: more cannot be told apart quickly, and nobody has so many. */
#define METADATA_LIMIT 512

static const char unreadable[] = "its header is not the JSON that the format has";

/* Digits alone, without a leading zero, below 2^63. */
static bool read_size(struct api_bytes text, uint64_t *out)
{
    if (!text.len || text.len > 19 || (text.len > 1 && text.at[0] == '0'))
        return false;
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        *out = 10 * *out + (uint64_t)(text.at[i] - '0');
    }
    return *out <= INT64_MAX;
}

/* An array of exactly two sizes. */
static bool read_pair(struct api_bytes text, uint64_t out[2])
{
    struct api__json j;
    struct api_bytes item;
    size_t n = 0;
    if (!api__json_array(&j, text))
        return false;
    for (; api__json_element(&j, &item); n++)
        if (n == 2 || !read_size(item, &out[n]))
            return false;
    return !j.fault && n == 2;
}

static const char *read_dtype(struct api__arena *arena, struct api_bytes text, enum pe_dtype *out)
{
    static const struct {
        const char *name;
        enum pe_dtype dtype;
    } dtypes[] = {{"F64", PE_DTYPE_F64},
                  {"F32", PE_DTYPE_F32},
                  {"F16", PE_DTYPE_F16},
                  {"BF16", PE_DTYPE_BF16}};
    struct api_bytes name;
    if (!api__json_string(arena, text, &name))
        return unreadable;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (api__equal(name, dtypes[i].name)) {
            *out = dtypes[i].dtype;
            return NULL;
        }
    return "its dtype is not F64, F32, F16 or BF16";
}

static const char *read_tensor(struct api__arena *arena, struct api_bytes text, uint64_t bytes,
                               struct api_learned_file *out)
{
    bool dtype = false, shape = false, offsets = false;
    uint64_t sides[2] = {0, 0}, span[2] = {0, 0};
    struct api__json j;
    struct api_bytes name, value;
    if (!api__json_object(&j, text))
        return unreadable;
    while (api__json_member(&j, arena, &name, &value)) {
        if (!dtype && api__equal(name, "dtype")) {
            const char *fault = read_dtype(arena, value, &out->dtype);
            dtype = true;
            if (fault)
                return fault;
        } else if (!shape && api__equal(name, "shape")) {
            shape = true;
            if (!read_pair(value, sides))
                return "its shape is not one of two axes";
        } else if (!offsets && api__equal(name, "data_offsets")) {
            offsets = true;
            if (!read_pair(value, span))
                return "its data_offsets are not two sizes";
        } else {
            return "its tensor has another member than dtype, shape and data_offsets, or one twice";
        }
    }
    if (j.fault || !dtype || !shape || !offsets)
        return j.fault ? unreadable : "its tensor lacks a member";
    if (span[0] != 0 || span[1] != bytes)
        return "its data_offsets do not cover the data";
    out->rows = sides[0];
    out->width = sides[1];
    return NULL;
}

static const char *read_metadata(struct api__arena *arena, struct api_bytes text)
{
    struct api_bytes *names = api__arena_array(arena, METADATA_LIMIT, sizeof *names), name, value;
    struct api__json j;
    size_t count = 0;
    if (!api__json_object(&j, text))
        return "its metadata are not an object";
    while (api__json_member(&j, arena, &name, &value)) {
        if (!value.len || value.at[0] != '"')
            return "its metadata are not texts";
        for (size_t i = 0; i < count; i++)
            if (names[i].len == name.len && memcmp(names[i].at, name.at, name.len) == 0)
                return "its metadata have a name twice";
        if (count == METADATA_LIMIT)
            return "it has too many metadata";
        names[count++] = name;
    }
    return j.fault ? unreadable : NULL;
}

static const char *read_header(struct api__arena *arena, struct api_bytes text, uint64_t bytes,
                               struct api_learned_file *out)
{
    static const char several[] = "it holds more than one tensor";
    bool metadata = false, tensor = false;
    const char *fault = NULL;
    struct api__json j;
    struct api_bytes name, value;
    if (!text.len || text.at[0] != '{' || !api__json_object(&j, text))
        return unreadable;
    while (!fault && api__json_member(&j, arena, &name, &value)) {
        if (api__equal(name, "__metadata__")) {
            fault = metadata ? "it has metadata twice" : read_metadata(arena, value);
            metadata = true;
        } else {
            fault = tensor ? several : read_tensor(arena, value, bytes, out);
            tensor = true;
        }
    }
    if (fault || j.fault)
        return fault ? fault : unreadable;
    while (j.p < j.end && *j.p == ' ')
        j.p++;
    if (j.p < j.end)
        return unreadable;
    return tensor ? NULL : "it holds no tensor";
}

const char *api__learned_safetensors(struct api__arena *arena, struct api_bytes head, uint64_t size,
                                     struct api_learned_file *out)
{
    uint64_t len = 0;
    if (head.len < 8)
        return "it is cut off";
    for (size_t i = 8; i-- > 0;)
        len = len << 8 | (unsigned char)head.at[i];
    if (len > head.len - 8)
        return "its header does not end, or is too long";
    out->data = 8 + len;
    return read_header(arena, (struct api_bytes){head.at + 8, (size_t)len}, size - 8 - len, out);
}
