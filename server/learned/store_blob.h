/* SPDX-License-Identifier: MIT
 *
 * store_blob.h: the bytes of one stored table, counted and never changed. They are served straight
 * from a mapping of the file. What was found on disk at start is compared with its digest before
 * its first use.
 */
#ifndef SERVER_STORE_BLOB_H
#define SERVER_STORE_BLOB_H

#include "store_files.h"

#include "api.h"

#include <nettle/sha2.h>
#include <pthread.h>

enum store_state {
    STORE_UNREAD, /* its header was read, its bytes were not looked at */
    STORE_READY,  /* mapped, and the bytes are those of the digest */
    STORE_DAMAGED
};

struct store_blob {
    char digest[STORE_DIGITS + 1];
    struct api_learned_file file;
    uint64_t size;
    atomic_uint owners;
    atomic_int state;
    pthread_mutex_t lock; /* held by whoever loads it */
    /* once READY */
    const unsigned char *map;
    double largest;
};

/* One owner, UNREAD. NULL without memory. */
struct store_blob *store_blob_create(const char *digest, const struct api_learned_file *,
                                     uint64_t size);
struct store_blob *store_blob_hold(struct store_blob *);
void store_blob_drop(struct store_blob **);

static inline enum store_state store_blob_state(struct store_blob *b)
{
    return (enum store_state)atomic_load_explicit(&b->state, memory_order_acquire);
}

/* A sum as the text that names it. */
void store_blob_digits(const unsigned char sum[SHA256_DIGEST_SIZE], char out[STORE_DIGITS + 1]);

/* A blob from the file of that digest: its header alone. 0, or -errno; -EBADMSG where it is no
 * table. */
int store_blob_open(struct store_files *, const char *digest, struct store_blob **);

/* Makes a new blob READY from its open file, whose bytes the caller knows to be right. 0, or
 * -errno. */
int store_blob_map(struct store_blob *, int fd, double largest);

/* Makes it READY, or DAMAGED (and 0), by reading all of it. -ENOENT: it was removed meanwhile.
 * Blocks; safe from several threads at once. */
int store_blob_load(struct store_files *, struct store_blob *);

/* Rows of a READY blob as rows of the one tensor of a table made by api_learned_plan: first ..
 * first+count-1, to `out`. */
/* Rows by number, each of which is there, one after the other in another dtype. */
void store_blob_pick(const struct store_blob *, const int64_t *rows, uint64_t count, enum pe_dtype,
                     void *out);
void store_blob_fill(const struct store_blob *, const struct api_table *, uint64_t first,
                     uint64_t count, void *out);

/* Where the rows of that table stand in the mapping, one after the other, aligned for `alignment`
 * bytes; NULL where they have to be made. */
const unsigned char *store_blob_rows(const struct store_blob *, const struct api_table *,
                                     size_t alignment);

#endif
