/* SPDX-License-Identifier: MIT
 *
 * test_25_coding.c: gzip and zstd over the wire: the content is that of the plain body whichever
 * way it is made, equal bytes under equal tags, clients that leave, and bodies that are cut and
 * look so.
 */
#include "kit/kit.h"
#include "kit/decoded.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct kit_daemon daemon_;

static const char *const codings[] = {"gzip", "zstd"};

#define S "/v1/tables/sinusoidal"
#define ENDLESS S ".csv?length=1099511627776&width=64"

/* Whole in one piece, and made as they are sent. */
static const char *const small[] = {
    S ".json?length=16&width=16",
    S ".csv?length=16&width=16",
    S ".txt?length=16&width=16",
    "/v1/tables/t5.npy?length=64",
    "/v1/tables/t5.safetensors?length=100",
    "/v1/layouts/padded.json?lengths=5,3,7",
    "/v1/layouts/padded.bin?tensor=attention_mask&lengths=50,30,70"};
static const char *const large[] = {
    S ".json?length=4096&width=64",
    S ".csv?length=4096&width=64&base=1234.5",
    S ".txt?length=3000&width=64&dtype=f64",
    S ".csv?length=5&width=65536&base=7",
    "/v1/tables/t5.npy?length=1024&queries=512",
    "/v1/tables/deberta.bin?length=700&position_buckets=256&max_relative_positions=512",
    "/v1/layouts/padded.npy?tensor=position_ids&lengths=900,4000,20000,7,1,2,3"};

static void get(const char *target, const char *coding, struct kit_answer *a)
{
    char head[128];
    snprintf(head, sizeof head, "Accept-Encoding: %s\r\n", coding ? coding : "");
    kit_get(&daemon_, target, coding ? head : NULL, a);
}

static void same_content(const struct kit_answer *coded, const char *coding,
                         const struct kit_answer *plain)
{
    size_t size;
    assert_string_equal(kit_header(coded, "Content-Encoding"), coding);
    char *content = kit_decoded(coding, coded->body, coded->size, false, &size);
    assert_non_null(content);
    assert_int_equal(size, plain->size);
    assert_memory_equal(content, plain->body, size);
    free(content);
}

/* Coded first, so that what is sent first is made as it goes out. */
static void content_of(const char *target, bool chunked)
{
    struct kit_answer a[2], again, plain;
    for (int i = 0; i < 2; i++)
        get(target, codings[i], &a[i]);
    get(target, NULL, &plain);
    assert_int_equal(plain.status, 200);
    assert_null(kit_header(&plain, "Content-Encoding"));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(a[i].status, 200);
        assert_int_equal(a[i].chunked, chunked);
        same_content(&a[i], codings[i], &plain);
        assert_true(a[i].size < plain.size);
        assert_string_equal(kit_header(&a[i], "Vary"), "Accept-Encoding");
        assert_string_equal(kit_header(&plain, "Vary"), "Accept-Encoding");
        assert_string_not_equal(kit_header(&a[i], "ETag"), kit_header(&plain, "ETag"));
        assert_string_equal(
            kit_header(&a[i], "Content-Location") ? kit_header(&a[i], "Content-Location") : "",
            kit_header(&plain, "Content-Location") ? kit_header(&plain, "Content-Location") : "");
        get(target, codings[i], &again);
        assert_string_equal(kit_header(&again, "ETag"), kit_header(&a[i], "ETag"));
        assert_int_equal(again.size, a[i].size);
        assert_memory_equal(again.body, a[i].body, again.size);
        kit_free(&again);
    }
    assert_string_not_equal(kit_header(&a[0], "ETag"), kit_header(&a[1], "ETag"));
    kit_free(&a[0]);
    kit_free(&a[1]);
    kit_free(&plain);
}

static void content_is_that_of_the_plain_body(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        content_of(small[i], false);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        content_of(large[i], true);
}

/* The same bytes come whether the table is kept, joined, or made as it is sent. */
static void bytes_do_not_depend_on_the_way(void **state)
{
    (void)state;
    static const char *const options[] = {"--cache-size", "0KiB", NULL};
    struct kit_daemon other;
    kit_start(&other, options);
    for (size_t i = 0; i < sizeof large / sizeof *large + sizeof small / sizeof *small; i++) {
        const char *target =
            i < sizeof large / sizeof *large ? large[i] : small[i - sizeof large / sizeof *large];
        for (int c = 0; c < 2; c++) {
            char head[64];
            struct kit_answer a, b;
            get(target, codings[c], &a);
            snprintf(head, sizeof head, "Accept-Encoding: %s\r\n", codings[c]);
            kit_get(&other, target, head, &b);
            assert_string_equal(kit_header(&a, "ETag"), kit_header(&b, "ETag"));
            assert_int_equal(a.size, b.size);
            assert_memory_equal(a.body, b.body, a.size);
            kit_free(&a);
            kit_free(&b);
        }
    }
    assert_int_equal(kit_stop(&other), 0);
}

/* Often enough for the answer to be kept ready, in turns, on one connection. */
static void kept_answers_know_their_coding(void **state)
{
    (void)state;
    static const char *const heads[] = {NULL, "Accept-Encoding: gzip\r\n",
                                        "Accept-Encoding: zstd\r\n", "Accept-Encoding: br\r\n",
                                        "Accept-Encoding: gzip;q=0.9, zstd;q=0.1\r\n"};
    static const char *const wanted[] = {NULL, "gzip", "zstd", NULL, "gzip"};
    struct kit_answer plain, a;
    struct kit_link l;
    kit_open(&l, daemon_.port);
    for (size_t t = 0; t < 2; t++) {
        const char *target = t ? "/v1/tables/t5.npy?length=64" : S ".json?length=16&width=16";
        kit_ask(&l, "GET", target, NULL, &plain);
        for (int round = 0; round < 30; round++) {
            int n = round % 5;
            kit_ask(&l, "GET", target, heads[n], &a);
            if (wanted[n])
                same_content(&a, wanted[n], &plain);
            else
                assert_null(kit_header(&a, "Content-Encoding"));
            size_t size = a.size;
            char *tag = strdup(kit_header(&a, "ETag"));
            kit_free(&a);
            kit_ask(&l, "HEAD", target, heads[n], &a);
            assert_int_equal(strtoul(kit_header(&a, "Content-Length"), NULL, 10), size);
            assert_string_equal(kit_header(&a, "ETag"), tag);
            if (wanted[n])
                assert_string_equal(kit_header(&a, "Content-Encoding"), wanted[n]);
            kit_free(&a);
            char head[160];
            snprintf(head, sizeof head, "%sIf-None-Match: %s\r\n", heads[n] ? heads[n] : "", tag);
            kit_ask(&l, "GET", target, head, &a);
            assert_int_equal(a.status, 304);
            assert_string_equal(kit_header(&a, "Vary"), "Accept-Encoding");
            assert_null(kit_header(&a, "Content-Encoding"));
            kit_free(&a);
            free(tag);
        }
        kit_free(&plain);
    }
    kit_close(&l);
}

/* Two streams in a row: the second waits for the first. */
static void pipelined(void **state)
{
    (void)state;
    struct kit_link l;
    struct kit_answer plain, a;
    char text[1024];
    get(large[0], NULL, &plain);
    snprintf(text, sizeof text,
             "GET %s HTTP/1.1\r\nHost: t\r\nAccept-Encoding: gzip\r\n\r\nGET %s HTTP/1.1\r\nHost: "
             "t\r\nAccept-Encoding: "
             "zstd\r\n\r\nGET %s HTTP/1.1\r\nHost: t\r\n\r\n",
             large[0], large[0], large[0]);
    kit_open(&l, daemon_.port);
    kit_send(&l, text, strlen(text));
    for (int i = 0; i < 3; i++) {
        assert_true(kit_read(&l, "GET", 20000, &a));
        if (i < 2)
            same_content(&a, codings[i], &plain);
        else
            assert_memory_equal(a.body, plain.body, plain.size);
        kit_free(&a);
    }
    kit_free(&plain);
    kit_close(&l);
}

/* A client of HTTP/1.0 knows no chunks. */
static void until_the_close(void **state)
{
    (void)state;
    struct kit_link l;
    struct kit_answer plain, a;
    char text[512];
    get(large[0], NULL, &plain);
    snprintf(text, sizeof text, "GET %s HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n", large[0]);
    kit_open(&l, daemon_.port);
    kit_send(&l, text, strlen(text));
    assert_true(kit_read(&l, "GET", 20000, &a));
    assert_false(a.chunked);
    same_content(&a, "gzip", &plain);
    kit_free(&a);
    kit_free(&plain);
    kit_close(&l);
}

static void posted(void **state)
{
    (void)state;
    static const char body[] = "{\"length\":64,\"queries\":64}";
    struct kit_link l;
    struct kit_answer plain, a;
    char text[512];
    kit_get(&daemon_, "/v1/tables/t5.npy?length=64&queries=64", NULL, &plain);
    snprintf(text, sizeof text,
             "POST /v1/tables/t5.npy HTTP/1.1\r\nHost: t\r\nContent-Type: "
             "application/json\r\nAccept-Encoding: "
             "zstd\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(body), body);
    kit_open(&l, daemon_.port);
    kit_send(&l, text, strlen(text));
    assert_true(kit_read(&l, "POST", 20000, &a));
    assert_int_equal(a.status, 200);
    same_content(&a, "zstd", &plain);
    kit_free(&a);
    kit_free(&plain);
    kit_close(&l);
}

static void floats_stay_as_they_are(void **state)
{
    (void)state;
    static const char *const formats[] = {"bin", "npy", "npz", "safetensors"};
    for (size_t i = 0; i < 4; i++) {
        char target[96];
        struct kit_answer plain, a;
        snprintf(target, sizeof target, S ".%s?length=256&width=64", formats[i]);
        get(target, NULL, &plain);
        get(target, "gzip, zstd", &a);
        assert_null(kit_header(&a, "Content-Encoding"));
        assert_string_equal(kit_header(&a, "ETag"), kit_header(&plain, "ETag"));
        assert_int_equal(a.size, plain.size);
        assert_memory_equal(a.body, plain.body, plain.size);
        kit_free(&a);
        kit_free(&plain);
    }
}

static void nothing_that_is_welcome(void **state)
{
    (void)state;
    struct kit_answer a;
    get(small[0], "identity;q=0, br", &a);
    assert_int_equal(a.status, 406);
    assert_non_null(strstr(a.body, "zstd"));
    kit_free(&a);
    get(small[0], "identity;q=0, gzip;q=0.1", &a);
    assert_string_equal(kit_header(&a, "Content-Encoding"), "gzip");
    kit_free(&a);
}

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Asks for an endless table and takes at least `size` bytes of what comes. Returns how many. */
static size_t begin_endless(struct kit_daemon *d, struct kit_link *l, const char *coding, char *out,
                            size_t size)
{
    char text[256];
    snprintf(text, sizeof text,
             "GET " ENDLESS " HTTP/1.1\r\nHost: t\r\nAccept-Encoding: %s\r\n\r\n", coding);
    kit_open(l, d->port);
    kit_send(l, text, strlen(text));
    size_t have = 0;
    while (have < size) {
        ssize_t n = read(l->fd, out + have, size - have);
        assert_true(n > 0);
        have += (size_t)n;
    }
    return have;
}

/* Half of a body under way is given up, on the pool too, and the others are served. */
static void clients_that_leave(void **state)
{
    (void)state;
    char out[65536];
    for (int i = 0; i < 30; i++) {
        struct kit_link l;
        begin_endless(&daemon_, &l, codings[i % 2], out, i % 3 ? sizeof out : 1);
        kit_close(&l);
    }
    for (int i = 0; i < 200 && kit_metric(&daemon_, "posenc_streams") > 0; i++)
        pause_ms(20);
    assert_true(kit_metric(&daemon_, "posenc_streams") == 0);
    content_of(small[0], false);
}

/* Nothing ends it: neither the last chunk nor the end of the frame. */
static void what_is_cut_looks_so(void **state)
{
    (void)state;
    static const char *const options[] = {"--drain-timeout", "200ms", NULL};
    for (int c = 0; c < 2; c++) {
        struct kit_daemon d;
        struct kit_link l;
        static char out[1 << 20];
        kit_start(&d, options);
        size_t have = begin_endless(&d, &l, codings[c], out, 100000);
        assert_int_equal(kill(d.pid, SIGTERM), 0);
        for (ssize_t n = 1; n > 0;) {
            n = read(l.fd, out + have, sizeof out - have);
            if (n > 0)
                have += (size_t)n;
            if (have > sizeof out / 2) { /* what came last is enough */
                memmove(out, out + have - 64, 64);
                have = 64;
            }
        }
        assert_true(have >= 5);
        assert_true(memcmp(out + have - 5, "0\r\n\r\n", 5) != 0);
        kit_close(&l);
        assert_int_equal(kit_stop(&d), 0);
    }
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
        cmocka_unit_test(content_is_that_of_the_plain_body),
        cmocka_unit_test(bytes_do_not_depend_on_the_way),
        cmocka_unit_test(kept_answers_know_their_coding),
        cmocka_unit_test(pipelined),
        cmocka_unit_test(until_the_close),
        cmocka_unit_test(posted),
        cmocka_unit_test(floats_stay_as_they_are),
        cmocka_unit_test(nothing_that_is_welcome),
        cmocka_unit_test(clients_that_leave),
        cmocka_unit_test(what_is_cut_looks_so),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
