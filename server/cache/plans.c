/* SPDX-License-Identifier: MIT
 *
 * plans.c: a small table of remembered plans, each in the one slot that its key names; a newcomer
 * replaces what stands there. A plan lives while somebody owns it, remembered or not. A second
 * table says for some ladders which slot holds a plan of that ladder; it is never trusted, only
 * looked up.
 */
#include "plans.h"
#include "must.h"

#include <string.h>

#define SLOTS 256

/* Of one row: with at most 128 frequencies a plan takes a millisecond or two at worst. */
#define QUICK_ROW 256

struct slot {
    unsigned char key[32];
    uint64_t ladder; /* pe_spec_ladder */
    struct shared_plan *plan;
};

struct plans {
    pthread_mutex_t lock;
    size_t bytes, limit;
    size_t hand; /* of the clock that empties slots */
    struct slot slot[SLOTS];
    uint16_t with_ladder[SLOTS]; /* by the number of a ladder: the slot that may hold such a plan */
};

struct plans *plans_open(size_t bytes)
{
    struct plans *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->limit = bytes;
    must(pthread_mutex_init(&p->lock, NULL) == 0);
    return p;
}

void plans_drop(struct shared_plan **address)
{
    struct shared_plan *s = *address;
    *address = NULL;
    if (!s || atomic_fetch_sub_explicit(&s->owners, 1, memory_order_acq_rel) != 1)
        return;
    if (s->plan)
        pe_plan_destroy(&s->plan);
    free(s);
}

static void empty(struct plans *p, struct slot *s)
{
    if (!s->plan)
        return;
    p->bytes -= pe_plan_bytes(s->plan->plan);
    plans_drop(&s->plan);
}

void plans_close(struct plans **address)
{
    struct plans *p = *address;
    *address = NULL;
    if (!p)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        empty(p, &p->slot[i]);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* The key is a SHA-256: its first bytes are spread well enough for a table that may forget. */
static struct slot *slot_of(struct plans *p, const struct order *o)
{
    uint64_t n;
    memcpy(&n, o->plan->table->key.at, sizeof n);
    return &p->slot[n % SLOTS];
}

static struct shared_plan *hold(struct shared_plan *s)
{
    if (s)
        atomic_fetch_add_explicit(&s->owners, 1, memory_order_relaxed);
    return s;
}

static struct shared_plan *find(struct plans *p, const struct order *o)
{
    struct slot *s = slot_of(p, o);
    bool same;
    pthread_mutex_lock(&p->lock);
    same = s->plan && !memcmp(s->key, o->plan->table->key.at, sizeof s->key);
    struct shared_plan *found = hold(same ? s->plan : NULL);
    pthread_mutex_unlock(&p->lock);
    return found;
}

/* The plan of a ladder that is remembered as such. */
static struct shared_plan *plan_with(struct plans *p, uint64_t ladder)
{
    const struct slot *s = &p->slot[p->with_ladder[ladder % SLOTS]];
    return ladder && s->ladder == ladder ? s->plan : NULL;
}

static struct shared_plan *find_like(struct plans *p, uint64_t ladder)
{
    pthread_mutex_lock(&p->lock);
    struct shared_plan *found = hold(plan_with(p, ladder));
    pthread_mutex_unlock(&p->lock);
    return found;
}

/* Of the plans of one ladder the largest one serves those to come: it has most to share. */
static void remember(struct plans *p, const struct order *o, struct shared_plan *made)
{
    size_t size = pe_plan_bytes(made->plan);
    uint64_t ladder = pe_spec_ladder(&o->plan->table->spec);
    struct slot *s = slot_of(p, o);
    if (size > p->limit / 8)
        return;
    pthread_mutex_lock(&p->lock);
    empty(p, s);
    while (p->bytes + size > p->limit)
        empty(p, &p->slot[p->hand++ % SLOTS]);
    memcpy(s->key, o->plan->table->key.at, sizeof s->key);
    const struct shared_plan *other = plan_with(p, ladder);
    if (!other || pe_plan_bytes(other->plan) <= size)
        p->with_ladder[ladder % SLOTS] = (uint16_t)(s - p->slot);
    s->ladder = ladder;
    s->plan = hold(made);
    p->bytes += size;
    pthread_mutex_unlock(&p->lock);
}

/* A plan that nobody has asked for yet; NULL without memory. */
static struct shared_plan *create(struct plans *p, const struct order *o)
{
    const struct pe_spec *spec = &o->plan->table->spec;
    struct shared_plan *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    struct shared_plan *like = find_like(p, pe_spec_ladder(spec));
    enum pe_error error = pe_plan_create_like(spec, like ? like->plan : NULL, &s->plan);
    plans_drop(&like);
    if (error) {
        free(s);
        return NULL;
    }
    s->owners = 1;
    return s;
}

/* Ids of a layout are made of the request alone. */
static bool needs_none(const struct api_table *t)
{
    return t->layout && !api_layout_has_rows(t->layout);
}

struct shared_plan *plans_get(struct plans *p, struct order *o)
{
    if (needs_none(o->plan->table)) {
        struct shared_plan *none = calloc(1, sizeof *none);
        if (none)
            none->owners = 1;
        return none;
    }
    struct shared_plan *s = find(p, o);
    if (!s && (s = create(p, o)))
        remember(p, o, s);
    return s;
}

struct shared_plan *plans_try(struct plans *p, struct order *o)
{
    const struct api_table *t = o->plan->table;
    for (unsigned i = 0; i < t->tensor_count && !needs_none(t); i++)
        if (t->tensors[i].row_elements > QUICK_ROW)
            return find(p, o);
    return plans_get(p, o);
}

static void make(uv_work_t *work)
{
    struct plans_job *job = work->data;
    job->plan = plans_get(job->plans, job->order);
}

static void made(uv_work_t *work, int status)
{
    struct plans_job *job = work->data;
    (void)status;
    if (job->owner)
        job->done(job);
    plans_drop(&job->plan);
    order_drop(&job->order);
    free(job);
}

struct plans_job *plans_later(struct plans *p, struct order *o, uv_loop_t *loop, void *owner,
                              void (*done)(struct plans_job *))
{
    struct plans_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    *job = (struct plans_job){.plans = p, .order = o, .owner = owner, .done = done};
    job->work.data = job;
    order_hold(o);
    must(uv_queue_work(loop, &job->work, make, made) == 0);
    return job;
}
