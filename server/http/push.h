/* SPDX-License-Identifier: MIT
 *
 * push.h: bytes that go to a client's socket past the library, which rests the connection where
 * they cannot all go at once. Only where the library has nothing of its own to send: between two
 * requests, or between two pieces of a chunked body.
 */
#ifndef SERVER_PUSH_H
#define SERVER_PUSH_H

#include "conn.h"

#include <sys/uio.h>

#define PUSH_PIECES 3

/* Sends what the socket takes now: bytes, or -1 with errno. */
ssize_t push_now(int fd, const struct iovec *piece, int pieces);

/* The rest of the pieces, of which `sent` bytes have gone, is sent as the client takes it; the
 * connection is suspended, and woken at the end. `over` is called once, before that: `whole` says
 * whether all was sent; otherwise the connection is lost. The bytes are borrowed until then. False
 * without memory, with nothing begun. */
bool push_rest(struct conn *, const struct iovec *piece, int pieces, size_t sent,
               void (*over)(struct conn *, void *closure, bool whole), void *closure);

#endif
