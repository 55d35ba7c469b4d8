/* SPDX-License-Identifier: MIT
 *
 * payload.c: memory of tables and those who wait for it. Large ones are mapped, with huge pages
 * where the kernel has them: a fresh table then costs a page fault for 2 MiB instead of one for 4
 * KiB.
 */
#include "payload.h"
#include "watch/metrics.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Tables come and go in all sizes, and malloc would be left with holes as large as all that it
 * holds. From here on whole pages are got from the kernel and given back: some microseconds,
 * against those of making a table. */
#define MAP_FROM (8 << 10)
#define PAGE ((size_t)4 << 10)
#define HUGE_PAGE ((size_t)2 << 20)

static char *map(size_t size, int flags)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Address space that begins on a huge page. */
static char *map_huge(size_t size)
{
    char *at = map(size + HUGE_PAGE, MAP_NORESERVE);
    if (!at)
        return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
    if (before)
        munmap(at, before);
    munmap(at + before + size, HUGE_PAGE - before);
    madvise(at + before, size, MADV_HUGEPAGE);
    return at + before;
}

/* The last large piece that was let go of. A table pushed out makes room for one that is often as
 * large, and fresh pages would have to be cleared first, which takes as long as half of making the
 * table. */
static struct {
    pthread_mutex_t lock;
    unsigned char *at;
    size_t mapped;
    unsigned age; /* in calls of payload_age */
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned char *take_spare(size_t mapped)
{
    unsigned char *at = NULL;
    pthread_mutex_lock(&spare.lock);
    if (spare.at && spare.mapped == mapped) {
        at = spare.at;
        spare.at = NULL;
    }
    pthread_mutex_unlock(&spare.lock);
    return at;
}

static void give_back(unsigned char *at, size_t mapped)
{
    unsigned char *old = at;
    size_t size = mapped;
    if (mapped >= HUGE_PAGE) {
        pthread_mutex_lock(&spare.lock);
        old = spare.at;
        size = spare.mapped;
        spare.at = at;
        spare.mapped = mapped;
        spare.age = 0;
        pthread_mutex_unlock(&spare.lock);
    }
    if (old)
        munmap(old, size);
}

void payload_age(void)
{
    unsigned char *old = NULL;
    pthread_mutex_lock(&spare.lock);
    if (spare.at && spare.age++ > 4) {
        old = spare.at;
        spare.at = NULL;
    }
    size_t size = spare.mapped;
    pthread_mutex_unlock(&spare.lock);
    if (old)
        munmap(old, size);
}

static bool get_memory(struct payload *p, size_t size)
{
    if (size < MAP_FROM) {
        p->at = malloc(size + 1);
        return p->at != NULL;
    }
    p->mapped = (size + PAGE - 1) / PAGE * PAGE;
    p->at = size < HUGE_PAGE ? NULL : take_spare(p->mapped);
    if (!p->at)
        p->at = (unsigned char *)(size < HUGE_PAGE ? map(p->mapped, MAP_POPULATE)
                                                   : map_huge(p->mapped));
    return p->at != NULL;
}

struct payload *payload_create(size_t size, uint64_t goal)
{
    struct payload *p = calloc(1, sizeof *p);
    if (!p || !get_memory(p, size)) {
        free(p);
        return NULL;
    }
    p->size = size;
    p->goal = goal;
    p->owners = 1;
    must(pthread_mutex_init(&p->lock, NULL) == 0);
    metrics_move(METRIC_PAYLOAD_BYTES, (int64_t)size);
    return p;
}

struct payload *payload_borrow(const void *at, size_t size, uint64_t goal, void (*release)(void *),
                               void *closure)
{
    struct payload *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct payload){.at = (unsigned char *)(uintptr_t)at,
                          .size = size,
                          .goal = goal,
                          .release = release,
                          .closure = closure,
                          .owners = 1,
                          .progress = goal};
    must(pthread_mutex_init(&p->lock, NULL) == 0);
    return p;
}

void payload_hold(struct payload *p)
{
    atomic_fetch_add_explicit(&p->owners, 1, memory_order_relaxed);
}

void payload_drop(struct payload **address)
{
    struct payload *p = *address;
    *address = NULL;
    if (!p || atomic_fetch_sub_explicit(&p->owners, 1, memory_order_acq_rel) != 1)
        return;
    must(!p->waits);
    pthread_mutex_destroy(&p->lock);
    if (!p->release)
        metrics_move(METRIC_PAYLOAD_BYTES, -(int64_t)p->size);
    if (p->release)
        p->release(p->closure);
    else if (p->mapped)
        give_back(p->at, p->mapped);
    else
        free(p->at);
    free(p);
}

void payload_join(struct payload *p)
{
    payload_hold(p);
    atomic_fetch_add(&p->readers, 1);
}

void payload_leave(struct payload **address)
{
    if (*address)
        atomic_fetch_sub(&(*address)->readers, 1);
    payload_drop(address);
}

static void unlink_wait(struct payload *p, struct payload_wait *wait)
{
    if (wait->prev)
        wait->prev->next = wait->next;
    else
        p->waits = wait->next;
    if (wait->next)
        wait->next->prev = wait->prev;
    wait->next = wait->prev = NULL;
    wait->payload = NULL;
}

static void reach(struct payload *p, uint64_t progress)
{
    pthread_mutex_lock(&p->lock);
    atomic_store_explicit(&p->progress, progress, memory_order_release);
    for (struct payload_wait *w = p->waits, *next; w; w = next) {
        next = w->next;
        if (progress >= w->need) {
            unlink_wait(p, w);
            mail_send(w->box, &w->letter);
        }
    }
    pthread_mutex_unlock(&p->lock);
}

void payload_advance(struct payload *p, uint64_t progress)
{
    must(progress >= payload_progress(p) && progress <= p->goal);
    reach(p, progress);
}

void payload_fail(struct payload *p)
{
    reach(p, PAYLOAD_FAILED);
}

bool payload_wait(struct payload *p, uint64_t need, struct payload_wait *wait)
{
    pthread_mutex_lock(&p->lock);
    bool later = payload_progress(p) < need;
    if (later) {
        wait->payload = p;
        wait->need = need;
        wait->prev = NULL;
        wait->next = p->waits;
        if (p->waits)
            p->waits->prev = wait;
        p->waits = wait;
    }
    pthread_mutex_unlock(&p->lock);
    return later;
}

/* The builder sends a letter before it lets go of the lock, so what is not in the list is in the
 * box. */
void payload_forget(struct payload *p, struct payload_wait *wait)
{
    pthread_mutex_lock(&p->lock);
    if (wait->payload)
        unlink_wait(p, wait);
    pthread_mutex_unlock(&p->lock);
    mail_take_back(wait->box, &wait->letter);
}
