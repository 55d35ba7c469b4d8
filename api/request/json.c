/* SPDX-License-Identifier: MIT
 *
 * json.c: see json.h. Every value is walked once by skip(); slices that it has passed are decoded
 * without further checks.
 */
#include "json.h"
#include "decode.h"

#include <string.h>

static bool fail(struct api__json *j, const char *fault)
{
    if (!j->fault)
        j->fault = fault;
    return false;
}

static void blanks(struct api__json *j)
{
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\n' || *j->p == '\r' || *j->p == '\t'))
        j->p++;
}

static bool take(struct api__json *j, char c)
{
    blanks(j);
    if (j->p == j->end || *j->p != c)
        return false;
    j->p++;
    return true;
}

/* The code unit of \uXXXX with p at the first digit, or -1. */
static int unit(const char *p, const char *end)
{
    int u = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int d = api__hex_digit(p[i]);
        if (d < 0)
            return -1;
        u = u << 4 | d;
    }
    return u;
}

/* With p behind a backslash: steps over the escape. */
static bool escape(struct api__json *j)
{
    if (j->p == j->end)
        return fail(j, "a string without an end");
    char c = *j->p++;
    if (c != 'u')
        return (c && strchr("\"\\/bfnrt", c)) || fail(j, "an unknown escape in a string");
    int u = unit(j->p, j->end);
    if (u < 0)
        return fail(j, "a broken \\u escape");
    if (u == 0 && !j->nul)
        return fail(j, "a NUL in a string");
    j->p += 4;
    if (u < 0xd800 || u > 0xdfff)
        return true;
    int low = j->end - j->p >= 6 && j->p[0] == '\\' && j->p[1] == 'u' ? unit(j->p + 2, j->end) : -1;
    if (u > 0xdbff || low < 0xdc00 || low > 0xdfff)
        return fail(j, "half of a surrogate pair");
    j->p += 6;
    return true;
}

/* With p behind the opening quote: steps behind the closing one. */
static bool skip_string(struct api__json *j)
{
    const char *begin = j->p;
    while (j->p < j->end && *j->p != '"') {
        unsigned char c = (unsigned char)*j->p++;
        if (c < 0x20)
            return fail(j, "a control character in a string");
        if (c == '\\' && !escape(j))
            return false;
    }
    if (j->p == j->end)
        return fail(j, "a string without an end");
    if (!api__utf8(begin, (size_t)(j->p - begin)))
        return fail(j, "bytes that are not UTF-8");
    j->p++;
    return true;
}

static bool skip(struct api__json *j, int depth);

static bool skip_array(struct api__json *j, int depth)
{
    if (take(j, ']'))
        return true;
    do {
        if (!skip(j, depth + 1))
            return false;
    } while (take(j, ','));
    return take(j, ']') || fail(j, "an array without an end");
}

static bool skip_object(struct api__json *j, int depth)
{
    if (take(j, '}'))
        return true;
    do {
        if (!take(j, '"'))
            return fail(j, "a member without a name");
        if (!skip_string(j))
            return false;
        if (!take(j, ':'))
            return fail(j, "a name without a colon");
        if (!skip(j, depth + 1))
            return false;
    } while (take(j, ','));
    return take(j, '}') || fail(j, "an object without an end");
}

static bool word(struct api__json *j, const char *w)
{
    size_t len = strlen(w);
    if ((size_t)(j->end - j->p) < len || memcmp(j->p, w, len) != 0)
        return fail(j, "not a JSON value");
    j->p += len;
    return true;
}

static bool skip(struct api__json *j, int depth)
{
    blanks(j);
    if (j->p == j->end)
        return fail(j, "the end where a value should be");
    if (depth >= API__JSON_DEPTH && (*j->p == '[' || *j->p == '{'))
        return fail(j, "arrays or objects nested too deeply");
    switch (*j->p) {
    case '[':
        j->p++;
        return skip_array(j, depth);
    case '{':
        j->p++;
        return skip_object(j, depth);
    case '"':
        j->p++;
        return skip_string(j);
    case 't':
        return word(j, "true");
    case 'f':
        return word(j, "false");
    case 'n':
        return word(j, "null");
    default: {
        bool integer;
        const char *end = api__number_end(j->p, j->end, &integer);
        if (!end)
            return fail(j, "not a JSON value");
        j->p = end;
        return true;
    }
    }
}

static bool begin(struct api__json *j, struct api_bytes text, char bracket)
{
    *j = (struct api__json){
        .begin = text.at, .p = text.at, .end = text.at + text.len, .first = true};
    blanks(j);
    if (j->p == j->end)
        return fail(j, "it is empty");
    return take(j, bracket) ||
           fail(j, bracket == '{' ? "it is not an object" : "it is not an array");
}

bool api__json_object(struct api__json *j, struct api_bytes text)
{
    return begin(j, text, '{');
}

bool api__json_array(struct api__json *j, struct api_bytes text)
{
    return begin(j, text, '[');
}

/* Whether another item follows; the closing bracket is consumed where none does. */
static bool another(struct api__json *j, char bracket)
{
    if (j->first) {
        j->first = false;
        return !take(j, bracket);
    }
    if (take(j, ','))
        return true;
    if (!take(j, bracket))
        fail(j, bracket == '}' ? "an object without an end" : "an array without an end");
    return false;
}

bool api__json_element(struct api__json *j, struct api_bytes *value)
{
    if (j->fault || !another(j, ']'))
        return false;
    blanks(j);
    const char *from = j->p;
    if (!skip(j, 1))
        return false;
    *value = (struct api_bytes){from, (size_t)(j->p - from)};
    return true;
}

bool api__json_member(struct api__json *j, struct api__arena *arena, struct api_bytes *name,
                      struct api_bytes *value)
{
    if (j->fault || !another(j, '}'))
        return false;
    if (!take(j, '"'))
        return fail(j, "a member without a name");
    const char *from = j->p - 1;
    if (!skip_string(j))
        return false;
    api__json_string(arena, (struct api_bytes){from, (size_t)(j->p - from)}, name);
    if (!take(j, ':'))
        return fail(j, "a name without a colon");
    blanks(j);
    from = j->p;
    if (!skip(j, 1))
        return false;
    *value = (struct api_bytes){from, (size_t)(j->p - from)};
    return true;
}

bool api__json_end(struct api__json *j)
{
    blanks(j);
    return !j->fault && (j->p == j->end || fail(j, "something behind the end"));
}

static size_t put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((len == 2 ? 0xc0 : len == 3 ? 0xe0 : 0xf0) | c);
    return len;
}

bool api__json_string(struct api__arena *arena, struct api_bytes slice, struct api_bytes *out)
{
    if (slice.len < 2 || slice.at[0] != '"')
        return false;
    const char *p = slice.at + 1, *end = slice.at + slice.len - 1;
    if (!memchr(p, '\\', (size_t)(end - p))) {
        *out = (struct api_bytes){p, (size_t)(end - p)};
        return true;
    }
    char *to = api__arena_take(arena, slice.len);
    size_t n = 0;
    while (p < end) {
        if (*p != '\\') {
            to[n++] = *p++;
        } else if (p[1] != 'u') {
            static const char from_to[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
            to[n++] = strchr(from_to, p[1])[1];
            p += 2;
        } else {
            unsigned c = (unsigned)unit(p + 2, end);
            p += 6;
            if (c >= 0xd800 && c <= 0xdbff) {
                c = 0x10000 + ((c - 0xd800) << 10) + ((unsigned)unit(p + 2, end) - 0xdc00);
                p += 6;
            }
            n += put_utf8(to + n, c);
        }
    }
    *out = (struct api_bytes){to, n};
    return true;
}
