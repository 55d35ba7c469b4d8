/* SPDX-License-Identifier: MIT
 *
 * learned.h: what a plan of source API_LEARNED asks of the store, and the plan that its answer
 * makes.
 */
#ifndef SERVER_LEARNED_H
#define SERVER_LEARNED_H

#include "http/conn.h"

enum learned_state {
    LEARNED_READY, /* c->order is the final one; rows have their blob in it */
    LEARNED_WAIT,  /* the connection rests; call again when it was woken */
    LEARNED_FAILED /* there was no memory */
};

/* Looks for what c->order asks for, or does it; all but PUT. */
enum learned_state learned_look(struct conn *);

/* Makes the final plan of the request in hand, which is not for rows, the order of the connection.
 * False without memory. */
bool learned_answer(struct conn *, const struct api_learned_facts *);

/* A blob as a fact. Borrows both. */
struct api_learned_table learned_table(const char *name, struct store_blob *);

#endif
