/* SPDX-License-Identifier: MIT
 *
 * negotiate.c: see negotiate.h. An element whose weight is not of the grammar says nothing and is
 * left out; a parameter of a type (`text/csv;header=absent`) does not narrow it.
 */
#include "negotiate.h"

#include <string.h>
#include <strings.h>

#define MAX_ELEMENTS 64 /* of one Accept; further ones are not read */

struct range {
    struct api_bytes type;
    int specificity; /* 1: any, 2: type/any, 3: type/subtype */
    int quality;     /* thousandths */
};

/* Cuts the next piece off at ';', minding quoted strings. */
static bool next_piece(struct api_bytes *rest, struct api_bytes *piece)
{
    if (rest->at == NULL)
        return false;
    const char *p = rest->at, *end = p + rest->len;
    bool quoted = false;
    for (; p < end && (quoted || *p != ';'); p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (*p == '\\' && quoted && p + 1 < end)
            p++;
    }
    *piece = api__trim((struct api_bytes){rest->at, (size_t)(p - rest->at)});
    *rest =
        p < end ? (struct api_bytes){p + 1, (size_t)(end - p - 1)} : (struct api_bytes){NULL, 0};
    return true;
}

/* RFC 9110, 12.4.2: 0 or 1, with at most three decimals; -1 where it is not that. */
static int quality(struct api_bytes text)
{
    if (text.len == 0 || text.len > 5 || (text.at[0] != '0' && text.at[0] != '1'))
        return -1;
    int q = (text.at[0] - '0') * 1000;
    if (text.len > 1 && text.at[1] != '.')
        return -1;
    for (size_t i = 2, unit = 100; i < text.len; i++, unit /= 10) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return -1;
        q += (text.at[i] - '0') * (int)unit;
    }
    return q > 1000 ? -1 : q;
}

bool api__weighted(struct api_bytes element, struct api_bytes *name, int *weight)
{
    struct api_bytes piece;
    if (!next_piece(&element, name))
        return false;
    *weight = 1000;
    while (next_piece(&element, &piece)) {
        if (piece.len > 1 && (piece.at[0] | 0x20) == 'q' && piece.at[1] == '=')
            *weight = quality((struct api_bytes){piece.at + 2, piece.len - 2});
    }
    return *weight >= 0;
}

static bool read_range(struct api_bytes element, struct range *out)
{
    if (!api__weighted(element, &out->type, &out->quality))
        return false;
    const char *slash = out->type.len ? memchr(out->type.at, '/', out->type.len) : NULL;
    if (!slash && !api__equal(out->type, "*"))
        return false;
    out->specificity = 3;
    if (!slash || api__equal(out->type, "*/*"))
        out->specificity = 1;
    else if (out->type.at[out->type.len - 1] == '*' && slash == out->type.at + out->type.len - 2)
        out->specificity = 2;
    return true;
}

static bool covers(const struct range *r, const char *type)
{
    if (r->specificity == 1)
        return true;
    if (r->specificity == 3)
        return api__equal_case(r->type, type);
    size_t prefix = r->type.len - 1;
    return strlen(type) > prefix && strncasecmp(type, r->type.at, prefix) == 0;
}

static int worth(const struct range *ranges, size_t count, const struct api__offer *offer)
{
    int specificity = 0, q = 0;
    for (size_t i = 0; i < count; i++) {
        const struct range *r = &ranges[i];
        if (r->specificity < specificity || (offer->alias && r->specificity < 3) ||
            !covers(r, offer->type))
            continue;
        if (r->specificity > specificity || r->quality > q)
            q = r->quality;
        specificity = r->specificity;
    }
    return q;
}

int api__negotiate(const struct api_request *request, const struct api__offer *offers, size_t count)
{
    struct range ranges[MAX_ELEMENTS];
    struct api_bytes line, element;
    size_t n = 0, at = 0;
    while (api__next_header(request, "Accept", &at, &line))
        while (n < MAX_ELEMENTS && api__next_element(&line, &element))
            n += read_range(element, &ranges[n]);
    if (n == 0)
        return offers[0].id;
    int best = -1, most = 0;
    for (size_t i = 0; i < count; i++) {
        int q = worth(ranges, n, &offers[i]);
        if (q > most) {
            most = q;
            best = offers[i].id;
        }
    }
    return best;
}

bool api__type_is(struct api_bytes content_type, const char *type)
{
    struct api_bytes piece;
    if (!next_piece(&content_type, &piece) || !api__equal_case(piece, type))
        return false;
    while (next_piece(&content_type, &piece)) {
        if (piece.len < 8 || strncasecmp(piece.at, "charset=", 8) != 0)
            continue;
        struct api_bytes charset = {piece.at + 8, piece.len - 8};
        if (!api__equal_case(charset, "utf-8") && !api__equal_case(charset, "\"utf-8\""))
            return false;
    }
    return true;
}
