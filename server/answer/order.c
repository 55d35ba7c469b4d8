/* SPDX-License-Identifier: MIT
 *
 * order.c: see order.h.
 */
#include "order.h"

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

void order_drop(struct order **address)
{
    struct order *o = *address;
    *address = NULL;
    if (!o || atomic_fetch_sub_explicit(&o->owners, 1, memory_order_acq_rel) != 1)
        return;
    api_plan_free(&o->plan);
    store_blob_drop(&o->blob);
    free(o);
}
