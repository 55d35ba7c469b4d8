/* SPDX-License-Identifier: MIT
 *
 * lane.c: see lane.h. A connection is in the lane between requests only, when the library holds
 * none of its bytes; so answers keep their order, and the library finds the connection idle
 * whenever it looks. What the socket does not take of a reply is sent as it can be, while the
 * library rests the connection.
 */
#include "lane.h"
#include "answer/reply.h"
#include "must.h"

#include <errno.h>
#include <sys/socket.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct worker *here;

/* What a client has not taken of a reply yet. */
struct rest {
    struct conn_errand errand;
    uv_poll_t poll;
    struct conn *conn;
    struct reply *reply;
    struct iovec piece[3];
    int pieces;
    char *head; /* a copy: the reply's own is that of the next request */
};

void lane_open(struct worker *w)
{
    here = w;
}

static ssize_t send_pieces(int fd, struct iovec *piece, int n)
{
    struct msghdr message = {.msg_iov = piece, .msg_iovlen = (size_t)n};
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Takes `n` bytes off the front of the pieces; whether there are more. */
static bool advance(struct iovec *piece, int pieces, size_t n)
{
    bool more = false;
    for (int i = 0; i < pieces; i++) {
        size_t gone = n < piece[i].iov_len ? n : piece[i].iov_len;
        piece[i].iov_base = (char *)piece[i].iov_base + gone;
        piece[i].iov_len -= gone;
        n -= gone;
        more |= piece[i].iov_len > 0;
    }
    return more;
}

static void closed(uv_handle_t *handle)
{
    struct rest *r = handle->data;
    reply_drop(&r->reply);
    free(r->head);
    free(r);
}

/* The rest is sent, or nobody wants it any more. */
static void end(struct rest *r, bool whole)
{
    struct conn *c = r->conn;
    c->errand = NULL;
    c->owing = false;
    conn_account(c, whole && !c->cut);
    c->status = 0;
    free(c->long_target);
    c->long_target = NULL;
    uv_poll_stop(&r->poll);
    uv_close((uv_handle_t *)&r->poll, closed);
}

static void left(struct conn_errand *errand)
{
    end((struct rest *)((char *)errand - offsetof(struct rest, errand)), false);
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
    struct rest *r = poll->data;
    struct conn *c = r->conn;
    (void)events;
    ssize_t n = status ? -1 : send_pieces(c->fd, r->piece, r->pieces);
    if (n < 0 && !status && (errno == EAGAIN || errno == EINTR))
        return;
    if (n >= 0 && advance(r->piece, r->pieces, (size_t)n))
        return;
    end(r, n >= 0);
    if (n < 0)
        conn_cut(c);
    conn_enter(c, CONN_IDLE);
    conn_wake(c);
}

/* The socket took only `n` bytes. False without memory: then the connection is cut. */
static bool send_later(struct conn *c, struct reply *reply, const struct iovec *piece, int pieces,
                       size_t n)
{
    struct rest *r = calloc(1, sizeof *r);
    char *head = r ? malloc(piece[0].iov_len) : NULL;
    if (!head || !conn_keep_target(c, c->target) || uv_poll_init(&c->worker->uv, &r->poll, c->fd)) {
        free(head);
        free(r);
        return false;
    }
    r->head = memcpy(head, piece[0].iov_base, piece[0].iov_len);
    r->piece[0] = (struct iovec){head, piece[0].iov_len};
    for (int i = 1; i < pieces; i++)
        r->piece[i] = piece[i];
    r->pieces = pieces;
    advance(r->piece, pieces, n);
    r->conn = c;
    r->reply = reply;
    reply_hold(reply);
    r->poll.data = r;
    r->errand.left = left;
    c->errand = &r->errand;
    c->owing = true;
    conn_enter(c, CONN_SEND);
    conn_suspend(c);
    must(uv_poll_start(&r->poll, UV_WRITABLE, on_writable) == 0);
    return true;
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
    ssize_t n = send_pieces(c->fd, piece, pieces);
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
    struct worker_head *last = &here->last;
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
    struct conn *c = n > 0 && here ? conn_of(here, fd) : NULL;
    return c ? arrived(c, at, n, (size_t)n == size) : n;
}
