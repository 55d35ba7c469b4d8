/* SPDX-License-Identifier: MIT
 *
 * npy_head.c: see npy_head.h. One pass over the text; each rule consumes what it names or fails.
 */
#include "npy_head.h"
#include "decode.h"

#include <string.h>

static const char unreadable[] = "its header cannot be read";

struct reader {
    const char *p;
    const char *end;
    bool seen_descr, seen_order, seen_shape;
    struct api__npy_head *head;
};

static void skip_blanks(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n'))
        r->p++;
}

static bool take(struct reader *r, const char *word)
{
    size_t len = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->p) < len || memcmp(r->p, word, len) != 0)
        return false;
    r->p += len;
    return true;
}

static const char *digits(struct reader *r)
{
    const char *from = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
        r->p++;
    return from;
}

/* '<f4', "|u1": order, one letter, a size of one or two digits. */
static const char *read_descr(struct reader *r)
{
    static const char fault[] = "its descr is not a simple type";
    const char quote = take(r, "'") ? '\'' : take(r, "\"") ? '"' : '\0';
    if (!quote || r->end - r->p < 2 || !memchr("<>|=", r->p[0], 4))
        return fault;
    r->head->order = *r->p++;
    r->head->type = *r->p++;
    const char *from = digits(r);
    if (r->p == from || r->p - from > 2 || r->p == r->end || *r->p != quote)
        return fault;
    r->head->size = 0;
    for (; from < r->p; from++)
        r->head->size = 10 * r->head->size + (unsigned)(*from - '0');
    r->p++;
    r->seen_descr = true;
    return NULL;
}

/* (), (5,), (2, 3): a comma may be absent behind the last of several. */
static const char *read_shape(struct reader *r)
{
    static const char fault[] = "its shape is not a tuple of integers";
    struct api__npy_head *h = r->head;
    if (!take(r, "("))
        return "its shape is not a tuple";
    while (!take(r, ")")) {
        int64_t n;
        const char *from = digits(r);
        if (api__integer((struct api_bytes){from, (size_t)(r->p - from)}, &n) != API__NUMBER)
            return fault;
        if (h->rank == PE_MAX_RANK)
            return "it has more than 8 axes";
        h->shape[h->rank++] = (uint64_t)n;
        if (take(r, ","))
            continue;
        if (h->rank < 2 || r->p == r->end || *r->p != ')')
            return fault;
    }
    r->seen_shape = true;
    return NULL;
}

static const char *read_order(struct reader *r)
{
    r->seen_order = true;
    return take(r, "False") ? NULL : "it is not in C order";
}

static bool take_key(struct reader *r, const char *single, const char *twin)
{
    return take(r, single) || take(r, twin);
}

static const char *read_key(struct reader *r)
{
    const char *(*read)(struct reader *) = NULL;
    if (!r->seen_descr && take_key(r, "'descr'", "\"descr\""))
        read = read_descr;
    else if (!r->seen_shape && take_key(r, "'shape'", "\"shape\""))
        read = read_shape;
    else if (!r->seen_order && take_key(r, "'fortran_order'", "\"fortran_order\""))
        read = read_order;
    if (!read)
        return "its header has another key than descr, fortran_order and shape, or one twice";
    return take(r, ":") ? read(r) : unreadable;
}

static const char *read_dict(struct reader *r)
{
    if (!take(r, "{"))
        return "its header is not a dict";
    while (!take(r, "}")) {
        const char *fault = read_key(r);
        if (fault)
            return fault;
        if (take(r, ","))
            continue;
        if (!take(r, "}"))
            return unreadable;
        break;
    }
    if (!r->seen_descr || !r->seen_order || !r->seen_shape)
        return "its header lacks a key";
    skip_blanks(r);
    return r->p == r->end ? NULL : unreadable;
}

const char *api__npy_read_head(struct api_bytes file, struct api__npy_head *out)
{
    const unsigned char *b = (const unsigned char *)file.at;
    memset(out, 0, sizeof *out);
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
        return "its header does not end, or is too long";
    struct reader r = {.p = file.at + start, .end = file.at + start + len, .head = out};
    out->data = start + len;
    return read_dict(&r);
}
