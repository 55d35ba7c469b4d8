/* SPDX-License-Identifier: MIT
 *
 * test_server_metrics.c: what a scrape says: each series once, shards added up, labels from closed
 * sets.
 */
#include "watch/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *scrape(void)
{
    struct metrics_facts facts = {.builds = 3, .hits = 5, .cache_limit = 1024};
    size_t length;
    char *text = metrics_text(&facts, &length);
    assert_non_null(text);
    assert_int_equal(strlen(text), length);
    assert_int_equal(text[length - 1], '\n');
    return text;
}

static int close_all(void **state)
{
    (void)state;
    metrics_close();
    return 0;
}

static void shards_are_added_up(void **state)
{
    struct metrics_shard *one = metrics_shard(), *other = metrics_shard();
    (void)state;
    metrics_request(one, metrics_series(one, "table", "GET", 200), 70);
    metrics_request(one, metrics_series(one, "table", "GET", 200), 70);
    metrics_request(other, metrics_series(other, "table", "GET", 200), 20000000);
    metrics_request(other, metrics_series(other, "table", "GET", 404), 70);
    metrics_count(one, METRIC_BYTES, 10);
    metrics_count(other, METRIC_BYTES, 32);
    assert_int_equal(metrics_sum(METRIC_BYTES), 42);
    char *text = scrape();
    assert_non_null(
        strstr(text, "posenc_requests_total{route=\"table\",method=\"GET\",status=\"200\"} 3\n"));
    assert_non_null(
        strstr(text, "posenc_requests_total{route=\"table\",method=\"GET\",status=\"404\"} 1\n"));
    assert_non_null(strstr(text, "posenc_response_bytes_total 42\n"));
    assert_non_null(strstr(text, "posenc_request_duration_seconds_bucket{le=\"0.0001\"} 3\n"));
    assert_non_null(strstr(text, "posenc_request_duration_seconds_bucket{le=\"10\"} 3\n"));
    assert_non_null(strstr(text, "posenc_request_duration_seconds_bucket{le=\"+Inf\"} 4\n"));
    assert_non_null(strstr(text, "posenc_request_duration_seconds_count 4\n"));
    assert_non_null(strstr(text, "posenc_builds_total 3\n"));
    assert_non_null(strstr(text, "posenc_cache_hits_total 5\n"));
    free(text);
}

static void series_are_kept(void **state)
{
    struct metrics_shard *s = metrics_shard();
    (void)state;
    assert_ptr_equal(metrics_series(s, "a", "GET", 200), metrics_series(s, "a", "GET", 200));
    assert_ptr_not_equal(metrics_series(s, "a", "GET", 200), metrics_series(s, "a", "HEAD", 200));
    assert_ptr_not_equal(metrics_series(s, "a", "GET", 200), metrics_series(s, "b", "GET", 200));
    /* Methods that a client makes up are one. */
    assert_ptr_equal(metrics_series(s, "a", "BREW", 405), metrics_series(s, "a", "get\"}", 405));
    assert_string_equal(metrics_series(s, "a", "BREW", 405)->method, "OTHER");
    for (int status = 0; status < 2000; status++)
        assert_non_null(metrics_series(s, "a", "GET", status));
    free(scrape());
}

/* Exposition format 0.0.4: a TYPE before its samples, counters end in _total, no series twice. */
static void a_scrape_is_well_formed(void **state)
{
    struct metrics_shard *s = metrics_shard();
    (void)state;
    metrics_request(s, metrics_series(s, "live", "GET", 200), 1);
    char *text = scrape(), *rest = text, *line;
    char type[256] = "", seen[200][256];
    size_t count = 0;
    while ((line = strsep(&rest, "\n")) && *line) {
        if (!strncmp(line, "# TYPE ", 7)) {
            snprintf(type, sizeof type, "%s", line + 7);
            if (strstr(type, " counter"))
                assert_non_null(strstr(type, "_total counter"));
        } else if (*line != '#') {
            char series[256];
            snprintf(series, sizeof series, "%.*s", (int)(strrchr(line, ' ') - line), line);
            assert_memory_equal(series, type, strcspn(type, " "));
            for (size_t i = 0; i < count; i++)
                assert_string_not_equal(series, seen[i]);
            assert_true(count < 200);
            memcpy(seen[count++], series, sizeof series);
        }
    }
    assert_true(count > 30);
    free(text);
}

static void levels_go_up_and_down(void **state)
{
    (void)state;
    metrics_move(METRIC_STREAMS, 2);
    metrics_move(METRIC_STREAMS, -1);
    assert_int_equal(metrics_level(METRIC_STREAMS), 1);
    metrics_move(METRIC_STREAMS, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(shards_are_added_up, close_all),
        cmocka_unit_test_teardown(series_are_kept, close_all),
        cmocka_unit_test_teardown(a_scrape_is_well_formed, close_all),
        cmocka_unit_test(levels_go_up_and_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
