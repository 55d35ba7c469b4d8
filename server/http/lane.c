/* SPDX-License-Identifier: MIT
 *
 * lane.c: see lane.h. A connection is in the lane between requests only, when the library holds
 * none of its bytes; so answers keep their order, and the library finds the connection idle
 * whenever it looks. What the socket does not take of a reply is sent as it can be, while the
 * library rests the connection.
 */
#include "lane.h"
#include "answer/reply.h"
#include "push.h"

#include <errno.h>
#include <sys/socket.h>
#include <stdlib.h>
#include <string.h>

/* A reply that the client has not taken whole. */
struct rest {
    struct reply *reply;
    char head[]; /* a copy: the reply's own is that of the next request */
};

void lane_open(struct worker *w)
{
    conn_here = w;
}

static void over(struct conn *c, void *closure, bool whole)
{
    struct rest *r = closure;
    reply_drop(&r->reply);
    free(r);
    conn_account(c, whole);
    c->status = 0;
    free(c->long_target);
    c->long_target = NULL;
    conn_enter(c, CONN_IDLE);
}

/* The socket took only `sent` bytes. False without memory: then the connection is cut. */
static bool send_later(struct conn *c, struct reply *reply, struct iovec *piece, int pieces,
                       size_t sent)
{
    size_t head = piece[0].iov_len;
    struct rest *r = malloc(sizeof *r + head);
    if (!r || !conn_keep_target(c, c->target)) {
        free(r);
        return false;
    }
    piece[0].iov_base = memcpy(r->head, piece[0].iov_base, head);
    r->reply = reply;
    reply_hold(reply);
    conn_enter(c, CONN_SEND);
    if (push_rest(c, piece, pieces, sent, over, r))
        return true;
    reply_drop(&r->reply);
    free(r);
    return false;
}

/* Answers a head that is all that came. False: it is the library's. */
static bool answer(struct conn *c, struct api_bytes head)
{
    struct memo_hit hit;
    struct iovec piece[3];
    if (!memo_find_head(c->worker->memo, c->worker, head, &hit))
        return false;
    uint64_t began = conn_clock_us();
    conn_name_request(c);
    int pieces = reply_pieces(hit.reply, c->id, piece);
    ssize_t n = push_now(c->fd, piece, pieces);
    if (n < 0)
        return false;
    metrics_count(c->worker->metrics, METRIC_LANE, 1);
    c->began_us = began;
    memcpy(c->method, hit.method, strlen(hit.method) + 1);
    c->target = hit.target;
    c->status = hit.reply->status;
    c->bytes = hit.reply->bytes;
    c->series = hit.series;
    if ((size_t)n < hit.reply->size + body_size(hit.reply->body)) {
        if (!send_later(c, hit.reply, piece, pieces, (size_t)n)) {
            conn_account(c, false);
            conn_cut(c);
        }
        return true;
    }
    conn_account(c, true);
    c->status = 0;
    conn_enter(c, CONN_IDLE);
    return true;
}

/* Between requests, with nothing that must be told to the client. */
static bool in_lane(const struct conn *c)
{
    return !c->unread && c->phase <= CONN_IDLE && c->verdict == ADMIT_WELCOME && !c->cut &&
           !c->port->health_only &&
           atomic_load_explicit(&c->worker->shared->phase, memory_order_relaxed) == SHARED_SERVING;
}

static bool ends_head(const char *at, size_t n)
{
    return n >= 4 && !memcmp(at + n - 4, "\r\n\r\n", 4);
}

/* What the library is to hear of `n` bytes that came. */
static ssize_t arrived(struct conn *c, const char *at, ssize_t n, bool full)
{
    struct worker_head *last = &c->worker->last;
    size_t size = (size_t)n;
    last->conn = NULL;
    /* Where the room is full there may be more, of which the kernel will not tell again. */
    if (!full && size <= WORKER_HEAD && in_lane(c) && ends_head(at, size)) {
        if (answer(c, (struct api_bytes){at, size})) {
            errno = EAGAIN;
            return -1;
        }
        last->conn = c;
        last->size = size;
        memcpy(last->at, at, size);
    }
    c->unread += size;
    return n;
}

ssize_t recv(int fd, void *at, size_t size, int flags)
{
    ssize_t n = recvfrom(fd, at, size, flags, NULL, NULL);
    struct conn *c = n > 0 && conn_here ? conn_of(conn_here, fd) : NULL;
    return c ? arrived(c, at, n, (size_t)n == size) : n;
}

ssize_t send(int fd, const void *at, size_t size, int flags)
{
    struct conn *c = conn_here ? conn_of(conn_here, fd) : NULL;
    if (c) {
        const struct conn_loan *loan = &c->loan;
        uintptr_t inside = (uintptr_t)at - (uintptr_t)loan->as;
        c->lends = true;
        if (loan->as && inside < loan->size)
            at = loan->at + inside;
    }
    return sendto(fd, at, size, flags, NULL, 0);
}
