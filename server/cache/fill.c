/* SPDX-License-Identifier: MIT
 *
 * fill.c: builds. Each helper of a build claims the next band, makes it and marks it done; the
 * progress of the payload is where the first band under way begins. Any split of the rows gives the
 * same bytes.
 */
#include "fill.h"
#include "must.h"

#include <stdio.h>

/* Bands begin small, so that the first byte goes out early, and double until a claim costs nothing.
 */
#define FIRST_BAND (64 << 10)
#define LAST_BAND (1 << 20)

#define MAX_HELPERS 64

/* More threads of the pool than builds use: those of the store mostly wait for the disk. */
#define DISK_THREADS 2

struct helper {
    uv_work_t work;
    struct build *build;
    bool busy;
    uint64_t from; /* of the band that it makes */
};

struct build {
    struct cache *cache;
    struct plans *plans;
    struct order *order;
    struct payload *payload;
    struct shared_plan *plan;
    pthread_mutex_t lock;     /* of all below */
    pthread_mutex_t planning; /* held by whoever makes the plan */
    uint64_t next;
    uint64_t band; /* bytes */
    bool failed;
    struct mail_letter start;
    uv_loop_t *loop;
    unsigned helpers, left;
    struct helper helper[];
};

static unsigned pool_threads = 1;

void fill_now(struct cache *cache, struct shared_plan *plan, struct order *order, struct payload *p)
{
    uint64_t progress = 0;
    bool good = true;
    while (good && progress < p->goal) {
        progress = extent_fill(&order->extent, order->plan->table, plan->plan, progress, UINT64_MAX,
                               p->at);
        good = progress > 0;
    }
    if (!good) {
        cache_forget(cache, p);
        payload_fail(p);
        return;
    }
    cache_built(cache);
    payload_advance(p, progress);
}

/* Where a band from `next` ends: extent_fill goes no further than the rows of one group. */
static bool claim(struct helper *h, uint64_t *bytes)
{
    struct build *b = h->build;
    pthread_mutex_lock(&b->lock);
    if (!b->failed && b->next < b->payload->goal && cache_abandon(b->cache, b->payload))
        b->failed = true;
    bool more = !b->failed && b->next < b->payload->goal;
    if (more) {
        h->busy = true;
        h->from = b->next;
        *bytes = b->band;
        b->next = extent_next(&b->order->extent, h->from, *bytes);
        if (b->band < LAST_BAND && h->from)
            b->band *= 2;
    }
    pthread_mutex_unlock(&b->lock);
    return more;
}

static void done(struct helper *h, bool good)
{
    struct build *b = h->build;
    pthread_mutex_lock(&b->lock);
    h->busy = false;
    b->failed |= !good;
    uint64_t progress = b->next;
    for (unsigned i = 0; i < b->helpers; i++)
        if (b->helper[i].busy && b->helper[i].from < progress)
            progress = b->helper[i].from;
    /* The last of it is said by `over`, after the cache has counted it. */
    if (!b->failed && progress < b->payload->goal)
        payload_advance(b->payload, progress);
    pthread_mutex_unlock(&b->lock);
}

static bool get_plan(struct build *b)
{
    pthread_mutex_lock(&b->planning);
    if (!b->plan && !b->failed)
        b->plan = plans_get(b->plans, b->order);
    pthread_mutex_unlock(&b->planning);
    return b->plan != NULL;
}

static void help(uv_work_t *work)
{
    struct helper *h = work->data;
    struct build *b = h->build;
    uint64_t bytes;
    if (!get_plan(b)) {
        done(h, false);
        return;
    }
    while (claim(h, &bytes))
        done(h, extent_fill(&b->order->extent, b->order->plan->table, b->plan->plan, h->from, bytes,
                            b->payload->at) != 0);
}

static void over(uv_work_t *work, int status)
{
    struct build *b = ((struct helper *)work->data)->build;
    (void)status;
    if (--b->left)
        return;
    if (b->failed) {
        cache_forget(b->cache, b->payload);
        payload_fail(b->payload);
    } else {
        cache_built(b->cache);
        payload_advance(b->payload, b->payload->goal);
    }
    plans_drop(&b->plan);
    order_drop(&b->order);
    payload_drop(&b->payload);
    pthread_mutex_destroy(&b->lock);
    pthread_mutex_destroy(&b->planning);
    free(b);
}

/* The first band is made here where the plan is soon had: then the answer begins at once, and not
 * when a thread of the pool has woken up. */
static void begin(struct build *b)
{
    const struct order *o = b->order;
    b->plan = plans_try(b->plans, b->order);
    uint64_t made = b->plan ? extent_fill(&o->extent, o->plan->table, b->plan->plan, 0, FIRST_BAND,
                                          b->payload->at)
                            : 0;
    b->next = made;
    if (made && made < b->payload->goal)
        payload_advance(b->payload, made);
}

/* Not before the loop has sent what there is: on a busy machine a thread that is woken takes the
 * processor of the one that wakes it. */
static void start_helpers(struct mail_letter *letter)
{
    struct build *b = (struct build *)((char *)letter - offsetof(struct build, start));
    for (unsigned i = 0, n = b->helpers; i < n; i++) {
        b->helper[i].build = b;
        b->helper[i].work.data = &b->helper[i];
        must(uv_queue_work(b->loop, &b->helper[i].work, help, over) == 0);
    }
}

void fill_later(struct cache *cache, struct plans *plans, struct order *order, struct payload *p,
                struct mail_box *box)
{
    uint64_t wanted = 1 + order->extent.bytes / LAST_BAND;
    unsigned helpers = wanted < pool_threads ? (unsigned)wanted : pool_threads;
    struct build *b = calloc(1, sizeof *b + helpers * sizeof *b->helper);
    if (!b) {
        cache_forget(cache, p);
        payload_fail(p);
        return;
    }
    b->cache = cache;
    b->plans = plans;
    b->order = order;
    b->payload = p;
    b->band = FIRST_BAND;
    b->helpers = b->left = helpers;
    order_hold(order);
    payload_hold(p);
    must(pthread_mutex_init(&b->lock, NULL) == 0 && pthread_mutex_init(&b->planning, NULL) == 0);
    if (p->goal)
        begin(b);
    b->loop = box->async.loop;
    b->start.arrive = start_helpers;
    mail_send(box, &b->start);
}

static void nothing(uv_work_t *work)
{
    (void)work;
}

static void warm(uv_work_t *work, int status)
{
    (void)status;
    free(work);
}

void fill_warm_up(uv_loop_t *loop, unsigned threads)
{
    char text[16];
    pool_threads = threads < MAX_HELPERS ? threads : MAX_HELPERS;
    snprintf(text, sizeof text, "%u", pool_threads + DISK_THREADS);
    setenv("UV_THREADPOOL_SIZE", text, 1);
    uv_work_t *work = malloc(sizeof *work);
    must(work && uv_queue_work(loop, work, nothing, warm) == 0);
}
