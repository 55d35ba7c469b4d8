/* SPDX-License-Identifier: MIT
 *
 * cache.h: payloads by key. An entry is there from the moment that somebody begins to build it,
 * once only: who comes while it is under way joins. The bytes of all entries together stay within
 * the limit; least recently used ones go first, those under way never.
 */
#ifndef SERVER_CACHE_H
#define SERVER_CACHE_H

#include "watch/metrics.h"
#include "payload.h"

#include "api.h"

#define CACHE_KEY_SIZE 32

struct cache;

enum cache_outcome {
    CACHE_HIT,  /* whole */
    CACHE_JOIN, /* under way: it may fail */
    CACHE_MISS, /* new and empty: the caller builds it, and says cache_built or cache_drop */
    CACHE_NONE  /* cannot be kept */
};

/* NULL without memory. Closed when all others have let go of it. */
struct cache *cache_open(uint64_t limit);
void cache_close(struct cache **);

/* Thread-safe, as all below. Except for NONE the caller is a reader of *out from now on. `bytes`
 * and `goal` are those of a new payload. A table larger than a quarter of the limit is not kept: it
 * would push out too much. */
enum cache_outcome cache_get(struct cache *, struct api_bytes key, uint64_t bytes, uint64_t goal,
                             struct payload **out);

/* Only what is there and whole; NULL otherwise. Counts a hit where it is, and no miss where it is
 * not. */
struct payload *cache_peek(struct cache *, struct api_bytes key);

bool cache_keeps(const struct cache *, uint64_t bytes);

/* The builder's: it is whole; it failed, and is forgotten. */
void cache_built(struct cache *);
void cache_forget(struct cache *, struct payload *);

/* Forgets a payload that nobody reads, so that its builder may stop: false where somebody does. */
bool cache_abandon(struct cache *, struct payload *);

void cache_facts(struct cache *, struct metrics_facts *);

#endif
