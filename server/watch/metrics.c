/* SPDX-License-Identifier: MIT
 *
 * metrics.c: counters and their Prometheus text (exposition format 0.0.4). A shard has one writer,
 * so its counters need no locked instruction. Series are only ever added, and their count is
 * published after them.
 */
#include "metrics.h"

#include "posenc.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const uint64_t bounds[METRICS_BUCKETS - 1] = {50,    100,   250,    500,     1000,    2500,
                                                     10000, 50000, 250000, 1000000, 10000000};
static _Atomic int64_t gauges[METRIC_GAUGES];
static pthread_mutex_t shards_lock = PTHREAD_MUTEX_INITIALIZER;
static struct metrics_shard *shards;

struct metrics_shard *metrics_shard(void)
{
    struct metrics_shard *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_lock(&shards_lock);
    s->next = shards;
    shards = s;
    pthread_mutex_unlock(&shards_lock);
    return s;
}

void metrics_close(void)
{
    while (shards) {
        struct metrics_shard *s = shards;
        shards = s->next;
        free(s);
    }
}

void metrics_move(enum metrics_gauge g, int64_t by)
{
    atomic_fetch_add_explicit(&gauges[g], by, memory_order_relaxed);
}

int64_t metrics_level(enum metrics_gauge g)
{
    return atomic_load_explicit(&gauges[g], memory_order_relaxed);
}

static const char *known_method(const char *method)
{
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(method, known[i]))
            return known[i];
    return "OTHER";
}

struct metrics_series *metrics_series(struct metrics_shard *s, const char *route,
                                      const char *method, int status)
{
    method = known_method(method);
    size_t n = atomic_load_explicit(&s->series_count, memory_order_relaxed);
    for (size_t i = 0; i < n; i++)
        if (s->series[i].status == status && s->series[i].method == method &&
            !strcmp(s->series[i].route, route))
            return &s->series[i];
    if (n == METRICS_SERIES)
        return &s->overflow;
    s->series[n].route = route;
    s->series[n].method = method;
    s->series[n].status = status;
    atomic_store_explicit(&s->series_count, n + 1, memory_order_release);
    return &s->series[n];
}

void metrics_request(struct metrics_shard *s, struct metrics_series *series, uint64_t duration_us)
{
    size_t b = 0;
    while (b < METRICS_BUCKETS - 1 && duration_us > bounds[b])
        b++;
    metrics_add(&s->bucket[b], 1);
    metrics_add(&s->duration_us, duration_us);
    metrics_add(&series->count, 1);
}

static void head(FILE *f, const char *name, const char *type, const char *prose)
{
    fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, prose, name, type);
}

/* Adds the shards' series up. Returns how many different ones there are. */
static size_t merge_series(struct metrics_series *out)
{
    size_t n = 0;
    for (struct metrics_shard *s = shards; s; s = s->next) {
        size_t m = atomic_load_explicit(&s->series_count, memory_order_acquire);
        for (size_t i = 0; i < m; i++) {
            const struct metrics_series *from = &s->series[i];
            size_t j = 0;
            while (j < n && (out[j].status != from->status || out[j].method != from->method ||
                             strcmp(out[j].route, from->route)))
                j++;
            if (j == n && n == METRICS_SERIES)
                continue;
            if (j == n)
                out[n++] = (struct metrics_series){
                    .route = from->route, .method = from->method, .status = from->status};
            out[j].count += atomic_load_explicit(&from->count, memory_order_relaxed);
        }
    }
    return n;
}

static void write_requests(FILE *f)
{
    struct metrics_series *all = calloc(METRICS_SERIES, sizeof *all);
    size_t n = all ? merge_series(all) : 0;
    head(f, "posenc_requests_total", "counter", "Requests answered.");
    for (size_t i = 0; i < n; i++)
        fprintf(f, "posenc_requests_total{route=\"%s\",method=\"%s\",status=\"%d\"} %" PRIu64 "\n",
                all[i].route, all[i].method, all[i].status, all[i].count);
    free(all);
}

static void write_durations(FILE *f)
{
    uint64_t sum = 0, below = 0;
    head(f, "posenc_request_duration_seconds", "histogram",
         "From the whole request to the end of its answer.");
    for (size_t b = 0; b < METRICS_BUCKETS; b++) {
        for (struct metrics_shard *s = shards; s; s = s->next)
            below += atomic_load_explicit(&s->bucket[b], memory_order_relaxed);
        if (b < METRICS_BUCKETS - 1)
            fprintf(f, "posenc_request_duration_seconds_bucket{le=\"%g\"} %" PRIu64 "\n",
                    (double)bounds[b] / 1e6, below);
        else
            fprintf(f, "posenc_request_duration_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", below);
    }
    for (struct metrics_shard *s = shards; s; s = s->next)
        sum += atomic_load_explicit(&s->duration_us, memory_order_relaxed);
    fprintf(
        f,
        "posenc_request_duration_seconds_sum %.6f\nposenc_request_duration_seconds_count %" PRIu64
        "\n",
        (double)sum / 1e6, below);
}

static uint64_t sum_of(enum metrics_counter id)
{
    uint64_t sum = 0;
    for (struct metrics_shard *s = shards; s; s = s->next)
        sum += atomic_load_explicit(&s->counter[id], memory_order_relaxed);
    return sum;
}

uint64_t metrics_sum(enum metrics_counter id)
{
    pthread_mutex_lock(&shards_lock);
    uint64_t sum = sum_of(id);
    pthread_mutex_unlock(&shards_lock);
    return sum;
}

static void write_counter(FILE *f, enum metrics_counter id, const char *name, const char *prose)
{
    head(f, name, "counter", prose);
    fprintf(f, "%s %" PRIu64 "\n", name, sum_of(id));
}

static void write_level(FILE *f, const char *name, const char *type, const char *prose,
                        double value)
{
    head(f, name, type, prose);
    fprintf(f, "%s %.17g\n", name, value);
}

static double open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = -3; /* ".", ".." and the folder itself */
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return d ? n : 0;
}

/* Fields of /proc/self/stat: 22 is the start in clock ticks since boot, 23 the address space, 24
 * resident pages (proc(5)). They follow the name, which may hold anything but ends with the last
 * ')'. */
static void write_process(FILE *f)
{
    char text[1024] = "";
    unsigned long long start = 0, size = 0;
    long pages = 0;
    FILE *stat = fopen("/proc/self/stat", "re");
    size_t n = stat ? fread(text, 1, sizeof text - 1, stat) : 0;
    if (stat)
        fclose(stat);
    text[n] = 0;
    char *at = strrchr(text, ')');
    for (int field = 2; at && field < 24; field++) {
        at = strchr(at + 1, ' ');
        if (at && field == 21)
            start = strtoull(at, NULL, 10);
        if (at && field == 22)
            size = strtoull(at, NULL, 10);
        if (at && field == 23)
            pages = strtol(at, NULL, 10);
    }
    struct timespec cpu, now, up;
    struct rlimit files = {0, 0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &up);
    getrlimit(RLIMIT_NOFILE, &files);
    double boot = (double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) / 1e9;
    write_level(f, "process_cpu_seconds_total", "counter", "Processor time used.",
                (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    write_level(f, "process_start_time_seconds", "gauge", "Start, in seconds since 1970.",
                boot + (double)start / (double)sysconf(_SC_CLK_TCK));
    write_level(f, "process_resident_memory_bytes", "gauge", "Memory in RAM.",
                (double)pages * (double)sysconf(_SC_PAGESIZE));
    write_level(f, "process_virtual_memory_bytes", "gauge", "Address space.", (double)size);
    write_level(f, "process_open_fds", "gauge", "Open files.", open_files());
    write_level(f, "process_max_fds", "gauge", "Limit of open files.", (double)files.rlim_cur);
}

char *metrics_text(const struct metrics_facts *facts, size_t *length)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, length);
    if (!f)
        return NULL;
    pthread_mutex_lock(&shards_lock);
    write_requests(f);
    write_durations(f);
#define COUNTER(id, name, prose) write_counter(f, METRIC_##id, name, prose);
#define GAUGE(id, name, prose) \
    write_level(f, name, "gauge", prose, (double)metrics_level(METRIC_##id));
#define CACHE(field, name, prose) write_level(f, name, "counter", prose, (double)facts->field);
#include "metrics.def"
#undef COUNTER
#undef GAUGE
#undef CACHE
    pthread_mutex_unlock(&shards_lock);
    write_level(f, "posenc_cache_bytes", "gauge", "Bytes of tables in the cache.",
                (double)facts->cache_bytes);
    write_level(f, "posenc_cache_limit_bytes", "gauge", "What --cache-size says.",
                (double)facts->cache_limit);
    write_level(f, "posenc_cache_entries", "gauge", "Tables in the cache.",
                (double)facts->cache_entries);
    head(f, "posenc_build_info", "gauge", "Always 1; the labels say what runs.");
    fprintf(f, "posenc_build_info{version=\"%s\",numerics_rev=\"%d\",instruction_set=\"%s\"} 1\n",
            PE_VERSION, PE_NUMERICS_REV, pe_instruction_set());
    write_process(f);
    if (fclose(f)) {
        free(text);
        return NULL;
    }
    return text;
}
