/* SPDX-License-Identifier: MIT
 *
 * payload.c: see payload.h.
 */
#include "payload.h"
#include "memory.h"
#include "watch/metrics.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

struct payload *payload_create(size_t size, uint64_t goal)
{
    struct payload *p = calloc(1, sizeof *p);
    if (!p || !(p->at = memory_get(size, &p->mapped))) {
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
    else
        memory_give(p->at, p->mapped);
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
