/* SPDX-License-Identifier: MIT
 *
 * scribe.h: the text of a large table, written on the pool by several threads at once while the
 * loop sends what is ready. Blocks of rows are written apart and go out in order; at most
 * SCRIBE_BLOCKS of them exist, whatever the length of the table.
 */
#ifndef SERVER_SCRIBE_H
#define SERVER_SCRIBE_H

#include "http/conn.h"

#define SCRIBE_BLOCKS 5

struct scribe;

/* Whether a table's text is worth it: long enough, and in rows that find room in a block. */
bool scribe_fits(const struct order *);

/* For the answer of a connection. Takes the stream over; NULL without memory, with nothing taken
 * over. */
struct scribe *scribe_open(struct conn *, struct stream *);

/* On the loop of the connection: which is not woken any more. Work under way ends by itself. */
void scribe_close(struct scribe **);

/* The next text, where it stands: how much, STREAM_BUSY, or what stream_read says (after
 * STREAM_WAIT the stream's `need` is set). It stays until scribe_taken. */
ssize_t scribe_next(struct scribe *, const char **at);

/* The first `size` bytes of it are not wanted any more. */
void scribe_taken(struct scribe *, size_t size);

#endif
