/* SPDX-License-Identifier: MIT
 *
 * reply.h: an answer as bytes that are ready for a socket: its head, in which only the date and the
 * id of the request change, and the body that stands behind it. The same bytes as the library makes
 * of the response. A reply belongs to one thread.
 */
#ifndef SERVER_REPLY_H
#define SERVER_REPLY_H

#include "deliver.h"

/* Bodies up to this size are sent from replies: a larger one costs so much more than its head that
 * the library may as well make that. */
#define REPLY_LIMIT (64 << 10)

#define REPLY_ID 16

struct reply {
    unsigned owners;
    struct body *body; /* NULL: none is sent */
    int status;
    uint64_t bytes; /* of the body */
    size_t size, date_at, id_at;
    time_t second; /* that the date shows */
    char head[];
};

/* From a response with all its headers. One owner. NULL where the length of the body is not known
 * or too great, the answer would end its connection, or there is no memory. */
struct reply *reply_make(const struct answer *);
void reply_hold(struct reply *);
void reply_drop(struct reply **);

/* The pieces as they are sent now, as the answer to the request of this id (REPLY_ID characters):
 * how many. They hold until the next call. */
int reply_pieces(struct reply *, const char *id, struct iovec out[3]);

#endif
