/* SPDX-License-Identifier: MIT
 *
 * test_server_cache.c: one build for each key, joins, the limit of bytes, and what is never pushed
 * out.
 */
#include "cache/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define LIMIT (1 << 20)

struct key {
    char bytes[CACHE_KEY_SIZE];
};

static struct key key_of(unsigned n)
{
    struct key k;
    memset(&k, 0, sizeof k);
    memcpy(k.bytes + 12, &n,
           sizeof n); /* equal first bytes: the table must not depend on those alone */
    return k;
}

static enum cache_outcome get(struct cache *c, unsigned n, uint64_t bytes, struct payload **out)
{
    struct key k = key_of(n);
    return cache_get(c, (struct api_bytes){k.bytes, sizeof k.bytes}, bytes, 1, out);
}

static struct payload *peek(struct cache *c, unsigned n)
{
    struct key k = key_of(n);
    return cache_peek(c, (struct api_bytes){k.bytes, sizeof k.bytes});
}

static void put(struct cache *c, unsigned n, uint64_t bytes)
{
    struct payload *p;
    assert_int_equal(get(c, n, bytes, &p), CACHE_MISS);
    cache_built(c);
    payload_advance(p, 1);
    payload_leave(&p);
}

static bool has(struct cache *c, unsigned n)
{
    struct payload *p = peek(c, n);
    bool there = p != NULL;
    payload_leave(&p);
    return there;
}

static int open_cache(void **state)
{
    *state = cache_open(LIMIT);
    return *state == NULL;
}

static int close_cache(void **state)
{
    cache_close((struct cache **)state);
    return metrics_level(METRIC_PAYLOAD_BYTES) != 0; /* nothing is left behind */
}

static void one_builds_the_others_join(void **state)
{
    struct cache *c = *state;
    struct payload *builder, *joiner, *later;
    struct metrics_facts facts;
    assert_int_equal(get(c, 1, 100, &builder), CACHE_MISS);
    assert_null(peek(c, 1));
    assert_int_equal(get(c, 1, 100, &joiner), CACHE_JOIN);
    assert_ptr_equal(builder, joiner);
    cache_built(c);
    payload_advance(builder, 1);
    assert_int_equal(get(c, 1, 100, &later), CACHE_HIT);
    payload_leave(&builder);
    payload_leave(&joiner);
    payload_leave(&later);
    cache_facts(c, &facts);
    assert_int_equal(facts.builds, 1);
    assert_int_equal(facts.misses, 1);
    assert_int_equal(facts.joins, 1);
    assert_int_equal(facts.hits, 1);
    assert_int_equal(facts.cache_entries, 1);
}

static void bytes_stay_within_the_limit(void **state)
{
    struct cache *c = *state;
    struct metrics_facts facts;
    for (unsigned i = 0; i < 2000; i++) {
        put(c, i, 1000 + i % 7 * 1000);
        cache_facts(c, &facts);
        assert_true(facts.cache_bytes <= LIMIT);
    }
    assert_true(facts.evictions > 1000);
    assert_int_equal(facts.builds, 2000);
    assert_true(has(c, 1999));
    assert_false(has(c, 0));
}

static void what_is_used_stays(void **state)
{
    struct cache *c = *state;
    put(c, 0, 1000);
    for (unsigned i = 1; i < 3000; i++) {
        put(c, i, 1000);
        if (i % 100 == 0)
            assert_true(has(c, 0));
    }
}

static void large_tables_are_not_kept(void **state)
{
    struct cache *c = *state;
    struct payload *p = NULL;
    put(c, 1, 1000);
    assert_true(cache_keeps(c, LIMIT / 4));
    assert_false(cache_keeps(c, LIMIT / 4 + 1));
    assert_int_equal(get(c, 2, LIMIT / 4 + 1, &p), CACHE_NONE);
    assert_null(p);
    assert_true(has(c, 1));
}

static void builds_under_way_are_never_pushed_out(void **state)
{
    struct cache *c = *state;
    struct payload *under_way[4], *p = NULL;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(get(c, i, LIMIT / 4, &under_way[i]), CACHE_MISS);
    assert_int_equal(get(c, 3, LIMIT / 4 - 4096, &under_way[3]), CACHE_MISS);
    assert_int_equal(get(c, 9, LIMIT / 8, &p), CACHE_NONE);
    for (unsigned i = 0; i < 4; i++) {
        payload_advance(under_way[i], 1);
        payload_leave(&under_way[i]);
        assert_true(has(c, i));
    }
    assert_int_equal(get(c, 9, LIMIT / 8, &p), CACHE_MISS);
    payload_advance(p, 1);
    payload_leave(&p);
}

static void what_is_being_sent_outlives_its_entry(void **state)
{
    struct cache *c = *state;
    struct payload *sent;
    put(c, 0, 1000);
    sent = peek(c, 0);
    memset(sent->at, 7, 1000);
    for (unsigned i = 1; i < 1200; i++)
        put(c, i, 2000);
    assert_false(sent->kept);
    assert_int_equal(sent->at[999], 7);
    payload_leave(&sent);
}

/* Bytes that are pushed out and still read count against the limit, or slow readers would own the
 * memory. */
static void memory_still_in_use_is_counted(void **state)
{
    struct cache *c = *state;
    struct payload *held[200];
    unsigned n = 0, kept = 0;
    while (n < 200) {
        enum cache_outcome o = get(c, n, LIMIT / 4, &held[n]);
        if (o == CACHE_MISS)
            payload_advance(held[n], 1);
        kept += o == CACHE_MISS;
        n++;
    }
    assert_true(kept >= 4);
    assert_true(kept <= 4 + 16 + 1); /* the limit, 4 MiB, and an eighth */
    while (n--)
        payload_leave(&held[n]);
}

static void failed_builds_are_forgotten(void **state)
{
    struct cache *c = *state;
    struct payload *builder, *joiner;
    assert_int_equal(get(c, 1, 100, &builder), CACHE_MISS);
    assert_int_equal(get(c, 1, 100, &joiner), CACHE_JOIN);
    cache_forget(c, builder);
    payload_fail(builder);
    payload_leave(&builder);
    assert_int_equal(payload_progress(joiner), PAYLOAD_FAILED);
    payload_leave(&joiner);
    put(c, 1, 100);
}

static void a_build_is_given_up_only_without_readers(void **state)
{
    struct cache *c = *state;
    struct payload *builder, *joiner;
    struct metrics_facts facts;
    assert_int_equal(get(c, 1, 100, &builder), CACHE_MISS);
    payload_hold(builder); /* the share of the build itself */
    struct payload *build = builder;
    assert_false(cache_abandon(c, build));
    payload_leave(&builder);
    assert_int_equal(get(c, 1, 100, &joiner), CACHE_JOIN);
    assert_false(cache_abandon(c, build));
    payload_leave(&joiner);
    assert_true(cache_abandon(c, build));
    payload_fail(build);
    payload_drop(&build);
    cache_facts(c, &facts);
    assert_int_equal(facts.dropped, 1);
    assert_int_equal(facts.cache_entries, 0);
    put(c, 1, 100);
}

static void no_cache_at_all(void **state)
{
    struct cache *c = cache_open(0);
    struct payload *p = NULL;
    (void)state;
    assert_false(cache_keeps(c, 0));
    assert_int_equal(get(c, 1, 1, &p), CACHE_NONE);
    cache_close(&c);
    assert_null(c);
}

#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, open_cache, close_cache)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CACHE(one_builds_the_others_join),
        WITH_CACHE(bytes_stay_within_the_limit),
        WITH_CACHE(what_is_used_stays),
        WITH_CACHE(large_tables_are_not_kept),
        WITH_CACHE(builds_under_way_are_never_pushed_out),
        WITH_CACHE(what_is_being_sent_outlives_its_entry),
        WITH_CACHE(memory_still_in_use_is_counted),
        WITH_CACHE(failed_builds_are_forgotten),
        WITH_CACHE(a_build_is_given_up_only_without_readers),
        cmocka_unit_test(no_cache_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
