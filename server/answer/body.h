/* SPDX-License-Identifier: MIT
 *
 * body.h: the bytes of an answer's body and what they stand on: an order, a payload, text. Counted,
 * because a response of the library and a prepared reply can both stand on one. Owners are on one
 * thread.
 */
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include "answer/order.h"
#include "cache/payload.h"

#include <sys/uio.h>

struct body {
    struct order *order;
    struct payload *payload;
    char *text;
    struct iovec piece[2]; /* what is sent; those behind the last are empty */
    unsigned owners;
};

/* Becomes an owner of order and payload (each may be NULL), and takes the text over (NULL or for
 * free) in any case. One owner. NULL without memory. */
struct body *body_create(struct order *, struct payload *, char *text);
void body_hold(struct body *);

/* For the library's callbacks: lets go of a struct body. */
void body_drop(void *body);

static inline uint64_t body_size(const struct body *b)
{
    return b ? b->piece[0].iov_len + b->piece[1].iov_len : 0;
}

#endif
