/* SPDX-License-Identifier: MIT
 *
 * conn.c: connections from accept to close, their waits, and the line in the log that ends a
 * request. The library reports a closed connection always, but a completed request not always: what
 * a request holds is let go of by whichever comes first.
 */
#include "conn.h"
#include "must.h"
#include "peer.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>
#include <time.h>

_Thread_local struct worker *conn_here;

uint64_t conn_clock_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void conn_enter(struct conn *c, enum conn_phase phase)
{
    c->phase = phase;
    c->since = c->looked = uv_now(&c->worker->uv);
    c->mark = 0;
}

static void woken(struct mail_letter *letter)
{
    struct conn *c = (struct conn *)((char *)letter - offsetof(struct conn, wait.letter));
    conn_wake(c);
}

/* Numbers of a walk through all of 2^64 (splitmix64), so none comes twice from one worker. */
void conn_name_request(struct conn *c)
{
    static const char hex[] = "0123456789abcdef";
    uint64_t z = c->worker->ids += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    for (int i = 0; i < 16; i++)
        c->id[i] = hex[z >> (60 - 4 * i) & 15];
    c->id[16] = 0;
}

/* One that is not listed for want of memory is served all the same. */
static void list_socket(struct worker *w, struct conn *c)
{
    size_t fd = (size_t)c->fd, room = w->fds ? w->fds : 64;
    while (room <= fd)
        room *= 2;
    if (room > w->fds) {
        struct conn **wider = realloc(w->by_fd, room * sizeof *wider);
        if (!wider)
            return;
        memset(wider + w->fds, 0, (room - w->fds) * sizeof *wider);
        w->by_fd = wider;
        w->fds = room;
    }
    w->by_fd[fd] = c;
}

static void name_client(struct conn *c, const struct sockaddr *a)
{
    c->local = !a || (a->sa_family != AF_INET && a->sa_family != AF_INET6);
    if (c->local)
        return;
    const void *at = a->sa_family == AF_INET
                         ? (const void *)&((const struct sockaddr_in *)a)->sin_addr
                         : (const void *)&((const struct sockaddr_in6 *)a)->sin6_addr;
    inet_ntop(a->sa_family, at, c->client, sizeof c->client);
}

static void opened(struct port *port, struct MHD_Connection *handle, void **context)
{
    struct worker *w = port->worker;
    struct conn *c = calloc(1, sizeof *c);
    *context = c;
    if (!c)
        return;
    const struct sockaddr *a =
        MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    c->worker = w;
    c->port = port;
    c->handle = handle;
    c->fd = MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    c->wait.letter.arrive = woken;
    c->wait.box = &w->mail;
    name_client(c, a);
    peer_pace(c->fd);
    if (!port->health_only)
        c->verdict = admit_enter(w->shared->admit, a, &c->address);
    if (c->verdict != ADMIT_WELCOME)
        metrics_count(w->metrics, METRIC_OVER_LIMIT, 1);
    conn_enter(c, CONN_OPEN);
    c->next = w->conns;
    if (c->next)
        c->next->prev = c;
    w->conns = c;
    list_socket(w, c);
    metrics_move(METRIC_CONNECTIONS, 1);
}

/* Lets go of what the request in hand holds. */
static void forget_request(struct conn *c)
{
    if (c->awaited)
        payload_forget(c->awaited, &c->wait);
    if (c->stream && c->stream->payload)
        payload_forget(c->stream->payload, &c->wait);
    payload_leave(&c->awaited);
    if (c->job)
        c->job->owner = NULL;
    c->job = NULL;
    if (c->errand)
        c->errand->left(c->errand);
    c->errand = NULL;
    c->upload = NULL;
    plans_drop(&c->plan);
    order_drop(&c->order);
    free(c->body);
    free(c->long_target);
    c->body = c->long_target = NULL;
    c->body_size = c->body_room = 0;
    c->owing = false;
    c->loan = (struct conn_loan){NULL, NULL, 0};
    c->stream = NULL;
    c->streamed = 0;
    c->raw = NULL;
    c->calls = 0;
    c->tries = 0;
    c->planned = false;
    c->close_after = false;
    c->declared = 0;
    *c->trace = 0;
    c->status = 0;
    c->series = NULL;
}

static void closed(struct conn *c)
{
    struct worker *w = c->worker;
    forget_request(c);
    if (conn_of(w, c->fd) == c)
        w->by_fd[c->fd] = NULL;
    if (c->suspended)
        metrics_move(METRIC_WAITING, -1);
    if (c->prev)
        c->prev->next = c->next;
    else
        w->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    if (!c->port->health_only)
        admit_leave(w->shared->admit, &c->address);
    metrics_move(METRIC_CONNECTIONS, -1);
    /* At a limit the library does not poll its listening socket, and looks at that again only when
     * it runs. */
    c->port->resumed = true;
    free(c);
}

void conn_notify(void *port, struct MHD_Connection *handle, void **context,
                 enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        opened(port, handle, context);
    else if (*context)
        closed(*context);
}

bool conn_keep_target(struct conn *c, struct api_bytes target)
{
    char *at = c->short_target;
    if (target.len >= sizeof c->short_target)
        at = c->long_target = malloc(target.len + 1);
    if (!at)
        return false;
    memcpy(at, target.at, target.len);
    at[target.len] = 0;
    c->target = (struct api_bytes){at, target.len};
    return true;
}

void *conn_target(void *port, const char *target, struct MHD_Connection *handle)
{
    struct conn *c =
        MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    (void)port;
    if (!c)
        return NULL;
    forget_request(c);
    c->target = (struct api_bytes){"", 0};
    if (target && conn_keep_target(c, (struct api_bytes){target, strlen(target)}))
        c->raw = target;
    if (c->phase == CONN_IDLE)
        conn_enter(c, CONN_HEAD);
    else if (c->phase == CONN_OPEN)
        c->phase = CONN_HEAD; /* its time runs since the connection was opened */
    return c;
}

/* What the log says of the target. A query that may hold a token, put there by mistake, stays out
 * of it. */
static struct api_bytes shown(const struct conn *c)
{
    struct api_bytes t = c->target;
    const char *mark = t.len ? memchr(t.at, '?', t.len) : NULL;
    bool secret = mark && api_scope(c->method, t) != API_SCOPE_NONE;
    for (const char *p = mark, *end = t.at + t.len; p && !secret && end - p >= 5; p++)
        secret = (*p | 0x20) == 't' && !strncasecmp(p, "token", 5);
    return secret ? (struct api_bytes){t.at, (size_t)(mark - t.at)} : t;
}

void conn_account(struct conn *c, bool whole)
{
    struct worker *w = c->worker;
    uint64_t took = conn_clock_us() - c->began_us;
    uint64_t bytes = c->stream ? c->streamed : whole ? c->bytes : 0;
    struct log_request line = {.request_id = c->id,
                               .method = c->method,
                               .target = shown(c),
                               .status = c->status,
                               .bytes = bytes,
                               .duration_us = took,
                               .trace_id = {c->trace, strlen(c->trace)},
                               .client = c->client,
                               .cut = !whole};
    log_add(&w->log, &line);
    metrics_request(w->metrics, c->series, took);
    metrics_count(w->metrics, METRIC_BYTES, bytes);
    metrics_count(w->metrics, METRIC_CUT, !whole);
}

void conn_completed(void *port, struct MHD_Connection *handle, void **context,
                    enum MHD_RequestTerminationCode code)
{
    struct conn *c = *context;
    (void)port;
    (void)handle;
    if (!c)
        return;
    if (c->status)
        conn_account(c, code == MHD_REQUEST_TERMINATED_COMPLETED_OK && !c->cut);
    /* What does not add up (it has a body, and is the last) leaves the library in charge. */
    c->unread = c->declared || c->head_size > c->unread ? SIZE_MAX / 2 : c->unread - c->head_size;
    forget_request(c);
    conn_enter(c, CONN_IDLE);
}

void conn_suspend(struct conn *c)
{
    must(!c->suspended);
    c->suspended = true;
    metrics_move(METRIC_WAITING, 1);
    MHD_suspend_connection(c->handle);
}

void conn_wake(struct conn *c)
{
    if (!c->suspended)
        return;
    c->suspended = false;
    metrics_move(METRIC_WAITING, -1);
    MHD_resume_connection(c->handle);
    c->port->resumed = true;
    uv_idle_start(&c->worker->again, c->worker->run_again);
}

bool conn_await(struct conn *c, struct payload *p, uint64_t need)
{
    if (!payload_wait(p, need, &c->wait))
        return false;
    conn_suspend(c);
    return true;
}
