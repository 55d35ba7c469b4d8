/* SPDX-License-Identifier: MIT
 *
 * push.c: see push.h. A push is the connection's errand: it hears when the connection is lost.
 */
#include "push.h"
#include "must.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

struct push {
    struct conn_errand errand;
    uv_poll_t poll;
    struct conn *conn;
    struct iovec piece[PUSH_PIECES];
    int pieces;
    void (*over)(struct conn *, void *, bool);
    void *closure;
};

ssize_t push_now(int fd, const struct iovec *piece, int pieces)
{
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)piece,
                             .msg_iovlen = (size_t)pieces};
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Takes `n` bytes off the front; whether there are more. */
static bool advance(struct push *p, size_t n)
{
    bool more = false;
    for (int i = 0; i < p->pieces; i++) {
        struct iovec *v = &p->piece[i];
        size_t gone = n < v->iov_len ? n : v->iov_len;
        v->iov_base = (char *)v->iov_base + gone;
        v->iov_len -= gone;
        n -= gone;
        more |= v->iov_len > 0;
    }
    return more;
}

static void closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void end(struct push *p, bool whole)
{
    struct conn *c = p->conn;
    c->errand = NULL;
    c->owing = false;
    uv_poll_stop(&p->poll);
    uv_close((uv_handle_t *)&p->poll, closed);
    p->over(c, p->closure, whole && !c->cut);
}

static void left(struct conn_errand *errand)
{
    end((struct push *)((char *)errand - offsetof(struct push, errand)), false);
}

static void on_writable(uv_poll_t *poll, int status, int events)
{
    struct push *p = poll->data;
    struct conn *c = p->conn;
    (void)events;
    ssize_t n = status ? -1 : push_now(c->fd, p->piece, p->pieces);
    if (n < 0 && !status && (errno == EAGAIN || errno == EINTR))
        return;
    if (n >= 0 && advance(p, (size_t)n))
        return;
    end(p, n >= 0);
    if (n < 0)
        conn_cut(c);
    conn_wake(c);
}

bool push_rest(struct conn *c, const struct iovec *piece, int pieces, size_t sent,
               void (*over)(struct conn *, void *closure, bool whole), void *closure)
{
    must(pieces <= PUSH_PIECES && !c->errand);
    struct push *p = calloc(1, sizeof *p);
    if (!p || uv_poll_init(&c->worker->uv, &p->poll, c->fd)) {
        free(p);
        return false;
    }
    for (int i = 0; i < pieces; i++)
        p->piece[i] = piece[i];
    p->pieces = pieces;
    p->conn = c;
    p->over = over;
    p->closure = closure;
    p->poll.data = p;
    p->errand.left = left;
    c->errand = &p->errand;
    c->owing = true;
    advance(p, sent);
    conn_suspend(c);
    must(uv_poll_start(&p->poll, UV_WRITABLE, on_writable) == 0);
    return true;
}
