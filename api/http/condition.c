/* SPDX-License-Identifier: MIT
 *
 * condition.c: see condition.h. Positions in a body are 64-bit and checked: a number with more
 * digits than that is larger than any body, and is treated so.
 */
#include "condition.h"

#include <nettle/sha2.h>
#include <string.h>

/* Reads one entity tag at *p; false where none stands there. RFC 9110, 8.8.3: etagc is 21, 23-7E,
 * 80-FF. */
static bool read_tag(const char **p, const char *end, struct api_bytes *opaque, bool *is_weak)
{
    const char *q = *p;
    *is_weak = end - q >= 2 && q[0] == 'W' && q[1] == '/';
    q += *is_weak ? 2 : 0;
    if (q == end || *q != '"')
        return false;
    const char *from = q++;
    while (q < end && (unsigned char)*q > 0x20 && *q != '"' && *q != 0x7f)
        q++;
    if (q == end || *q != '"')
        return false;
    *opaque = (struct api_bytes){from, (size_t)(++q - from)};
    *p = q;
    return true;
}

bool api__tag_listed(struct api_bytes line, const char *tag, bool weak)
{
    const char *p = line.at, *end = p + line.len;
    struct api_bytes opaque;
    bool is_weak;
    if (line.len == 1 && *p == '*')
        return true;
    for (;;) {
        while (p < end && (*p == ',' || *p == ' ' || *p == '\t'))
            p++;
        if (p == end || !read_tag(&p, end, &opaque, &is_weak))
            return false;
        if ((weak || !is_weak) && api__equal(opaque, tag))
            return true;
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        if (p < end && *p != ',')
            return false;
    }
}

/* Over all lines of a header: 0 absent, 1 present, 2 present and the tag is named. */
static int named(const struct api_request *r, const char *header, const char *tag, bool weak)
{
    struct api_bytes line;
    size_t at = 0;
    int found = 0;
    while (found < 2 && api__next_header(r, header, &at, &line))
        found = api__tag_listed(line, tag, weak) ? 2 : 1;
    return found;
}

enum api__verdict api__conditions(const struct api_request *r, const char *tag)
{
    /* RFC 9110, 13.1.1: strong comparison */
    if (named(r, "If-Match", tag, false) == 1)
        return API__FAILED;
    /* RFC 9110, 13.1.2: weak comparison */
    if (named(r, "If-None-Match", tag, true) == 2)
        return API__NOT_MODIFIED;
    return API__PROCEED;
}

/* Digits at *p, saturated; false where there are none. */
static bool read_position(const char **p, const char *end, uint64_t *out)
{
    const char *from = *p;
    uint64_t v = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p)
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(**p - '0'), &v))
            v = UINT64_MAX;
    *out = v;
    return *p > from;
}

/* One range of unit bytes, RFC 9110, 14.1.2. */
static enum api__part read_range(struct api_bytes value, uint64_t length, uint64_t *first,
                                 uint64_t *count)
{
    const char *p = value.at + 6, *end = value.at + value.len;
    uint64_t a = 0, b = UINT64_MAX;
    if (value.len < 7 || !api__equal_case((struct api_bytes){value.at, 6}, "bytes="))
        return API__WHOLE;
    bool has_first = read_position(&p, end, &a);
    if (p == end || *p++ != '-')
        return API__WHOLE;
    bool has_last = read_position(&p, end, &b);
    if (p != end || (!has_first && !has_last) || (has_first && has_last && b < a))
        return API__WHOLE;
    if (!has_last)
        b = UINT64_MAX;
    if (!has_first) {
        if (b == 0)
            return API__OUTSIDE;
        *count = b < length ? b : length;
        *first = length - *count;
        return length ? API__PART : API__OUTSIDE;
    }
    if (a >= length)
        return API__OUTSIDE;
    *first = a;
    *count = (b < length ? b + 1 : length) - a;
    return API__PART;
}

enum api__part api__range(const struct api_request *r, const char *tag, uint64_t length,
                          uint64_t *first, uint64_t *count)
{
    struct api_bytes range, validator;
    size_t validators;
    if (!api__one_header(r, "Range", &range, NULL))
        return API__WHOLE;
    /* RFC 9110, 13.1.5: one strong tag; a date never fits, for there is no Last-Modified */
    bool one = api__one_header(r, "If-Range", &validator, &validators);
    if (validators > 0 && (!one || !api__equal(validator, tag)))
        return API__WHOLE;
    return read_range(range, length, first, count);
}

bool api__is_conditional(const struct api_request *r)
{
    static const char *const names[] = {"If-Match", "If-None-Match", "If-Range", "Range"};
    for (size_t i = 0; i < r->header_count; i++) {
        struct api_bytes name = api__bytes(r->headers[i].name);
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (api__equal_case(name, names[n]))
                return true;
    }
    return false;
}

struct api__digest api__sha256(const struct api_bytes *parts, size_t count)
{
    struct sha256_ctx context;
    struct api__digest digest;
    sha256_init(&context);
    for (size_t i = 0; i < count; i++)
        sha256_update(&context, parts[i].len, (const uint8_t *)parts[i].at);
    sha256_digest(&context, sizeof digest.bytes, digest.bytes);
    return digest;
}

void api__tag(struct api__digest digest, char out[API__TAG_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    char *p = out;
    *p++ = '"';
    for (int i = 0; i < 16; i++) {
        *p++ = digits[digest.bytes[i] >> 4];
        *p++ = digits[digest.bytes[i] & 15];
    }
    *p++ = '"';
    *p = '\0';
}
