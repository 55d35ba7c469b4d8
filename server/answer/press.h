/* SPDX-License-Identifier: MIT
 *
 * press.h: a stream's bytes, coded. Coding takes a hundred times as long as sending, so the pool
 * does it, rows included, while the loop serves others and the connection rests; one block is made
 * while another is sent. What a body takes is bounded whatever its length: two blocks, a piece and
 * the coder.
 */
#ifndef SERVER_PRESS_H
#define SERVER_PRESS_H

#include "http/conn.h"

struct press;

/* For the answer of a connection, with the coding of the stream's table. Takes the stream over;
 * NULL without memory, with nothing taken over. */
struct press *press_open(struct conn *, struct stream *);

/* On the loop of the connection: which is not woken any more. Work under way ends by itself. */
void press_close(struct press **);

/* The next bytes, where they stand: how many, STREAM_BUSY, or what stream_read says. They stay
 * until press_taken. */
ssize_t press_next(struct press *, const char **at);

/* The first `size` bytes of them are not wanted any more. */
void press_taken(struct press *, size_t size);

#endif
