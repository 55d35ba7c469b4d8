/* SPDX-License-Identifier: MIT
 *
 * metrics.h: what /metrics says. Counters are kept by each thread in a shard of its own, which only
 * that thread writes; a scrape adds the shards up. Labels come from closed sets: routes of the
 * contract, known methods, statuses that this program sends.
 */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER(id, name, prose) METRIC_##id,
#define GAUGE(id, name, prose)
#define CACHE(field, name, prose)
enum metrics_counter {
#include "metrics.def"
    METRIC_COUNTERS
};
#undef COUNTER
#undef GAUGE
#define COUNTER(id, name, prose)
#define GAUGE(id, name, prose) METRIC_##id,
enum metrics_gauge {
#include "metrics.def"
    METRIC_GAUGES
};
#undef COUNTER
#undef GAUGE
#undef CACHE

/* Bounds of the duration histogram, in microseconds; the last bucket has none. */
#define METRICS_BUCKETS 12

/* One series of posenc_requests_total. */
struct metrics_series {
    const char *route; /* static; NULL: free */
    const char *method;
    int status;
    _Atomic uint64_t count;
};

#define METRICS_SERIES 512

struct metrics_shard {
    struct metrics_shard *next;
    _Atomic uint64_t counter[METRIC_COUNTERS];
    _Atomic uint64_t bucket[METRICS_BUCKETS];
    _Atomic uint64_t duration_us;
    atomic_size_t series_count;
    struct metrics_series series[METRICS_SERIES];
    struct metrics_series overflow; /* counted, and not shown */
};

/* Figures that others keep, for one scrape. */
struct metrics_facts {
#define COUNTER(id, name, prose)
#define GAUGE(id, name, prose)
#define CACHE(field, name, prose) uint64_t field;
#include "metrics.def"
#undef COUNTER
#undef GAUGE
#undef CACHE
    uint64_t cache_bytes, cache_limit, cache_entries;
};

/* A shard lives until metrics_close. NULL without memory. */
struct metrics_shard *metrics_shard(void);
void metrics_close(void);

/* Only by the thread that has the shard. */
static inline void metrics_add(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static inline void metrics_count(struct metrics_shard *s, enum metrics_counter c, uint64_t n)
{
    metrics_add(&s->counter[c], n);
}

/* By any thread. */
uint64_t metrics_sum(enum metrics_counter);
void metrics_move(enum metrics_gauge, int64_t by);
int64_t metrics_level(enum metrics_gauge);

/* The series of a request; `route` is static text. Unknown methods count as OTHER. The same three
 * give the same series, so a caller may keep it. Never NULL. */
struct metrics_series *metrics_series(struct metrics_shard *, const char *route, const char *method,
                                      int status);
void metrics_request(struct metrics_shard *, struct metrics_series *, uint64_t duration_us);

/* The text of a scrape, to be freed; NULL without memory. */
char *metrics_text(const struct metrics_facts *, size_t *length);

#endif
