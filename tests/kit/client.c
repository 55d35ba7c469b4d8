/* SPDX-License-Identifier: MIT
 *
 * client.c: a raw HTTP/1.1 client for tests. Reads an answer strictly: every line ends in CR LF, a
 * body has exactly its Content-Length or well-formed chunks, interim answers are skipped.
 */
#include "kit/kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void open_link(struct kit_link *l, int port, int room)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memset(l, 0, sizeof *l);
    l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(l->fd >= 0);
    int one = 1;
    setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (room)
        setsockopt(l->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (connect(l->fd, (struct sockaddr *)&a, sizeof a) != 0)
        fail_msg("connect to port %d: %s", port, strerror(errno));
}

void kit_open(struct kit_link *l, int port)
{
    open_link(l, port, 0);
}

void kit_open_narrow(struct kit_link *l, int port)
{
    open_link(l, port, 4096);
}

void kit_close(struct kit_link *l)
{
    close(l->fd);
    free(l->bytes);
    memset(l, 0, sizeof *l);
    l->fd = -1;
}

/* A peer that refuses early may have closed already: what it said is still to be read. */
void kit_send(struct kit_link *l, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size) {
        ssize_t n = send(l->fd, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        at += n;
        size -= (size_t)n;
    }
}

void kit_send_pieces(struct kit_link *l, const void *bytes, size_t size, size_t piece)
{
    for (size_t at = 0; at < size; at += piece)
        kit_send(l, (const char *)bytes + at, size - at < piece ? size - at : piece);
}

/* More bytes into the buffer: 1 when some came, 0 at the end, -1 when `ms` passed. */
static int more(struct kit_link *l, int ms)
{
    struct pollfd p = {l->fd, POLLIN, 0};
    int n;
    do
        n = poll(&p, 1, ms);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return -1;
    if (l->room - l->have < 65536) {
        l->room = l->room * 2 + 131072;
        l->bytes = realloc(l->bytes, l->room);
        assert_non_null(l->bytes);
    }
    ssize_t got = recv(l->fd, l->bytes + l->have, l->room - l->have - 1, 0);
    if (got <= 0)
        return 0;
    l->have += (size_t)got;
    l->bytes[l->have] = 0;
    return 1;
}

static void eat(struct kit_link *l, size_t n)
{
    memmove(l->bytes, l->bytes + n, l->have - n);
    l->have -= n;
    l->bytes[l->have] = 0;
}

static void need(struct kit_link *l, size_t n, int ms)
{
    while (l->have < n)
        if (more(l, ms) <= 0)
            fail_msg("an answer was cut: %zu of %zu bytes", l->have, n);
}

static void append(struct kit_answer *a, struct kit_link *l, size_t n)
{
    a->body = realloc(a->body, a->size + n + 1);
    assert_non_null(a->body);
    memcpy(a->body + a->size, l->bytes, n);
    a->size += n;
    a->body[a->size] = 0;
    eat(l, n);
}

static void read_chunks(struct kit_link *l, struct kit_answer *a, int ms)
{
    for (;;) {
        char *end;
        while (!l->have || !(end = memmem(l->bytes, l->have, "\r\n", 2)))
            need(l, l->have + 1, ms);
        char *stop;
        size_t n = strtoul(l->bytes, &stop, 16);
        assert_true(stop > l->bytes && stop == end);
        eat(l, (size_t)(end - l->bytes) + 2);
        need(l, n + 2, ms);
        if (n)
            append(a, l, n);
        assert_memory_equal(l->bytes, "\r\n", 2);
        eat(l, 2);
        if (!n)
            return;
    }
}

static bool read_head(struct kit_link *l, int ms, struct kit_answer *a)
{
    char *end = NULL;
    while (!l->have || !(end = memmem(l->bytes, l->have, "\r\n\r\n", 4))) {
        int got = more(l, ms);
        if (got <= 0 && l->have)
            fail_msg("a head was cut after %zu bytes: %.80s", l->have, l->bytes);
        if (got <= 0)
            return false;
    }
    size_t n = (size_t)(end - l->bytes) + 4;
    a->head = strndup(l->bytes, n);
    assert_non_null(a->head);
    eat(l, n);
    if (strncmp(a->head, "HTTP/1.", 7) != 0 || a->head[8] != ' ')
        fail_msg("no status line: %.80s", a->head);
    a->status = atoi(a->head + 9);
    return true;
}

bool kit_read(struct kit_link *l, const char *method, int ms, struct kit_answer *a)
{
    memset(a, 0, sizeof *a);
    do {
        free(a->head);
        a->head = NULL;
        if (!read_head(l, ms, a))
            return false;
    } while (a->status < 200);
    const char *value = kit_header(a, "Connection");
    a->closes = value && strcasestr(value, "close");
    value = kit_header(a, "Transfer-Encoding");
    a->chunked = value && strcasestr(value, "chunked");
    a->body = calloc(1, 1);
    if (strcmp(method, "HEAD") == 0 || a->status == 304 || a->status == 204)
        return true;
    value = kit_header(a, "Content-Length");
    if (a->chunked) {
        read_chunks(l, a, ms);
    } else if (value) {
        size_t n = strtoul(value, NULL, 10);
        need(l, n, ms);
        append(a, l, n);
    } else {
        while (more(l, ms) > 0) {
        }
        append(a, l, l->have);
    }
    return true;
}

bool kit_closed(struct kit_link *l, int ms)
{
    return !l->have && more(l, ms) == 0;
}

void kit_free(struct kit_answer *a)
{
    free(a->head);
    free(a->body);
    memset(a, 0, sizeof *a);
}

void kit_ask(struct kit_link *l, const char *method, const char *target, const char *head,
             struct kit_answer *a)
{
    char *text;
    int n =
        asprintf(&text, "%s %s HTTP/1.1\r\nHost: test\r\n%s\r\n", method, target, head ? head : "");
    assert_true(n > 0);
    kit_send(l, text, (size_t)n);
    free(text);
    if (!kit_read(l, method, 30000, a))
        fail_msg("no answer to %s %s", method, target);
}

void kit_get(struct kit_daemon *d, const char *target, const char *head, struct kit_answer *a)
{
    struct kit_link l;
    kit_open(&l, d->port);
    kit_ask(&l, "GET", target, head, a);
    kit_close(&l);
}

void kit_post(struct kit_link *l, const char *target, const char *type, const char *body,
              struct kit_answer *a)
{
    char *text;
    int n = asprintf(
        &text,
        "POST %s HTTP/1.1\r\nHost: test\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
        target, type, strlen(body), body);
    assert_true(n > 0);
    kit_send(l, text, (size_t)n);
    free(text);
    if (!kit_read(l, "POST", 30000, a))
        fail_msg("no answer to POST %s", target);
}

const char *kit_header(const struct kit_answer *a, const char *name)
{
    static char ring[8][4096];
    static unsigned turn;
    size_t len = strlen(name);
    for (const char *line = strstr(a->head, "\r\n"); line && line[2];
         line = strstr(line + 2, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
            char *out = ring[turn++ % 8];
            line += len + 1;
            line += strspn(line, " ");
            size_t n = strcspn(line, "\r");
            if (n > sizeof ring[0] - 1)
                n = sizeof ring[0] - 1;
            memcpy(out, line, n);
            out[n] = 0;
            return out;
        }
        line -= 2;
    }
    return NULL;
}

double kit_metric(struct kit_daemon *d, const char *name)
{
    struct kit_answer a;
    double sum = 0;
    bool found = false;
    size_t len = strlen(name);
    kit_get(d, "/metrics", NULL, &a);
    for (char *save, *line = strtok_r(a.body, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, name, len) == 0 && (line[len] == '{' || line[len] == ' ')) {
            sum += strtod(strrchr(line, ' '), NULL);
            found = true;
        }
    }
    kit_free(&a);
    return found ? sum : -1;
}
