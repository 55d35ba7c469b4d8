/* SPDX-License-Identifier: MIT
 *
 * fill.c: builds. The rows that nobody has claimed are between `next` and `end`. The loop claims
 * from their front and sends what it has made while it is in its processor's cache; threads of the
 * pool claim from their back, which goes out from memory by and by (measured: to send at once what
 * another processor has just written takes twice as long). The progress of the payload is where the
 * first band under way begins. Any split of the rows gives the same bytes.
 */
#include "fill.h"
#include "must.h"

#include <stdio.h>

/* Bands begin small, so that the first byte goes out early, and double until a claim costs nothing.
 */
#define FIRST_BAND (64 << 10)
#define LAST_BAND (512 << 10)

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
    struct shared_plan *_Atomic plan;
    pthread_mutex_t lock;     /* of all below */
    pthread_mutex_t planning; /* held by whoever makes the plan */
    uint64_t next, end;
    uint64_t band; /* bytes */
    bool failed;
    struct mail_letter start;
    uv_loop_t *loop;
    unsigned helpers, left;
    struct helper helper[]; /* the last one is the loop */
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

/* Claims a band for a helper: extent_fill goes no further than the rows of one group. */
static bool claim(struct helper *h, bool front, uint64_t *bytes)
{
    struct build *b = h->build;
    const struct extent *x = &b->order->extent;
    pthread_mutex_lock(&b->lock);
    bool more = !b->failed && b->next < b->end;
    /* The last band is made in any case: whoever did not need it was told that the table is stored.
     */
    if (more && extent_next(x, b->next, LAST_BAND) < b->end && cache_abandon(b->cache, b->payload))
        b->failed = true;
    more = more && !b->failed;
    if (more && front) {
        uint64_t to = extent_next(x, b->next, *bytes);
        h->from = b->next;
        if (to > b->end) /* the bytes of what is left */
            extent_back(x, b->end, b->next, bytes);
        b->next = to < b->end ? to : b->end;
    } else if (more) {
        *bytes = b->band;
        h->from = b->end = extent_back(x, b->end, b->next, bytes);
        if (b->band < LAST_BAND)
            b->band *= 2;
    }
    h->busy = more;
    pthread_mutex_unlock(&b->lock);
    return more;
}

static void done(struct helper *h, bool good)
{
    struct build *b = h->build;
    pthread_mutex_lock(&b->lock);
    h->busy = false;
    b->failed |= !good;
    uint64_t progress = b->next < b->end ? b->next : b->payload->goal;
    for (unsigned i = 0; i <= b->helpers; i++)
        if (b->helper[i].busy && b->helper[i].from < progress)
            progress = b->helper[i].from;
    if (!b->failed && progress > payload_progress(b->payload)) {
        if (progress == b->payload->goal)
            cache_built(b->cache); /* before anybody can have read the last of it */
        payload_advance(b->payload, progress);
    }
    pthread_mutex_unlock(&b->lock);
}

static bool all_claimed(struct build *b)
{
    pthread_mutex_lock(&b->lock);
    bool all = b->next == b->end;
    pthread_mutex_unlock(&b->lock);
    return all;
}

static bool make(struct helper *h, uint64_t bytes)
{
    struct build *b = h->build;
    bool good = extent_fill(&b->order->extent, b->order->plan->table, b->plan->plan, h->from, bytes,
                            b->payload->at) != 0;
    done(h, good);
    return good;
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
    uint64_t bytes;
    if (!get_plan(h->build)) {
        done(h, false);
        return;
    }
    while (claim(h, false, &bytes))
        make(h, bytes);
}

/* On the loop, when no helper is at it any more. */
static void finish(struct build *b)
{
    b->payload->build = NULL;
    if (!payload_whole(b->payload)) {
        cache_forget(b->cache, b->payload);
        payload_fail(b->payload);
    }
    struct shared_plan *plan = b->plan;
    plans_drop(&plan);
    order_drop(&b->order);
    payload_drop(&b->payload);
    pthread_mutex_destroy(&b->lock);
    pthread_mutex_destroy(&b->planning);
    free(b);
}

static void over(uv_work_t *work, int status)
{
    struct build *b = ((struct helper *)work->data)->build;
    (void)status;
    if (--b->left == 0)
        finish(b);
}

bool fill_help(struct payload *p)
{
    struct build *b = p->build;
    uint64_t bytes = FILL_BAND;
    struct helper *h = b ? &b->helper[b->helpers] : NULL;
    /* Where the plan takes long, the pool makes it. */
    if (!b || !b->plan || !claim(h, true, &bytes))
        return false;
    make(h, bytes);
    return true;
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
    b->end = b->payload->goal;
    if (made && made < b->payload->goal)
        payload_advance(b->payload, made);
}

/* Not before the loop has sent what there is: on a busy machine a thread that is woken takes the
 * processor of the one that wakes it. */
static void start_helpers(struct mail_letter *letter)
{
    struct build *b = (struct build *)((char *)letter - offsetof(struct build, start));
    if (all_claimed(b)) {
        finish(b);
        return;
    }
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
    struct build *b = calloc(1, sizeof *b + (helpers + 1) * sizeof *b->helper);
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
    b->helper[helpers].build = b;
    p->build = b;
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
