/* SPDX-License-Identifier: MIT
 *
 * negotiate.h: Accept (RFC 9110, 12.5.1) against what can be offered.
 */
#ifndef API_NEGOTIATE_H
#define API_NEGOTIATE_H

#include "request/call.h"

/* A media type without parameters that can be served. Offers of one representation share an id; an
 * alias counts only where it is named in full. */
struct api__offer {
    const char *type;
    int id;
    bool alias;
};

/* The id with the highest quality, the first offer of equals; -1 where none is acceptable. Without
 * Accept (or with nothing but unreadable elements) the first offer. For each offer the most
 * specific range counts. */
int api__negotiate(const struct api_request *, const struct api__offer *offers, size_t count);

/* Cuts an element of a weighted list into what it names and its weight in thousandths (RFC
 * 9110, 12.4.2), 1000 where it states none. False where the weight is not of the grammar: the
 * element then says nothing. */
bool api__weighted(struct api_bytes element, struct api_bytes *name, int *weight);

/* Whether a header of a request names a type, apart from parameters; the charset, if there is one,
 * is UTF-8. RFC 9110, 8.3.1. */
bool api__type_is(struct api_bytes content_type, const char *type);

#endif
