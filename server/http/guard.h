/* SPDX-License-Identifier: MIT
 *
 * guard.h: is this request head what RFC 9112 calls well-formed, byte for byte? The library that
 * reads it is lenient in ways that let one client smuggle a request past a proxy; whatever it
 * glosses over is refused here. Also finds the few headers that the server itself acts on.
 */
#ifndef SERVER_GUARD_H
#define SERVER_GUARD_H

#include "api.h"

#include <microhttpd.h>

#define GUARD_MAX_HEADERS 100

/* A longer one is refused with 431. */
#define GUARD_HEAD_LIMIT (8 << 10)

struct guard_head {
    struct api_header header[GUARD_MAX_HEADERS];
    size_t count;
    struct api_bytes accept, accept_encoding, if_none_match, request_id, traceparent;
    uint64_t content_length;
    bool has_length;
    bool plain; /* no header but these can matter to the answer, and none of them came twice */
    bool alike; /* and all that differs in answers to these very bytes is an id that we make */
    size_t size;
};

struct guard_verdict {
    int status; /* 0: well-formed */
    const char *name;
    const char *detail;
};

/* The first handler call of a request. `raw` is the target where it stood in the library's buffer
 * (as MHD_OPTION_URI_LOG_CALLBACK gave it) and `target` a copy of it. Fills the head in either
 * case. Every refusal must close the connection. */
struct guard_verdict guard_check(struct MHD_Connection *, const char *method, const char *version,
                                 const char *raw, struct api_bytes target, struct guard_head *);

/* The head once more, in a later call. */
void guard_read(struct MHD_Connection *, struct guard_head *);

#endif
