/* SPDX-License-Identifier: MIT
 *
 * npy_in.c: arrays of integers that come as .npy files (numpy's NEP 1: magic, version, length of a
 * header that is the text of a Python dict, then the data). The header is read by a grammar of its
 * own with exactly the three keys that the format has, never evaluated. Files are checked to be as
 * long as their shape says before a byte of data is read.
 */
#include "list.h"
#include "decode.h"

#include <string.h>

struct header {
    const char *p;
    const char *end;
    unsigned size; /* of an item */
    bool is_signed;
    bool seen_descr, seen_order, seen_shape;
    unsigned rank;
    uint64_t shape[PE_MAX_RANK];
};

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static bool take(struct header *h, const char *word)
{
    size_t len = strlen(word);
    while (h->p < h->end && blank(*h->p))
        h->p++;
    if ((size_t)(h->end - h->p) < len || memcmp(h->p, word, len) != 0)
        return false;
    h->p += len;
    return true;
}

/* i8, i4... or u8...: one byte has no order and is spelled with '|'. */
static const char *read_descr(struct header *h)
{
    char quote[2] = {take(h, "'") ? '\'' : take(h, "\"") ? '"' : '\0', '\0'};
    if (!quote[0] || h->end - h->p < 3)
        return "its descr is not a simple type";
    char order = h->p[0], type = h->p[1], size = h->p[2];
    h->p += 3;
    if (!take(h, quote) || (type != 'i' && type != 'u') || !memchr("1248", size, 4))
        return "its items are not integers of 1, 2, 4 or 8 bytes";
    if (order != '<' && !(size == '1' && order == '|'))
        return "its items are not little-endian";
    h->size = (unsigned)(size - '0');
    h->is_signed = type == 'i';
    h->seen_descr = true;
    return NULL;
}

static const char *read_shape(struct header *h)
{
    if (!take(h, "("))
        return "its shape is not a tuple";
    while (!take(h, ")")) {
        while (h->p < h->end && blank(*h->p))
            h->p++;
        const char *from = h->p;
        int64_t n;
        while (h->p < h->end && *h->p >= '0' && *h->p <= '9')
            h->p++;
        if (api__integer((struct api_bytes){from, (size_t)(h->p - from)}, &n) != API__NUMBER)
            return "its shape is not a tuple of integers";
        if (h->rank == PE_MAX_RANK)
            return "it has more than 8 axes";
        h->shape[h->rank++] = (uint64_t)n;
        if (!take(h, ",") && !(h->rank > 1 && h->p < h->end && *h->p == ')'))
            return "its shape is not a tuple of integers";
    }
    h->seen_shape = true;
    return NULL;
}

static const char *read_key(struct header *h)
{
    if (!h->seen_descr && (take(h, "'descr'") || take(h, "\"descr\"")))
        return take(h, ":") ? read_descr(h) : "its header cannot be read";
    if (!h->seen_shape && (take(h, "'shape'") || take(h, "\"shape\"")))
        return take(h, ":") ? read_shape(h) : "its header cannot be read";
    if (!h->seen_order && (take(h, "'fortran_order'") || take(h, "\"fortran_order\""))) {
        h->seen_order = true;
        if (take(h, ":") && take(h, "False"))
            return NULL;
        return "it is not in C order";
    }
    return "its header has another key than descr, fortran_order and shape, or one twice";
}

static const char *read_dict(struct header *h)
{
    const char *fault = take(h, "{") ? NULL : "its header is not a dict";
    while (!fault && !take(h, "}")) {
        fault = read_key(h);
        if (!fault && !take(h, ",")) {
            fault = take(h, "}") ? NULL : "its header cannot be read";
            break;
        }
    }
    if (fault)
        return fault;
    if (!h->seen_descr || !h->seen_order || !h->seen_shape)
        return "its header lacks a key";
    while (h->p < h->end && blank(*h->p))
        h->p++;
    return h->p == h->end ? NULL : "its header cannot be read";
}

/* Finds the header; *data is what lies behind it. */
static const char *open_file(struct api_bytes file, struct header *h, struct api_bytes *data)
{
    const unsigned char *b = (const unsigned char *)file.at;
    if (file.len < 10 || memcmp(b, "\x93NUMPY", 6) != 0)
        return "it does not begin as an .npy file";
    if (b[6] < 1 || b[6] > 3 || b[7] != 0)
        return "its version is not 1.0, 2.0 or 3.0";
    size_t start = b[6] == 1 ? 10 : 12;
    if (file.len < start)
        return "it is cut off";
    size_t len = b[8] | (size_t)b[9] << 8;
    if (b[6] > 1)
        len |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (len > file.len - start)
        return "it is cut off";
    h->p = file.at + start;
    h->end = h->p + len;
    *data = (struct api_bytes){h->end, file.len - start - len};
    return read_dict(h);
}

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

bool api__read_npy(struct api__call *call, const char *name, struct api_bytes file, uint64_t max,
                   struct api__ints *out)
{
    struct header h = {0};
    struct api_bytes data = {NULL, 0};
    uint64_t count = 1, bytes;
    const char *what = open_file(file, &h, &data);
    if (what)
        return fault(call, name, API__MALFORMED_BODY, what);
    if (h.rank == 0)
        return fault(call, name, API__BAD_VALUE, "it has no axis");
    for (unsigned i = 0; i < h.rank; i++)
        if (__builtin_mul_overflow(count, h.shape[i], &count))
            return fault(call, name, API__MALFORMED_BODY, "its shape is too large");
    if (__builtin_mul_overflow(count, h.size, &bytes) || bytes != data.len)
        return fault(call, name, API__MALFORMED_BODY, "its length is not what its shape says");
    if (count == 0)
        return fault(call, name, API__BAD_VALUE, "it is empty");
    if (count > max)
        return api__blame(call, API__TOO_LARGE, api__bytes(name),
                          "%s may hold %llu integers at most", name, (unsigned long long)max);
    out->at = api__arena_array(call->arena, count, sizeof *out->at);
    for (uint64_t i = 0; i < count; i++) {
        out->at[i] = item((const unsigned char *)data.at + i * h.size, h.size, h.is_signed);
        if (!h.is_signed && h.size == 8 && out->at[i] < 0)
            return fault(call, name, API__OUT_OF_RANGE, "an integer is too large");
    }
    out->count = count;
    out->rank = h.rank;
    memcpy(out->shape, h.shape, sizeof h.shape);
    return true;
}
