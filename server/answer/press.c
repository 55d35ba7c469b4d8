/* SPDX-License-Identifier: MIT
 *
 * press.c: see press.h. While a block is being made the stream, the coder, the piece and the next
 * block belong to the pool, all else to the loop.
 */
#include "press.h"
#include "must.h"
#include "squeeze.h"

#include <string.h>

/* A block is handed over when it has this many bytes, or has taken so many pieces (1 MiB of ids
 * that hardly leave a trace): some milliseconds of work at most. */
#define ENOUGH (16 << 10)
#define PIECES 16

#define MORE 1 /* beside what stream_read says */

struct press {
    struct conn *conn; /* NULL: it has left */
    struct stream *stream;
    struct squeeze *squeeze;
    uv_work_t work;
    bool busy;
    ssize_t state;   /* after the last block */
    size_t have;     /* bytes of the piece */
    size_t made;     /* bytes of the next block */
    size_t from, to; /* bytes of the block that are still to be taken */
    char *block, *next;
    char piece[SQUEEZE_PIECE];
};

static void release(struct press *p)
{
    stream_close(&p->stream);
    squeeze_close(&p->squeeze);
    free(p->block);
    free(p->next);
    free(p);
}

struct press *press_open(struct conn *c, struct stream *stream)
{
    const struct api_table *t = stream->order->plan->table;
    struct press *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->squeeze = squeeze_open(t->coding, api_format_is_text(t->format));
    p->block = malloc(ENOUGH + SQUEEZE_ROOM);
    p->next = malloc(ENOUGH + SQUEEZE_ROOM);
    if (!p->squeeze || !p->block || !p->next) {
        release(p);
        return NULL;
    }
    p->conn = c;
    p->stream = stream;
    p->state = MORE;
    p->work.data = p;
    return p;
}

void press_close(struct press **address)
{
    struct press *p = *address;
    *address = NULL;
    p->conn = NULL;
    if (!p->busy)
        release(p);
}

/* One piece more. One that is not whole yet is kept: where pieces end must not depend on when rows
 * came. */
static void press_piece(struct press *p)
{
    ssize_t n = 1;
    while (n > 0 && p->have < SQUEEZE_PIECE) {
        n = stream_read(p->stream, p->piece + p->have, SQUEEZE_PIECE - p->have);
        p->have += n > 0 ? (size_t)n : 0;
    }
    if (n <= 0 && n != STREAM_END) {
        p->state = n;
        return;
    }
    ssize_t made = squeeze_piece(p->squeeze, p->piece, p->have, p->next + p->made);
    p->state = made < 0 ? STREAM_BROKEN : n == STREAM_END ? STREAM_END : MORE;
    p->made += made > 0 ? (size_t)made : 0;
    p->have = 0;
}

static void work(uv_work_t *w)
{
    struct press *p = w->data;
    for (int n = 0; n < PIECES && p->state == MORE && p->made < ENOUGH; n++)
        press_piece(p);
}

static void over(uv_work_t *w, int status)
{
    struct press *p = w->data;
    (void)status;
    p->busy = false;
    if (!p->conn)
        release(p);
    else if (p->from == p->to)
        conn_wake(
            p->conn); /* it may rest for another reason: bytes that its client has not taken */
}

/* The block has been taken: the next one becomes it, and one more is begun. */
static void turn(struct press *p)
{
    char *taken = p->block;
    p->block = p->next;
    p->next = taken;
    p->from = 0;
    p->to = p->made;
    p->made = 0;
    if (p->state != MORE)
        return;
    p->busy = true;
    must(uv_queue_work(&p->conn->worker->uv, &p->work, work, over) == 0);
}

ssize_t press_next(struct press *p, const char **at)
{
    while (p->from == p->to) {
        if (p->busy)
            return STREAM_BUSY;
        ssize_t state = p->state;
        if (!p->made && state != MORE) {
            p->state = state == STREAM_WAIT ? MORE : state;
            return state;
        }
        turn(p);
    }
    *at = p->block + p->from;
    return (ssize_t)(p->to - p->from);
}

void press_taken(struct press *p, size_t size)
{
    p->from += size;
}
