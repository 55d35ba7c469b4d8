/* SPDX-License-Identifier: MIT
 *
 * order.c: see order.h.
 */
#include "order.h"

#include "must.h"

#include <stdlib.h>

struct order *order_take(struct api_plan **plan)
{
    struct order *o = *plan ? calloc(1, sizeof *o) : NULL;
    if (!o || ((*plan)->table && !extent_of((*plan)->table, &o->extent))) {
        api_plan_free(plan);
        free(o);
        return NULL;
    }
    o->plan = *plan;
    *plan = NULL;
    o->owners = 1;
    o->measured = API_UNKNOWN;
    return o;
}

void order_hold(struct order *o)
{
    atomic_fetch_add_explicit(&o->owners, 1, memory_order_relaxed);
}

void order_bury(struct order *o, uv_loop_t *loop)
{
    o->burial = calloc(1, sizeof *o->burial);
    if (!o->burial)
        return;
    o->burial->work.data = o;
    o->burial->loop = loop;
    o->burial->thread = pthread_self();
}

static void release(struct order *o)
{
    store_blob_drop(&o->blob);
    free(o->burial);
    free(o);
}

static void bury(uv_work_t *work)
{
    struct order *o = work->data;
    api_plan_free(&o->plan);
}

static void buried(uv_work_t *work, int status)
{
    (void)status;
    release(work->data);
}

void order_drop(struct order **address)
{
    struct order *o = *address;
    *address = NULL;
    if (!o || atomic_fetch_sub_explicit(&o->owners, 1, memory_order_acq_rel) != 1)
        return;
    struct order_burial *b = o->burial;
    if (b && pthread_equal(b->thread, pthread_self())) {
        must(uv_queue_work(b->loop, &b->work, bury, buried) == 0);
        return;
    }
    api_plan_free(&o->plan);
    release(o);
}
