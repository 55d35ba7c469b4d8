/* SPDX-License-Identifier: MIT
 *
 * cache.c: a hash table with chains, and a ring in order of use with a second chance. Keys are
 * SHA-256, but a client can choose among many of them, so buckets are found by a hash with secret
 * multipliers.
 */
#include "cache.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* What an entry costs beside its bytes: both structs and malloc's share. */
#define ENTRY_COST (sizeof(struct entry) + sizeof(struct payload) + 64)

struct entry {
    struct entry *chain;
    struct entry *newer, *older; /* ring */
    unsigned char key[CACHE_KEY_SIZE];
    struct payload *payload;
};

struct cache {
    pthread_mutex_t lock;
    struct entry **bucket;
    unsigned bits;
    size_t count;
    struct entry ring; /* newer: the oldest; older: the newest */
    uint64_t bytes, limit;
    uint64_t secret[4];
    struct metrics_facts facts;
};

struct cache *cache_open(uint64_t limit)
{
    struct cache *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->bits = 8;
    c->bucket = calloc((size_t)1 << c->bits, sizeof(struct entry *));
    if (!c->bucket || getrandom(c->secret, sizeof c->secret, 0) != sizeof c->secret) {
        free(c->bucket);
        free(c);
        return NULL;
    }
    c->limit = limit;
    c->ring.newer = c->ring.older = &c->ring;
    must(pthread_mutex_init(&c->lock, NULL) == 0);
    return c;
}

static size_t place(const struct cache *c, const unsigned char key[CACHE_KEY_SIZE])
{
    uint64_t k[2];
    memcpy(k, key, sizeof k);
    /* Multiply-shift: universal for odd secret factors. */
    uint64_t h =
        (k[0] ^ c->secret[0]) * (c->secret[1] | 1) + (k[1] ^ c->secret[2]) * (c->secret[3] | 1);
    return h >> (64 - c->bits);
}

static struct entry **find(struct cache *c, const unsigned char *key)
{
    struct entry **at = &c->bucket[place(c, key)];
    while (*at && memcmp((*at)->key, key, CACHE_KEY_SIZE))
        at = &(*at)->chain;
    return at;
}

static void ring_out(struct entry *e)
{
    e->newer->older = e->older;
    e->older->newer = e->newer;
}

static void ring_newest(struct cache *c, struct entry *e)
{
    e->newer = &c->ring;
    e->older = c->ring.older;
    e->older->newer = e;
    c->ring.older = e;
}

static void forget(struct cache *c, struct entry *e)
{
    struct entry **at = find(c, e->key);
    must(*at == e);
    *at = e->chain;
    ring_out(e);
    c->count--;
    c->bytes -= e->payload->size + ENTRY_COST;
    atomic_store(&e->payload->kept, false);
    payload_drop(&e->payload);
    free(e);
}

/* Makes room for `bytes`. Payloads that were pushed out but are still being sent use memory as
 * well; beyond an eighth of the limit they count against it. */
static bool make_room(struct cache *c, uint64_t bytes)
{
    size_t tries = 2 * c->count + 1;
    while (c->bytes + bytes > c->limit && c->ring.newer != &c->ring && tries--) {
        struct entry *e = c->ring.newer;
        if (!payload_whole(e->payload) || atomic_exchange(&e->payload->used, false)) {
            ring_out(e);
            ring_newest(c, e);
        } else {
            forget(c, e);
            c->facts.evictions++;
        }
    }
    uint64_t alive = (uint64_t)metrics_level(METRIC_PAYLOAD_BYTES);
    return c->bytes + bytes <= c->limit && alive + bytes <= c->limit + c->limit / 8 + (4 << 20);
}

static void grow(struct cache *c)
{
    if (c->count < (size_t)1 << c->bits || c->bits == 40)
        return;
    struct entry **wider = calloc((size_t)2 << c->bits, sizeof(struct entry *)), **old = c->bucket;
    if (!wider)
        return;
    size_t n = (size_t)1 << c->bits;
    c->bucket = wider;
    c->bits++;
    for (size_t i = 0; i < n; i++)
        for (struct entry *e = old[i], *next; e; e = next) {
            next = e->chain;
            struct entry **at = &c->bucket[place(c, e->key)];
            e->chain = *at;
            *at = e;
        }
    free(old);
}

bool cache_keeps(const struct cache *c, uint64_t bytes)
{
    return bytes <= c->limit / 4 && bytes + ENTRY_COST <= c->limit;
}

static struct payload *insert(struct cache *c, const unsigned char *key, uint64_t bytes,
                              uint64_t goal)
{
    if (!cache_keeps(c, bytes) || !make_room(c, bytes + ENTRY_COST))
        return NULL;
    struct entry *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->payload = payload_create((size_t)bytes, goal);
    if (!e->payload) {
        free(e);
        return NULL;
    }
    grow(c);
    memcpy(e->key, key, CACHE_KEY_SIZE);
    *find(c, key) = e;
    ring_newest(c, e);
    c->count++;
    c->bytes += bytes + ENTRY_COST;
    atomic_store(&e->payload->kept, true);
    return e->payload;
}

enum cache_outcome cache_get(struct cache *c, struct api_bytes key, uint64_t bytes, uint64_t goal,
                             struct payload **out)
{
    const unsigned char *k = (const unsigned char *)key.at;
    must(key.len == CACHE_KEY_SIZE);
    enum cache_outcome outcome = CACHE_NONE;
    pthread_mutex_lock(&c->lock);
    struct entry *e = *find(c, k);
    if (e) {
        atomic_store_explicit(&e->payload->used, true, memory_order_relaxed);
        outcome = payload_whole(e->payload) ? CACHE_HIT : CACHE_JOIN;
        *out = e->payload;
    } else if ((*out = insert(c, k, bytes, goal))) {
        outcome = CACHE_MISS;
    }
    if (*out)
        payload_join(*out);
    c->facts.hits += outcome == CACHE_HIT;
    c->facts.joins += outcome == CACHE_JOIN;
    c->facts.misses += outcome >= CACHE_MISS;
    pthread_mutex_unlock(&c->lock);
    return outcome;
}

struct payload *cache_peek(struct cache *c, struct api_bytes key)
{
    struct payload *p = NULL;
    must(key.len == CACHE_KEY_SIZE);
    pthread_mutex_lock(&c->lock);
    struct entry *e = *find(c, (const unsigned char *)key.at);
    if (e && payload_whole(e->payload)) {
        p = e->payload;
        atomic_store_explicit(&p->used, true, memory_order_relaxed);
        payload_join(p);
        c->facts.hits++;
    }
    pthread_mutex_unlock(&c->lock);
    return p;
}

void cache_built(struct cache *c)
{
    pthread_mutex_lock(&c->lock);
    c->facts.builds++;
    pthread_mutex_unlock(&c->lock);
}

static struct entry *entry_of(struct cache *c, const struct payload *p)
{
    for (struct entry *e = c->ring.older; e != &c->ring; e = e->older)
        if (e->payload == p)
            return e;
    return NULL;
}

void cache_forget(struct cache *c, struct payload *p)
{
    pthread_mutex_lock(&c->lock);
    struct entry *e = entry_of(c, p);
    if (e)
        forget(c, e);
    pthread_mutex_unlock(&c->lock);
}

bool cache_abandon(struct cache *c, struct payload *p)
{
    pthread_mutex_lock(&c->lock);
    bool nobody = atomic_load(&p->readers) == 0;
    struct entry *e = nobody ? entry_of(c, p) : NULL;
    if (e)
        forget(c, e);
    c->facts.dropped += nobody;
    pthread_mutex_unlock(&c->lock);
    return nobody;
}

void cache_facts(struct cache *c, struct metrics_facts *out)
{
    pthread_mutex_lock(&c->lock);
    *out = c->facts;
    out->cache_bytes = c->bytes;
    out->cache_limit = c->limit;
    out->cache_entries = c->count;
    pthread_mutex_unlock(&c->lock);
}

void cache_close(struct cache **address)
{
    struct cache *c = *address;
    *address = NULL;
    if (!c)
        return;
    while (c->ring.newer != &c->ring)
        forget(c, c->ring.newer);
    pthread_mutex_destroy(&c->lock);
    free(c->bucket);
    free(c);
}
