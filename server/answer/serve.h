/* SPDX-License-Identifier: MIT
 *
 * serve.h: carries out the plan of the request in hand: text, pages that the server knows, and
 * tables from the cache, from a build that it starts or joins, or made as they are sent.
 */
#ifndef SERVER_SERVE_H
#define SERVER_SERVE_H

#include "memo.h"

/* Answers c->order, or suspends the connection; the next call of the handler then calls serve
 * again. `key` is where the answer may be remembered; NULL: not at all. False: close the
 * connection. */
bool serve(struct conn *c, const struct memo_key *key);

#endif
