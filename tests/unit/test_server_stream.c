/* SPDX-License-Identifier: MIT
 *
 * test_server_stream.c: bodies of tables: the same bytes whether they are made as they are pulled,
 * in pieces of any size, of a payload that is made at once, or of one that a pool makes meanwhile;
 * any window of them is a part of the whole; payloads in bands equal payloads in one go.
 */
#include "answer/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const tables[] = {
    "/v1/tables/sinusoidal.bin?length=1000&width=64&offset=5",
    "/v1/tables/sinusoidal.npy?length=77&width=30&dtype=f64",
    "/v1/tables/rope.safetensors?length=500&width=36&dtype=f16",
    "/v1/tables/rope.bin?length=333&width=22&dtype=bf16",
    "/v1/tables/rope.npy?length=200&width=16&layout=complex&tensor=table",
    "/v1/tables/rope.bin?length=300&width=16&tensor=sin",
    "/v1/tables/rope.json?length=200&width=64",
    "/v1/tables/sinusoidal.csv?length=3000&width=12&dtype=f64",
    "/v1/tables/sinusoidal.txt?length=50&width=6",
    "/v1/tables/rope.npz?length=100&width=24",
    "/v1/tables/alibi.json?width=12",
    "/v1/tables/rope/frequencies.json?width=64",
    "/v1/tables/sinusoidal.npy?positions=5,1,900-1400,-7&width=12",
};
#define TABLES (sizeof tables / sizeof *tables)

struct shop {
    uv_loop_t loop;
    struct mail_box box;
    struct plans *plans;
    struct cache *cache;
};

static int open_shop(void **state)
{
    static struct shop s;
    *state = &s;
    if (uv_loop_init(&s.loop))
        return 1;
    s.plans = plans_open(1 << 20);
    s.cache = cache_open(64 << 20);
    fill_warm_up(&s.loop, 3);
    uv_run(&s.loop, UV_RUN_DEFAULT);
    return !s.plans || !s.cache || mail_open(&s.box, &s.loop);
}

static int close_shop(void **state)
{
    struct shop *s = *state;
    mail_close(&s->box);
    uv_run(&s->loop, UV_RUN_DEFAULT);
    cache_close(&s->cache);
    plans_close(&s->plans);
    return uv_loop_close(&s->loop) || metrics_level(METRIC_PAYLOAD_BYTES) != 0;
}

static struct order *order_of(const char *target, const char *range)
{
    static const struct api_limits limits = {
        .max_json_values = 1 << 22, .max_body = 1 << 20, .cache_size = 64 << 20};
    struct api_header header = {"Range", {range, range ? strlen(range) : 0}};
    struct api_request r = {.method = "GET",
                            .target = {target, strlen(target)},
                            .headers = &header,
                            .header_count = range ? 1 : 0,
                            .request_id = "t",
                            .limits = &limits};
    struct api_plan *plan = api_plan(&r);
    assert_non_null(plan);
    if (plan->source != API_TABLE)
        fail_msg("%s: %d %.*s", target, plan->status, (int)plan->text.len, plan->text.at);
    struct order *o = order_take(&plan);
    assert_non_null(o);
    return o;
}

struct body {
    char *at;
    size_t size, room;
};

/* Pulls to the end, `piece` bytes at a time; of a payload under way it waits by turning the loop.
 */
static struct body pull(struct shop *shop, struct stream *s, size_t piece)
{
    struct body b = {NULL, 0, 0};
    assert_non_null(s);
    for (;;) {
        if (b.room < b.size + piece) {
            b.room = 2 * b.room + piece;
            b.at = realloc(b.at, b.room);
            assert_non_null(b.at);
        }
        ssize_t n = stream_read(s, b.at + b.size, piece);
        if (n == STREAM_END)
            break;
        assert_true(n >= 0);
        assert_true((size_t)n <= piece);
        if (n == STREAM_WAIT) {
            assert_true(s->need > 0);
            uv_run(&shop->loop, UV_RUN_NOWAIT);
        }
        b.size += (size_t)n;
    }
    assert_int_equal(s->sent, b.size);
    stream_close(&s);
    return b;
}

static struct body direct(struct shop *shop, struct order *o, size_t piece)
{
    return pull(shop, stream_open(o, NULL, plans_get(shop->plans, o)), piece);
}

static void same(const char *name, struct body a, struct body b)
{
    if (a.size != b.size || memcmp(a.at, b.at, a.size))
        fail_msg("%s: %zu bytes and %zu bytes, or different ones", name, a.size, b.size);
}

static void pieces_of_any_size(void **state)
{
    struct shop *shop = *state;
    static const size_t pieces[] = {1, 7, 100, 4096, 16364, 1 << 17};
    for (size_t t = 0; t < TABLES; t++) {
        struct order *o = order_of(tables[t], NULL);
        struct body whole = direct(shop, o, 1 << 20);
        if (o->plan->table->length != API_UNKNOWN)
            assert_int_equal(whole.size, o->plan->table->length);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            struct body b = direct(shop, o, pieces[i]);
            same(tables[t], whole, b);
            free(b.at);
        }
        free(whole.at);
        order_drop(&o);
    }
}

static struct payload *empty_payload(struct shop *shop, struct order *o)
{
    struct payload *p;
    enum cache_outcome outcome =
        cache_get(shop->cache, o->plan->table->key, o->extent.bytes, o->extent.goal, &p);
    assert_int_equal(outcome, CACHE_MISS);
    return p;
}

static void payloads_hold_the_same(void **state)
{
    struct shop *shop = *state;
    for (size_t t = 0; t < TABLES; t++) {
        struct order *o = order_of(tables[t], NULL);
        struct body made = direct(shop, o, 5000);
        struct payload *p = empty_payload(shop, o);
        struct shared_plan *plan = plans_get(shop->plans, o);
        fill_now(shop->cache, plan, o, p);
        plans_drop(&plan);
        assert_true(payload_whole(p));
        payload_join(p);
        struct body kept = pull(shop, stream_open(o, p, NULL), 5000);
        same(tables[t], made, kept);
        cache_forget(shop->cache, p);
        payload_leave(&p);
        free(made.at);
        free(kept.at);
        order_drop(&o);
    }
}

static void the_pool_makes_the_same_meanwhile(void **state)
{
    struct shop *shop = *state;
    static const char *const more[] = {"/v1/tables/rope.safetensors?length=40000&width=64",
                                       "/v1/tables/sinusoidal.bin?length=30000&width=64&dtype=f64",
                                       "/v1/tables/rope.json?length=3000&width=64",
                                       "/v1/tables/rope/frequencies.json?width=64"};
    for (size_t t = 0; t < sizeof more / sizeof *more; t++) {
        struct order *o = order_of(more[t], NULL);
        struct body made = direct(shop, o, 1 << 16);
        struct payload *p = empty_payload(shop, o);
        fill_later(shop->cache, shop->plans, o, p, &shop->box);
        struct body kept = pull(shop, stream_open(o, p, NULL), 1 << 16);
        same(more[t], made, kept);
        while (!(p = cache_peek(shop->cache, o->plan->table->key)))
            uv_run(&shop->loop, UV_RUN_ONCE);
        payload_leave(&p);
        p = cache_peek(shop->cache, o->plan->table->key);
        assert_non_null(p);
        payload_leave(&p);
        free(made.at);
        free(kept.at);
        order_drop(&o);
    }
}

static void windows_are_parts_of_the_whole(void **state)
{
    struct shop *shop = *state;
    srand(1);
    for (size_t t = 0; t < 6; t++) {
        struct order *o = order_of(tables[t], NULL);
        struct body whole = direct(shop, o, 1 << 20);
        struct payload *p = empty_payload(shop, o);
        struct shared_plan *plan = plans_get(shop->plans, o);
        fill_now(shop->cache, plan, o, p);
        plans_drop(&plan);
        for (int i = 0; i < 60; i++) {
            size_t first = i == 0 ? 0 : (size_t)rand() % whole.size;
            size_t last = i == 1 ? whole.size - 1 : first + (size_t)rand() % (whole.size - first);
            char range[64];
            snprintf(range, sizeof range, "bytes=%zu-%zu", first, last);
            struct order *part = order_of(tables[t], range);
            assert_int_equal(part->plan->status, 206);
            struct body wanted = {whole.at + first, last - first + 1, 0};
            struct body b = direct(shop, part, 1 + (size_t)rand() % 3000);
            same(range, wanted, b);
            free(b.at);
            payload_join(p);
            b = pull(shop, stream_open(part, p, NULL), 1 + (size_t)rand() % 3000);
            same(range, wanted, b);
            free(b.at);
            order_drop(&part);
        }
        cache_forget(shop->cache, p);
        payload_leave(&p);
        free(whole.at);
        order_drop(&o);
    }
}

static void far_rows_cost_their_own(void **state)
{
    struct shop *shop = *state;
    struct order *o = order_of("/v1/tables/sinusoidal.bin?length=1125899906842624&width=64",
                               "bytes=288230376151711488-288230376151711743");
    assert_int_equal(o->plan->status, 206);
    struct body b = direct(shop, o, 1 << 16);
    assert_int_equal(b.size, 256);
    struct order *same_row =
        order_of("/v1/tables/sinusoidal.bin?length=1&width=64&offset=1125899906842623", NULL);
    struct body other = direct(shop, same_row, 1 << 16);
    same("the last row", b, other);
    free(b.at);
    free(other.at);
    order_drop(&o);
    order_drop(&same_row);
}

static void a_failed_build_breaks_the_stream(void **state)
{
    struct shop *shop = *state;
    char piece[64];
    struct order *o = order_of("/v1/tables/sinusoidal.bin?length=1000&width=64&base=12345", NULL);
    struct payload *p = empty_payload(shop, o);
    payload_join(p);
    struct stream *s = stream_open(o, p, NULL);
    assert_int_equal(stream_read(s, piece, sizeof piece), STREAM_WAIT);
    cache_forget(shop->cache, p);
    payload_fail(p);
    assert_int_equal(stream_read(s, piece, sizeof piece), STREAM_BROKEN);
    stream_close(&s);
    payload_leave(&p);
    order_drop(&o);
}

static void a_build_without_readers_stops(void **state)
{
    struct shop *shop = *state;
    struct metrics_facts facts;
    struct order *o = order_of("/v1/tables/sinusoidal.bin?length=60000&width=64&base=54321", NULL);
    struct payload *p = empty_payload(shop, o);
    fill_later(shop->cache, shop->plans, o, p, &shop->box);
    payload_leave(&p);
    do {
        uv_run(&shop->loop, UV_RUN_ONCE);
        cache_facts(shop->cache, &facts);
    } while (!facts.dropped && !facts.builds);
    p = cache_peek(shop->cache, o->plan->table->key);
    assert_int_equal(facts.dropped + facts.builds, 1); /* a fast pool may have made it whole */
    assert_int_equal(p != NULL, facts.builds);
    payload_leave(&p);
    order_drop(&o);
}

#define WITH_SHOP(test) cmocka_unit_test_setup_teardown(test, open_shop, close_shop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SHOP(pieces_of_any_size),
        WITH_SHOP(payloads_hold_the_same),
        WITH_SHOP(the_pool_makes_the_same_meanwhile),
        WITH_SHOP(windows_are_parts_of_the_whole),
        WITH_SHOP(far_rows_cost_their_own),
        WITH_SHOP(a_failed_build_breaks_the_stream),
        WITH_SHOP(a_build_without_readers_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
