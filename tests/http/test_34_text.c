/* SPDX-License-Identifier: MIT
 *
 * test_34_text.c: the text of large tables, which several threads write at once: the same bytes
 * as in one go, for whatever client, and no harm from those that are slow or
 * leave.
 */
#include "kit/decoded.h"
#include "kit/kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct kit_daemon daemon_;

static const char *const targets[] = {
    "/v1/tables/sinusoidal.json?length=8192&width=128",
    "/v1/tables/sinusoidal.json?length=3001&width=128&dtype=f64&base=777",
    "/v1/tables/rope.json?length=5000&width=64&layout=matrix",
    "/v1/tables/rope.csv?length=40000&width=64&tensor=sin",
    "/v1/tables/rope.txt?length=20000&width=32&tensor=cos&dtype=f16",
    "/v1/tables/xpos.json?length=4000&width=64",
    "/v1/tables/t5.json?length=900",
    "/v1/tables/t5.csv?length=2500",
    "/v1/tables/alibi.json?length=500&queries=100&width=8",
    "/v1/tables/sinusoidal.csv?length=1000000&width=4",
    "/v1/layouts/padded.json?lengths=300000,299000,2",
    "/v1/layouts/packed.csv?lengths=700000,3,9&tensor=position_ids",
};
#define TARGETS (sizeof targets / sizeof *targets)

/* The text as it is written in one go, on its way into a coder. */
static char *wanted(const char *target, size_t *size)
{
    struct kit_answer a;
    kit_get(&daemon_, target, "Accept-Encoding: gzip\r\n", &a);
    assert_int_equal(a.status, 200);
    assert_string_equal(kit_header(&a, "Content-Encoding"), "gzip");
    char *text = kit_decoded("gzip", a.body, a.size, false, size);
    assert_non_null(text);
    kit_free(&a);
    return text;
}

static void same_text_for_everyone(void **state)
{
    (void)state;
    for (size_t i = 0; i < TARGETS; i++) {
        size_t size;
        char *text = wanted(targets[i], &size), request[512];
        for (int n = 0; n < 4; n++) {
            struct kit_link l;
            struct kit_answer a;
            kit_open(&l, daemon_.port);
            snprintf(request, sizeof request, "GET %s HTTP/1.%d\r\nHost: x\r\n\r\n", targets[i],
                     n != 2);
            kit_send(&l, request, strlen(request));
            assert_true(kit_read(&l, "GET", 30000, &a));
            assert_int_equal(a.status, 200);
            assert_int_equal(a.size, size);
            assert_memory_equal(a.body, text, size);
            assert_int_equal(a.chunked, n != 2);
            kit_free(&a);
            if (n != 2) { /* the connection lives on */
                kit_ask(&l, "GET", "/livez", NULL, &a);
                assert_int_equal(a.status, 200);
                kit_free(&a);
            }
            kit_close(&l);
        }
        free(text);
    }
}

/* Many at once, each with little room: chunks go out in pieces. */
static void narrow_clients(void **state)
{
    (void)state;
    enum { CLIENTS = 8 };
    struct kit_link l[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        char request[512];
        kit_open_narrow(&l[i], daemon_.port);
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", targets[i % 4],
                 i % 3 == 1 ? "Accept-Encoding: gzip\r\n" : "");
        kit_send(&l[i], request, strlen(request));
    }
    usleep(200000);
    for (int i = 0; i < CLIENTS; i++) {
        struct kit_answer a;
        size_t size;
        assert_true(kit_read(&l[i], "GET", 60000, &a));
        assert_int_equal(a.status, 200);
        char *text = wanted(targets[i % 4], &size);
        if (i % 3 != 1) {
            assert_int_equal(a.size, size);
            assert_memory_equal(a.body, text, size);
        }
        free(text);
        kit_free(&a);
        kit_close(&l[i]);
    }
}

static void those_who_leave(void **state)
{
    (void)state;
    for (int n = 0; n < 40; n++) {
        struct kit_link l;
        char request[512], some[4096];
        if (n % 2)
            kit_open_narrow(&l, daemon_.port);
        else
            kit_open(&l, daemon_.port);
        snprintf(request, sizeof request, "GET %s&base=5%d HTTP/1.1\r\nHost: x\r\n\r\n", targets[0],
                 n);
        kit_send(&l, request, strlen(request));
        for (int i = 0; i < n % 7; i++)
            if (read(l.fd, some, sizeof some) <= 0)
                break;
        if (n % 3) {
            struct linger at_once = {1, 0};
            setsockopt(l.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        }
        kit_close(&l);
    }
    for (int i = 0; i < 200 && kit_metric(&daemon_, "posenc_streams") > 0; i++)
        usleep(50000);
    assert_true(kit_metric(&daemon_, "posenc_streams") == 0);
    assert_true(kit_metric(&daemon_, "posenc_requests_waiting") == 0);
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
        cmocka_unit_test(same_text_for_everyone),
        cmocka_unit_test(narrow_clients),
        cmocka_unit_test(those_who_leave),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
