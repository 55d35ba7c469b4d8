/* SPDX-License-Identifier: MIT
 *
 * guard.c: the raw head, judged by where its parts stand. libmicrohttpd 0.9.75 reads a head in
 * place: method, target, version, names and values are pointers into one buffer, in which each line
 * end became NULs. So the distances between them tell what stood there: a bare LF, a NUL, a folded
 * line, blanks before a colon, a second blank in the request line are each a byte too few or too
 * many. It fails closed: a library that lays its memory out otherwise has every request refused,
 * and the tests say so.
 */
#include "guard.h"

#include <string.h>
#include <strings.h>

#if MHD_VERSION >= 0x01000000
#error \
    "guard.c knows the memory layout of libmicrohttpd 0.9.x; later ones have MHD_OPTION_CLIENT_DISCIPLINE_LVL"
#endif

enum { TOKEN = 1, VALUE = 2, TARGET = 4, HOST = 8 };

/* RFC 9110, 5.6.2 (token), 5.5 (field value: visible, obs-text, SP, HTAB); RFC 3986, 3.2.2 (host,
 * with a port) without the comma, which would make a list of two hosts look like one. */
/* clang-format off */
static const unsigned char class_of[256] = {
    ['\t'] = VALUE, [' '] = VALUE,
    ['!'] = TOKEN | VALUE | TARGET | HOST, ['"'] = VALUE | TARGET, ['#'] = TOKEN | VALUE | TARGET,
    ['$'] = TOKEN | VALUE | TARGET | HOST, ['%'] = TOKEN | VALUE | TARGET | HOST,
    ['&'] = TOKEN | VALUE | TARGET | HOST, ['\''] = TOKEN | VALUE | TARGET | HOST, ['('] = VALUE | TARGET | HOST,
    [')'] = VALUE | TARGET | HOST, ['*'] = TOKEN | VALUE | TARGET | HOST, ['+'] = TOKEN | VALUE | TARGET | HOST,
    [','] = VALUE | TARGET, ['-'] = TOKEN | VALUE | TARGET | HOST, ['.'] = TOKEN | VALUE | TARGET | HOST,
    ['/'] = VALUE | TARGET, ['0' ... '9'] = TOKEN | VALUE | TARGET | HOST, [':'] = VALUE | TARGET | HOST,
    [';'] = VALUE | TARGET | HOST, ['<'] = VALUE | TARGET, ['='] = VALUE | TARGET | HOST,
    ['>' ... '@'] = VALUE | TARGET, ['A' ... 'Z'] = TOKEN | VALUE | TARGET | HOST, ['['] = VALUE | TARGET | HOST,
    ['\\'] = VALUE | TARGET, [']'] = VALUE | TARGET | HOST, ['^'] = TOKEN | VALUE | TARGET,
    ['_'] = TOKEN | VALUE | TARGET | HOST, ['`'] = TOKEN | VALUE | TARGET,
    ['a' ... 'z'] = TOKEN | VALUE | TARGET | HOST, ['{'] = VALUE | TARGET, ['|'] = TOKEN | VALUE | TARGET,
    ['}'] = VALUE | TARGET, ['~'] = TOKEN | VALUE | TARGET | HOST, [0x80 ... 0xff] = VALUE};
/* clang-format on */

static bool all(int class, const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(class_of[(unsigned char)at[i]] & class))
            return false;
    return true;
}

/* What is gathered while the library lists the headers. */
struct walk {
    struct guard_head *head;
    const char
        *end; /* of the previous line, without its line end; NULL: positions are not looked at */
    const char *wrong;
    bool too_many;
    unsigned hosts, lengths, codings, tokens, types, expects, ranges;
    struct api_bytes host, length, expect;
};

/* Without case; names are letters and dashes, of which bit 0x20 is the case or set. */
static inline bool is(struct api_bytes name, const char *what, size_t len)
{
    if (name.len != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((name.at[i] | 0x20) != (what[i] | 0x20))
            return false;
    return true;
}
#define IS(name, what) is(name, what, sizeof what - 1)

/* A header that may stand once and is part of the key of a prepared answer. */
static void keep(struct walk *w, struct api_bytes *slot, struct api_bytes value)
{
    if (slot->at)
        w->head->plain = false;
    *slot = value;
}

static void note(struct walk *w, struct api_bytes name, struct api_bytes value)
{
    struct guard_head *h = w->head;
    switch (name.at[0] | 0x20) {
    case 'a':
        if (IS(name, "Accept"))
            keep(w, &h->accept, value);
        else if (IS(name, "Accept-Encoding"))
            keep(w, &h->accept_encoding, value);
        else if (IS(name, "Authorization"))
            w->tokens++, h->plain = false;
        break;
    case 'c':
        if (IS(name, "Content-Length"))
            w->lengths++, w->length = value;
        else if (IS(name, "Content-Type"))
            w->types++;
        else if (IS(name, "Connection") && !IS(value, "keep-alive"))
            h->alike = false;
        if (name.len > 8 && !strncasecmp(name.at, "content-", 8))
            h->plain = false;
        break;
    case 'e':
        if (IS(name, "Expect"))
            w->expects++, w->expect = value, h->plain = false;
        break;
    case 'h':
        if (IS(name, "Host"))
            w->hosts++, w->host = value;
        break;
    case 'i':
        if (IS(name, "If-None-Match"))
            keep(w, &h->if_none_match, value);
        else if (name.len > 3 && !strncasecmp(name.at, "if-", 3))
            h->plain = false;
        break;
    case 'r':
        if (IS(name, "Range"))
            w->ranges++, h->plain = false;
        break;
    case 't':
        if (IS(name, "Transfer-Encoding"))
            w->codings++, h->plain = false;
        else if (IS(name, "Traceparent"))
            h->traceparent = value, h->alike = false;
        break;
    case 'x':
        if (IS(name, "X-Request-Id"))
            h->request_id = value, h->alike = false;
        break;
    }
}

/* The line of this header, from the end of the one before: CR LF, name, colon, blanks, value. */
static const char *place(struct walk *w, struct api_bytes name, struct api_bytes value)
{
    const char *after = name.at + name.len + 1;
    if (name.at != w->end + 2)
        return "a header line does not begin where the line before it ends: bare LF, NUL, or a "
               "folded line";
    if (!name.len || !all(TOKEN, name.at, name.len))
        return "a header name is not a token";
    if (value.at < after)
        return "a header has no colon right after its name";
    for (const char *p = after; p < value.at; p++)
        if (*p != ' ' && *p != '\t')
            return "something other than blanks stands between a colon and its value";
    if (!all(VALUE, value.at, value.len))
        return "a header value has a control byte in it";
    w->end = value.at + value.len;
    return NULL;
}

static enum MHD_Result visit(void *closure, enum MHD_ValueKind kind, const char *key,
                             size_t key_size, const char *text, size_t text_size)
{
    struct walk *w = closure;
    struct api_bytes name = {key, key_size}, value = {text ? text : "", text_size};
    (void)kind;
    if (w->end && !w->wrong)
        w->wrong = text ? place(w, name, value) : "a header has no colon";
    while (value.len && (value.at[value.len - 1] == ' ' || value.at[value.len - 1] == '\t'))
        value.len--;
    if (w->head->count == GUARD_MAX_HEADERS) {
        w->too_many = true;
        return MHD_NO;
    }
    w->head->header[w->head->count++] = (struct api_header){key, value};
    if (name.len)
        note(w, name, value);
    return MHD_YES;
}

static void walk(struct MHD_Connection *connection, struct walk *w)
{
    struct guard_head *h = w->head;
    h->count = 0;
    h->accept = h->accept_encoding = h->if_none_match = h->request_id = h->traceparent =
        (struct api_bytes){NULL, 0};
    h->content_length = 0;
    h->has_length = false;
    h->plain = h->alike = true;
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit, w);
}

void guard_read(struct MHD_Connection *connection, struct guard_head *head)
{
    struct walk w = {.head = head};
    walk(connection, &w);
}

static struct guard_verdict refuse(int status, const char *name, const char *detail)
{
    return (struct guard_verdict){status, name, detail};
}

static const char *request_line(const char *method, const char *version, const char *raw,
                                struct api_bytes target)
{
    size_t m = strlen(method);
    if (!m || !all(TOKEN, method, m))
        return "the method is not a token";
    if (!raw || raw != method + m + 1)
        return "one blank stands between method and target";
    if (version != raw + target.len + 1)
        return "one blank stands between target and version";
    if (!target.len || !all(TARGET, target.at, target.len))
        return "the target has bytes that must be percent-encoded";
    if (strlen(version) != 8 || strncmp(version, "HTTP/1.", 7) || version[7] < '0' ||
        version[7] > '9')
        return "the version is HTTP/1.0 or HTTP/1.1";
    if (target.at[0] != '/' && strncasecmp(target.at, "http://", 7) &&
        (strcmp(method, "OPTIONS") || strcmp(target.at, "*")) && strcmp(method, "CONNECT"))
        return "the target is a path that begins with a slash";
    return NULL;
}

/* RFC 9112, 6: how long the body is. */
static struct guard_verdict framing(struct walk *w)
{
    struct guard_head *h = w->head;
    if (w->codings && w->lengths)
        return refuse(400, "malformed-request",
                      "Transfer-Encoding and Content-Length exclude each other");
    if (w->codings)
        return refuse(411, "length-required",
                      "a body needs Content-Length: transfer codings are not read");
    if (w->lengths > 1)
        return refuse(400, "malformed-request", "Content-Length stands more than once");
    h->has_length = w->lengths;
    for (size_t i = 0; h->has_length && i < w->length.len; i++) {
        if (w->length.at[i] < '0' || w->length.at[i] > '9')
            return refuse(400, "malformed-request", "Content-Length is decimal digits");
        h->content_length = h->content_length * 10 + (uint64_t)(w->length.at[i] - '0');
    }
    if (h->has_length && !w->length.len)
        return refuse(400, "malformed-request", "Content-Length is decimal digits");
    if (w->length.len >
        18) /* what does not fit an int64_t, and what the library takes for "unknown" */
        return refuse(413, "too-large", "Content-Length has at most 18 digits");
    return refuse(0, NULL, NULL);
}

static struct guard_verdict counts(struct walk *w, const char *version)
{
    if (w->hosts > 1 || (w->hosts == 1 && !all(HOST, w->host.at, w->host.len)))
        return refuse(400, "malformed-request",
                      "Host stands once, and is a host with or without a port");
    if (w->hosts == 0 && version[7] != '0') /* RFC 9112, 3.2 */
        return refuse(400, "malformed-request", "HTTP/1.1 needs a Host header");
    if (w->tokens > 1 || w->types > 1 || w->expects > 1 || w->ranges > 1)
        return refuse(400, "malformed-request",
                      "Authorization, Content-Type, Expect and Range may each stand once at most");
    struct guard_verdict v = framing(w);
    if (v.status || !w->expects ||
        version[7] == '0') /* RFC 9110, 10.1.1: HTTP/1.0 has no expectations */
        return v;
    if (!IS(w->expect, "100-continue"))
        return refuse(417, "expectation-failed", "the only expectation known is 100-continue");
    if (!w->head->content_length)
        return refuse(417, "expectation-failed", "100-continue needs a body to continue with");
    return v;
}

struct guard_verdict guard_check(struct MHD_Connection *connection, const char *method,
                                 const char *version, const char *raw, struct api_bytes target,
                                 struct guard_head *head)
{
    struct walk w = {
        .head = head, .wrong = request_line(method, version, raw, target), .end = version + 8};
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (w.wrong)
        w.end = NULL;
    walk(connection, &w);
    head->size = size ? size->header_size : 0;
    head->alike &= head->plain && !strcmp(version, "HTTP/1.1");
    if (w.wrong)
        return refuse(400, "malformed-request", w.wrong);
    if (w.too_many)
        return refuse(431, "headers-too-large", "a request has at most 100 headers");
    if (!size || method + size->header_size != w.end + 4)
        return refuse(400, "malformed-request",
                      "the head does not end in an empty line: bare LF, NUL, or an empty name");
    if (size->header_size > GUARD_HEAD_LIMIT)
        return refuse(431, "headers-too-large",
                      "a request head has at most 8 KiB; long lists go into the body of a POST");
    return counts(&w, version);
}
