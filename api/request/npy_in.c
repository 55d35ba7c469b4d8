/* SPDX-License-Identifier: MIT
 *
 * npy_in.c: arrays of integers that come as .npy files. Files are checked to be as long as their
 * shape says before a byte of data is read.
 */
#include "list.h"
#include "npy_head.h"

#include <string.h>

static int64_t item(const unsigned char *p, unsigned size, bool is_signed)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++)
        v |= (uint64_t)p[i] << 8 * i;
    unsigned shift = 64 - 8 * size;
    return is_signed ? (int64_t)(v << shift) >> shift : (int64_t)v;
}

static bool fault(struct api__call *call, const char *name, enum api__problem_id id,
                  const char *what)
{
    return api__blame(call, id, api__bytes(name), "the .npy file of %s cannot be used: %s", name,
                      what);
}

/* i8, i4... or u8...: one byte has no order and is spelled with '|'. */
static const char *check_type(const struct api__npy_head *h)
{
    if ((h->type != 'i' && h->type != 'u') ||
        (h->size != 1 && h->size != 2 && h->size != 4 && h->size != 8))
        return "its items are not integers of 1, 2, 4 or 8 bytes";
    if (h->order != '<' && !(h->size == 1 && h->order == '|'))
        return "its items are not little-endian";
    return NULL;
}

bool api__read_npy(struct api__call *call, const char *name, struct api_bytes file, uint64_t max,
                   struct api__ints *out)
{
    struct api__npy_head h;
    uint64_t count = 1, bytes;
    const char *what = api__npy_read_head(file, &h);
    if (!what)
        what = check_type(&h);
    if (what)
        return fault(call, name, API__MALFORMED_BODY, what);
    if (h.rank == 0)
        return fault(call, name, API__BAD_VALUE, "it has no axis");
    for (unsigned i = 0; i < h.rank; i++)
        if (__builtin_mul_overflow(count, h.shape[i], &count))
            return fault(call, name, API__MALFORMED_BODY, "its shape is too large");
    if (__builtin_mul_overflow(count, h.size, &bytes) || bytes != file.len - h.data)
        return fault(call, name, API__MALFORMED_BODY, "its length is not what its shape says");
    if (count == 0)
        return fault(call, name, API__BAD_VALUE, "it is empty");
    if (count > max)
        return api__blame(call, API__TOO_LARGE, api__bytes(name),
                          "%s may hold %llu integers at most", name, (unsigned long long)max);
    const unsigned char *data = (const unsigned char *)file.at + h.data;
    const bool is_signed = h.type == 'i';
    out->at = api__arena_array(call->arena, count, sizeof *out->at);
    for (uint64_t i = 0; i < count; i++) {
        out->at[i] = item(data + i * h.size, h.size, is_signed);
        if (!is_signed && h.size == 8 && out->at[i] < 0)
            return fault(call, name, API__OUT_OF_RANGE, "an integer is too large");
    }
    out->count = count;
    out->rank = h.rank;
    memcpy(out->shape, h.shape, sizeof h.shape);
    return true;
}
