/* SPDX-License-Identifier: MIT
 *
 * route.h: path -> handler. Paths are matched byte by byte: nothing is decoded or normalised, so no
 * two spellings lead to one place.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "request/call.h"

struct api__route {
    const char *word;
    const char *pattern;
    unsigned methods; /* bits of api__method; GET means HEAD too */
    unsigned bodies;  /* bits of api__body */
    bool (*answer)(struct api__call *);
};

/* The route of call->path, or NULL; sets captures and extension. */
const struct api__route *api__find_route(struct api__call *);

/* All routes, in order. */
const struct api__route *api__routes(size_t *count);

/* "GET, HEAD, POST, OPTIONS": for Allow. In the arena. */
const char *api__methods(struct api__arena *, unsigned methods);

#endif
