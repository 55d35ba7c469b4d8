/* SPDX-License-Identifier: MIT
 *
 * order.h: a plan of the api room with an owner count: the request that asked, the build that it
 * started and the answer that is being sent all need it, and end in any order.
 */
#ifndef SERVER_ORDER_H
#define SERVER_ORDER_H

#include "cache/extent.h"
#include "learned/store_blob.h"

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

/* How an order is freed whose plan holds so much that freeing it would keep a loop. */
struct order_burial {
    uv_work_t work;
    uv_loop_t *loop;
    pthread_t thread; /* that of the loop */
};

struct order {
    struct api_plan *plan;
    struct extent extent;    /* of plan->table, where there is one */
    struct store_blob *blob; /* whose rows it is, of a stored table; NULL: its rows are computed */
    uint64_t
        measured; /* length of a body that had to be written to know it; API_UNKNOWN at first */
    struct order_burial *burial; /* NULL: whoever drops it last frees it */
    atomic_uint owners;
};

/* Takes the plan over, and nulls it. NULL (and the plan is freed) without memory or plan, and where
 * the sizes of its table cannot be added up. */
struct order *order_take(struct api_plan **);

/* On the thread of a loop: from now on the pool frees the order where it is dropped on that thread.
 * Without memory all stays as it was. */
void order_bury(struct order *, uv_loop_t *);
void order_hold(struct order *);
void order_drop(struct order **);

#endif
