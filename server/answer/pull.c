/* SPDX-License-Identifier: MIT
 *
 * pull.c: see pull.h. What press and scribe make stands in memory of theirs, and goes from there to
 * the socket as chunks of our own (RFC 9112, 7.1): the library would copy it, and make chunks of a
 * few KiB. It asks for more of a body only when it has sent what it had, so nothing can come in
 * between, and it writes the last chunk.
 */
#include "pull.h"
#include "http/push.h"
#include "must.h"
#include "press.h"
#include "scribe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a plain stream is asked for at a time: with a socket buffer of the usual size two system
 * calls. */
#define BLOCK (128 << 10)

/* After so much other connections have their turn. */
#define TURN (512 << 10)

struct pull {
    struct conn *conn;
    struct stream *stream; /* of press or scribe, where there is one */
    struct press *press;
    struct scribe *scribe;
    bool lends;   /* a binary body over a payload */
    bool chunks;  /* ours */
    bool pushing; /* one of them is under way */
    size_t chunk;
    char frame[24];
};

/* What press or scribe has, where it stands. */
static ssize_t next(struct pull *p, const char **at)
{
    return p->press ? press_next(p->press, at) : scribe_next(p->scribe, at);
}

static void taken(struct pull *p, size_t size)
{
    p->conn->streamed += size;
    if (p->press)
        press_taken(p->press, size);
    else
        scribe_taken(p->scribe, size);
}

static void pushed(struct conn *c, void *closure, bool whole)
{
    struct pull *p = closure;
    (void)c;
    p->pushing = false;
    if (whole)
        taken(p, p->chunk);
}

/* Sends a chunk: true where it is gone; otherwise *state is what the library is to hear. */
static bool send_chunk(struct pull *p, const char *at, size_t size, ssize_t *state)
{
    int frame = snprintf(p->frame, sizeof p->frame, "%zx\r\n", size);
    struct iovec piece[3] = {
        {p->frame, (size_t)frame}, {(void *)(uintptr_t)at, size}, {(void *)(uintptr_t) "\r\n", 2}};
    ssize_t sent = push_now(p->conn->fd, piece, 3);
    if (sent == (ssize_t)(size + 2) + frame) {
        taken(p, size);
        return true;
    }
    *state = MHD_CONTENT_READER_END_WITH_ERROR;
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    p->chunk = size;
    if (push_rest(p->conn, piece, 3, sent < 0 ? 0 : (size_t)sent, pushed, p)) {
        p->pushing = true;
        *state = 0;
    }
    return false;
}

/* What the library hears of a source that has nothing now; true where it may be asked again. */
static bool wait(struct pull *p, ssize_t n, ssize_t *state)
{
    *state = 0;
    if (n == STREAM_WAIT)
        return fill_help(p->stream->payload) ||
               !conn_await(p->conn, p->stream->payload, p->stream->need);
    if (n == STREAM_BUSY)
        conn_suspend(p->conn);
    else
        *state =
            n == STREAM_END ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
    return false;
}

static ssize_t pull_chunks(void *closure, uint64_t at, char *out, size_t size)
{
    struct pull *p = closure;
    const char *text;
    ssize_t state = MHD_CONTENT_READER_END_WITH_ERROR, n;
    size_t turn = 0;
    (void)at;
    while (!p->conn->cut) {
        if (turn >= TURN) {
            conn_suspend(p->conn);
            conn_wake(p->conn);
            return 0;
        }
        n = next(p, &text);
        if (n > 0 && !p->chunks) {
            size = size < (size_t)n ? size : (size_t)n;
            memcpy(out, text, size);
            taken(p, size);
            return (ssize_t)size;
        }
        if (n > 0 ? !send_chunk(p, text, (size_t)n, &state) : !wait(p, n, &state))
            return state;
        turn += n > 0 ? (size_t)n : 0;
    }
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

/* Bytes of a payload, which are sent from where they stand: the library only believes that they are
 * in `out`. */
static ssize_t lend(struct pull *p, const char *out, size_t size)
{
    struct conn_loan loan = {out, NULL, 0};
    ssize_t n = stream_lend(p->stream, &loan.at, size);
    loan.size = n > 0 ? (size_t)n : 0;
    p->conn->loan = loan;
    return n;
}

static ssize_t pull_plain(void *closure, uint64_t at, char *out, size_t size)
{
    struct pull *p = closure;
    ssize_t state = MHD_CONTENT_READER_END_WITH_ERROR, n;
    must(at == p->conn->streamed);
    while (!p->conn->cut) {
        n = p->lends && p->conn->lends ? lend(p, out, size) : stream_read(p->stream, out, size);
        if (n > 0) {
            p->conn->streamed += (uint64_t)n;
            return n;
        }
        if (!wait(p, n, &state))
            return state;
    }
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

static void close_pull(void *closure)
{
    struct pull *p = closure;
    if (p->pushing)
        p->conn->errand->left(p->conn->errand);
    if (p->press)
        press_close(&p->press);
    else if (p->scribe)
        scribe_close(&p->scribe);
    else
        stream_close(&p->stream);
    metrics_move(METRIC_STREAMS, -1);
    free(p);
}

/* Press and scribe take the stream over. */
static bool find_source(struct pull *p, const struct api_table *t)
{
    if (t->coding != API_IDENTITY)
        return (p->press = press_open(p->conn, p->stream)) != NULL;
    if (scribe_fits(p->stream->order))
        return (p->scribe = scribe_open(p->conn, p->stream)) != NULL;
    return true;
}

struct MHD_Response *pull_response(struct conn *c, struct stream *stream)
{
    const struct api_table *t = stream->order->plan->table;
    struct pull *p = calloc(1, sizeof *p);
    if (!p) {
        stream_close(&stream);
        return NULL;
    }
    p->conn = c;
    p->stream = stream;
    metrics_move(METRIC_STREAMS, 1);
    if (!find_source(p, t)) {
        close_pull(p);
        return NULL;
    }
    bool made = p->press || p->scribe;
    uint64_t size =
        t->coding != API_IDENTITY || t->count == API_UNKNOWN ? MHD_SIZE_UNKNOWN : t->count;
    p->lends = !made && stream->payload && !api_format_is_text(t->format);
    /* Chunks of the library's are as large as its own memory for them. */
    size_t most = p->lends ? FILL_BAND : BLOCK, block = size < most ? (size_t)size : most;
    if (size == MHD_SIZE_UNKNOWN && c->takes_chunks)
        block = 1;
    p->chunks = made && size == MHD_SIZE_UNKNOWN && c->takes_chunks;
    struct MHD_Response *r = MHD_create_response_from_callback(
        size, block ? block : 1, made ? pull_chunks : pull_plain, p, close_pull);
    if (r)
        c->stream = stream;
    else
        close_pull(p);
    return r;
}
