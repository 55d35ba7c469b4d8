/* SPDX-License-Identifier: MIT
 *
 * reply.c: see reply.h. Headers stand in the order in which the library writes them; what it would
 * add by itself (RFC 9112, 9.3: nothing, for a connection of HTTP/1.1 that goes on) is left out.
 */
#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Without a head to write to, only counts. */
struct head {
    char *at;
    size_t size;
    bool last; /* the connection would end */
};

static void put(struct head *h, const char *text, size_t size)
{
    if (h->at)
        memcpy(h->at + h->size, text, size);
    h->size += size;
}

static void put_text(struct head *h, const char *text)
{
    put(h, text, strlen(text));
}

static enum MHD_Result put_header(void *closure, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct head *h = closure;
    if (kind != MHD_HEADER_KIND || !strcasecmp(name, "Date") || !strcasecmp(name, "X-Request-Id"))
        return MHD_YES;
    h->last |= !strcasecmp(name, "Connection");
    put_text(h, name);
    put_text(h, ": ");
    put_text(h, value);
    put_text(h, "\r\n");
    return MHD_YES;
}

/* Writes the head of an answer, with the places of what changes. */
static void write_head(const struct answer *a, struct head *h, struct reply *r)
{
    char text[64];
    snprintf(text, sizeof text, "HTTP/1.1 %d ", a->status);
    put_text(h, text);
    put_text(h, MHD_get_reason_phrase_for((unsigned)a->status));
    put_text(h, "\r\n");
    MHD_get_response_headers(a->response, put_header, h);
    put_text(h, "Date: ");
    r->date_at = h->size;
    put(h, "                             \r\nX-Request-Id: ", DELIVER_DATE + 16);
    r->id_at = h->size;
    put(h, "                \r\n", REPLY_ID + 2);
    snprintf(text, sizeof text, "Content-Length: %llu\r\n\r\n", (unsigned long long)a->length);
    put_text(h, text);
    r->size = h->size;
}

struct reply *reply_make(const struct answer *a)
{
    struct head h = {NULL, 0, false};
    struct reply shape;
    if (a->length == API_UNKNOWN || body_size(a->body) > REPLY_LIMIT)
        return NULL;
    write_head(a, &h, &shape);
    struct reply *r = h.last ? NULL : calloc(1, sizeof *r + h.size);
    if (!r)
        return NULL;
    r->owners = 1;
    r->status = a->status;
    r->bytes = a->bytes;
    r->body = a->body;
    if (r->body)
        body_hold(r->body);
    h = (struct head){r->head, 0, false};
    write_head(a, &h, r);
    return r;
}

void reply_hold(struct reply *r)
{
    r->owners++;
}

void reply_drop(struct reply **address)
{
    struct reply *r = *address;
    *address = NULL;
    if (!r || --r->owners)
        return;
    if (r->body)
        body_drop(r->body);
    free(r);
}

int reply_pieces(struct reply *r, const char *id, struct iovec out[3])
{
    time_t now = time(NULL);
    int n = 1;
    if (now != r->second) {
        char text[DELIVER_DATE + 1];
        deliver_date(now, text);
        memcpy(r->head + r->date_at, text, DELIVER_DATE);
        r->second = now;
    }
    memcpy(r->head + r->id_at, id, REPLY_ID);
    out[0] = (struct iovec){r->head, r->size};
    for (int i = 0; r->body && i < 2; i++)
        if (r->body->piece[i].iov_len)
            out[n++] = r->body->piece[i];
    return n;
}
