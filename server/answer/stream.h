/* SPDX-License-Identifier: MIT
 *
 * stream.h: the bytes of a table's body, pulled piece by piece: of a payload, as far as it is made;
 * or made as they are pulled, a band at a time, in bounded memory whatever the length. Binary
 * bodies can begin anywhere (a range costs its own rows); text is written from its start.
 */
#ifndef SERVER_STREAM_H
#define SERVER_STREAM_H

#include "cache/fill.h"

struct stream {
    struct order *order;
    struct payload *payload;  /* NULL: rows are made as they are pulled */
    struct shared_plan *plan; /* for that */
    uint64_t sent;            /* bytes pulled so far */
    uint64_t need;            /* after STREAM_WAIT: progress of the payload to wait for */
    /* rows made, but not all pulled */
    unsigned char *band;
    size_t band_size;
    unsigned band_tensor;
    uint64_t band_first, band_rows;
    /* text */
    struct api_writer writer;
    unsigned stage; /* head, then the tensors, then tail */
    uint64_t row;
    char *text;
    size_t text_size, text_from, text_to;
};

/* BUSY, of what the pool makes of a stream: the connection is woken when it has come. */
enum { STREAM_WAIT = 0, STREAM_END = -1, STREAM_BROKEN = -2, STREAM_BUSY = -3 };

/* Room for at least `size` bytes at *at, of which there are *have; what was there is lost. */
bool stream_room(void **at, size_t *have, size_t size);

/* The part of the table that its plan says (first, count). Becomes an owner of the order, and takes
 * over the caller's reading of `payload` or owning of `plan`, one of which is NULL; both are for
 * rows of a stored table that are converted. NULL without memory, with nothing taken over. */
struct stream *stream_open(struct order *, struct payload *, struct shared_plan *);
void stream_close(struct stream **);

/* The next bytes, at most `size`: how many, or one of the above. */
ssize_t stream_read(struct stream *, char *out, size_t size);

/* The same for a binary body over a payload, without a copy: *at is where they stand, as long as
 * the stream. */
ssize_t stream_lend(struct stream *, const unsigned char **at, size_t size);

/* Rows of a tensor: where they stand in the payload, which has them, or made into `room`. Reads the
 * stream alone, on any thread. NULL on an error of the library. */
const unsigned char *stream_rows(const struct stream *, unsigned tensor, uint64_t first,
                                 uint64_t rows, void *room);

#endif
