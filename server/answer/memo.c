/* SPDX-License-Identifier: MIT
 *
 * memo.c: a table of four places for each hash; the one that was not used for longest is replaced.
 * Keys are compared whole, so a collision costs a place and never a wrong answer.
 */
#include "memo.h"
#include "digest.h"
#include "must.h"

#include <string.h>
#include <sys/random.h>

#define WAYS 4
#define SETS 256

/* A key longer than this is not worth keeping. */
#define KEY_LIMIT 2048

/* What all responses together may have for themselves, beside payloads of the cache. */
#define WEIGHT_LIMIT (4 << 20)

/* Hashes seen once. */
#define SEEN 4096

/* Up to this size a body is digested when its answer is kept: 0.15 ms with instructions for
 * SHA-256, a millisecond without. */
#define DIGEST_AT_ONCE (256 << 10)

/* Larger ones when they have been asked for so often since (a power of two), and if nothing came of
 * it, when that has doubled. */
#define DIGEST_HITS 4

/* Heads whose answer stands in a place; a newcomer replaces what stands there. */
#define HEADS 512

struct place {
    uint64_t hash;
    char *key; /* NULL: free. The parts one after the other, each with its length in front */
    struct answer answer;
    struct payload *payload;
    struct metrics_series *series;
    uint64_t used;
    uint64_t serial; /* of what stands here: none comes twice */
    struct deliver_stamp stamp;
    struct reply *reply; /* made when it is first wanted */
    bool no_reply;       /* it cannot be made */
    bool undigested;     /* it may yet have a Repr-Digest */
    uint32_t hits;       /* while that is so */
};

struct head {
    uint64_t hash;
    struct place *place;
    uint64_t serial; /* of the place; another one stands there by now where they differ */
    size_t size;
    char at[WORKER_HEAD];
};

struct memo {
    uint64_t secret[2];
    uint64_t clock;
    size_t weight;
    uint32_t seen[SEEN];
    struct place place[SETS][WAYS];
    struct head head[HEADS];
};

struct memo *memo_open(void)
{
    struct memo *m = calloc(1, sizeof *m);
    if (m && getrandom(m->secret, sizeof m->secret, 0) != sizeof m->secret) {
        free(m);
        return NULL;
    }
    return m;
}

static void empty(struct memo *m, struct place *p)
{
    if (!p->key)
        return;
    m->weight -= p->answer.weight;
    free(p->key);
    reply_drop(&p->reply);
    MHD_destroy_response(p->answer.response);
    payload_drop(&p->payload);
    memset(p, 0, sizeof *p);
}

void memo_close(struct memo **address)
{
    struct memo *m = *address;
    *address = NULL;
    if (!m)
        return;
    for (size_t i = 0; i < SETS; i++)
        for (size_t j = 0; j < WAYS; j++)
            empty(m, &m->place[i][j]);
    free(m);
}

void memo_sweep(struct memo *m)
{
    for (size_t i = 0; i < SETS; i++)
        for (size_t j = 0; j < WAYS; j++) {
            struct place *p = &m->place[i][j];
            if (p->payload && !atomic_load_explicit(&p->payload->kept, memory_order_relaxed))
                empty(m, p);
        }
}

/* Eight bytes at a time, folded by a product with a secret. */
static uint64_t mix(uint64_t h, uint64_t word, uint64_t secret)
{
    __extension__ unsigned __int128 product = (unsigned __int128)(h ^ word) * (secret | 1);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_part(const struct memo *m, uint64_t h, struct api_bytes b)
{
    uint64_t word;
    size_t i = 0;
    h = mix(h, b.len + 1, m->secret[1]);
    for (; i + 8 <= b.len; i += 8) {
        memcpy(&word, b.at + i, 8);
        h = mix(h, word, m->secret[1]);
    }
    word = 0;
    if (i < b.len)
        memcpy(&word, b.at + i, b.len - i);
    return mix(h, word, m->secret[1]);
}

/* Part i of the key of a place. */
static void key_part(const struct place *p, size_t i, struct api_bytes *part)
{
    const char *at = p->key;
    do {
        memcpy(&part->len, at, sizeof part->len);
        part->at = at + sizeof part->len;
        at = part->at + part->len;
    } while (i--);
}

static bool same(const struct place *p, const struct memo_key *k)
{
    for (size_t i = 0; i < 5; i++) {
        struct api_bytes part;
        key_part(p, i, &part);
        if (part.len != k->part[i].len || (part.len && memcmp(part.at, k->part[i].at, part.len)))
            return false;
    }
    return true;
}

static void set_digest(struct place *p, const char *text)
{
    p->undigested = false;
    reply_drop(&p->reply);
    deliver_header(&p->answer, "Repr-Digest", text);
}

/* The digest of an answer that has been asked for some times: found, or begun. */
static void seek_digest(struct place *p, struct worker *w)
{
    struct digests *d = w->shared->digests;
    const char *tag = MHD_get_response_header(p->answer.response, "ETag");
    char text[DIGEST_ROOM];
    if (digests_find(d, tag, text))
        set_digest(p, text);
    else if (p->answer.body)
        digests_make_later(d, tag, p->answer.body, &w->uv);
}

/* A 200 of which the tag says the bytes; that of HEAD has the digest when it is known. */
static void begin_digest(struct place *p, struct worker *w)
{
    const struct answer *a = &p->answer;
    const char *tag = MHD_get_response_header(a->response, "ETag");
    char text[DIGEST_ROOM];
    p->undigested = a->status == 200 && tag && !MHD_get_response_header(a->response, "Repr-Digest");
    if (!p->undigested || !a->body || body_size(a->body) > DIGEST_AT_ONCE)
        return;
    digests_make(w->shared->digests, tag, a->body, text);
    set_digest(p, text);
}

/* Whether the answer may still be given: then it counts as asked for. */
static bool take(struct memo *m, struct place *p, struct worker *w)
{
    if (p->payload && !atomic_load_explicit(&p->payload->kept, memory_order_relaxed)) {
        empty(m, p);
        return false;
    }
    p->used = ++m->clock;
    if (p->payload && !atomic_load_explicit(&p->payload->used, memory_order_relaxed))
        atomic_store_explicit(&p->payload->used, true, memory_order_relaxed);
    if (p->payload)
        metrics_count(w->metrics, METRIC_MEMO, 1);
    if (p->undigested && ++p->hits >= DIGEST_HITS && !(p->hits & (p->hits - 1)))
        seek_digest(p, w);
    return true;
}

static uint64_t hash_head(const struct memo *m, struct api_bytes head)
{
    return hash_part(m, m->secret[0], head);
}

static bool have_reply(struct place *p)
{
    if (!p->reply && !p->no_reply) {
        p->reply = reply_make(&p->answer);
        p->no_reply = !p->reply;
    }
    return p->reply != NULL;
}

/* Remembers that the head of the request in hand leads to a place. */
static void learn_head(struct memo *m, struct place *p, const struct conn *c)
{
    const struct worker_head *last = &c->worker->last;
    if (!c->worker->head.alike || last->conn != c || last->size != c->head_size || !have_reply(p))
        return;
    uint64_t hash = hash_head(m, (struct api_bytes){last->at, last->size});
    struct head *h = &m->head[hash % HEADS];
    h->hash = hash;
    h->place = p;
    h->serial = p->serial;
    h->size = last->size;
    memcpy(h->at, last->at, last->size);
}

bool memo_find_head(struct memo *m, struct worker *w, struct api_bytes head, struct memo_hit *hit)
{
    uint64_t hash = hash_head(m, head);
    const struct head *h = &m->head[hash % HEADS];
    struct place *p = h->place;
    if (!p || h->hash != hash || h->size != head.len || memcmp(h->at, head.at, head.len) ||
        p->serial != h->serial || !take(m, p, w) || !have_reply(p))
        return false;
    struct api_bytes method, target;
    key_part(p, 0, &method);
    key_part(p, 1, &target);
    *hit = (struct memo_hit){p->reply, p->series, method.len == 3 ? "GET" : "HEAD", target};
    return true;
}

bool memo_answer(struct memo *m, struct conn *c, struct memo_key *k, bool *sent)
{
    k->hash = m->secret[0];
    for (size_t i = 0; i < 5; i++)
        k->hash = hash_part(m, k->hash, k->part[i]);
    struct place *set = m->place[k->hash % SETS];
    for (size_t j = 0; j < WAYS; j++) {
        struct place *p = &set[j];
        if (!p->key || p->hash != k->hash || !same(p, k))
            continue;
        if (!take(m, p, c->worker))
            return false;
        learn_head(m, p, c);
        c->series = p->series;
        *sent = deliver_again(c, &p->answer, &p->stamp);
        return true;
    }
    return false;
}

static char *copy_key(const struct memo_key *k, size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < 5; i++)
        *size += sizeof(size_t) + k->part[i].len;
    char *key = *size <= KEY_LIMIT ? malloc(*size) : NULL, *at = key;
    for (size_t i = 0; key && i < 5; i++) {
        memcpy(at, &k->part[i].len, sizeof(size_t));
        at += sizeof(size_t);
        if (k->part[i].len)
            memcpy(at, k->part[i].at, k->part[i].len);
        at += k->part[i].len;
    }
    return key;
}

bool memo_keep(struct memo *m, const struct memo_key *k, const struct answer *a,
               struct payload *payload, const char *route, struct conn *c)
{
    uint32_t *seen = &m->seen[(k->hash >> 16) % SEEN], print = (uint32_t)(k->hash >> 32) | 1;
    if (*seen != print || !a->response || m->weight + a->weight > WEIGHT_LIMIT) {
        *seen = print;
        return false;
    }
    struct place *set = m->place[k->hash % SETS], *p = set;
    for (size_t j = 1; j < WAYS; j++)
        if (set[j].used < p->used)
            p = &set[j];
    size_t size;
    char *key = copy_key(k, &size);
    if (!key)
        return false;
    empty(m, p);
    m->weight += a->weight;
    if (payload)
        payload_hold(payload);
    *p = (struct place){.hash = k->hash,
                        .key = key,
                        .answer = *a,
                        .payload = payload,
                        .serial = ++m->clock,
                        .series = metrics_series(c->worker->metrics, route, c->method, a->status)};
    begin_digest(p, c->worker);
    return true;
}
