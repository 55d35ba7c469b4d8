/* SPDX-License-Identifier: MIT
 *
 * test_60_learned.c: stored tables over HTTP: what is put is there, byte for byte, in every dtype
 * and window; conditions; tokens; limits; uploads that come slowly, stop, or are large; restarts.
 */
#include "kit/state.h"

#include "posenc.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NPY "Content-Type: application/x-npy\r\n"
#define PUT NPY KIT_BEARER
#define ROWS 700
#define WIDTH 6

static struct kit_state state;
static struct kit_daemon daemon_;
static char body[128 + 4 * ROWS * WIDTH];
static size_t size;

static int start(void **unused)
{
    (void)unused;
    kit_state_make(&state, (const char *const[]){"--max-body", "1MiB", NULL});
    kit_start(&daemon_, state.options);
    size = kit_npy(body, ROWS, WIDTH, 1);
    return 0;
}

static int stop(void **unused)
{
    (void)unused;
    char *log = kit_log(&daemon_);
    int bad = strstr(log, KIT_WRITER) || strstr(log, KIT_READER);
    free(log);
    bad |= kit_stop(&daemon_);
    kit_state_remove(&state);
    return bad;
}

static void gives(const char *method, const char *target, const char *head, int status)
{
    struct kit_answer a;
    kit_once(&daemon_, method, target, head, &a);
    if (a.status != status)
        fail_msg("%s %s: %d instead of %d: %s", method, target, a.status, status, a.body);
    kit_free(&a);
}

static void puts_(const char *name, const char *head, const void *bytes, size_t n, int status)
{
    char target[256];
    struct kit_answer a;
    snprintf(target, sizeof target, "/v1/learned/%s", name);
    kit_put(&daemon_, target, head, bytes, n, &a);
    if (a.status != status)
        fail_msg("PUT %s: %d instead of %d: %s", name, a.status, status, a.body);
    if (status >= 400)
        assert_string_equal(kit_header(&a, "Content-Type"), "application/problem+json");
    kit_free(&a);
}

static void holds_body(const char *target, const void *bytes, size_t n)
{
    struct kit_answer a;
    kit_get(&daemon_, target, NULL, &a);
    if (a.status != 200)
        fail_msg("%s: %d: %s", target, a.status, a.body);
    assert_int_equal(a.size, n);
    assert_memory_equal(a.body, bytes, n);
    kit_free(&a);
}

static void removes(const char *name)
{
    char target[256];
    snprintf(target, sizeof target, "/v1/learned/%s", name);
    gives("DELETE", target, KIT_BEARER, 204);
}

static void there_and_back(void **unused)
{
    (void)unused;
    struct kit_answer a, b;
    gives("GET", "/v1/learned/wpe", NULL, 404);
    gives("GET", "/v1/tables/learned/wpe.bin?length=1", NULL, 404);
    kit_put(&daemon_, "/v1/learned/wpe", PUT, body, size, &a);
    assert_int_equal(a.status, 201);
    kit_get(&daemon_, "/v1/learned/wpe", NULL, &b);
    assert_string_equal(a.body, b.body);
    assert_string_equal(kit_header(&a, "ETag"), kit_header(&b, "ETag"));
    assert_string_equal(kit_header(&b, "Cache-Control"), "no-cache");
    assert_non_null(strstr(b.body, "\"dtype\":\"f32\",\"shape\":[700,6]"));
    kit_free(&a);
    kit_free(&b);
    holds_body("/v1/tables/learned/wpe.bin?length=700", body + 128, size - 128);
    holds_body("/v1/tables/learned/wpe.npy?length=700", body, size);
    holds_body("/v1/tables/learned/wpe.bin?length=5&offset=13", body + 128 + 13 * 24, 5 * 24);
    puts_("wpe", PUT, body, size, 200);
    removes("wpe");
    gives("GET", "/v1/tables/learned/wpe.bin?length=1", NULL, 404);
    gives("DELETE", "/v1/learned/wpe", KIT_BEARER, 404);
}

/* Against pe_convert, value by value, whole and picked. */
static void every_dtype(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        enum pe_dtype dtype;
    } dtypes[] = {{"f64", PE_DTYPE_F64},
                  {"f32", PE_DTYPE_F32},
                  {"f16", PE_DTYPE_F16},
                  {"bf16", PE_DTYPE_BF16}};
    static char want[8 * ROWS * WIDTH];
    puts_("d", PUT, body, size, 201);
    for (int i = 0; i < 4; i++) {
        char target[256];
        size_t unit = pe_dtype_size(dtypes[i].dtype);
        pe_convert(PE_DTYPE_F32, body + 128, dtypes[i].dtype, want, ROWS * WIDTH);
        snprintf(target, sizeof target, "/v1/tables/learned/d.bin?length=%d&dtype=%s", ROWS,
                 dtypes[i].name);
        holds_body(target, want, ROWS * WIDTH * unit);
        pe_convert(PE_DTYPE_F32, body + 128 + 24 * 699, dtypes[i].dtype, want, WIDTH);
        pe_convert(PE_DTYPE_F32, body + 128, dtypes[i].dtype, want + WIDTH * unit, 2 * WIDTH);
        snprintf(target, sizeof target, "/v1/tables/learned/d.bin?positions=699,0-1&dtype=%s",
                 dtypes[i].name);
        holds_body(target, want, 3 * WIDTH * unit);
    }
    gives("GET", "/v1/tables/learned/d.npy?length=1&dtype=bf16", NULL, 406);
    gives("GET", "/v1/tables/learned/d.npy?length=1&dtype=bf16&bf16=u16", NULL, 200);
    gives("GET", "/v1/tables/learned/d.bin?length=701", NULL, 400);
    gives("GET", "/v1/tables/learned/d.bin?length=1&base=2", NULL, 400);
    removes("d");
}

static void text_formats(void **unused)
{
    (void)unused;
    struct kit_answer a, head;
    puts_("t", PUT, body, size, 201);
    kit_get(&daemon_, "/v1/tables/learned/t.json?length=2&offset=1", NULL, &a);
    json_t *j = json_loads(a.body, 0, NULL);
    assert_non_null(j);
    json_t *data =
        json_object_get(json_object_get(json_object_get(j, "tensors"), "weight"), "data");
    for (size_t i = 0; i < 12; i++) {
        float v;
        memcpy(&v, body + 128 + 4 * (6 + i), 4);
        assert_true((float)json_real_value(json_array_get(json_array_get(data, i / 6), i % 6)) ==
                    v);
    }
    assert_string_equal(json_string_value(json_object_get(j, "kind")), "learned/t");
    json_decref(j);
    kit_once(&daemon_, "HEAD", "/v1/tables/learned/t.json?length=2&offset=1", NULL, &head);
    assert_string_equal(kit_header(&head, "ETag"), kit_header(&a, "ETag"));
    if (kit_header(&a, "Content-Length"))
        assert_string_equal(kit_header(&head, "Content-Length"), kit_header(&a, "Content-Length"));
    kit_free(&head);
    kit_free(&a);
    gives("GET", "/v1/tables/learned/t.csv?length=700", NULL, 200);
    gives("GET", "/v1/tables/learned/t.npz?length=700&dtype=f64", NULL, 200);
    gives("GET", "/v1/tables/learned/t.txt?positions=0,699", NULL, 200);
    removes("t");
}

static void conditions_and_ranges(void **unused)
{
    (void)unused;
    static char other[sizeof body];
    struct kit_answer a;
    char head[256], target[256], tag[64], digest[80];
    kit_npy(other, ROWS, WIDTH, 2);
    puts_("c", PUT "If-None-Match: *\r\n", body, size, 201);
    puts_("c", PUT "If-None-Match: *\r\n", body, size, 412);
    puts_("c", PUT, other, size, 409);
    puts_("c", PUT "If-Match: \"0\"\r\n", other, size, 412);
    puts_("new", PUT "If-Match: *\r\n", other, size, 412);
    kit_get(&daemon_, "/v1/learned/c", NULL, &a);
    snprintf(tag, sizeof tag, "%s", kit_header(&a, "ETag"));
    snprintf(digest, sizeof digest, "%.71s", strstr(a.body, "sha256:"));
    kit_free(&a);
    snprintf(head, sizeof head, "If-None-Match: %s\r\n", tag);
    gives("GET", "/v1/learned/c", head, 304);
    snprintf(target, sizeof target, "/v1/tables/learned/c@%s.bin?length=700", digest);
    kit_get(&daemon_, target, NULL, &a);
    assert_memory_equal(a.body, body + 128, size - 128);
    assert_non_null(strstr(kit_header(&a, "Cache-Control"), "immutable"));
    kit_free(&a);
    kit_get(&daemon_, "/v1/tables/learned/c.bin?length=700", "Range: bytes=24-47\r\n", &a);
    assert_int_equal(a.status, 206);
    assert_memory_equal(a.body, body + 128 + 24, 24);
    kit_free(&a);
    kit_get(&daemon_, "/v1/tables/learned/c.bin?length=700&dtype=f64", "Range: bytes=-8\r\n", &a);
    double last;
    assert_int_equal(a.size, 8);
    pe_convert(PE_DTYPE_F32, body + size - 4, PE_DTYPE_F64, &last, 1);
    assert_memory_equal(a.body, &last, 8);
    kit_free(&a);
    snprintf(head, sizeof head, PUT "If-Match: %s\r\n", tag);
    puts_("c", head, other, size, 200);
    gives("GET", target, NULL, 404);
    holds_body("/v1/tables/learned/c.bin?length=700", other + 128, size - 128);
    gives("DELETE", "/v1/learned/c", KIT_BEARER "If-Match: \"0\"\r\n", 412);
    removes("c");
}

static void pages(void **unused)
{
    (void)unused;
    struct kit_answer a;
    static const char *const names[] = {"b", "a.x", "A", "a"};
    for (int i = 0; i < 4; i++)
        puts_(names[i], PUT, body, size, 201);
    kit_get(&daemon_, "/v1/learned?limit=3", NULL, &a);
    json_t *j = json_loads(a.body, 0, NULL), *tables = json_object_get(j, "tables");
    assert_int_equal(json_array_size(tables), 3);
    static const char *const order[] = {"A", "a", "a.x"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(tables, i), "name")),
                            order[i]);
    assert_string_equal(kit_header(&a, "Link"), "</v1/learned?after=a.x&limit=3>; rel=\"next\"");
    json_decref(j);
    kit_free(&a);
    kit_get(&daemon_, "/v1/learned?after=a.x", NULL, &a);
    assert_non_null(strstr(a.body, "\"next\":null"));
    kit_free(&a);
    assert_int_equal(kit_state_files(&state, "blobs"), 1);
    for (int i = 0; i < 4; i++)
        removes(names[i]);
    assert_int_equal(kit_state_files(&state, "blobs"), 0);
}

static void tokens(void **unused)
{
    (void)unused;
    struct kit_answer a;
    puts_("k", NPY, body, size, 401);
    puts_("k", NPY "Authorization: Bearer nope\r\n", body, size, 401);
    puts_("k", NPY "Authorization: Bearer " KIT_READER "\r\n", body, size, 403);
    puts_("k", PUT KIT_BEARER, body, size, 400);
    puts_("k?token=" KIT_WRITER, NPY, body, size, 401);
    gives("GET", "/v1/learned/k?token=" KIT_WRITER, NULL, 400);
    gives("DELETE", "/v1/learned/k", NULL, 401);
    kit_put(&daemon_, "/v1/learned/k", NPY, body, size, &a);
    assert_non_null(strstr(kit_header(&a, "WWW-Authenticate"), "Bearer"));
    kit_free(&a);
    gives("GET", "/v1/learned", NULL, 200);
    /* a refusal comes before the body */
    struct kit_link l;
    kit_open(&l, daemon_.port);
    static const char asks[] =
        "PUT /v1/learned/k HTTP/1.1\r\nHost: test\r\nContent-Length: 500000\r\n" NPY
        "Expect: 100-continue\r\n\r\n";
    kit_send(&l, asks, sizeof asks - 1);
    assert_true(kit_read(&l, "PUT", 5000, &a));
    assert_int_equal(a.status, 401);
    kit_free(&a);
    kit_close(&l);
}

static void wait_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void tokens_are_read_again(void **unused)
{
    (void)unused;
    int status = 0;
    kit_state_tokens(&state, (const char *const[]){"late", "write", NULL});
    kill(daemon_.pid, SIGHUP);
    for (int tries = 0; tries < 100 && status != 201; tries++, wait_ms(20)) {
        struct kit_answer a;
        kit_put(&daemon_, "/v1/learned/late", NPY "Authorization: Bearer late\r\n", body, size, &a);
        status = a.status;
        kit_free(&a);
    }
    assert_int_equal(status, 201);
    puts_("k", PUT, body, size, 401);
    FILE *f = fopen(state.tokens, "a");
    fputs("no token\n", f);
    fclose(f);
    kill(daemon_.pid, SIGHUP);
    for (int tries = 0; tries < 100; tries++, wait_ms(20)) {
        char *log = kit_log(&daemon_);
        bool told = strstr(log, "line 2") != NULL;
        free(log);
        if (told)
            break;
    }
    puts_("late", NPY "Authorization: Bearer late\r\n", body, size, 200);
    kit_state_tokens(&state, (const char *const[]){KIT_WRITER, "write", KIT_READER, "read", NULL});
    kill(daemon_.pid, SIGHUP);
    for (int tries = 0; tries < 100 && status != 204; tries++, wait_ms(20)) {
        struct kit_answer a;
        kit_once(&daemon_, "DELETE", "/v1/learned/late", KIT_BEARER, &a);
        status = a.status;
        kit_free(&a);
    }
    assert_int_equal(status, 204);
}

static void bodies_that_are_refused(void **unused)
{
    (void)unused;
    static char large[(1 << 20) + 1];
    static char bad[sizeof body];
    puts_("x", PUT, large, sizeof large, 413);
    puts_("x", KIT_BEARER "Content-Type: text/plain\r\n", body, size, 415);
    puts_("x", PUT "Content-Encoding: gzip\r\n", body, size, 415);
    puts_("x", PUT, body, size - 1, 400);
    puts_("x", PUT, "", 0, 400);
    puts_("x", KIT_BEARER "Content-Type: application/x-safetensors\r\n", body, size, 400);
    puts_(".x", PUT, body, size, 400);
    puts_("a%2fb", PUT, body, size, 400);
    puts_("x?y=1", PUT, body, size, 400);
    memcpy(bad, body, size);
    memcpy(bad + size - 4, "\0\0\xc0\x7f", 4);
    puts_("x", PUT, bad, size, 400);
    gives("PUT", "/v1/learned/x", PUT, 411);
    gives("GET", "/v1/learned/x", NULL, 404);
    assert_int_equal(kit_state_files(&state, "drafts"), 0);
    assert_int_equal(kit_state_files(&state, "blobs"), 0);
}

static void clients_that_leave(void **unused)
{
    (void)unused;
    static char large[128 + 4 * 200000];
    size_t n = kit_npy(large, 200000, 1, 3);
    for (size_t cut = 0; cut < n; cut += n / 5) {
        struct kit_link l;
        char head[256];
        int h = snprintf(
            head, sizeof head,
            "PUT /v1/learned/cut HTTP/1.1\r\nHost: test\r\nContent-Length: %zu\r\n" PUT "\r\n", n);
        kit_open(&l, daemon_.port);
        kit_send(&l, head, (size_t)h);
        if (cut)
            kit_send(&l, large, cut);
        wait_ms(20);
        kit_close(&l);
    }
    for (int tries = 0; tries < 200 && kit_state_files(&state, "drafts"); tries++)
        wait_ms(20);
    assert_int_equal(kit_state_files(&state, "drafts"), 0);
    gives("GET", "/v1/learned/cut", NULL, 404);
    puts_("cut", PUT, large, n, 201);
    holds_body("/v1/tables/learned/cut.bin?length=200000", large + 128, n - 128);
    removes("cut");
}

static void in_small_pieces(void **unused)
{
    (void)unused;
    struct kit_link l;
    struct kit_answer a;
    char head[256];
    int h = snprintf(head, sizeof head,
                     "PUT /v1/learned/slow HTTP/1.1\r\nHost: test\r\nExpect: "
                     "100-continue\r\nContent-Length: %zu\r\n" PUT "\r\n",
                     size);
    kit_open(&l, daemon_.port);
    kit_send_pieces(&l, head, (size_t)h, 7);
    kit_send_pieces(&l, body, 500, 1);
    kit_send(&l, body + 500, size - 500);
    assert_true(kit_read(&l, "PUT", 10000, &a));
    assert_int_equal(a.status, 201);
    kit_free(&a);
    kit_close(&l);
    holds_body("/v1/tables/learned/slow.npy?length=700", body, size);
    removes("slow");
}

static void restart(void **unused)
{
    (void)unused;
    struct kit_answer a, b;
    puts_("kept", PUT, body, size, 201);
    kit_get(&daemon_, "/v1/tables/learned/kept.bin?length=9", NULL, &a);
    assert_int_equal(kit_stop(&daemon_), 0);
    kit_start(&daemon_, state.options);
    kit_get(&daemon_, "/v1/tables/learned/kept.bin?length=9", NULL, &b);
    assert_int_equal(b.status, 200);
    assert_string_equal(kit_header(&a, "ETag"), kit_header(&b, "ETag"));
    assert_memory_equal(a.body, b.body, a.size);
    kit_free(&a);
    kit_free(&b);
    removes("kept");
}

static long peak_kib(void)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)daemon_.pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6))
            kib = strtol(line + 6, NULL, 10);
    fclose(f);
    return kib;
}

/* A body of 48 MiB takes no more memory than a small one. */
static void large_in_little_memory(void **unused)
{
    (void)unused;
    enum { LARGE_ROWS = 12 << 20 };
    char *large = malloc(128 + 4 * (size_t)LARGE_ROWS);
    assert_non_null(large);
    size_t n = kit_npy(large, LARGE_ROWS, 1, 4);
    assert_int_equal(kit_stop(&daemon_), 0);
    state.options[5] = "64MiB";
    kit_start(&daemon_, state.options);
    puts_("small", PUT, body, size, 201);
    long before = peak_kib();
    puts_("large", PUT, large, n, 201);
    assert_in_range(peak_kib() - before, 0, 16 << 10);
    struct kit_answer a;
    kit_get(&daemon_, "/v1/tables/learned/large.bin?length=3&offset=12582909", NULL, &a);
    assert_int_equal(a.size, 12);
    assert_memory_equal(a.body, large + n - 12, 12);
    kit_free(&a);
    removes("large");
    removes("small");
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(every_dtype),
        cmocka_unit_test(text_formats),
        cmocka_unit_test(conditions_and_ranges),
        cmocka_unit_test(pages),
        cmocka_unit_test(tokens),
        cmocka_unit_test(tokens_are_read_again),
        cmocka_unit_test(bodies_that_are_refused),
        cmocka_unit_test(clients_that_leave),
        cmocka_unit_test(in_small_pieces),
        cmocka_unit_test(restart),
        cmocka_unit_test(large_in_little_memory),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
