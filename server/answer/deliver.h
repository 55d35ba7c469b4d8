/* SPDX-License-Identifier: MIT
 *
 * deliver.h: the only maker of the library's responses. A body is text in memory, a window of a
 * payload without a copy, or a stream; or none, with the headers that a body would have.
 */
#ifndef SERVER_DELIVER_H
#define SERVER_DELIVER_H

#include "answer/body.h"
#include "http/conn.h"

#include <time.h>

/* A response and what the log and the metrics say of it. */
struct answer {
    struct MHD_Response *response; /* NULL: there was no memory */
    int status;
    uint64_t bytes;    /* of the body; 0 where none is sent or the number is not known */
    size_t weight;     /* bytes of memory that the response has for itself */
    uint64_t length;   /* that its head states; API_UNKNOWN: none */
    struct body *body; /* lives as long as the response; NULL: none, or a stream */
};

/* Headers alone, or text: EMPTY, TEXT, and a TABLE that is asked for by HEAD. The order lives as
 * long as the response. Where a body would be of unknown length, the connection ends with the
 * answer. */
struct answer deliver_plain(struct order *);

/* Text that the server made itself, to be freed with free; in place of the order's own source. */
struct answer deliver_made(struct order *, int status, char *text, size_t length);

/* The binary table of an order from a whole payload, of which the caller stays a reader. */
struct answer deliver_payload(struct order *, struct payload *);

/* A table as the connection takes it; takes the stream over. */
struct answer deliver_stream(struct conn *, struct stream *);

bool deliver_header(struct answer *, const char *name, const char *value);

/* What a table says of how it came: Cache-Status (RFC 9211) and Server-Timing. Of a hit that is
 * static text; otherwise `plan`, and `make` or `wait`: milliseconds until the plan was there, and
 * from then on until now. */
void deliver_cache(struct conn *, struct answer *, enum cache_outcome);

/* Repr-Digest of the representation that the tag names, where it is known. */
void deliver_digest(struct conn *, struct answer *);

/* Sends a response with the headers that belong to the one request: its id, and Connection: close
 * where it must be the last. False where the library cannot: the connection is then to be closed.
 * Drops the response. */
bool deliver(struct conn *, struct answer);

/* The same for a response that is kept and sent again and again, and what of it changes. */
struct deliver_stamp {
    char id[129];  /* "": none is set */
    time_t second; /* of its Date */
};
bool deliver_again(struct conn *, const struct answer *, struct deliver_stamp *);

/* The text of a Date header (RFC 9110, 5.6.7). */
#define DELIVER_DATE 29
void deliver_date(time_t, char text[DELIVER_DATE + 1]);

#endif
