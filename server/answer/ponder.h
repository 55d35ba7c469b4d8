/* SPDX-License-Identifier: MIT
 *
 * ponder.h: plans that take long to make: of a body of megabytes, of millions of documents, of two
 * tables that are compared. The pool makes them while the connection rests; one at a time for each
 * worker, in the order in which they were asked for, so that threads are left for tables.
 */
#ifndef SERVER_PONDER_H
#define SERVER_PONDER_H

#include "http/conn.h"

enum ponder_state {
    PONDER_READY, /* c->order is the answer */
    PONDER_WAIT,  /* the connection rests; it is woken when that is so, or when c->order is NULL */
    PONDER_FAILED /* there was no memory */
};

/* Makes the plan of the request in hand: here where that takes half a millisecond or so. `blob` is
 * the stored table that c->order asks for, and `facts` say of it that it was found: it is taken
 * over in any case, and goes into the new order. Both NULL: the request has no order yet. Of the
 * request the body is c->body, and all else is copied where it must last. */
enum ponder_state ponder(struct conn *, const struct api_request *, struct store_blob *blob,
                         const struct api_learned_facts *facts);

#endif
