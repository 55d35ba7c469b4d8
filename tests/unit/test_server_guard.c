/* SPDX-License-Identifier: MIT
 *
 * test_server_guard.c: heads of requests through the library itself, over a socket pair: which are
 * let through and with which status the others are refused. The good ones show that the guard knows
 * how this version of the library lays its memory out; without them it could refuse everything.
 */
#include "http/guard.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
    struct MHD_Daemon *daemon;
    const char *raw;
    char target[512];
    int calls;
    struct guard_verdict verdict;
    struct guard_head head;
    struct guard_head again;
    char accept[64], id[64], tag[64]; /* copies: the head is gone when the test looks */
};

static void *note_target(void *closure, const char *target, struct MHD_Connection *connection)
{
    struct seen *s = closure;
    (void)connection;
    s->raw = target;
    snprintf(s->target, sizeof s->target, "%s", target ? target : "");
    return s;
}

static enum MHD_Result handle(void *closure, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *size, void **context)
{
    struct seen *s = closure;
    (void)url;
    (void)upload;
    (void)context;
    *size = 0;
    if (s->calls++)
        return MHD_NO;
    s->verdict = guard_check(connection, method, version, s->raw,
                             (struct api_bytes){s->target, strlen(s->target)}, &s->head);
    guard_read(connection, &s->again);
    snprintf(s->accept, sizeof s->accept, "%.*s", (int)s->again.accept.len, s->again.accept.at);
    snprintf(s->id, sizeof s->id, "%.*s", (int)s->head.request_id.len, s->head.request_id.at);
    snprintf(s->tag, sizeof s->tag, "%.*s", (int)s->head.if_none_match.len,
             s->head.if_none_match.at);
    return MHD_NO;
}

static int start(void **state)
{
    static struct seen s;
    s.daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, handle, &s,
                         MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK, note_target,
                         &s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384, MHD_OPTION_END);
    *state = &s;
    return s.daemon == NULL;
}

static int stop(void **state)
{
    MHD_stop_daemon(((struct seen *)*state)->daemon);
    return 0;
}

/* Sends a head in pieces; true when the library handed it to the handler. */
static bool send_head(struct seen *s, const char *bytes, size_t n, size_t piece)
{
    struct sockaddr address = {.sa_family = AF_UNIX};
    int pair[2];
    s->calls = 0;
    s->raw = NULL;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    assert_int_equal(MHD_add_connection(s->daemon, pair[0], &address, sizeof address), MHD_YES);
    for (size_t i = 0; i < n; i += piece) {
        size_t k = n - i < piece ? n - i : piece;
        if (send(pair[1], bytes + i, k, MSG_NOSIGNAL) != (ssize_t)k)
            break;
        for (int j = 0; j < 2; j++)
            MHD_run(s->daemon);
    }
    for (int j = 0; j < 4; j++)
        MHD_run(s->daemon);
    close(pair[1]);
    for (int j = 0; j < 4; j++)
        MHD_run(s->daemon);
    return s->calls > 0;
}

struct head_case {
    const char *bytes;
    size_t size;
    int status; /* 0: well-formed; -1: the library refuses it itself */
};
#define CASE(text, status)            \
    {                                 \
        text, sizeof text - 1, status \
    }

static const struct head_case heads[] = {
    CASE("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n", 0),
    CASE("GET /livez HTTP/1.0\r\n\r\n", 0),
    CASE("\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n", 0),
    CASE("GET /v1/x?a=b&c=%64&d HTTP/1.1\r\nHost: a:80\r\nAccept: */*\r\n\r\n", 0),
    CASE("GET http://a/livez HTTP/1.1\r\nHost: a\r\n\r\n", 0),
    CASE("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 0),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX-Empty:\r\nX-A: \t v \t\r\n\r\n", 0),
    CASE("GET / HTTP/1.1\r\nhOsT: [::1]:80\r\nX: caf\xc3\xa9\r\n\r\n", 0),
    CASE("GET / HTTP/1.1\r\nHost:\r\n\r\n", 0),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n", 0),
    CASE("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 0),

    CASE("GE\x01T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    CASE("G=\"[T];? / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    CASE("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    CASE("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", -1),
    CASE("GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    CASE("GET /\x07 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    CASE("GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    CASE("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    CASE("GET livez HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\nHost: a\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX: b\rY: c\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\n\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX\t: b\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX(Y): b\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX\0Y: b\r\n\r\n", -1),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX\xe9: b\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX: \x1b[2J\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", 400),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\n: v\r\n\r\n", 400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\n\0\r\nX: b\r\n\r\n", 400),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 400),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
         400),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nAuthorization: a\r\nAuthorization: "
         "b\r\n\r\n",
         400),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Type: a\r\nContent-Type: "
         "b\r\n\r\n",
         400),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\nRange: bytes=0-1\r\n\r\n", 400),

    CASE("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
         "chunked\r\n\r\n",
         411),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", 411),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551615\r\n\r\n", 413),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0000000000000000005\r\n\r\n", 413),
    CASE("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n", 417),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 200-maybe\r\n\r\n", 417),

    CASE("GET / HTTP/1.1\r\n\r\n", -1),
    CASE("GET / HTTP/2.0\r\nHost: a\r\n\r\n", -1),
    CASE("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", -1),
    CASE("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5x\r\n\r\n", -1),
};

static void heads_in_pieces_of(struct seen *s, size_t piece)
{
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        bool handed = send_head(s, heads[i].bytes, heads[i].size, piece);
        int status = handed ? s->verdict.status : -1;
        if (status != heads[i].status)
            fail_msg("case %zu in pieces of %zu: %d instead of %d: %s", i, piece, status,
                     heads[i].status, heads[i].bytes);
        if (status > 0)
            assert_non_null(s->verdict.detail);
    }
}

static void heads_whole(void **state)
{
    heads_in_pieces_of(*state, 1 << 20);
}

static void heads_byte_by_byte(void **state)
{
    heads_in_pieces_of(*state, 1);
}

static void heads_in_sevens(void **state)
{
    heads_in_pieces_of(*state, 7);
}

static void what_is_found(void **state)
{
    struct seen *s = *state;
    static const char head[] =
        "GET /x?y=z HTTP/1.1\r\nHost: a\r\naccept:  application/json \r\nX-Request-Id: abc\r\n"
        "traceparent: 00-1-2-3\r\nIf-None-Match: \"t\"\r\nUser-Agent: u\r\n\r\n";
    assert_true(send_head(s, head, sizeof head - 1, sizeof head));
    assert_int_equal(s->verdict.status, 0);
    assert_true(s->head.plain);
    assert_int_equal(s->head.count, 6);
    assert_int_equal(s->again.count, 6);
    assert_string_equal(s->target, "/x?y=z");
    assert_string_equal(s->accept, "application/json");
    assert_string_equal(s->id, "abc");
    assert_string_equal(s->tag, "\"t\"");
}

static void values_are_trimmed(void **state)
{
    struct seen *s = *state;
    static const char head[] =
        "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nX-A: \t b c \t\r\n\r\n";
    assert_true(send_head(s, head, sizeof head - 1, sizeof head));
    assert_int_equal(s->verdict.status, 0);
    assert_true(s->head.has_length);
    assert_int_equal(s->head.content_length, 12);
    assert_int_equal(s->head.header[2].value.len, 3);
    assert_false(s->head.plain);
}

static void what_is_not_plain(void **state)
{
    struct seen *s = *state;
    static const char *const lines[] = {"Range: bytes=0-1",
                                        "If-Match: \"a\"",
                                        "If-Range: \"a\"",
                                        "If-Modified-Since: x",
                                        "Authorization: Bearer x",
                                        "Content-Type: text/plain",
                                        "Accept: a/b\r\nAccept: c/d",
                                        "If-None-Match: \"a\"\r\nIf-None-Match: \"b\""};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char head[256];
        int n = snprintf(head, sizeof head, "GET / HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n", lines[i]);
        assert_true(send_head(s, head, (size_t)n, (size_t)n));
        assert_int_equal(s->verdict.status, 0);
        assert_false(s->head.plain);
    }
}

static void limits_of_a_head(void **state)
{
    struct seen *s = *state;
    char head[16384];
    size_t n = (size_t)snprintf(head, sizeof head, "GET / HTTP/1.1\r\nHost: a\r\n");
    for (int i = 0; i < 99; i++)
        n += (size_t)snprintf(head + n, sizeof head - n, "X: y\r\n");
    n += (size_t)snprintf(head + n, sizeof head - n, "\r\n");
    assert_true(send_head(s, head, n, n));
    assert_int_equal(s->verdict.status, 0);
    n -= 2;
    n += (size_t)snprintf(head + n, sizeof head - n, "X: y\r\n\r\n");
    assert_true(send_head(s, head, n, n));
    assert_int_equal(s->verdict.status, 431);
    n = (size_t)snprintf(head, sizeof head, "GET / HTTP/1.1\r\nHost: a\r\nX: %08000d\r\n\r\n", 1);
    assert_true(send_head(s, head, n, n));
    assert_int_equal(s->verdict.status, 0);
    n = (size_t)snprintf(head, sizeof head, "GET / HTTP/1.1\r\nHost: a\r\nX: %08192d\r\n\r\n", 1);
    assert_true(send_head(s, head, n, n));
    assert_int_equal(s->verdict.status, 431);
}

#define WITH_DAEMON(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DAEMON(heads_whole),        WITH_DAEMON(heads_byte_by_byte),
        WITH_DAEMON(heads_in_sevens),    WITH_DAEMON(what_is_found),
        WITH_DAEMON(values_are_trimmed), WITH_DAEMON(what_is_not_plain),
        WITH_DAEMON(limits_of_a_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
