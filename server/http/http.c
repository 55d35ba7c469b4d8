/* SPDX-License-Identifier: MIT
 *
 * http.c: one request at a time. The first call judges the head, and answers only what is refused:
 * the library closes a connection that is answered there. Bodies are gathered whole; a request that
 * had one, and one that was malformed, is the last on its connection, so nothing that follows it
 * can be mistaken.
 */
#include "http.h"
#include "answer/ponder.h"
#include "must.h"
#include "learned/upload.h"

#include <string.h>
#include <strings.h>

/* A refused body up to this size is read, so that the client reads the refusal in peace. */
#define READ_ANYWAY (64 << 10)

static bool visible(struct api_bytes b)
{
    if (!b.len || b.len > 128)
        return false;
    for (size_t i = 0; i < b.len; i++)
        if (b.at[i] <= 0x20 || b.at[i] >= 0x7f)
            return false;
    return true;
}

/* The id of a request: the client's, or a new one. */
static void name_request(struct conn *c, struct api_bytes given)
{
    if (!visible(given)) {
        conn_name_request(c);
        return;
    }
    memcpy(c->id, given.at, given.len);
    c->id[given.len] = 0;
}

/* W3C Trace Context, 3.2: version, 32 digits of trace id, parent, flags. */
static void name_trace(struct conn *c, struct api_bytes traceparent)
{
    *c->trace = 0;
    if (traceparent.len < 55 || traceparent.at[2] != '-' || traceparent.at[35] != '-')
        return;
    for (size_t i = 3; i < 35; i++)
        if (!strchr("0123456789abcdef", traceparent.at[i]))
            return;
    memcpy(c->trace, traceparent.at + 3, 32);
    c->trace[32] = 0;
}

/* RFC 9112, 3.2.2: of an absolute target the origin is ours whatever it is. */
static struct api_bytes path_of(struct api_bytes target)
{
    if (target.len && target.at[0] == '/')
        return target;
    if (target.len < 7 || strncasecmp(target.at, "http://", 7))
        return target;
    const char *end = target.at + target.len, *p = target.at + 7;
    while (p < end && *p != '/' && *p != '?')
        p++;
    return p < end && *p == '/' ? (struct api_bytes){p, (size_t)(end - p)}
                                : (struct api_bytes){"/", 1};
}

static struct api_request request_of(struct conn *c)
{
    const struct guard_head *h = &c->worker->head;
    return (struct api_request){.method = c->method,
                                .target = path_of(c->target),
                                .headers = h->header,
                                .header_count = h->count,
                                .body = {c->body, c->body_size},
                                .request_id = c->id,
                                .limits = &c->worker->shared->limits};
}

/* Takes a plan as the request's answer. */
static bool take(struct conn *c, struct api_plan *plan)
{
    struct order *order = order_take(&plan);
    order_drop(&c->order);
    c->order = order;
    return order != NULL;
}

static bool refuse(struct conn *c, int status, const char *name, const char *detail)
{
    struct api_request request = request_of(c);
    c->close_after = true;
    return take(c, api_problem(&request, status, name, detail)) && serve(c, NULL);
}

/* What only the holder of a token may do: the plan of a refusal, or NULL. */
static struct api_plan *forbid(struct conn *c, const struct api_request *request)
{
    enum api_scope scope = api_scope(request->method, request->target);
    struct tokens_box *tokens = c->worker->shared->tokens;
    if (scope == API_SCOPE_NONE)
        return NULL;
    if (!tokens)
        return api_problem(request, 403, scope == API_SCOPE_WRITE ? "read-only" : "forbidden",
                           "this server knows no tokens: it was started without --auth-token-file");
    switch (tokens_box_check(tokens, request, scope)) {
    case TOKENS_NONE:
        return api_problem(request, 401, "unauthorized",
                           "this needs one header Authorization: Bearer TOKEN");
    case TOKENS_UNKNOWN:
        return api_problem(request, 401, "unauthorized", "this server does not know the token");
    case TOKENS_LACKING:
        return api_problem(request, 403, "forbidden",
                           scope == API_SCOPE_WRITE ? "the token has no scope write"
                                                    : "the token has no scope admin");
    default:
        return NULL;
    }
}

/* Health and metrics alone are served here. */
static bool is_health(const struct api_plan *plan)
{
    return plan->source == API_PAGE || plan->status >= 400;
}

/* A connection beyond a limit hears so, and is closed; whether we live is answered even there. */
static bool answer_unwelcome(struct conn *c)
{
    struct api_bytes path = path_of(c->target);
    c->close_after = true;
    if (path.len == 6 && !memcmp(path.at, "/livez", 6)) {
        struct api_request request = request_of(c);
        return take(c, api_plan(&request)) && serve(c, NULL);
    }
    if (c->verdict == ADMIT_TOO_MANY_OF_ONE)
        return refuse(c, 429, "too-many-connections",
                      "this address has as many connections as one may have");
    return refuse(c, 503, "overloaded", "all connections are taken");
}

static enum MHD_Result result(bool good)
{
    return good ? MHD_YES : MHD_NO;
}

/* The whole head has come. */
static enum MHD_Result begin(struct conn *c, const char *method, const char *version)
{
    struct guard_head *h = &c->worker->head;
    struct guard_verdict v = guard_check(c->handle, method, version, c->raw, c->target, h);
    size_t n = strnlen(method, sizeof c->method - 1);
    memcpy(c->method, method, n);
    c->method[n] = 0;
    c->head_size = h->size;
    c->takes_chunks = strcmp(version, "HTTP/1.0") != 0;
    c->began_us = conn_clock_us();
    c->calls = 1;
    name_request(c, h->request_id);
    name_trace(c, h->traceparent);
    if (v.status) {
        metrics_count(c->worker->metrics, METRIC_REFUSED_HEADS, 1);
        return result(refuse(c, v.status, v.name, v.detail));
    }
    if (!h->content_length) {
        c->phase = CONN_WORK;
        return MHD_YES;
    }
    c->declared = h->content_length;
    c->close_after = true;
    struct api_request request = request_of(c);
    struct api_plan *refusal = forbid(c, &request);
    if (!refusal)
        refusal = api_refuse_body(&request, c->declared);
    if (!refusal && !strcmp(c->method, "PUT") && c->verdict == ADMIT_WELCOME &&
        !c->port->health_only)
        refusal = upload_begin(c, &request);
    if (refusal && (!take(c, refusal) || c->declared > READ_ANYWAY))
        return result(c->order && serve(c, NULL));
    conn_enter(c, CONN_BODY);
    c->heard = c->since;
    return MHD_YES;
}

/* Room grows with what has come, not with what was declared. */
static bool gather(struct conn *c, const char *data, size_t n)
{
    size_t whole = c->body_size + n;
    if (whole > c->body_room) {
        size_t room = c->body_room ? 2 * c->body_room : 4096;
        if (room < whole)
            room = whole;
        if (room > c->declared)
            room = (size_t)c->declared;
        char *grown = room >= whole ? realloc(c->body, room) : NULL;
        if (!grown)
            return false;
        c->body = grown;
        c->body_room = room;
    }
    memcpy(c->body + c->body_size, data, n);
    c->body_size = whole;
    return true;
}

/* Whether the head could be that of a prepared answer, and its key. */
static bool memo_key(struct conn *c, struct memo_key *key)
{
    const struct guard_head *h = &c->worker->head;
    size_t m = strlen(c->method);
    if (!h->plain || c->close_after || c->port->health_only || c->target.at[0] != '/' ||
        (strcmp(c->method, "GET") && strcmp(c->method, "HEAD")) ||
        atomic_load_explicit(&c->worker->shared->phase, memory_order_relaxed) != SHARED_SERVING)
        return false;
    key->part[0] = (struct api_bytes){c->method, m};
    key->part[1] = c->target;
    key->part[2] = h->accept;
    key->part[3] = h->accept_encoding;
    key->part[4] = h->if_none_match;
    return true;
}

/* The order is there, or there was no memory for one. */
static enum MHD_Result carry_out(struct conn *c, const struct memo_key *key)
{
    if (!c->order)
        return MHD_NO;
    if (c->port->health_only && !is_health(c->order->plan))
        return result(refuse(c, 404, "not-found", "only health and metrics are served here"));
    return result(serve(c, key));
}

/* The request is whole: its first answer. */
static enum MHD_Result answer(struct conn *c)
{
    struct memo_key key;
    if (c->upload)
        return result(upload_answer(c));
    bool sent, memo = memo_key(c, &key);
    if (c->verdict != ADMIT_WELCOME)
        c->verdict = admit_again(c->worker->shared->admit, &c->address);
    if (c->verdict != ADMIT_WELCOME)
        return result(answer_unwelcome(c));
    if (memo && memo_answer(c->worker->memo, c, &key, &sent))
        return result(sent);
    if (!c->order) {
        struct api_request request = request_of(c);
        struct api_plan *refusal = forbid(c, &request);
        if (refusal)
            take(c, refusal);
        else if (ponder(c, &request, NULL, NULL) == PONDER_WAIT)
            return MHD_YES;
    }
    return carry_out(c, memo ? &key : NULL);
}

enum MHD_Result http_handle(void *port, struct MHD_Connection *handle, const char *url,
                            const char *method, const char *version, const char *upload,
                            size_t *upload_size, void **context)
{
    struct conn *c = *context;
    (void)port;
    (void)url;
    if (!c || c->cut)
        return MHD_NO;
    if (!c->calls)
        return begin(c, method, version);
    if (*upload_size && c->upload)
        return result(upload_take(c, upload, upload_size));
    if (*upload_size) {
        size_t n = *upload_size;
        *upload_size = 0;
        c->heard = uv_now(&c->worker->uv);
        return result(c->order != NULL || gather(c, upload, n));
    }
    if (c->calls > 1)
        return c->upload ? result(upload_answer(c)) : carry_out(c, NULL);
    /* The library calls once more than the body is long where it sent 100 Continue. */
    if (c->body_size < c->declared && (!c->order || c->upload))
        return MHD_YES;
    c->calls = 2;
    if (c->declared)
        guard_read(handle, &c->worker->head);
    return answer(c);
}
