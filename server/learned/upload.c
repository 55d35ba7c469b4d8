/* SPDX-License-Identifier: MIT
 *
 * upload.c: see upload.h. An upload has one piece of work on the pool at a time, and its connection
 * rests meanwhile. Who leaves in the middle leaves the draft behind, which is then dropped on the
 * pool as well.
 */
#include "upload.h"
#include "learned.h"
#include "must.h"

#include <string.h>

/* Written at a time: a system call and a trip to the pool cost a few percent of that. */
#define BUFFER (256 << 10)

struct upload {
    struct conn_errand errand;
    uv_work_t work;
    uv_loop_t *loop;
    struct conn *conn; /* NULL: it has left */
    struct order *order;
    struct store_draft draft;
    char *buffer;
    size_t have, room;
    bool busy; /* on the pool */
    bool whole, over;
    enum api_learned_outcome outcome;
    struct store_blob *blob;
    const char *fault;
};

static void release(struct upload *u)
{
    store_blob_drop(&u->blob);
    order_drop(&u->order);
    free(u->buffer);
    free(u);
}

static void drop_draft(uv_work_t *work)
{
    struct upload *u = work->data;
    store_draft_drop(&u->draft);
}

static void dropped(uv_work_t *work, int status)
{
    (void)status;
    release(work->data);
}

static void abandon(struct upload *u)
{
    if (u->draft.fd < 0)
        release(u);
    else
        must(uv_queue_work(u->loop, &u->work, drop_draft, dropped) == 0);
}

static void left(struct conn_errand *errand)
{
    struct upload *u = (struct upload *)errand;
    u->conn = NULL;
    if (!u->busy)
        abandon(u);
}

static void work(uv_work_t *w)
{
    struct upload *u = w->data;
    if (u->have)
        store_draft_write(&u->draft, u->buffer, u->have);
    if (u->whole)
        u->outcome = store_put(&u->draft, u->order->plan->learned, &u->blob, &u->fault);
}

static void worked(uv_work_t *w, int status)
{
    struct upload *u = w->data;
    (void)status;
    u->busy = false;
    u->have = 0;
    u->over = u->whole;
    if (u->conn)
        conn_wake(u->conn);
    else
        abandon(u);
}

static void start(struct upload *u)
{
    u->busy = true;
    must(uv_queue_work(u->loop, &u->work, work, worked) == 0);
    conn_suspend(u->conn);
}

struct api_plan *upload_begin(struct conn *c, const struct api_request *request)
{
    static const struct api_learned_facts no_store = {.outcome = API_LEARNED_NO_STORE};
    struct store *store = c->worker->shared->store;
    struct api_request whole = *request;
    whole.body = (struct api_bytes){NULL, (size_t)c->declared};
    struct api_plan *plan = store ? api_plan(&whole) : api_learned_plan(&whole, &no_store);
    if (!plan || plan->source != API_LEARNED)
        return plan ? plan
                    : api_problem(request, 503, "overloaded",
                                  "there is no memory for this upload now");
    struct upload *u = calloc(1, sizeof *u);
    struct order *order = order_take(&plan);
    if (!u || !order) {
        free(u);
        order_drop(&order);
        return api_problem(request, 503, "overloaded", "there is no memory for this upload now");
    }
    u->errand.left = left;
    u->work.data = u;
    u->loop = &c->worker->uv;
    u->conn = c;
    u->order = order;
    store_draft_open(&u->draft, store);
    order_hold(order);
    c->order = order;
    c->upload = u;
    c->errand = &u->errand;
    return NULL;
}

bool upload_take(struct conn *c, const char *bytes, size_t *size)
{
    struct upload *u = c->upload;
    must(!u->busy && !u->whole);
    if (!u->buffer) {
        u->room = c->declared < BUFFER ? (size_t)c->declared : BUFFER;
        u->buffer = malloc(u->room);
        if (!u->buffer)
            return false;
    }
    size_t n = u->room - u->have;
    n = n < *size ? n : *size;
    c->heard = uv_now(&c->worker->uv);
    memcpy(u->buffer + u->have, bytes, n);
    u->have += n;
    c->body_size += n;
    *size -= n;
    if (u->have == u->room && c->body_size < c->declared)
        start(u);
    return true;
}

static bool answer(struct conn *c)
{
    struct upload *u = c->upload;
    struct api_learned_table table;
    struct api_learned_facts facts = {.outcome = u->outcome, .fault = u->fault};
    if (u->blob) {
        table = learned_table(u->order->plan->learned->name, u->blob);
        facts.tables = &table;
        facts.count = 1;
    }
    c->upload = NULL;
    c->errand = NULL;
    bool good = learned_answer(c, &facts);
    release(u);
    return good && serve(c, NULL);
}

bool upload_answer(struct conn *c)
{
    struct upload *u = c->upload;
    if (u->over)
        return answer(c);
    if (u->busy)
        return true;
    if (c->body_size != c->declared)
        return false;
    conn_enter(c, CONN_WORK);
    u->whole = true;
    start(u);
    return true;
}
