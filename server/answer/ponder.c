/* SPDX-License-Identifier: MIT
 *
 * ponder.c: see ponder.h. A job has a copy of the head of its request, and the body itself, which
 * the connection gets back where it is still wanted. Jobs are a list of the worker; the first is on
 * the pool. A client that leaves takes its job out of the list, or leaves it to end by itself.
 */
#include "ponder.h"
#include "must.h"

#include <string.h>

/* Target and body up to this size are planned on the loop: positions take 0.3 ms as JSON. */
#define LIGHT (64 << 10)

/* A layout may have far more documents than its request has bytes: this many entries and pieces are
 * laid out on the loop (40 to 60 ns each), and what exceeds them is planned anew. */
#define LIGHT_ENTRIES 8192

/* What took this long to make is freed on the pool, too. */
#define LONG_US 5000

struct ponder {
    struct conn_errand errand;
    uv_work_t work;
    struct ponder *next;
    struct worker *worker;
    struct conn *conn; /* NULL: it has left */
    atomic_bool left;  /* the same, for the pool */
    struct api_request request;
    char *body;
    struct order *asked; /* names the stored table */
    struct store_blob *blob;
    struct api_learned_table table;
    struct api_learned_facts facts;
    struct api_plan *plan;
    uint64_t took_us;
    char method[32], id[129];
    struct api_header header[]; /* and then their text, and the target's */
};

static struct api_plan *plan_of(const struct api_request *r, const struct api_learned_facts *facts)
{
    return facts ? api_learned_plan(r, facts) : api_plan(r);
}

/* ---------------------------------------------------------------- quick or not */

static bool holds(struct api_bytes path, const char *part)
{
    return path.len && memmem(path.at, path.len, part, strlen(part));
}

static struct api_bytes path_of(struct api_bytes target)
{
    const char *mark = target.len ? memchr(target.at, '?', target.len) : NULL;
    return mark ? (struct api_bytes){target.at, (size_t)(mark - target.at)} : target;
}

/* The plan of a request that is soon planned; NULL with *slow where it is not. Paths have one
 * spelling each: the api room decodes none. */
static struct api_plan *plan_here(const struct api_request *r,
                                  const struct api_learned_facts *facts, bool *slow)
{
    struct api_bytes path = path_of(r->target);
    *slow = r->target.len + r->body.len > LIGHT || holds(path, "/v1/compare") ||
            holds(path, "/precision");
    if (*slow)
        return NULL;
    if (!holds(path, "/v1/layouts/") || r->limits->max_layout_entries <= LIGHT_ENTRIES)
        return plan_of(r, facts);
    struct api_limits limits = *r->limits;
    struct api_request light = *r;
    limits.max_layout_entries = LIGHT_ENTRIES;
    light.limits = &limits;
    struct api_plan *plan = plan_of(&light, facts);
    *slow = plan && plan->status == 413;
    if (*slow)
        api_plan_free(&plan);
    return plan;
}

/* ---------------------------------------------------------------- on the pool */

static void release(struct ponder *k)
{
    free(k->body);
    order_drop(&k->asked);
    store_blob_drop(&k->blob);
    free(k);
}

static void work(uv_work_t *w)
{
    struct ponder *k = w->data;
    if (atomic_load(&k->left))
        return;
    uint64_t began = conn_clock_us();
    k->plan = plan_of(&k->request, k->blob ? &k->facts : NULL);
    k->took_us = conn_clock_us() - began;
    if (atomic_load(&k->left))
        api_plan_free(&k->plan);
    if (k->plan && k->plan->source == API_LEARNED) /* the body is read once more */
        return;
    free(k->body);
    k->body = NULL;
}

static void over(uv_work_t *w, int status);

static void start_first(struct worker *w)
{
    struct ponder *k = w->pondering;
    if (k)
        must(uv_queue_work(&w->uv, &k->work, work, over) == 0);
}

/* The order goes to the connection, if that is still there. */
static void hand_over(struct ponder *k, struct order *order)
{
    struct conn *c = k->conn;
    if (order)
        order->blob = k->blob;
    if (order)
        k->blob = NULL;
    if (order && k->took_us >= LONG_US)
        order_bury(order, &k->worker->uv);
    if (!c) {
        order_drop(&order);
        return;
    }
    c->body = k->body;
    k->body = NULL;
    if (!c->body)
        c->body_size = c->body_room = 0;
    c->errand = NULL;
    order_drop(&c->order);
    c->order = order;
    c->planned_us = conn_clock_us();
    conn_wake(c);
}

static void over(uv_work_t *w, int status)
{
    struct ponder *k = w->data;
    struct worker *worker = k->worker;
    (void)status;
    worker->pondering = k->next;
    start_first(worker);
    hand_over(k, order_take(&k->plan));
    release(k);
}

static void left(struct conn_errand *errand)
{
    struct ponder *k = (struct ponder *)errand, **place = &k->worker->pondering;
    k->conn = NULL;
    atomic_store(&k->left, true);
    if (*place == k)
        return;
    while (*place != k)
        place = &(*place)->next;
    *place = k->next;
    release(k);
}

/* ---------------------------------------------------------------- a job */

static char *copy(char **at, const char *from, size_t n)
{
    char *to = *at;
    if (n)
        memcpy(to, from, n);
    to[n] = 0;
    *at += n + 1;
    return to;
}

/* A job with a request of its own but for the body. NULL without memory. */
static struct ponder *job_of(const struct api_request *r)
{
    size_t size = r->header_count * sizeof *r->headers + r->target.len + 1;
    for (size_t i = 0; i < r->header_count; i++)
        size += strlen(r->headers[i].name) + r->headers[i].value.len + 2;
    struct ponder *k = calloc(1, sizeof *k + size);
    if (!k)
        return NULL;
    char *at = (char *)(k->header + r->header_count);
    k->request = *r;
    for (size_t i = 0; i < r->header_count; i++) {
        const struct api_header *h = &r->headers[i];
        k->header[i].name = copy(&at, h->name, strlen(h->name));
        k->header[i].value = (struct api_bytes){copy(&at, h->value.at, h->value.len), h->value.len};
    }
    k->request.headers = k->header;
    k->request.target.at = copy(&at, r->target.at, r->target.len);
    return k;
}

static enum ponder_state start(struct conn *c, const struct api_request *r, struct store_blob *blob,
                               const struct api_learned_facts *facts)
{
    struct worker *w = c->worker;
    struct ponder *k = job_of(r), **end = &w->pondering;
    if (!k) {
        store_blob_drop(&blob);
        return PONDER_FAILED;
    }
    memcpy(k->method, c->method, sizeof k->method);
    memcpy(k->id, c->id, sizeof k->id);
    k->request.method = k->method;
    k->request.request_id = k->id;
    k->body = c->body;
    c->body = NULL;
    k->blob = blob;
    if (blob) {
        k->asked = c->order;
        order_hold(k->asked);
        k->facts = *facts;
        k->table = facts->tables[0];
        k->facts.tables = &k->table;
    }
    k->errand.left = left;
    k->work.data = k;
    k->worker = w;
    k->conn = c;
    c->errand = &k->errand;
    while (*end)
        end = &(*end)->next;
    *end = k;
    if (w->pondering == k)
        start_first(w);
    conn_enter(c, CONN_WORK);
    conn_suspend(c);
    return PONDER_WAIT;
}

enum ponder_state ponder(struct conn *c, const struct api_request *r, struct store_blob *blob,
                         const struct api_learned_facts *facts)
{
    bool slow;
    if (!facts)
        c->asked_us = conn_clock_us();
    struct api_plan *plan = plan_here(r, facts, &slow);
    if (slow)
        return start(c, r, blob, facts);
    struct order *order = order_take(&plan);
    if (!facts)
        c->planned_us = conn_clock_us();
    if (order)
        order->blob = blob;
    else
        store_blob_drop(&blob);
    order_drop(&c->order);
    c->order = order;
    return order ? PONDER_READY : PONDER_FAILED;
}
