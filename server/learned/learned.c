/* SPDX-License-Identifier: MIT
 *
 * learned.c: see learned.h. Look-ups are answered at once; what may touch the disk (the first
 * reading of a table after start, a deletion) goes to the pool, and the connection rests.
 */
#include "learned.h"
#include "answer/ponder.h"
#include "must.h"

#include <errno.h>
#include <string.h>

/* How often a request starts over because the table that it found was replaced before it could be
 * read. */
#define TRIES 8

/* Work on the pool for one request. */
struct chore {
    struct conn_errand errand;
    uv_work_t work;
    struct conn *conn; /* NULL: it has left */
    struct store *store;
    struct order *order;
    struct store_blob *blob; /* to be read; NULL: a deletion */
    bool over;
    int status;
    enum api_learned_outcome outcome;
};

static void release(struct chore *k)
{
    store_blob_drop(&k->blob);
    order_drop(&k->order);
    free(k);
}

static void left(struct conn_errand *errand)
{
    struct chore *k = (struct chore *)errand;
    k->conn = NULL;
    if (k->over)
        release(k);
}

static void work(uv_work_t *w)
{
    struct chore *k = w->data;
    if (k->blob)
        k->status = store_load(k->store, k->blob);
    else
        k->outcome = store_remove(k->store, k->order->plan->learned);
}

static void worked(uv_work_t *w, int status)
{
    struct chore *k = w->data;
    (void)status;
    k->over = true;
    if (k->conn)
        conn_wake(k->conn);
    else
        release(k);
}

/* Takes the blob over. */
static enum learned_state start(struct conn *c, struct store_blob *blob)
{
    struct chore *k = calloc(1, sizeof *k);
    if (!k) {
        store_blob_drop(&blob);
        return LEARNED_FAILED;
    }
    *k = (struct chore){.errand = {left},
                        .conn = c,
                        .store = c->worker->shared->store,
                        .order = c->order,
                        .blob = blob};
    k->work.data = k;
    order_hold(k->order);
    c->errand = &k->errand;
    must(uv_queue_work(&c->worker->uv, &k->work, work, worked) == 0);
    conn_suspend(c);
    return LEARNED_WAIT;
}

struct api_learned_table learned_table(const char *name, struct store_blob *b)
{
    double largest = store_blob_state(b) == STORE_READY ? b->largest : 0;
    return (struct api_learned_table){
        .name = name, .digest = b->digest, .file = b->file, .largest = largest};
}

static struct api_request request_of(struct conn *c)
{
    struct guard_head *h = &c->worker->head;
    guard_read(c->handle, h);
    return (struct api_request){.method = c->method,
                                .target = c->target,
                                .headers = h->header,
                                .header_count = h->count,
                                .body = {c->body, c->body_size},
                                .request_id = c->id,
                                .limits = &c->worker->shared->limits};
}

bool learned_answer(struct conn *c, const struct api_learned_facts *facts)
{
    struct api_request request = request_of(c);
    struct api_plan *plan = api_learned_plan(&request, facts);
    struct order *order = order_take(&plan);
    if (!order)
        return false;
    order_drop(&c->order);
    c->order = order;
    return true;
}

static enum learned_state settled(bool good)
{
    return good ? LEARNED_READY : LEARNED_FAILED;
}

static enum learned_state without_table(struct conn *c, enum api_learned_outcome outcome)
{
    struct api_learned_facts facts = {.outcome = outcome};
    return settled(learned_answer(c, &facts));
}

static enum learned_state list(struct conn *c, const struct api_learned *wish)
{
    struct store *store = c->worker->shared->store;
    struct store_row *rows = calloc(wish->limit, sizeof *rows);
    struct api_learned_table *tables = calloc(wish->limit, sizeof *tables);
    struct api_learned_facts facts = {.outcome = API_LEARNED_FOUND, .tables = tables};
    bool good = rows && tables;
    if (good && store)
        facts.count = store_page(store, wish->after, wish->limit, rows, &facts.more);
    for (size_t i = 0; i < facts.count; i++)
        tables[i] = learned_table(rows[i].name, rows[i].blob);
    good = good && learned_answer(c, &facts);
    for (size_t i = 0; i < facts.count; i++)
        store_blob_drop(&rows[i].blob);
    free(rows);
    free(tables);
    return settled(good);
}

/* Takes the blob over. */
static enum learned_state with_table(struct conn *c, const struct api_learned *wish,
                                     struct store_blob *blob)
{
    struct api_learned_table table = learned_table(wish->name, blob);
    struct api_learned_facts facts = {.outcome = API_LEARNED_FOUND, .tables = &table, .count = 1};
    if (wish->act == API_LEARNED_ROWS) {
        struct api_request request = request_of(c);
        enum ponder_state state = ponder(c, &request, blob, &facts);
        return state == PONDER_WAIT ? LEARNED_WAIT : settled(state == PONDER_READY);
    }
    bool good = learned_answer(c, &facts);
    store_blob_drop(&blob);
    return settled(good);
}

static enum learned_state find(struct conn *c, const struct api_learned *wish)
{
    struct store *store = c->worker->shared->store;
    struct store_blob *blob = store ? store_find(store, wish->name, wish->digest) : NULL;
    if (!blob)
        return without_table(c, API_LEARNED_ABSENT);
    enum store_state state = store_blob_state(blob);
    if (state == STORE_DAMAGED) {
        store_blob_drop(&blob);
        return without_table(c, API_LEARNED_DAMAGED);
    }
    if (state == STORE_UNREAD && wish->act == API_LEARNED_ROWS)
        return start(c, blob);
    return with_table(c, wish, blob);
}

/* The work is over. */
static enum learned_state go_on(struct conn *c, const struct api_learned *wish)
{
    struct chore *k = (struct chore *)c->errand;
    int status = k->status;
    enum api_learned_outcome outcome = k->outcome;
    bool removed = !k->blob;
    must(k->over);
    c->errand = NULL;
    release(k);
    if (removed)
        return without_table(c, outcome);
    if (status && (status != -ENOENT || c->tries++ == TRIES))
        return without_table(c, API_LEARNED_BROKEN);
    return find(c, wish);
}

enum learned_state learned_look(struct conn *c)
{
    const struct api_learned *wish = c->order->plan->learned;
    if (c->errand)
        return go_on(c, wish);
    switch (wish->act) {
    case API_LEARNED_LIST:
        return list(c, wish);
    case API_LEARNED_DELETE:
        return c->worker->shared->store ? start(c, NULL) : without_table(c, API_LEARNED_ABSENT);
    default:
        must(wish->act != API_LEARNED_PUT);
        return find(c, wish);
    }
}
