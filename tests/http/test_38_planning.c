/* SPDX-License-Identifier: MIT
 *
 * test_38_planning.c: requests whose plan takes long. One loop serves all, so whoever is answered
 * before them was served while the pool planned; clients that leave meanwhile do no harm; and the
 * answers are those of the same request in a form that is planned at once.
 */
#include "kit/state.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NPY "application/x-npy"
#define MANY (8 << 20)
#define SOME (1 << 20)

static struct kit_state state;
static struct kit_daemon daemon_;
static unsigned char *file; /* .npy of lengths, 1 to 3 */
static char table[128 + 4 * 50 * 6];

static size_t write_head(unsigned char *out, const char *descr, size_t count)
{
    memset(out, ' ', 128);
    memcpy(out, "\x93NUMPY\x01\x00\x76\x00", 10);
    int n = snprintf((char *)out + 10, 118,
                     "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }", descr, count);
    out[10 + n] = ' ';
    out[127] = '\n';
    return 128;
}

static unsigned length_at(size_t i)
{
    return 1 + (unsigned)(i * 2654435761U >> 7) % 3;
}

static int start(void **unused)
{
    (void)unused;
    struct kit_answer a;
    kit_state_make(&state, (const char *const[]){"--threads", "1", NULL});
    kit_start(&daemon_, state.options);
    file = malloc(128 + MANY);
    assert_non_null(file);
    for (size_t i = 0; i < MANY; i++)
        file[128 + i] = (unsigned char)length_at(i);
    size_t size = kit_npy(table, 50, 6, 1);
    kit_put(&daemon_, "/v1/learned/wpe", "Content-Type: " NPY "\r\n" KIT_BEARER, table, size, &a);
    int bad = a.status != 201;
    kit_free(&a);
    return bad;
}

static int stop(void **unused)
{
    (void)unused;
    int code = kit_stop(&daemon_);
    kit_state_remove(&state);
    free(file);
    return code;
}

/* A whole POST, of which the answer is still to be read. */
static void post(struct kit_link *l, const char *target, const char *type, const void *body,
                 size_t size)
{
    char *head;
    int n = asprintf(
        &head, "POST %s HTTP/1.1\r\nHost: test\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n",
        target, type, size);
    assert_true(n > 0);
    kit_send(l, head, (size_t)n);
    free(head);
    kit_send(l, body, size);
}

static void post_lengths(struct kit_link *l, const char *target, size_t count)
{
    write_head(file, "|u1", count);
    post(l, target, NPY, file, 128 + count);
}

static void reads(struct kit_link *l, int status, struct kit_answer *a)
{
    assert_true(kit_read(l, "POST", 60000, a));
    if (a->status != status)
        fail_msg("%d instead of %d: %.300s", a->status, status, a->body);
}

/* Until so many requests rest. */
static void until_waiting(struct kit_daemon *d, double count)
{
    for (int tries = 0; kit_metric(d, "posenc_requests_waiting") != count; tries++) {
        if (tries == 20000)
            fail_msg("there are never %g requests that wait", count);
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
}

static bool is_silent(const struct kit_link *l)
{
    struct pollfd p = {l->fd, POLLIN, 0};
    return poll(&p, 1, 0) == 0;
}

static void asks_live(int times)
{
    struct kit_link l;
    kit_open(&l, daemon_.port);
    for (int n = 0; n < times; n++) {
        struct kit_answer a;
        kit_ask(&l, "GET", "/livez", NULL, &a);
        assert_string_equal(a.body, "live\n");
        kit_free(&a);
    }
    kit_close(&l);
}

static void sums(const struct kit_answer *a, size_t count)
{
    int32_t sum = 0, said;
    assert_int_equal(a->size, 4 * (count + 1));
    for (size_t i = 0; i <= count; i++) {
        memcpy(&said, a->body + 4 * i, 4);
        if (said != sum)
            fail_msg("entry %zu is %d instead of %d", i, said, sum);
        sum += (int32_t)length_at(i);
    }
}

/* ---------------------------------------------------------------- others meanwhile */

static void a_long_list(void **unused)
{
    (void)unused;
    struct kit_link l;
    struct kit_answer a;
    kit_open(&l, daemon_.port);
    post_lengths(&l, "/v1/layouts/packed.bin?tensor=cu_seqlens&outputs=cu_seqlens", MANY);
    until_waiting(&daemon_, 1);
    asks_live(20);
    assert_true(is_silent(&l));
    reads(&l, 200, &a);
    sums(&a, MANY);
    assert_true(a.closes);
    kit_free(&a);
    kit_close(&l);
}

/* A hundred bytes that cut one document into eight million. What follows on the connection has its
 * turn afterwards. */
static void a_short_request(void **unused)
{
    (void)unused;
    static const char both[] =
        "GET /v1/layouts/plan.bin?lengths=8000000&capacity=1&algorithm=next_fit&too_long=split&"
        "tensor=lengths HTTP/1.1\r\nHost: test\r\n\r\nGET /livez HTTP/1.1\r\nHost: test\r\n\r\n";
    struct kit_link l;
    struct kit_answer a;
    kit_open(&l, daemon_.port);
    kit_send(&l, both, sizeof both - 1);
    until_waiting(&daemon_, 1);
    asks_live(20);
    assert_true(is_silent(&l));
    assert_true(kit_read(&l, "GET", 60000, &a));
    assert_int_equal(a.status, 200);
    assert_int_equal(a.size, 4 * 8000000);
    for (size_t i = 0; i < a.size; i += 4)
        assert_memory_equal(a.body + i, "\1\0\0\0", 4);
    kit_free(&a);
    assert_true(kit_read(&l, "GET", 60000, &a));
    assert_string_equal(a.body, "live\n");
    kit_free(&a);
    kit_close(&l);
}

static void several_at_once(void **unused)
{
    (void)unused;
    struct kit_link l[5];
    struct kit_answer a;
    for (size_t i = 0; i < 5; i++) {
        kit_open(&l[i], daemon_.port);
        post_lengths(&l[i], "/v1/layouts/packed.bin?tensor=cu_seqlens&outputs=cu_seqlens",
                     SOME + i);
    }
    asks_live(20);
    for (size_t i = 5; i-- > 0; kit_close(&l[i])) {
        reads(&l[i], 200, &a);
        sums(&a, SOME + i);
        kit_free(&a);
    }
}

/* ---------------------------------------------------------------- who leaves */

static void resets(struct kit_link *l)
{
    struct linger at_once = {1, 0};
    setsockopt(l->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    kit_close(l);
}

static void clients_that_leave(void **unused)
{
    (void)unused;
    static const char target[] = "/v1/layouts/packed.bin?tensor=cu_seqlens&outputs=cu_seqlens";
    for (int round = 0; round < 4; round++) {
        struct kit_link l[6];
        struct kit_answer a;
        for (size_t i = 0; i < 6; i++) {
            kit_open(&l[i], daemon_.port);
            post_lengths(&l[i], target, i ? SOME : round & 1 ? MANY : 2 * SOME);
        }
        if (round & 1)
            until_waiting(&daemon_, 6);
        /* the one in work, one in the middle, the last of the queue */
        resets(&l[0]);
        resets(&l[2]);
        if (round & 2)
            resets(&l[5]);
        else
            kit_close(&l[5]);
        asks_live(3);
        for (size_t i = 1; i < 5; i++) {
            if (i == 2)
                continue;
            reads(&l[i], 200, &a);
            sums(&a, SOME);
            kit_free(&a);
            kit_close(&l[i]);
        }
    }
    until_waiting(&daemon_, 0);
}

/* ---------------------------------------------------------------- the same answers */

static char *json_lengths(const char *before, size_t count, const char *behind, size_t *size)
{
    char *text = malloc(strlen(before) + 2 * count + strlen(behind) + 1), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", before);
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s%u", i ? "," : "", length_at(i));
    at += sprintf(at, "%s", behind);
    *size = (size_t)(at - text);
    return text;
}

/* On both sides of what is planned at once: as text and as a file. */
static void sizes_around_the_limits(void **unused)
{
    (void)unused;
    static const size_t counts[] = {1, 8191, 8192, 8193, 32000, 33000, 65400, 65408, 65537, 70000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct kit_link l;
        struct kit_answer a;
        size_t size;
        char *text =
            json_lengths("{\"outputs\":[\"cu_seqlens\"],\"lengths\":[", counts[i], "]}", &size);
        kit_open(&l, daemon_.port);
        post(&l, "/v1/layouts/packed.bin", "application/json", text, size);
        reads(&l, 200, &a);
        sums(&a, counts[i]);
        kit_free(&a);
        kit_close(&l);
        free(text);
        kit_open(&l, daemon_.port);
        post_lengths(&l, "/v1/layouts/packed.bin?outputs=cu_seqlens", counts[i]);
        reads(&l, 200, &a);
        sums(&a, counts[i]);
        kit_free(&a);
        kit_close(&l);
    }
}

/* What is wrong is said as ever, with the limit that is in force. */
static void refusals(void **unused)
{
    (void)unused;
    static const char *const options[] = {"--max-layout-entries", "20000", "--threads", "1", NULL};
    struct kit_daemon d;
    struct kit_link l;
    struct kit_answer a;
    kit_start(&d, options);
    static const size_t counts[] = {20001, 100000};
    for (size_t i = 0; i < 2; i++) {
        kit_open(&l, d.port);
        post_lengths(&l, "/v1/layouts/packed.bin?outputs=cu_seqlens", counts[i]);
        reads(&l, 413, &a);
        assert_non_null(strstr(a.body, "20000 entries at most"));
        kit_free(&a);
        kit_close(&l);
    }
    kit_get(&d, "/v1/layouts/plan?lengths=9999999&capacity=1&algorithm=next_fit&too_long=split",
            NULL, &a);
    assert_int_equal(a.status, 413);
    kit_free(&a);
    kit_get(&d, "/v1", NULL, &a);
    assert_non_null(strstr(a.body, "\"max_layout_entries\":20000"));
    kit_free(&a);
    assert_int_equal(kit_stop(&d), 0);
    kit_open(&l, daemon_.port);
    file[128 + 99999] = 255;
    post_lengths(&l, "/v1/layouts/packed.bin?outputs=cu_seqlens&past_lengths=-1", 100000);
    file[128 + 99999] = (unsigned char)length_at(99999);
    reads(&l, 400, &a);
    assert_non_null(strstr(a.body, "past_lengths"));
    kit_free(&a);
    kit_close(&l);
}

/* Positions of a table, and of a stored one, which are read twice. */
static void rows_for_positions(void **unused)
{
    (void)unused;
    enum { COUNT = 20000 };
    unsigned char *ids = calloc(1, 128 + 8 * COUNT);
    struct kit_link l;
    struct kit_answer a, all;
    size_t head = write_head(ids, "<i8", COUNT);
    for (size_t i = 0; i < COUNT; i++)
        ids[head + 8 * i] = (unsigned char)(i * 7 % 50);
    kit_get(&daemon_, "/v1/tables/sinusoidal.bin?length=50&width=8", NULL, &all);
    kit_open(&l, daemon_.port);
    post(&l, "/v1/tables/sinusoidal.bin?width=8", NPY, ids, head + 8 * COUNT);
    reads(&l, 200, &a);
    assert_int_equal(a.size, 32 * COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_memory_equal(a.body + 32 * i, all.body + 32 * (i * 7 % 50), 32);
    kit_free(&a);
    kit_free(&all);
    kit_close(&l);
    kit_open(&l, daemon_.port);
    post(&l, "/v1/tables/learned/wpe.bin", NPY, ids, head + 8 * COUNT);
    reads(&l, 200, &a);
    assert_int_equal(a.size, 24 * COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_memory_equal(a.body + 24 * i, table + 128 + 24 * (i * 7 % 50), 24);
    kit_free(&a);
    kit_close(&l);
    free(ids);
}

/* A layout with rows of a stored table: the store is asked in between. */
static void rows_of_a_layout(void **unused)
{
    (void)unused;
    static const size_t counts[] = {100, 30000, 200000};
    for (size_t i = 0; i < 3; i++) {
        struct kit_link l;
        struct kit_answer a;
        const char *at;
        kit_open(&l, daemon_.port);
        post_lengths(&l, "/v1/layouts/packed.bin?rows=learned/wpe&tensor=weight", counts[i]);
        reads(&l, 200, &a);
        at = a.body;
        for (size_t n = 0; n < counts[i]; n++)
            for (unsigned p = 0; p < length_at(n); p++, at += 24)
                assert_memory_equal(at, table + 128 + 24 * p, 24);
        assert_ptr_equal(at, a.body + a.size);
        kit_free(&a);
        kit_close(&l);
        kit_open(&l, daemon_.port);
        post_lengths(&l, "/v1/layouts/packed.bin?rows=learned/nosuch&tensor=weight", counts[i]);
        reads(&l, 404, &a);
        kit_free(&a);
        kit_close(&l);
    }
}

static void other_slow_plans(void **unused)
{
    (void)unused;
    static const char *const targets[] = {
        "/v1/compare?a=/v1/tables/rope%3Flength=400%26width=64&b=/v1/tables/rope%3Flength=400%26"
        "width=64%26base=20000",
        "/v1/tables/rope/precision?length=4096&width=64",
    };
    struct kit_link l;
    struct kit_answer a, again;
    kit_open(&l, daemon_.port);
    for (size_t i = 0; i < 2; i++) {
        kit_ask(&l, "GET", targets[i], NULL, &a);
        assert_int_equal(a.status, 200);
        kit_ask(&l, "GET", targets[i], NULL, &again);
        assert_string_equal(a.body, again.body);
        kit_free(&again);
        kit_ask(&l, "HEAD", targets[i], NULL, &again);
        assert_int_equal(again.status, 200);
        assert_int_equal(strtoul(kit_header(&again, "Content-Length"), NULL, 10), a.size);
        kit_free(&again);
        kit_free(&a);
    }
    size_t size;
    char *text =
        json_lengths("{\"model_type\":\"llama\",\"hidden_size\":64,\"num_attention_heads\":"
                     "4,\"num_hidden_layers\":2,\"rope_theta\":500000,\"max_position_"
                     "embeddings\":64,\"eos_token_id\":[",
                     200000, "]}", &size);
    post(&l, "/v1/resolve", "application/json", text, size);
    reads(&l, 200, &a);
    assert_non_null(strstr(a.body, "base=500000"));
    kit_free(&a);
    free(text);
    kit_close(&l);
}

/* ---------------------------------------------------------------- leaving */

static void a_drain_waits_for_it(void **unused)
{
    (void)unused;
    static const char *const options[] = {"--threads", "1", NULL};
    struct kit_daemon d;
    struct kit_link l;
    struct kit_answer a;
    kit_start(&d, options);
    kit_open(&l, d.port);
    post_lengths(&l, "/v1/layouts/packed.bin?tensor=cu_seqlens&outputs=cu_seqlens", MANY / 2);
    until_waiting(&d, 1);
    kill(d.pid, SIGTERM);
    reads(&l, 200, &a);
    sums(&a, MANY / 2);
    kit_free(&a);
    kit_close(&l);
    assert_int_equal(kit_stop(&d), 0);
}

/* A second signal cuts the connections; the work ends by itself. */
static void a_second_signal(void **unused)
{
    (void)unused;
    static const char *const options[] = {"--threads", "1", NULL};
    struct kit_daemon d;
    struct kit_link l[3];
    kit_start(&d, options);
    for (size_t i = 0; i < 3; i++) {
        kit_open(&l[i], d.port);
        post_lengths(&l[i], "/v1/layouts/packed.bin?tensor=cu_seqlens&outputs=cu_seqlens",
                     i ? SOME : MANY);
    }
    until_waiting(&d, 3);
    kill(d.pid, SIGTERM);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    assert_int_equal(kit_stop(&d), 0);
    for (size_t i = 0; i < 3; i++)
        kit_close(&l[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_list),
        cmocka_unit_test(a_short_request),
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(clients_that_leave),
        cmocka_unit_test(sizes_around_the_limits),
        cmocka_unit_test(refusals),
        cmocka_unit_test(rows_for_positions),
        cmocka_unit_test(rows_of_a_layout),
        cmocka_unit_test(other_slow_plans),
        cmocka_unit_test(a_drain_waits_for_it),
        cmocka_unit_test(a_second_signal),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
