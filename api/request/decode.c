/* SPDX-License-Identifier: MIT
 *
 * decode.c: see decode.h. Grammar is checked by hand before any number is converted, so strtod sees
 * nothing but JSON numbers; the program never calls setlocale, so its point is '.'.
 */
#include "decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The length of the well-formed sequence at p, or 0. The first continuation byte has a narrower
 * range after E0, ED, F0 and F4: that shuts out overlong forms, surrogates and what is beyond
 * U+10FFFF. */
static size_t sequence(const unsigned char *p, const unsigned char *end)
{
    size_t len = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    if (len == 0 || (size_t)(end - p) < len)
        return 0;
    if (len > 1) {
        unsigned char lo = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;
        unsigned char hi = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;
        if (p[1] < lo || p[1] > hi)
            return 0;
    }
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

bool api__utf8(const char *at, size_t len)
{
    const unsigned char *p = (const unsigned char *)at, *end = p + len;
    while (p < end) {
        size_t n = sequence(p, end);
        if (n == 0)
            return false;
        p += n;
    }
    return true;
}

int api__hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

enum api__decoded api__unescape(struct api__arena *arena, struct api_bytes in,
                                struct api_bytes *out)
{
    if (in.len == 0 || !memchr(in.at, '%', in.len)) {
        *out = in;
        return API__DECODED;
    }
    char *to = api__arena_take(arena, in.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < in.len; i++) {
        char c = in.at[i];
        if (c == '%') {
            int high = i + 1 < in.len ? api__hex_digit(in.at[i + 1]) : -1;
            int low = i + 2 < in.len ? api__hex_digit(in.at[i + 2]) : -1;
            if (high < 0 || low < 0)
                return API__BROKEN_ESCAPE;
            c = (char)(high << 4 | low);
            i += 2;
            if (c == '\0')
                return API__NUL_INSIDE;
        }
        to[n++] = c;
    }
    if (!api__utf8(to, n))
        return API__NOT_UTF8;
    to[n] = '\0';
    *out = (struct api_bytes){to, n};
    return API__DECODED;
}

static bool digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

const char *api__number_end(const char *p, const char *end, bool *integer)
{
    *integer = true;
    if (p < end && *p == '-')
        p++;
    if (!digit(p, end))
        return NULL;
    if (*p == '0')
        p++;
    else
        while (digit(p, end))
            p++;
    if (p < end && *p == '.') {
        *integer = false;
        if (!digit(++p, end))
            return NULL;
        while (digit(p, end))
            p++;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        *integer = false;
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        if (!digit(p, end))
            return NULL;
        while (digit(p, end))
            p++;
    }
    return p;
}

enum api__number api__integer(struct api_bytes text, int64_t *out)
{
    bool integer;
    const char *p = text.at, *end = p + text.len;
    if (text.len == 0 || api__number_end(p, end, &integer) != end || !integer)
        return API__NO_NUMBER;
    bool negative = *p == '-';
    int64_t value = 0;
    for (p += negative; p < end; p++) {
        int64_t unit = negative ? -(*p - '0') : *p - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, unit, &value))
            return API__NUMBER_TOO_LARGE;
    }
    *out = value;
    return API__NUMBER;
}

enum api__number api__real(struct api_bytes text, double *out)
{
    bool integer;
    const char *end = text.at + text.len;
    if (text.len == 0 || api__number_end(text.at, end, &integer) != end)
        return API__NO_NUMBER;
    char small[64], *copy = text.len < sizeof small ? small : malloc(text.len + 1);
    if (!copy)
        return API__NUMBER_TOO_LARGE;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    double value = strtod(copy, NULL);
    if (copy != small)
        free(copy);
    if (!isfinite(value))
        return API__NUMBER_TOO_LARGE;
    *out = value;
    return API__NUMBER;
}
