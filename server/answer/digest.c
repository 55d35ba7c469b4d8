/* SPDX-License-Identifier: MIT
 *
 * digest.c: see digest.h. A table with one place for each hash of a tag; a newcomer takes it.
 */
#include "digest.h"
#include "must.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <string.h>

#define PLACES 1024

/* Ours have 34 characters; a longer one would not be remembered. */
#define TAG_ROOM 48

struct place {
    char tag[TAG_ROOM]; /* "": free */
    char text[DIGEST_ROOM];
};

struct digests {
    pthread_mutex_t lock;
    bool busy; /* on the pool */
    struct place place[PLACES];
};

struct work {
    uv_work_t work;
    struct digests *digests;
    struct body *body;
    char tag[TAG_ROOM];
};

struct digests *digests_open(void)
{
    struct digests *d = calloc(1, sizeof *d);
    if (d)
        must(pthread_mutex_init(&d->lock, NULL) == 0);
    return d;
}

void digests_close(struct digests **address)
{
    struct digests *d = *address;
    *address = NULL;
    if (!d)
        return;
    must(!d->busy);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* Tags are digits of a digest themselves: any hash spreads them. NULL: too long. */
static struct place *place_of(struct digests *d, const char *tag)
{
    uint32_t hash = 2166136261; /* FNV-1a */
    size_t n = 0;
    for (; tag[n]; n++)
        hash = (hash ^ (unsigned char)tag[n]) * 16777619;
    return n < TAG_ROOM ? &d->place[(hash ^ hash >> 16) % PLACES] : NULL;
}

bool digests_find(struct digests *d, const char *tag, char out[DIGEST_ROOM])
{
    const struct place *p = place_of(d, tag);
    if (!p)
        return false;
    pthread_mutex_lock(&d->lock);
    bool found = !strcmp(p->tag, tag);
    if (found)
        memcpy(out, p->text, DIGEST_ROOM);
    pthread_mutex_unlock(&d->lock);
    return found;
}

void digests_make(struct digests *d, const char *tag, const struct body *body,
                  char out[DIGEST_ROOM])
{
    struct sha256_ctx context;
    uint8_t sum[SHA256_DIGEST_SIZE];
    struct place *p = place_of(d, tag);
    sha256_init(&context);
    for (int i = 0; i < 2; i++)
        if (body->piece[i].iov_len)
            sha256_update(&context, body->piece[i].iov_len, body->piece[i].iov_base);
    sha256_digest(&context, sizeof sum, sum);
    memcpy(out, "sha-256=:", 9);
    base64_encode_raw(out + 9, sizeof sum, sum);
    memcpy(out + DIGEST_ROOM - 2, ":", 2);
    if (!p)
        return;
    pthread_mutex_lock(&d->lock);
    memcpy(p->tag, tag, strlen(tag) + 1);
    memcpy(p->text, out, DIGEST_ROOM);
    pthread_mutex_unlock(&d->lock);
}

static void make(uv_work_t *work)
{
    struct work *w = work->data;
    char text[DIGEST_ROOM];
    digests_make(w->digests, w->tag, w->body, text);
}

static bool claim(struct digests *d)
{
    pthread_mutex_lock(&d->lock);
    bool free = !d->busy;
    d->busy = true;
    pthread_mutex_unlock(&d->lock);
    return free;
}

static void made(uv_work_t *work, int status)
{
    struct work *w = work->data;
    (void)status;
    pthread_mutex_lock(&w->digests->lock);
    w->digests->busy = false;
    pthread_mutex_unlock(&w->digests->lock);
    body_drop(w->body);
    free(w);
}

void digests_make_later(struct digests *d, const char *tag, struct body *body, uv_loop_t *loop)
{
    struct work *w = place_of(d, tag) ? calloc(1, sizeof *w) : NULL;
    if (!w || !claim(d)) {
        free(w);
        return;
    }
    w->work.data = w;
    w->digests = d;
    w->body = body;
    body_hold(body);
    memcpy(w->tag, tag, strlen(tag) + 1);
    must(uv_queue_work(loop, &w->work, make, made) == 0);
}
