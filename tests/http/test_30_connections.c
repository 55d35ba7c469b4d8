/* SPDX-License-Identifier: MIT
 *
 * test_30_connections.c: many requests on one connection, piled up, cut into bytes; bodies and
 * expectations; clients that leave in the middle; streams that never end; answers made once for
 * many.
 */
#include "kit/kit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct kit_daemon daemon_;

#define TABLE "/v1/tables/sinusoidal"

static void a_thousand_on_one_connection(void **state)
{
    (void)state;
    struct kit_link l;
    struct kit_answer a;
    kit_open(&l, daemon_.port);
    for (int i = 0; i < 1000; i++) {
        kit_ask(&l, "GET", i % 10 == 9 ? "/nosuch" : TABLE ".bin?length=4&width=4", NULL, &a);
        assert_int_equal(a.status, i % 10 == 9 ? 404 : 200);
        assert_false(a.closes);
        kit_free(&a);
    }
    kit_close(&l);
}

static void piled_requests_are_answered_in_order(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 4000; piece = piece * 9 + 4) {
        char text[8192];
        size_t n = 0;
        for (int i = 1; i <= 32; i++)
            n += (size_t)snprintf(
                text + n, sizeof text - n,
                "GET " TABLE ".bin?length=%d&width=4&base=10%d HTTP/1.1\r\nHost: a\r\n\r\n", i, i);
        struct kit_link l;
        kit_open(&l, daemon_.port);
        kit_send_pieces(&l, text, n, piece);
        for (size_t i = 1; i <= 32; i++) {
            struct kit_answer a;
            assert_true(kit_read(&l, "GET", 20000, &a));
            assert_int_equal(a.status, 200);
            assert_int_equal(a.size, 16 * i);
            kit_free(&a);
        }
        kit_close(&l);
    }
}

static void close_is_honoured(void **state)
{
    (void)state;
    struct kit_link l;
    struct kit_answer a;
    kit_open(&l, daemon_.port);
    kit_ask(&l, "GET", TABLE ".bin?length=4&width=4", "Connection: close\r\n", &a);
    assert_true(a.closes);
    assert_true(kit_closed(&l, 5000));
    kit_free(&a);
    kit_close(&l);
}

static void json_without_chunks_for_http10(void **state)
{
    (void)state;
    static const char text[] = "GET " TABLE ".json?length=300&width=64 HTTP/1.0\r\n\r\n";
    struct kit_link l;
    struct kit_answer a;
    kit_open(&l, daemon_.port);
    kit_send(&l, text, sizeof text - 1);
    assert_true(kit_read(&l, "GET", 20000, &a));
    assert_false(a.chunked);
    assert_non_null(strstr(a.body + a.size - 8, "]}}}"));
    kit_free(&a);
    kit_close(&l);
}

static void expect_continue(void **state)
{
    (void)state;
    static const char head[] =
        "POST " TABLE ".bin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        "Content-Length: 22\r\nExpect: 100-continue\r\n\r\n";
    struct kit_link l;
    struct kit_answer a;
    kit_open(&l, daemon_.port);
    kit_send(&l, head, sizeof head - 1);
    struct pollfd p = {l.fd, POLLIN, 0};
    assert_int_equal(poll(&p, 1, 5000), 1);
    char interim[64] = {0};
    assert_true(recv(l.fd, interim, sizeof interim - 1, MSG_PEEK) > 0);
    assert_memory_equal(interim, "HTTP/1.1 100", 12);
    kit_send(&l, "{\"length\":4,\"width\":4}", 22);
    assert_true(kit_read(&l, "POST", 20000, &a));
    assert_int_equal(a.status, 200);
    assert_int_equal(a.size, 64);
    kit_free(&a);
    kit_close(&l);
}

/* A table that cannot be held flows at once, and a client that leaves costs nothing afterwards. */
static void endless_streams_and_leaving_clients(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        static const char text[] =
            "GET " TABLE ".bin?length=1099511627776&width=64 HTTP/1.1\r\nHost: a\r\n\r\n";
        struct kit_link l;
        kit_open(&l, daemon_.port);
        kit_send(&l, text, sizeof text - 1);
        char some[65536];
        size_t got = 0;
        while (got < 1000000) {
            struct pollfd p = {l.fd, POLLIN, 0};
            assert_int_equal(poll(&p, 1, 10000), 1);
            ssize_t n = recv(l.fd, some, sizeof some, 0);
            assert_true(n > 0);
            got += (size_t)n;
        }
        kit_close(&l);
    }
    struct kit_answer a;
    kit_get(&daemon_, "/livez", NULL, &a);
    assert_int_equal(a.status, 200);
    kit_free(&a);
}

static void one_flight_for_many(void **state)
{
    (void)state;
    enum { CLIENTS = 60 };
    static const char text[] =
        "GET " TABLE ".bin?length=60000&width=64&base=777 HTTP/1.1\r\nHost: a\r\n\r\n";
    static struct kit_link l[CLIENTS];
    struct kit_answer first, a;
    double before = kit_metric(&daemon_, "posenc_builds_total");
    for (int i = 0; i < CLIENTS; i++) {
        kit_open(&l[i], daemon_.port);
        kit_send(&l[i], text, sizeof text - 1);
    }
    assert_true(kit_read(&l[0], "GET", 30000, &first));
    assert_int_equal(first.size, 60000 * 256);
    for (int i = 1; i < CLIENTS; i++) {
        assert_true(kit_read(&l[i], "GET", 30000, &a));
        assert_int_equal(a.size, first.size);
        assert_memory_equal(a.body, first.body, a.size);
        kit_free(&a);
        kit_close(&l[i]);
    }
    kit_close(&l[0]);
    kit_free(&first);
    assert_true(kit_metric(&daemon_, "posenc_builds_total") == before + 1);
}

static int begin(void **state)
{
    (void)state;
    kit_start(&daemon_, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return kit_stop(&daemon_);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_on_one_connection),
        cmocka_unit_test(piled_requests_are_answered_in_order),
        cmocka_unit_test(close_is_honoured),
        cmocka_unit_test(json_without_chunks_for_http10),
        cmocka_unit_test(expect_continue),
        cmocka_unit_test(endless_streams_and_leaving_clients),
        cmocka_unit_test(one_flight_for_many),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
