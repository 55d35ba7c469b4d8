/* SPDX-License-Identifier: MIT
 *
 * pull.h: a stream in the hands of the library: plain, coded, or as text that the pool writes. A
 * body that cannot be finished is cut, never ended.
 */
#ifndef SERVER_PULL_H
#define SERVER_PULL_H

#include "http/conn.h"

/* The response (without headers) whose body is a stream over the connection; takes the stream over.
 * Sets c->stream. NULL without memory. */
struct MHD_Response *pull_response(struct conn *, struct stream *);

#endif
