/* SPDX-License-Identifier: MIT
 *
 * store.h: stored tables by name, in memory as on disk. Look-ups never touch the disk. Changes are
 * made one at a time: on disk first, so that they last, then in memory, so that they are seen; who
 * is told of one can rely on it.
 */
#ifndef SERVER_STORE_H
#define SERVER_STORE_H

#include "store_blob.h"

#include <nettle/sha2.h>

struct store;

/* Opens the folder and reads what is there: false with a sentence in `error`, and no store. Closed
 * when nobody uses it or a blob of it any more. */
bool store_open(const char *path, struct store **, char *error, size_t size);
void store_close(struct store **);

/* Any thread, never blocks for long. The blob of a name, held by the caller; NULL where there is
 * none, or where `digest` is given and it has another one. */
struct store_blob *store_find(struct store *, const char *name, const char *digest);

/* Names behind `after` in the order of their bytes, `limit` at most; *more: there are others behind
 * them. Blobs are held by the caller. Returns how many. */
struct store_row {
    char name[STORE_NAME + 1];
    struct store_blob *blob;
};
size_t store_page(struct store *, const char *after, size_t limit, struct store_row *out,
                  bool *more);

/* What follows blocks on the disk. */

/* store_blob_load. */
int store_load(struct store *, struct store_blob *);

/* A file on its way in. One thread at a time. */
struct store_draft {
    struct store *store;
    int fd; /* -1: nothing was written yet */
    char name[STORE_DRAFT];
    struct sha256_ctx digest;
    uint64_t size;
    int failed; /* -errno: nothing more is written */
};
void store_draft_open(struct store_draft *, struct store *);
void store_draft_write(struct store_draft *, const void *bytes, size_t size);
void store_draft_drop(struct store_draft *);

/* Carries out a PUT with the whole draft, which is gone afterwards. With MADE, CHANGED and SAME
 * *out is the blob, held by the caller; with BAD_FILE *fault says why. */
enum api_learned_outcome store_put(struct store_draft *, const struct api_learned *,
                                   struct store_blob **out, const char **fault);

/* Carries out a DELETE. */
enum api_learned_outcome store_remove(struct store *, const struct api_learned *);

#endif
