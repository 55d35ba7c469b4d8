/* SPDX-License-Identifier: MIT
 *
 * serve.c: from a plan to an answer. A table goes one of four ways: it is in the cache; it is small
 * enough to be made here and now; it is made on the pool while its first bytes go out (who asks
 * meanwhile waits for the whole); or it cannot be kept, and is made as the client takes it.
 */
#include "serve.h"
#include "learned/learned.h"
#include "must.h"
#include "scribe.h"
#include "whole.h"

#include <string.h>

/* How often a request starts over because the build that it joined was given up. */
#define TRIES 4

static bool refuse(struct conn *c, int status, const char *name, const char *detail)
{
    struct api_request request = {.method = c->method,
                                  .target = c->target,
                                  .request_id = c->id,
                                  .limits = &c->worker->shared->limits};
    struct api_plan *plan = api_problem(&request, status, name, detail);
    struct order *order = order_take(&plan);
    if (!order)
        return false;
    order_drop(&c->order);
    c->order = order;
    c->series = NULL;
    return deliver(c, deliver_plain(order));
}

static bool unavailable(struct conn *c)
{
    return refuse(c, 503, "overloaded", "there is no memory for this answer now; try again");
}

/* Sends a table from a stream over a payload or a plan, which it takes over. */
static bool send_stream(struct conn *c, struct payload *payload, struct shared_plan *plan,
                        enum cache_outcome outcome)
{
    struct stream *s = stream_open(c->order, payload, plan);
    if (!s) {
        payload_leave(&payload);
        plans_drop(&plan);
        return unavailable(c);
    }
    struct answer a = deliver_stream(c, s);
    deliver_cache(c, &a, outcome);
    return deliver(c, a) || (!c->status && unavailable(c));
}

/* Sends an answer, and keeps it where it may soon be asked for again. */
static bool send_answer(struct conn *c, struct answer a, struct payload *payload,
                        const struct memo_key *key)
{
    bool sent;
    if (!key || !memo_keep(c->worker->memo, key, &a, payload, c->order->plan->route, c))
        return deliver(c, a);
    struct memo_key again = *key;
    return memo_answer(c->worker->memo, c, &again, &sent) && sent;
}

/* Sends a table from a whole payload, which the caller goes on reading. */
static bool send_payload(struct conn *c, struct payload *payload, enum cache_outcome outcome,
                         const struct memo_key *key)
{
    const struct api_table *t = c->order->plan->table;
    struct answer a;
    if (whole_fits(c->order)) {
        size_t length;
        payload_join(payload);
        char *text = whole_write(c->order, payload, NULL, &length);
        if (!text)
            return unavailable(c);
        a = deliver_made(c->order, c->order->plan->status, text, length);
    } else if (api_format_is_text(t->format) || t->coding != API_IDENTITY) {
        payload_join(payload);
        return send_stream(c, payload, NULL, outcome);
    } else {
        a = deliver_payload(c->order, payload);
    }
    deliver_cache(c, &a, outcome);
    return send_answer(c, a, payload,
                       outcome == CACHE_HIT && !c->order->plan->no_memo ? key : NULL);
}

static void plan_made(struct plans_job *job)
{
    struct conn *c = job->owner;
    c->job = NULL;
    c->plan = job->plan;
    job->plan = NULL;
    c->planned = true;
    conn_wake(c);
}

/* Makes the table as it is sent. */
static bool send_direct(struct conn *c)
{
    struct shared_plan *plan = c->plan;
    c->plan = NULL;
    if (!plan)
        plan = plans_try(c->worker->shared->plans, c->order);
    if (plan)
        return send_stream(c, NULL, plan, CACHE_NONE);
    if (c->planned)
        return unavailable(c);
    c->job = plans_later(c->worker->shared->plans, c->order, &c->worker->uv, c, plan_made);
    if (!c->job)
        return unavailable(c);
    conn_suspend(c);
    return true;
}

/* A new entry of the cache is ours to build. */
static bool build(struct conn *c, struct payload *payload)
{
    struct shared *s = c->worker->shared;
    struct shared_plan *plan = payload->size <= FILL_AT_ONCE ? plans_try(s->plans, c->order) : NULL;
    if (!plan) {
        fill_later(s->cache, s->plans, c->order, payload, &c->worker->mail);
        return send_stream(c, payload, NULL, CACHE_MISS);
    }
    fill_now(s->cache, plan, c->order, payload);
    plans_drop(&plan);
    bool good =
        payload_whole(payload) ? send_payload(c, payload, CACHE_MISS, NULL) : unavailable(c);
    payload_leave(&payload);
    return good;
}

/* Whether what is asked for is sent without keeping the whole: a range costs its own rows, and the
 * rows of a long text cost a tenth of writing it, less than the memory to keep them. */
static bool is_passing(const struct order *order)
{
    const struct api_table *t = order->plan->table;
    return t->count != t->length || (t->coding == API_IDENTITY && scribe_fits(order));
}

static bool send_table(struct conn *c, const struct memo_key *key)
{
    struct cache *cache = c->worker->shared->cache;
    const struct api_table *t = c->order->plan->table;
    const struct extent *x = &c->order->extent;
    struct payload *payload = NULL;
    if (c->planned)
        return send_direct(c);
    if (is_passing(c->order) || !cache_keeps(cache, x->bytes)) {
        payload = cache_peek(cache, t->key);
        bool good = payload ? send_payload(c, payload, CACHE_HIT, NULL) : send_direct(c);
        payload_leave(&payload);
        return good;
    }
    while (c->tries++ < TRIES) {
        enum cache_outcome outcome = cache_get(cache, t->key, x->bytes, x->goal, &payload);
        if (outcome == CACHE_NONE)
            break;
        if (outcome == CACHE_MISS)
            return build(c, payload);
        if (outcome == CACHE_HIT) {
            bool good = send_payload(c, payload, CACHE_HIT, key);
            payload_leave(&payload);
            return good;
        }
        c->awaited = payload;
        if (conn_await(c, payload, payload->goal))
            return true;
        payload_leave(&c->awaited);
    }
    return send_direct(c);
}

/* The build that this request joined has ended. */
static bool send_awaited(struct conn *c)
{
    struct payload *payload = c->awaited;
    c->awaited = NULL;
    if (!payload_whole(payload)) {
        payload_leave(&payload);
        return send_table(c, NULL);
    }
    bool good = send_payload(c, payload, CACHE_JOIN, NULL);
    payload_leave(&payload);
    return good;
}

/* A table whose rows are made without a plan of the library. */
static bool send_made(struct conn *c)
{
    size_t length;
    if (!whole_fits(c->order))
        return send_stream(c, NULL, NULL, CACHE_NONE);
    char *text = whole_write(c->order, NULL, NULL, &length);
    if (!text)
        return unavailable(c);
    struct answer a = deliver_made(c->order, c->order->plan->status, text, length);
    deliver_cache(c, &a, CACHE_NONE);
    return deliver(c, a);
}

static void let_go(void *closure)
{
    struct store_blob *blob = closure;
    store_blob_drop(&blob);
}

/* Rows of a stored table: as they stand in its file where they can, or converted as they are sent.
 */
static bool send_learned(struct conn *c)
{
    const struct api_table *t = c->order->plan->table;
    struct store_blob *blob = c->order->blob;
    bool text = api_format_is_text(t->format);
    const unsigned char *rows =
        t->layout ? NULL : store_blob_rows(blob, t, text ? pe_dtype_size(t->tensors[0].dtype) : 1);
    if (!rows)
        return send_made(c);
    struct payload *payload =
        payload_borrow(rows, (size_t)t->tensors[0].bytes, c->order->extent.goal, let_go, blob);
    if (!payload)
        return unavailable(c);
    store_blob_hold(blob);
    bool good = send_payload(c, payload, CACHE_HIT, NULL);
    payload_drop(&payload);
    return good;
}

/* Arrays of a layout: they cost less to make than to keep. */
static bool is_layout(const struct api_table *t)
{
    return t->layout && !api_layout_has_rows(t->layout);
}

static bool send_layout(struct conn *c)
{
    return is_layout(c->order->plan->table) ? send_made(c) : send_direct(c);
}

static bool send_text(struct conn *c, int status, const char *text)
{
    char *copy = strdup(text);
    return copy ? deliver(c, deliver_made(c->order, status, copy, strlen(copy))) : unavailable(c);
}

static bool send_ready(struct conn *c)
{
    if (atomic_load(&c->worker->shared->phase) == SHARED_SERVING)
        return send_text(c, 200, "ready\n");
    char *copy = strdup("leaving\n");
    if (!copy)
        return unavailable(c);
    struct answer a = deliver_made(c->order, 503, copy, strlen(copy));
    return deliver_header(&a, "Retry-After", "1") && deliver(c, a);
}

static bool send_metrics(struct conn *c)
{
    struct metrics_facts facts;
    size_t length;
    cache_facts(c->worker->shared->cache, &facts);
    facts.hits += metrics_sum(METRIC_MEMO);
    char *text = metrics_text(&facts, &length);
    return text ? deliver(c, deliver_made(c->order, 200, text, length)) : unavailable(c);
}

static bool send_page(struct conn *c)
{
    switch (c->order->plan->page) {
    case API_PAGE_LIVE:
        return send_text(c, 200, "live\n");
    case API_PAGE_READY:
        return send_ready(c);
    case API_PAGE_METRICS:
        return send_metrics(c);
    }
    return false;
}

/* HEAD and 304 state the length of a small body, where it is known only when it is written. */
static void measure(struct conn *c)
{
    const struct api_table *t = c->order->plan->table;
    struct shared *s = c->worker->shared;
    if ((t->length != API_UNKNOWN && t->coding == API_IDENTITY) || !whole_fits(c->order))
        return;
    struct payload *payload = cache_peek(s->cache, t->key);
    bool planless = is_layout(t) || c->order->blob;
    struct shared_plan *plan = payload || planless ? NULL : plans_try(s->plans, c->order);
    size_t length;
    char *text = payload || plan || planless ? whole_write(c->order, payload, plan, &length) : NULL;
    if (text)
        c->order->measured = length;
    free(text);
}

/* A 304 of a table may be asked for as often as the table. Its key holds If-None-Match, and there
 * is no key where another condition came. */
static bool send_plain(struct conn *c, const struct memo_key *key)
{
    const struct api_plan *plan = c->order->plan;
    bool again = plan->status == 304 || (plan->table && !plan->no_memo);
    if (plan->table)
        measure(c);
    struct answer a = deliver_plain(c->order);
    if (plan->table)
        deliver_digest(c, &a);
    return send_answer(c, a, NULL, again ? key : NULL);
}

bool serve(struct conn *c, const struct memo_key *key)
{
    const struct api_plan *plan = c->order->plan;
    if (c->phase != CONN_WORK)
        conn_enter(c, CONN_WORK);
    if (plan->source == API_LEARNED) {
        enum learned_state state = learned_look(c);
        if (state != LEARNED_READY)
            return state == LEARNED_WAIT || unavailable(c);
        plan = c->order->plan;
        key = NULL;
    }
    if (c->awaited)
        return send_awaited(c);
    if (c->order->blob && plan->source == API_TABLE && !plan->head_only)
        return send_learned(c);
    if (plan->source == API_PAGE)
        return send_page(c);
    if (plan->source == API_TABLE && plan->table->layout && !plan->head_only)
        return send_layout(c);
    if (plan->source == API_TABLE && !plan->head_only)
        return send_table(c, key);
    return send_plain(c, key);
}
