/* SPDX-License-Identifier: MIT
 *
 * test_32_lane.c: hot requests, answered before the library reads them, get the same bytes as the
 * library's answers, in order, whole, and whatever a client does between them.
 */
#include "kit/kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct kit_daemon daemon_;

#define TABLE "/v1/tables/sinusoidal"
#define LANE "posenc_lane_answers_total"

/* Blanks the lines of a head that differ from answer to answer, wherever they stand. */
static void blank(char *head, const char *name)
{
    char *at = strstr(head, name);
    size_t n = at ? (size_t)(strstr(at, "\r\n") + 2 - at) : 0;
    if (at)
        memmove(at, at + n, strlen(at + n) + 1);
}

static void same_answer(struct kit_answer *a, struct kit_answer *b)
{
    assert_non_null(strstr(a->head, "\r\nX-Request-Id: "));
    assert_non_null(strstr(a->head, "\r\nDate: "));
    for (int i = 0; i < 2; i++) {
        blank(i ? a->head : b->head, "Date: ");
        blank(i ? a->head : b->head, "X-Request-Id: ");
    }
    assert_string_equal(a->head, b->head);
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->body, b->body, a->size);
}

/* Asks until the answer comes from the lane, and compares the last of the library's with it. */
static void compare(const char *method, const char *target, const char *head, bool reaches)
{
    struct kit_link l;
    struct kit_answer first, last;
    kit_open(&l, daemon_.port);
    for (int i = 0; i < 3; i++) {
        kit_ask(&l, method, target, head, &first);
        if (i < 2)
            kit_free(&first);
    }
    double before = kit_metric(&daemon_, LANE);
    kit_ask(&l, method, target, head, &last);
    assert_true(kit_metric(&daemon_, LANE) == before + (reaches ? 1 : 0));
    same_answer(&first, &last);
    kit_free(&first);
    kit_free(&last);
    kit_close(&l);
}

static void the_lane_sends_what_the_library_sends(void **state)
{
    (void)state;
    static const char *const tables[] = {
        ".bin?length=1&width=2",
        ".bin?length=128&width=64",
        ".npy?length=128&width=62",
        ".npy?length=9&width=8",
        ".json?length=6&width=4",
        ".csv?length=6&width=4",
        ".safetensors?length=7&width=4",
        ".npz?length=7&width=4",
        "?length=5&width=6",
        ".bin?length=256&width=64",
        ".npy?length=255&width=64&dtype=f32",
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char target[256], tag[256];
        struct kit_answer a;
        snprintf(target, sizeof target, TABLE "%s", tables[i]);
        compare("GET", target, NULL, true);
        compare("HEAD", target, NULL, true);
        compare("GET", target, "Connection: keep-alive\r\nUser-Agent: test\r\n", true);
        kit_get(&daemon_, target, NULL, &a);
        snprintf(tag, sizeof tag, "If-None-Match: %s\r\n", kit_header(&a, "ETag"));
        kit_free(&a);
        compare("GET", target, tag, true);
    }
    compare("GET", TABLE ".json?length=6&width=4", "Accept-Encoding: gzip\r\n", true);
}

static void what_differs_stays_out(void **state)
{
    (void)state;
    const char *target = TABLE ".bin?length=3&width=8";
    compare("GET", target, NULL, true);
    compare("GET", target, "X-Request-Id: mine\r\n", false);
    compare("GET", target,
            "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n", false);
    compare("GET", TABLE ".bin?length=500&width=64", NULL, false); /* beyond the limit */
    struct kit_link l;
    struct kit_answer a;
    for (int i = 0; i < 4; i++) {
        kit_open(&l, daemon_.port);
        kit_ask(&l, "GET", target, "Connection: close\r\n", &a);
        assert_true(a.closes);
        assert_true(kit_closed(&l, 5000));
        kit_free(&a);
        kit_close(&l);
    }
    kit_open(&l, daemon_.port);
    kit_ask(&l, "GET", target, "X-Request-Id: mine\r\n", &a);
    assert_string_equal(kit_header(&a, "X-Request-Id"), "mine");
    kit_free(&a);
    kit_close(&l);
}

/* Hot and cold ones, good and bad, piled up and cut anywhere. */
static void order_is_kept(void **state)
{
    (void)state;
    static const char hot[] = "GET " TABLE ".bin?length=3&width=8 HTTP/1.1\r\nHost: x\r\n\r\n";
    for (size_t piece = 1; piece < 4000; piece = piece * 3 + 1) {
        char text[16384];
        size_t n = 0, expected[64];
        for (size_t i = 0; i < 64; i++) {
            expected[i] = i % 3 == 1 ? 32 * i : 96;
            if (i % 3 == 1)
                n += (size_t)snprintf(
                    text + n, sizeof text - n,
                    "GET " TABLE ".bin?length=%zu&width=8 HTTP/1.1\r\nHost: x\r\n\r\n", i);
            else
                n += (size_t)snprintf(text + n, sizeof text - n, "%s", hot);
        }
        struct kit_link l;
        kit_open(&l, daemon_.port);
        kit_send_pieces(&l, text, n, piece);
        for (size_t i = 0; i < 64; i++) {
            struct kit_answer a;
            assert_true(kit_read(&l, "GET", 20000, &a));
            assert_int_equal(a.status, 200);
            assert_int_equal(a.size, expected[i]);
            kit_free(&a);
        }
        kit_close(&l);
    }
}

/* Half a head is the library's, and the lane is open again after it. */
static void half_a_head_in_between(void **state)
{
    (void)state;
    static const char hot[] = "GET " TABLE ".bin?length=3&width=8 HTTP/1.1\r\nHost: a\r\n\r\n";
    struct kit_link l;
    struct kit_answer a;
    kit_open(&l, daemon_.port);
    for (size_t cut = 0; cut < sizeof hot - 1; cut++) {
        kit_send(&l, hot, cut);
        usleep(1000);
        kit_send(&l, hot + cut, sizeof hot - 1 - cut);
        assert_true(kit_read(&l, "GET", 20000, &a));
        assert_int_equal(a.size, 96);
        kit_free(&a);
    }
    double before = kit_metric(&daemon_, LANE);
    kit_send(&l, hot, sizeof hot - 1);
    assert_true(kit_read(&l, "GET", 20000, &a));
    kit_free(&a);
    assert_true(kit_metric(&daemon_, LANE) == before + 1);
    kit_close(&l);
}

static const char wide[] = "GET " TABLE ".bin?length=240&width=64 HTTP/1.1\r\nHost: b\r\n\r\n";
enum { WIDE = 240 * 64 * 4 };

static void warm(void)
{
    struct kit_link l;
    struct kit_answer a;
    kit_open(&l, daemon_.port);
    for (int i = 0; i < 4; i++) {
        kit_send(&l, wide, sizeof wide - 1);
        assert_true(kit_read(&l, "GET", 20000, &a));
        kit_free(&a);
    }
    kit_close(&l);
}

static void a_slow_reader_gets_every_byte(void **state)
{
    (void)state;
    enum { ASKED = 150 };
    struct kit_answer right;
    struct kit_link l;
    kit_get(&daemon_, TABLE ".bin?length=240&width=64", NULL, &right);
    warm();
    kit_open_narrow(&l, daemon_.port);
    for (int i = 0; i < ASKED; i++) {
        kit_send(&l, wide, sizeof wide - 1);
        usleep(500);
    }
    usleep(300000);
    struct kit_answer alive;
    kit_get(&daemon_, "/livez", NULL, &alive);
    assert_int_equal(alive.status, 200);
    kit_free(&alive);
    for (int i = 0; i < ASKED; i++) {
        struct kit_answer a;
        assert_true(kit_read(&l, "GET", 20000, &a));
        assert_int_equal(a.status, 200);
        assert_int_equal(a.size, WIDE);
        assert_memory_equal(a.body, right.body, WIDE);
        kit_free(&a);
    }
    kit_free(&right);
    kit_close(&l);
}

static void slow_readers_may_leave(void **state)
{
    (void)state;
    warm();
    double cut = kit_metric(&daemon_, "posenc_answers_cut_total");
    for (int n = 0; n < 20; n++) {
        struct kit_link l;
        kit_open_narrow(&l, daemon_.port);
        for (int i = 0; i < 100; i++)
            if (send(l.fd, wide, sizeof wide - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
                break;
            else
                usleep(200);
        if (n % 2) {
            struct linger at_once = {1, 0};
            setsockopt(l.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        }
        kit_close(&l);
    }
    for (int i = 0; i < 100 && kit_metric(&daemon_, "posenc_requests_waiting") > 0; i++)
        usleep(50000);
    assert_true(kit_metric(&daemon_, "posenc_requests_waiting") == 0);
    assert_true(kit_metric(&daemon_, "posenc_answers_cut_total") > cut);
}

/* The log has one line for each, with the target and an id of its own. */
static void the_log_knows_them(void **state)
{
    (void)state;
    const char *target = TABLE ".bin?length=11&width=8&base=12345";
    for (int i = 0; i < 2; i++)
        compare("GET", target, NULL, true);
    usleep(100000);
    char *log = kit_log(&daemon_);
    int lines = 0;
    for (const char *at = log; (at = strstr(at, "length=11&width=8&base=12345")); at++)
        lines++;
    assert_int_equal(lines, 8);
    free(log);
}

static int begin(void **state)
{
    static const char *const options[] = {"--threads", "1", NULL};
    (void)state;
    kit_start(&daemon_, options);
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
        cmocka_unit_test(the_lane_sends_what_the_library_sends),
        cmocka_unit_test(what_differs_stays_out),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(half_a_head_in_between),
        cmocka_unit_test(a_slow_reader_gets_every_byte),
        cmocka_unit_test(slow_readers_may_leave),
        cmocka_unit_test(the_log_knows_them),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
