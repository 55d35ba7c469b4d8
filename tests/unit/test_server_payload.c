/* SPDX-License-Identifier: MIT
 *
 * test_server_payload.c: payloads: owners, progress, those who wait for it, and letters to a loop
 * from another thread.
 */
#include "watch/metrics.h"
#include "cache/payload.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct desk {
    uv_loop_t loop;
    struct mail_box box;
    int arrived;
};

struct waiter {
    struct payload_wait wait;
    struct desk *desk;
};

static void arrive(struct mail_letter *letter)
{
    struct waiter *w = (struct waiter *)((char *)letter - offsetof(struct waiter, wait.letter));
    w->desk->arrived++;
}

static int open_desk(void **state)
{
    static struct desk d;
    memset(&d, 0, sizeof d);
    *state = &d;
    return uv_loop_init(&d.loop) || mail_open(&d.box, &d.loop);
}

static int close_desk(void **state)
{
    struct desk *d = *state;
    mail_close(&d->box);
    uv_run(&d->loop, UV_RUN_DEFAULT);
    return uv_loop_close(&d->loop);
}

static struct waiter waiter_of(struct desk *d)
{
    return (struct waiter){.wait = {.letter = {.arrive = arrive}, .box = &d->box}, .desk = d};
}

static void turn(struct desk *d)
{
    uv_run(&d->loop, UV_RUN_NOWAIT);
}

static void sizes_of_all_kinds(void **state)
{
    static const size_t sizes[] = {0,    1,      4095,    8191,          8192,
                                   8193, 100000, 2 << 20, (2 << 20) + 1, 9 << 20};
    (void)state;
    int64_t before = metrics_level(METRIC_PAYLOAD_BYTES);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct payload *p = payload_create(sizes[i], 1);
        assert_non_null(p);
        memset(p->at, 0xab, sizes[i]);
        assert_int_equal(metrics_level(METRIC_PAYLOAD_BYTES), before + (int64_t)sizes[i]);
        payload_drop(&p);
        assert_null(p);
        assert_int_equal(metrics_level(METRIC_PAYLOAD_BYTES), before);
    }
    assert_null(payload_create(SIZE_MAX / 2, 1));
}

static void owners_keep_it(void **state)
{
    struct payload *p = payload_create(100, 1), *mine = p;
    (void)state;
    int64_t with = metrics_level(METRIC_PAYLOAD_BYTES);
    payload_join(p);
    assert_int_equal(p->readers, 1);
    payload_drop(&p);
    assert_int_equal(metrics_level(METRIC_PAYLOAD_BYTES), with);
    payload_leave(&mine);
    assert_int_equal(metrics_level(METRIC_PAYLOAD_BYTES), with - 100);
    payload_leave(&mine); /* harmless */
}

static void waits_end_once(void **state)
{
    struct desk *d = *state;
    struct payload *p = payload_create(100, 10);
    struct waiter near = waiter_of(d), far = waiter_of(d);
    assert_true(payload_wait(p, 3, &near.wait));
    assert_true(payload_wait(p, 10, &far.wait));
    payload_advance(p, 2);
    turn(d);
    assert_int_equal(d->arrived, 0);
    payload_advance(p, 5);
    turn(d);
    assert_int_equal(d->arrived, 1);
    assert_false(payload_wait(p, 5, &near.wait));
    payload_advance(p, 10);
    assert_true(payload_whole(p));
    turn(d);
    turn(d);
    assert_int_equal(d->arrived, 2);
    payload_drop(&p);
}

static void failure_wakes_all(void **state)
{
    struct desk *d = *state;
    struct payload *p = payload_create(100, 10);
    struct waiter a = waiter_of(d), b = waiter_of(d);
    payload_wait(p, 1, &a.wait);
    payload_wait(p, 10, &b.wait);
    payload_fail(p);
    turn(d);
    assert_int_equal(d->arrived, 2);
    assert_int_equal(payload_progress(p), PAYLOAD_FAILED);
    assert_false(payload_whole(p));
    assert_false(payload_wait(p, 1, &a.wait));
    payload_drop(&p);
}

static void forgotten_waits_never_arrive(void **state)
{
    struct desk *d = *state;
    struct payload *p = payload_create(100, 10);
    struct waiter early = waiter_of(d), late = waiter_of(d), stays = waiter_of(d);
    payload_wait(p, 5, &early.wait);
    payload_wait(p, 5, &late.wait);
    payload_wait(p, 5, &stays.wait);
    payload_forget(p, &early.wait); /* still in the list */
    payload_advance(p, 10);
    payload_forget(p, &late.wait); /* on its way already */
    payload_forget(p, &late.wait);
    turn(d);
    assert_int_equal(d->arrived, 1);
    payload_drop(&p);
}

static void build(void *closure)
{
    struct payload *p = closure;
    for (uint64_t i = 1; i <= p->goal; i++) {
        p->at[i - 1] = (unsigned char)i;
        payload_advance(p, i);
    }
}

/* A builder on another thread; every byte below the progress must be seen. */
static void progress_crosses_threads(void **state)
{
    struct desk *d = *state;
    for (int round = 0; round < 50; round++) {
        struct payload *p = payload_create(200, 200);
        struct waiter w = waiter_of(d);
        uv_thread_t thread;
        d->arrived = 0;
        assert_int_equal(uv_thread_create(&thread, build, p), 0);
        int waited = 0;
        for (uint64_t need = 1; need <= 200; need += 7) {
            if (payload_wait(p, need, &w.wait)) {
                waited++;
                while (d->arrived < waited)
                    uv_run(&d->loop, UV_RUN_ONCE);
            }
            assert_true(payload_progress(p) >= need);
            assert_int_equal(p->at[need - 1], (unsigned char)need);
        }
        uv_thread_join(&thread);
        assert_true(payload_whole(p));
        payload_drop(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_all_kinds),
        cmocka_unit_test(owners_keep_it),
        cmocka_unit_test_setup_teardown(waits_end_once, open_desk, close_desk),
        cmocka_unit_test_setup_teardown(failure_wakes_all, open_desk, close_desk),
        cmocka_unit_test_setup_teardown(forgotten_waits_never_arrive, open_desk, close_desk),
        cmocka_unit_test_setup_teardown(progress_crosses_threads, open_desk, close_desk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
