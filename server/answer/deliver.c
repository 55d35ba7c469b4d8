/* SPDX-License-Identifier: MIT
 *
 * deliver.c: responses. Whatever a body stands on is owned by its response and let go of when the
 * library has sent the last byte or lost the connection. A body that cannot be finished is cut,
 * never ended.
 */
#include "deliver.h"
#include "must.h"
#include "press.h"

#include <stdio.h>
#include <string.h>

/* What a stream is asked for at a time: with a socket buffer of the usual size two system calls. */
#define BLOCK (128 << 10)

/* A prefix and its payload are copied into one piece up to this size, which saves a system call. */
#define COPY_LIMIT (32 << 10)

/* What the body of a response stands on. */
struct keep {
    struct order *order;
    struct payload *payload;
    char *text;
};

static void let_go(void *closure)
{
    struct keep *k = closure;
    payload_drop(&k->payload);
    order_drop(&k->order);
    free(k->text);
    free(k);
}

static struct keep *keep(struct order *order, struct payload *payload, char *text)
{
    struct keep *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    *k = (struct keep){order, payload, text};
    if (order)
        order_hold(order);
    if (payload)
        payload_hold(payload);
    return k;
}

bool deliver_header(struct answer *a, const char *name, const char *value)
{
    return a->response && MHD_add_response_header(a->response, name, value) == MHD_YES;
}

/* The plan's headers; without memory for one of them there is no answer. */
static struct answer finish(struct answer a, const struct api_plan *plan)
{
    for (unsigned i = 0; a.response && i < plan->header_count; i++)
        if (!deliver_header(&a, plan->headers[i].name, plan->headers[i].value) &&
            *plan->headers[i].value) {
            MHD_destroy_response(a.response);
            a.response = NULL;
        }
    return a;
}

static ssize_t no_more(void *closure, uint64_t at, char *out, size_t size)
{
    (void)closure;
    (void)at;
    (void)out;
    (void)size;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

/* Headers as for a body of `length` bytes, for an answer that has none. The library would end a
 * chunked body even where there is none (HEAD, 304), so an unknown length can only be left out and
 * the connection closed. */
static struct MHD_Response *bodiless(uint64_t length)
{
    if (length != API_UNKNOWN)
        return MHD_create_response_from_callback(length, 1, no_more, NULL, NULL);
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1, no_more, NULL, NULL);
    if (r)
        MHD_set_response_options(r, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return r;
}

/* Of the body that a GET would have had. */
static uint64_t length_of(const struct order *order)
{
    const struct api_plan *plan = order->plan;
    if (!plan->table)
        return plan->text.len;
    if (plan->table->coding != API_IDENTITY)
        return order->measured;
    uint64_t length = plan->status == 304 ? plan->table->length : plan->table->count;
    return length == API_UNKNOWN ? order->measured : length;
}

static struct MHD_Response *from_text(struct order *order, struct api_bytes text, char *owned)
{
    struct keep *k = keep(order, NULL, owned);
    if (!k) {
        free(owned);
        return NULL;
    }
    struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback_cls(
        text.len, (void *)(uintptr_t)(text.at ? text.at : ""), let_go, k);
    if (!r)
        let_go(k);
    return r;
}

struct answer deliver_plain(struct order *order)
{
    const struct api_plan *plan = order->plan;
    struct answer a = {.status = plan->status};
    if (plan->status == 304 || plan->head_only) {
        a.response = bodiless(length_of(order));
    } else {
        a.response = from_text(order, plan->text, NULL);
        a.bytes = plan->text.len;
    }
    return finish(a, plan);
}

struct answer deliver_made(struct order *order, int status, char *text, size_t length)
{
    struct answer a = {
        .status = status, .bytes = order->plan->head_only ? 0 : length, .weight = length};
    if (order->plan->head_only) {
        free(text);
        a.response = bodiless(length);
    } else {
        a.response = from_text(order, (struct api_bytes){text, length}, text);
    }
    return finish(a, order->plan);
}

/* The window of prefix and payload that is sent. */
static struct MHD_Response *two_pieces(struct order *order, struct payload *payload,
                                       struct api_bytes front, const unsigned char *back,
                                       size_t size)
{
    if (front.len + size <= COPY_LIMIT) {
        char *copy = malloc(front.len + size);
        if (!copy)
            return NULL;
        memcpy(copy, front.at, front.len);
        memcpy(copy + front.len, back, size);
        struct keep *k = keep(NULL, NULL, copy);
        struct MHD_Response *r = k ? MHD_create_response_from_buffer_with_free_callback_cls(
                                         front.len + size, copy, let_go, k)
                                   : NULL;
        if (!r && k)
            let_go(k);
        else if (!r)
            free(copy);
        return r;
    }
    struct MHD_IoVec pieces[2] = {{front.at, front.len}, {back, size}};
    struct keep *k = keep(order, payload, NULL);
    struct MHD_Response *r = k ? MHD_create_response_from_iovec(pieces, 2, let_go, k) : NULL;
    if (!r && k)
        let_go(k);
    return r;
}

struct answer deliver_payload(struct order *order, struct payload *payload)
{
    const struct api_table *t = order->plan->table;
    struct answer a = {.status = order->plan->status, .bytes = t->count};
    struct api_bytes front = {NULL, 0};
    uint64_t from = t->first, left = t->count;
    if (from < t->prefix.len) {
        front.at = t->prefix.at + from;
        front.len = left < t->prefix.len - from ? (size_t)left : t->prefix.len - (size_t)from;
        left -= front.len;
        from += front.len;
    }
    uint64_t inside = left ? t->payload_first + (from - t->prefix.len) : 0;
    const unsigned char *back = payload->at + inside;
    must(inside + left <= payload->size);
    if (front.len && left) {
        a.weight = front.len + left <= COPY_LIMIT ? front.len + (size_t)left : 0;
        a.response = two_pieces(order, payload, front, back, (size_t)left);
        return finish(a, order->plan);
    }
    struct keep *k = keep(front.len ? order : NULL, payload, NULL);
    void *at = (void *)(uintptr_t)(front.len ? (const void *)front.at : back);
    a.response =
        k ? MHD_create_response_from_buffer_with_free_callback_cls((size_t)t->count, at, let_go, k)
          : NULL;
    if (!a.response && k)
        let_go(k);
    return finish(a, order->plan);
}

/* A stream in the hands of the library. */
struct pull {
    struct conn *conn;
    struct stream *stream; /* of the press, where there is one */
    struct press *press;   /* NULL: plain */
};

static ssize_t pull(void *closure, uint64_t at, char *out, size_t size)
{
    struct pull *p = closure;
    struct conn *c = p->conn;
    must(at == c->streamed);
    for (;;) {
        if (c->cut)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        ssize_t n = p->press ? press_read(p->press, out, size) : stream_read(p->stream, out, size);
        if (n > 0) {
            c->streamed += (uint64_t)n;
            return n;
        }
        if (n == PRESS_BUSY) {
            conn_suspend(c);
            return 0;
        }
        if (n == STREAM_END)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (n == STREAM_BROKEN)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (conn_await(c, p->stream->payload, p->stream->need))
            return 0;
    }
}

static void close_pull(void *closure)
{
    struct pull *p = closure;
    if (p->press)
        press_close(&p->press);
    else
        stream_close(&p->stream);
    metrics_move(METRIC_STREAMS, -1);
    free(p);
}

struct answer deliver_stream(struct conn *c, struct stream *stream)
{
    const struct api_table *t = stream->order->plan->table;
    struct answer a = {.status = stream->order->plan->status};
    bool coded = t->coding != API_IDENTITY, unknown = coded || t->count == API_UNKNOWN;
    struct pull *p = calloc(1, sizeof *p);
    if (!p || (coded && !(p->press = press_open(c, stream)))) {
        free(p);
        stream_close(&stream);
        return a;
    }
    metrics_move(METRIC_STREAMS, 1);
    p->conn = c;
    p->stream = stream;
    uint64_t size = unknown ? MHD_SIZE_UNKNOWN : t->count;
    size_t block = unknown ? 1 : size < BLOCK ? (size_t)size : BLOCK;
    a.response = MHD_create_response_from_callback(size, block ? block : 1, pull, p, close_pull);
    if (!a.response) {
        close_pull(p);
        return a;
    }
    c->stream = stream;
    return finish(a, stream->order->plan);
}

const char *deliver_cache_status(enum cache_outcome outcome)
{
    static const char *const texts[] = {
        [CACHE_HIT] = "posenc; hit",
        [CACHE_JOIN] = "posenc; fwd=miss; collapsed",
        [CACHE_MISS] = "posenc; fwd=miss; stored",
        [CACHE_NONE] = "posenc; fwd=miss",
    };
    return texts[outcome];
}

static bool queue(struct conn *c, const struct answer *a)
{
    c->status = a->status;
    c->bytes = a->bytes;
    conn_enter(c, CONN_SEND);
    return MHD_queue_response(c->handle, (unsigned)a->status, a->response) == MHD_YES;
}

bool deliver(struct conn *c, struct answer a)
{
    if (!a.response) {
        c->stream = NULL;
        return false;
    }
    bool last =
        c->close_after || atomic_load_explicit(&c->worker->shared->phase, memory_order_relaxed);
    if (!c->series && c->order)
        c->series = metrics_series(c->worker->metrics, c->order->plan->route, c->method, a.status);
    bool good = deliver_header(&a, "X-Request-Id", c->id) &&
                (!last || deliver_header(&a, "Connection", "close")) && queue(c, &a);
    MHD_destroy_response(a.response);
    if (!good)
        c->stream = NULL;
    return good;
}

/* RFC 9110, 5.6.7. The library would make it anew for each answer. */
static bool set_date(const struct answer *a, time_t second)
{
    static const char days[] = "SunMonTueWedThuFriSat",
                      months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char text[64];
    struct tm t;
    gmtime_r(&second, &t);
    snprintf(text, sizeof text, "%.3s, %02d %.3s %d %02d:%02d:%02d GMT", days + 3 * t.tm_wday,
             t.tm_mday, months + 3 * t.tm_mon, t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
    return MHD_add_response_header(a->response, "Date", text) == MHD_YES;
}

/* The library copies a response's headers into the connection's buffer within the handler's call,
 * so a response that is kept may carry another id each time, even while bodies of it are still
 * being sent. */
bool deliver_again(struct conn *c, const struct answer *a, struct deliver_stamp *stamp)
{
    time_t now = time(NULL);
    if (now != stamp->second && set_date(a, now))
        stamp->second = now;
    if (*stamp->id)
        MHD_del_response_header(a->response, "X-Request-Id", stamp->id);
    memcpy(stamp->id, c->id, strlen(c->id) + 1);
    if (MHD_add_response_header(a->response, "X-Request-Id", c->id) != MHD_YES) {
        *stamp->id = 0;
        return false;
    }
    return queue(c, a);
}
