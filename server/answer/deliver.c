/* SPDX-License-Identifier: MIT
 *
 * deliver.c: responses. Whatever a body stands on is owned by its response and let go of when the
 * library has sent the last byte or lost the connection. A body that cannot be finished is cut,
 * never ended.
 */
#include "deliver.h"
#include "digest.h"
#include "must.h"
#include "pull.h"

#include <stdio.h>
#include <string.h>

/* A prefix and its payload are copied into one piece up to this size, which saves a system call. */
#define COPY_LIMIT (32 << 10)

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

/* The response of a body (or NULL) whose pieces are set; takes it over. */
static void respond(struct answer *a, struct body *b)
{
    if (!b)
        return;
    struct MHD_IoVec pieces[2] = {{b->piece[0].iov_base, b->piece[0].iov_len},
                                  {b->piece[1].iov_base, b->piece[1].iov_len}};
    a->length = body_size(b);
    a->response = pieces[1].iov_len
                      ? MHD_create_response_from_iovec(pieces, 2, body_drop, b)
                      : MHD_create_response_from_buffer_with_free_callback_cls(
                            pieces[0].iov_len,
                            b->piece[0].iov_base ? b->piece[0].iov_base : (void *)(uintptr_t) "",
                            body_drop, b);
    if (a->response)
        a->body = b;
    else
        body_drop(b);
}

static struct iovec piece(const void *at, size_t size)
{
    return (struct iovec){(void *)(uintptr_t)at, size};
}

/* Takes the owned text over. */
static void respond_text(struct answer *a, struct order *order, struct api_bytes text, char *owned)
{
    struct body *b = body_create(order, NULL, owned);
    if (b)
        b->piece[0] = piece(text.at, text.len);
    respond(a, b);
}

struct answer deliver_plain(struct order *order)
{
    const struct api_plan *plan = order->plan;
    struct answer a = {.status = plan->status};
    if (plan->status == 304 || plan->head_only) {
        a.length = length_of(order);
        a.response = bodiless(a.length);
    } else {
        respond_text(&a, order, plan->text, NULL);
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
        a.length = length;
        a.response = bodiless(length);
    } else {
        respond_text(&a, order, (struct api_bytes){text, length}, text);
    }
    return finish(a, order->plan);
}

/* The window of prefix and payload that is sent: in one piece where it is small. */
static void respond_window(struct answer *a, struct order *order, struct payload *payload,
                           const struct iovec window[2])
{
    size_t front = window[0].iov_len, size = front + window[1].iov_len;
    if (front && window[1].iov_len && size <= COPY_LIMIT) {
        char *copy = malloc(size);
        if (!copy)
            return;
        memcpy(copy, window[0].iov_base, front);
        memcpy(copy + front, window[1].iov_base, window[1].iov_len);
        a->weight = size;
        respond_text(a, NULL, (struct api_bytes){copy, size}, copy);
        return;
    }
    struct body *b = body_create(front ? order : NULL, payload, NULL);
    if (b) {
        b->piece[0] = window[front ? 0 : 1];
        b->piece[1] = front ? window[1] : (struct iovec){NULL, 0};
    }
    respond(a, b);
}

struct answer deliver_payload(struct order *order, struct payload *payload)
{
    const struct api_table *t = order->plan->table;
    struct answer a = {.status = order->plan->status, .bytes = t->count};
    struct iovec window[2] = {{NULL, 0}, {NULL, 0}};
    uint64_t from = t->first, left = t->count;
    if (from < t->prefix.len) {
        size_t most = t->prefix.len - (size_t)from;
        window[0] = piece(t->prefix.at + from, left < most ? (size_t)left : most);
        left -= window[0].iov_len;
        from += window[0].iov_len;
    }
    uint64_t inside = left ? t->payload_first + (from - t->prefix.len) : 0;
    must(inside + left <= payload->size);
    window[1] = piece(payload->at + inside, (size_t)left);
    respond_window(&a, order, payload, window);
    return finish(a, order->plan);
}

struct answer deliver_stream(struct conn *c, struct stream *stream)
{
    const struct api_plan *plan = stream->order->plan;
    struct answer a = {.status = plan->status, .length = API_UNKNOWN};
    a.response = pull_response(c, stream);
    return finish(a, plan);
}

/* `since` names what has been done since the plan was there. */
static void put_timing(struct conn *c, struct answer *a, const char *cache, const char *since)
{
    char text[128];
    unsigned long long plan = c->planned_us - c->asked_us, rest = conn_clock_us() - c->planned_us;
    snprintf(text, sizeof text, "%splan;dur=%llu.%03llu, %s;dur=%llu.%03llu", cache, plan / 1000,
             plan % 1000, since, rest / 1000, rest % 1000);
    deliver_header(a, "Server-Timing", text);
}

void deliver_cache(struct conn *c, struct answer *a, enum cache_outcome outcome)
{
    static const char *const texts[] = {
        [CACHE_HIT] = "posenc; hit",
        [CACHE_JOIN] = "posenc; fwd=miss; collapsed",
        [CACHE_MISS] = "posenc; fwd=miss; stored",
        [CACHE_NONE] = "posenc; fwd=miss",
    };
    deliver_header(a, "Cache-Status", texts[outcome]);
    if (outcome == CACHE_HIT)
        deliver_header(a, "Server-Timing", "cache;desc=hit");
    else if (outcome == CACHE_JOIN)
        put_timing(c, a, "cache;desc=collapsed, ", "wait");
    else
        put_timing(c, a, "cache;desc=miss, ", "make");
    deliver_digest(c, a);
}

/* It is that of the whole in a 206 as well (RFC 9530, 3). */
void deliver_digest(struct conn *c, struct answer *a)
{
    char text[DIGEST_ROOM];
    const char *tag = a->response && (a->status == 200 || a->status == 206)
                          ? MHD_get_response_header(a->response, "ETag")
                          : NULL;
    if (tag && digests_find(c->worker->shared->digests, tag, text))
        deliver_header(a, "Repr-Digest", text);
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

void deliver_date(time_t second, char text[DELIVER_DATE + 1])
{
    static const char days[] = "SunMonTueWedThuFriSat",
                      months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm t;
    char room[64];
    gmtime_r(&second, &t);
    snprintf(room, sizeof room, "%.3s, %02d %.3s %d %02d:%02d:%02d GMT", days + 3 * t.tm_wday,
             t.tm_mday, months + 3 * t.tm_mon, t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
    memcpy(text, room, DELIVER_DATE);
    text[DELIVER_DATE] = 0;
}

/* The library would make it anew for each answer. */
static bool set_date(const struct answer *a, time_t second)
{
    char text[DELIVER_DATE + 1];
    deliver_date(second, text);
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
