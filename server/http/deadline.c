/* SPDX-License-Identifier: MIT
 *
 * deadline.c: how long a connection may take. Heads and bodies have totals, answers must be taken,
 * idle ones may rest. What a client did is asked of the kernel, and only of connections that may be
 * late.
 */
#include "conn.h"
#include "peer.h"

/* A head is whole within this time; that of a connection beyond a limit sooner, others wait for its
 * place. */
#define HEAD_MS 10000
#define REFUSED_MS 2000

/* After a grace a body keeps up this rate, over each such time. */
#define BODY_MS 20000
#define BODY_RATE 1024 /* bytes a second */

/* How often a connection is looked at closely. */
#define LOOK_MS 500

static void shut(struct conn *c)
{
    c->cut = true;
    shutdown(c->fd, SHUT_RDWR);
    conn_wake(c);
}

void conn_cut(struct conn *c)
{
    struct linger at_once = {1, 0};
    if (c->cut)
        return;
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    shut(c);
}

/* What the kernel still has to send of earlier answers is sent. */
static void end(struct conn *c)
{
    if (!c->cut)
        shut(c);
}

static void late(struct conn *c)
{
    metrics_count(c->worker->metrics, METRIC_DEADLINES, 1);
    if (c->phase == CONN_SEND)
        conn_cut(c);
    else
        end(c);
}

static void check_idle(struct conn *c, uint64_t now)
{
    if (now - c->looked < LOOK_MS)
        return;
    c->looked = now;
    /* Bytes came since the last answer: a head has begun, of which the library says nothing before
     * its first line is whole. (20 ms: the clock of the loop lags behind the kernel's.) */
    if (now - c->since > 20 && peer_heard(c->fd, now - c->since - 20)) {
        uint64_t since = now - LOOK_MS;
        conn_enter(c, CONN_HEAD);
        c->since = since;
    } else if (now - c->since >= c->worker->shared->idle_ms) {
        late(c);
    }
}

static void check_body(struct conn *c, uint64_t now)
{
    if (now - c->heard >= c->worker->shared->idle_ms)
        late(c);
    if (c->cut || now - c->looked < BODY_MS)
        return;
    if (c->body_size - c->mark < BODY_MS / 1000 * BODY_RATE)
        late(c);
    c->looked = now;
    c->mark = c->body_size;
}

static void check_send(struct conn *c, uint64_t now)
{
    if (now - c->looked < LOOK_MS || (c->suspended && !c->owing))
        return;
    uint64_t moved = peer_taken(c->fd) + (c->local ? c->streamed : 0);
    if (moved != c->mark) {
        c->mark = moved;
        c->since = now;
    } else if (now - c->since >= c->worker->shared->idle_ms) {
        late(c);
    }
    c->looked = now;
}

/* A client that has reset its connection waits for nothing; one that has only finished sending may.
 */
static void check_work(struct conn *c)
{
    if (c->suspended && peer_gone(c->fd))
        conn_cut(c);
}

static void check(struct conn *c, uint64_t now)
{
    uint64_t head = c->verdict == ADMIT_WELCOME ? HEAD_MS : REFUSED_MS;
    switch (c->phase) {
    case CONN_OPEN:
    case CONN_HEAD:
        if (now - c->since >= head)
            late(c);
        break;
    case CONN_IDLE:
        check_idle(c, now);
        break;
    case CONN_BODY:
        check_body(c, now);
        break;
    case CONN_WORK:
        check_work(c);
        break;
    case CONN_SEND:
        check_send(c, now);
        break;
    }
}

void conn_tick(struct worker *w)
{
    uint64_t now = uv_now(&w->uv);
    for (struct conn *c = w->conns, *next; c; c = next) {
        next = c->next;
        if (!c->cut)
            check(c, now);
    }
}

void conn_leave(struct worker *w, bool every)
{
    for (struct conn *c = w->conns, *next; c; c = next) {
        next = c->next;
        bool idle = c->phase == CONN_IDLE || c->phase == CONN_OPEN;
        if (every && c->phase >= CONN_BODY)
            conn_cut(c);
        else if (every || c->phase == CONN_HEAD || (idle && !peer_unread(c->fd)))
            end(c);
    }
}
