/* SPDX-License-Identifier: MIT
 *
 * plans.h: plans of the library, shared and remembered. Making one takes exact arithmetic; a range,
 * a stream or a rebuilt table of the same spec finds it again, and a table of other rows, of
 * another dtype or layout finds its frequencies.
 */
#ifndef SERVER_PLANS_H
#define SERVER_PLANS_H

#include "answer/order.h"

#include <uv.h>

struct plans;

struct shared_plan {
    struct pe_plan *plan; /* NULL: the table needs none */
    atomic_uint owners;
};

/* Remembers plans of at most `bytes` together, of which what several of them share counts in each
 * (pe_plan_bytes): they never take more, and mostly less. NULL without memory. */
struct plans *plans_open(size_t bytes);
void plans_close(struct plans **);

/* The plan of an order's table, owned by the caller as well: the one that is remembered, or made,
 * and then with whatever a remembered plan of the same frequencies has. NULL without memory.
 * Thread-safe; may take long. */
struct shared_plan *plans_get(struct plans *, struct order *);

/* The same where it is remembered, or made quickly enough for an event loop; NULL where it is not.
 */
struct shared_plan *plans_try(struct plans *, struct order *);
void plans_drop(struct shared_plan **);

/* Makes a plan on the pool; `done` is called on the loop with job->plan set (NULL without memory),
 * and frees nothing: the job is freed after it. The owner who leaves earlier sets job->owner to
 * NULL. */
struct plans_job {
    uv_work_t work;
    struct plans *plans;
    struct order *order;
    struct shared_plan *plan; /* taken by `done`, or dropped */
    void *owner;
    void (*done)(struct plans_job *);
};
struct plans_job *plans_later(struct plans *, struct order *, uv_loop_t *, void *owner,
                              void (*done)(struct plans_job *));

#endif
