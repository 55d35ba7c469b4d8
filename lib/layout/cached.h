/* SPDX-License-Identifier: MIT
 *
 * cached.h: going on after a prefix that is in a cache: later chunks, next turns, decode steps,
 * draft trees.
 */
#ifndef PE_LAYOUT_CACHED_H
#define PE_LAYOUT_CACHED_H

#include "layout/sink.h"
#include "posenc_layout.h"

/* One request of the batch. */
struct pe__request {
    int64_t done;  /* tokens that came before those of this answer */
    int64_t where; /* slots of the cache that are taken */
    int64_t first; /* position of its first token here */
    int64_t query; /* tokens in this answer */
    int64_t queries_before;
    int64_t keys_before;
};

struct pe__cached {
    const struct pe_layout_request *q;
    struct pe__request *request; /* [batch + 1]: the last holds the sums */
    uint64_t batch;
    int64_t width; /* of a row, where flatten=false */
    int64_t slots; /* of the stream, where flatten=true */
    int64_t longest, longest_keys;
    int32_t *depth;  /* of a draft tree; or NULL */
    int64_t deepest; /* levels of the tree */
};

/* Errors: MISSING, UNUSED, CONFLICT, RANGE, NO_MEMORY. */
enum pe_error pe__cached_make(struct pe__cached *, const struct pe_layout_request *,
                              struct pe_layout_fault *);
void pe__cached_clear(struct pe__cached *);

/* As in project.h. */
unsigned pe__cached_shape(const struct pe__cached *, enum pe_out, uint64_t shape[4]);
void pe__cached_project(const struct pe__cached *, enum pe_out, uint64_t first, uint64_t count,
                        void *out);
void pe__cached_positions(const struct pe__cached *, uint64_t first, uint64_t count, int64_t *out);
bool pe__cached_extent(const struct pe__cached *, int64_t *least, int64_t *most);
enum pe_error pe__cached_allowed(const struct pe__cached *, enum pe_out, struct pe_layout_fault *);

/* Keys of a request that are held: those of its queries and, inside the window, earlier ones. */
int64_t pe__held(const struct pe__cached *, const struct pe__request *);

#endif
