/* SPDX-License-Identifier: MIT
 *
 * test_36_headers.c: what an answer says beside its body: lengths of what is not sent, digests,
 * times; and that openapi.json names what tables really have.
 */
#include "kit/state.h"

#include <jansson.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#define TABLES "/v1/tables/"
#define LAYOUT "/v1/layouts/packed"

static struct kit_state state;
static struct kit_daemon daemon_;

static int start(void **unused)
{
    (void)unused;
    char table[128 + 4 * 50 * 6];
    struct kit_answer a;
    kit_state_make(&state, (const char *const[]){"--threads", "1", NULL});
    kit_start(&daemon_, state.options);
    size_t size = kit_npy(table, 50, 6, 1);
    kit_put(&daemon_, "/v1/learned/wpe", "Content-Type: application/x-npy\r\n" KIT_BEARER, table,
            size, &a);
    int bad = a.status != 201;
    kit_free(&a);
    return bad;
}

static int stop(void **unused)
{
    (void)unused;
    int code = kit_stop(&daemon_);
    kit_state_remove(&state);
    return code;
}

/* ---------------------------------------------------------------- 304 */

/* RFC 9110, 8.6: the length of the 200, or none; RFC 9112, 6.3: not a byte behind the head. */
static void is_bare(struct kit_link *l, const char *what, const struct kit_answer *a,
                    const struct kit_answer *whole)
{
    const char *length = kit_header(a, "Content-Length");
    struct kit_answer next;
    if (length && strtoul(length, NULL, 10) != whole->size)
        fail_msg("%s: Content-Length: %s, and a 200 has %zu", what, length, whole->size);
    if (a->closes) {
        assert_true(kit_closed(l, 5000));
        return;
    }
    if (kit_header(a, "Transfer-Encoding") && !whole->chunked)
        fail_msg("%s is chunked", what);
    kit_ask(l, "GET", "/livez", NULL, &next);
    assert_int_equal(next.status, 200);
    assert_string_equal(next.body, "live\n");
    kit_free(&next);
}

static void every_kind_of_304(void **unused)
{
    (void)unused;
    static const struct {
        const char *target, *head;
        bool states; /* its length is known without making it */
    } cases[] = {
        {"/client.py", "", true},
        {"/openapi.json", "", true},
        {"/docs", "", true},
        {"/", "", true},
        {"/", "Accept: text/html\r\n", true},
        {"/v1", "", true},
        {"/v1/kinds", "", true},
        {"/v1/conventions", "", true},
        {"/problems/not-found", "", true},
        {"/v1/compare?a=/v1/tables/rope%3Flength=4%26width=12&b=/v1/tables/rope%3Flength=4%26width="
         "14",
         "", true},
        {TABLES "rope/precision?length=8&width=8", "", true},
        {"/v1/learned", "", true},
        {"/v1/learned/wpe", "", true},
        {TABLES "learned/wpe.bin?length=4", "", true},
        {TABLES "learned/wpe?length=4", "", true},
        {TABLES "sinusoidal.bin?length=8&width=8", "", true},
        {TABLES "sinusoidal.npz?length=8&width=8", "", true},
        {TABLES "sinusoidal.json?length=8&width=8", "", true},
        {TABLES "sinusoidal.csv?length=8&width=8", "Accept-Encoding: gzip\r\n", true},
        {TABLES "sinusoidal.csv?length=3000&width=64", "", false},
        {TABLES "sinusoidal.bin?length=100000&width=64", "", true},
        {TABLES "rope/frequencies?width=8", "", false},
        {LAYOUT ".bin?lengths=3,5&tensor=position_ids", "", true},
        {LAYOUT "?lengths=3,5", "", true},
        {LAYOUT "?lengths=60000", "", false},
        {LAYOUT ".bin?lengths=3,5&rows=sinusoidal&width=8&tensor=weight", "", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit_answer whole, a;
        char head[256], tag[64];
        kit_get(&daemon_, cases[i].target, cases[i].head, &whole);
        if (whole.status != 200 || !kit_header(&whole, "ETag"))
            fail_msg("%s: %d, or no tag", cases[i].target, whole.status);
        snprintf(tag, sizeof tag, "%s", kit_header(&whole, "ETag"));
        for (int form = 0; form < 8; form++) {
            struct kit_link l;
            kit_open(&l, daemon_.port);
            snprintf(head, sizeof head, "%sIf-None-Match: %s%s\r\n", cases[i].head,
                     form & 1 ? "\"other\", " : "", form & 2 ? "*" : tag);
            if ((form & 3) == 3)
                snprintf(head, sizeof head, "%sIf-None-Match: W/%s\r\n", cases[i].head, tag);
            /* the second and third time it may be kept */
            for (int times = 0; times < 4; times++) {
                const char *method = form & 4 ? "HEAD" : "GET";
                kit_ask(&l, method, cases[i].target, head, &a);
                if (a.status != 304)
                    fail_msg("%s: %d", cases[i].target, a.status);
                if (cases[i].states && !kit_header(&a, "Content-Length"))
                    fail_msg("%s: no Content-Length", cases[i].target);
                is_bare(&l, cases[i].target, &a, &whole);
                bool closed = a.closes;
                kit_free(&a);
                if (closed)
                    break;
            }
            kit_close(&l);
        }
        kit_free(&whole);
    }
}

static void no_length_of_nothing(void **unused)
{
    (void)unused;
    struct kit_answer a;
    kit_once(&daemon_, "OPTIONS", TABLES "sinusoidal", NULL, &a);
    assert_int_equal(a.status, 204);
    assert_null(kit_header(&a, "Content-Length"));
    assert_null(kit_header(&a, "Transfer-Encoding"));
    kit_free(&a);
}

/* ---------------------------------------------------------------- digests */

static void digest_of(const struct kit_answer *a, char out[64])
{
    struct sha256_ctx context;
    uint8_t sum[SHA256_DIGEST_SIZE];
    char text[64] = "";
    sha256_init(&context);
    sha256_update(&context, a->size, (const uint8_t *)a->body);
    sha256_digest(&context, sizeof sum, sum);
    base64_encode_raw(text, sizeof sum, sum);
    snprintf(out, 64, "sha-256=:%.44s:", text);
}

/* Whether an answer has a digest, which must be right. */
static bool digested(const struct kit_answer *a)
{
    const char *said = kit_header(a, "Repr-Digest");
    char own[64];
    digest_of(a, own);
    if (said)
        assert_string_equal(said, own);
    return said != NULL;
}

/* Asks for a target until its answer has a digest: how often. */
static unsigned asked_until_digested(struct kit_link *l, const char *target, const char *head)
{
    for (unsigned n = 1; n <= 4096; n++) {
        struct kit_answer a;
        kit_ask(l, "GET", target, head, &a);
        assert_int_equal(a.status, 200);
        bool done = digested(&a);
        kit_free(&a);
        if (done)
            return n;
        if (n >= 8)
            nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    return 0;
}

static void digests_of_hot_answers(void **unused)
{
    (void)unused;
    static const struct {
        const char *target, *head;
        unsigned most;
    } cases[] = {
        {TABLES "sinusoidal.bin?length=100&width=64", "", 3},
        {TABLES "sinusoidal.npy?length=100&width=64", "", 3},
        {TABLES "sinusoidal.npy?length=4&width=4", "", 3},
        {TABLES "rope.safetensors?length=100&width=64", "", 3},
        {TABLES "sinusoidal.json?length=11&width=8", "", 3},
        {TABLES "sinusoidal.csv?length=11&width=8", "Accept-Encoding: gzip\r\n", 3},
        {TABLES "sinusoidal.csv?length=11&width=8", "Accept-Encoding: zstd\r\n", 3},
        {TABLES "sinusoidal.npy?length=1000&width=64", "", 4},
        {TABLES "sinusoidal.npy?length=40000&width=64", "", 1024},
        {TABLES "sinusoidal.bin?length=40000&width=64", "", 1024},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit_link l;
        struct kit_answer a, first;
        kit_open(&l, daemon_.port);
        kit_ask(&l, "GET", cases[i].target, cases[i].head, &first);
        assert_null(kit_header(&first, "Repr-Digest"));
        unsigned n = asked_until_digested(&l, cases[i].target, cases[i].head);
        if (!n || n > cases[i].most)
            fail_msg("%s: digested at the %u. time", cases[i].target, n);
        /* from now on always, in the lane and beside it */
        for (int times = 0; times < 4; times++) {
            kit_ask(&l, "GET", cases[i].target, cases[i].head, &a);
            assert_true(digested(&a));
            assert_int_equal(a.size, first.size);
            kit_free(&a);
        }
        char said[64], head[256];
        digest_of(&first, said);
        for (int times = 0; times < 4; times++) {
            kit_ask(&l, "HEAD", cases[i].target, cases[i].head, &a);
            assert_string_equal(kit_header(&a, "Repr-Digest"), said);
            kit_free(&a);
        }
        snprintf(head, sizeof head, "%sIf-None-Match: %s\r\n", cases[i].head,
                 kit_header(&first, "ETag"));
        kit_ask(&l, "GET", cases[i].target, head, &a);
        assert_int_equal(a.status, 304);
        assert_null(kit_header(&a, "Repr-Digest"));
        kit_free(&a);
        kit_free(&first);
        kit_close(&l);
    }
}

/* RFC 9530: a part states the digest of the whole. */
static void digest_of_a_part(void **unused)
{
    (void)unused;
    static const char target[] = TABLES "sinusoidal.bin?length=77&width=64";
    struct kit_link l;
    struct kit_answer whole, part;
    char said[64];
    kit_open(&l, daemon_.port);
    kit_ask(&l, "GET", target, NULL, &whole);
    kit_ask(&l, "GET", target, "Range: bytes=5-20\r\n", &part);
    assert_int_equal(part.status, 206);
    assert_null(kit_header(&part, "Repr-Digest"));
    kit_free(&part);
    assert_true(asked_until_digested(&l, target, NULL) > 0);
    kit_ask(&l, "GET", target, "Range: bytes=5-20\r\n", &part);
    assert_int_equal(part.status, 206);
    assert_memory_equal(part.body, whole.body + 5, 16);
    digest_of(&whole, said);
    assert_string_equal(kit_header(&part, "Repr-Digest"), said);
    kit_free(&part);
    kit_free(&whole);
    kit_close(&l);
}

/* A HEAD that was kept before the digest was known has it in the end. */
static void head_learns_it(void **unused)
{
    (void)unused;
    static const char target[] = TABLES "sinusoidal.bin?length=78&width=64";
    struct kit_link l;
    struct kit_answer a;
    bool said = false;
    kit_open(&l, daemon_.port);
    for (int n = 0; n < 3; n++) {
        kit_ask(&l, "HEAD", target, NULL, &a);
        assert_null(kit_header(&a, "Repr-Digest"));
        kit_free(&a);
    }
    assert_true(asked_until_digested(&l, target, NULL) > 0);
    for (int n = 0; n < 16 && !said; n++) {
        kit_ask(&l, "HEAD", target, NULL, &a);
        said = kit_header(&a, "Repr-Digest") != NULL;
        kit_free(&a);
    }
    assert_true(said);
    kit_close(&l);
}

/* ---------------------------------------------------------------- times */

/* `text` up to a number, which is taken off: where it goes on. */
static const char *after_duration(const char *at, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(at, text, n) != 0)
        fail_msg("Server-Timing: %s where %s should stand", at, text);
    char *end;
    double v = strtod(at + n, &end);
    assert_true(end > at + n && v >= 0 && v < 60000);
    return end;
}

static void times_of_tables(void **unused)
{
    (void)unused;
    static const char *const misses[] = {
        TABLES "sinusoidal.bin?length=101&width=64",
        TABLES "sinusoidal.bin?length=20001&width=64",
        TABLES "sinusoidal.json?length=10001&width=64",
        TABLES "sinusoidal.json?length=9&width=8",
        LAYOUT ".csv?lengths=3,5&tensor=position_ids",
        LAYOUT "?lengths=3,5",
        LAYOUT "?lengths=30000",
    };
    for (size_t i = 0; i < sizeof misses / sizeof *misses; i++) {
        struct kit_answer a;
        kit_get(&daemon_, misses[i], NULL, &a);
        const char *at = kit_header(&a, "Server-Timing");
        assert_non_null(at);
        at = after_duration(at, "cache;desc=miss, plan;dur=");
        assert_string_equal(after_duration(at, ", make;dur="), "");
        assert_memory_equal(kit_header(&a, "Cache-Status"), "posenc; fwd=miss", 16);
        kit_free(&a);
    }
    for (int n = 0; n < 6; n++) {
        struct kit_answer a;
        kit_get(&daemon_, misses[0], NULL, &a);
        assert_string_equal(kit_header(&a, "Server-Timing"), "cache;desc=hit");
        assert_string_equal(kit_header(&a, "Cache-Status"), "posenc; hit");
        kit_free(&a);
    }
    static const char *const others[] = {"/livez", "/v1", "/nosuch", TABLES "sinusoidal?length=x"};
    for (size_t i = 0; i < 4; i++) {
        struct kit_answer a;
        kit_get(&daemon_, others[i], NULL, &a);
        assert_null(kit_header(&a, "Server-Timing"));
        kit_free(&a);
    }
}

/* ---------------------------------------------------------------- openapi.json */

/* Headers of a response that openapi.json names once. */
static json_t *named(json_t *doc, const char *response)
{
    json_t *at = json_object_get(json_object_get(doc, "components"), "responses");
    at = json_object_get(json_object_get(at, response), "headers");
    assert_non_null(at);
    return at;
}

/* What HTTP itself and every answer have. */
static bool is_general(const char *name)
{
    static const char *const general[] = {
        "Access-Control-Allow-Origin",
        "Access-Control-Expose-Headers",
        "X-Content-Type-Options",
        "Content-Type",
        "Content-Length",
        "Content-Disposition",
        "Content-Encoding",
        "Transfer-Encoding",
        "Accept-Ranges",
        "Vary",
        "Date",
        "X-Request-Id",
        "Connection",
        "X-Tensor-Order",
        "X-Tensor-Byte-Order",
    };
    for (size_t i = 0; i < sizeof general / sizeof *general; i++)
        if (strcasecmp(general[i], name) == 0)
            return true;
    return false;
}

/* Every header of the answer is named, and every one that is named is there. */
static void agree(json_t *headers, const struct kit_answer *a, const char *absent)
{
    const char *name;
    json_t *value;
    for (const char *line = strstr(a->head, "\r\n"); line && line[2];
         line = strstr(line + 2, "\r\n")) {
        char own[64];
        const char *colon = strchr(line + 2, ':');
        if (!colon || line[2] == '\r')
            break;
        snprintf(own, sizeof own, "%.*s", (int)(colon - line - 2), line + 2);
        if (!is_general(own) && !json_object_get(headers, own))
            fail_msg("openapi.json does not name %s", own);
    }
    json_object_foreach(headers, name, value)
    {
        if (!kit_header(a, name) && !(absent && strcmp(absent, name) == 0))
            fail_msg("openapi.json names %s, which is not there", name);
    }
}

static void openapi_names_them(void **unused)
{
    (void)unused;
    static const char target[] = TABLES "sinusoidal.bin?length=79&width=64";
    struct kit_link l;
    struct kit_answer a;
    kit_open(&l, daemon_.port);
    kit_ask(&l, "GET", "/openapi.json", NULL, &a);
    json_t *doc = json_loadb(a.body, a.size, 0, NULL);
    assert_non_null(doc);
    kit_free(&a);
    kit_ask(&l, "GET", target, NULL, &a);
    agree(named(doc, "Table"), &a, "Repr-Digest");
    kit_free(&a);
    assert_true(asked_until_digested(&l, target, NULL) > 0);
    kit_ask(&l, "GET", target, NULL, &a);
    agree(named(doc, "Table"), &a, NULL);
    kit_free(&a);
    kit_ask(&l, "GET", LAYOUT ".bin?lengths=3,5&tensor=position_ids", NULL, &a);
    agree(named(doc, "Layout"), &a, NULL);
    kit_free(&a);
    kit_ask(&l, "GET", target, "Range: bytes=0-3\r\n", &a);
    assert_int_equal(a.status, 206);
    json_t *part = named(doc, "Part");
    assert_non_null(json_object_get(part, "Content-Range"));
    assert_non_null(json_object_get(part, "Repr-Digest"));
    kit_free(&a);
    kit_close(&l);
    json_decref(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_304),      cmocka_unit_test(no_length_of_nothing),
        cmocka_unit_test(digests_of_hot_answers), cmocka_unit_test(digest_of_a_part),
        cmocka_unit_test(head_learns_it),         cmocka_unit_test(times_of_tables),
        cmocka_unit_test(openapi_names_them),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
