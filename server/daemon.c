/* SPDX-License-Identifier: MIT
 *
 * daemon.c: the process around the loops: limits of the system, sockets, threads, signals, and the
 * way out. Every loop has a thread of its own; the main thread sees to signals and time until all
 * have ended.
 */
#include "daemon.h"
#include "answer/digest.h"
#include "cache/fill.h"
#include "learned/learned_open.h"
#include "http/listen.h"
#include "loop.h"
#include "must.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Beside connections: two descriptors for each port, some for each loop, logs, files of a moment.
 */
#define OTHER_FILES(loops) (64 + 40 * (loops))

/* Plans of the library that are remembered. */
#define PLAN_BYTES (2 << 20)

struct daemon {
    struct config *config;
    struct shared shared;
    struct loop *loop;
    unsigned loops;
    struct worker_thread *thread;
    unsigned started;
    unsigned claimed; /* addresses of --listen */
    uv_loop_t uv;     /* of the main thread */
    uv_signal_t signal[3];
    uv_timer_t timer;
    uv_async_t ended;
    atomic_uint running;
};

struct worker_thread {
    pthread_t id;
    struct daemon *daemon;
    struct loop *loop;
};

static void move_on(struct daemon *d, int phase)
{
    if (atomic_load(&d->shared.phase) >= phase)
        return;
    atomic_store(&d->shared.phase, phase);
    for (unsigned i = 0; i < d->loops; i++)
        loop_nudge(&d->loop[i]);
}

static void on_drain_timeout(uv_timer_t *timer)
{
    move_on(timer->data, SHARED_CUT);
}

static void on_drain_delay(uv_timer_t *timer)
{
    struct daemon *d = timer->data;
    move_on(d, SHARED_CLOSED);
    uv_timer_start(timer, on_drain_timeout, config_number(d->config, CONFIG_DRAIN_TIMEOUT), 0);
}

static void on_end(uv_signal_t *handle, int number)
{
    struct daemon *d = handle->data;
    bool again = atomic_load(&d->shared.phase) != SHARED_SERVING;
    log_say(LOG_INFO, again ? "second signal: ends now" : "signal: leaving", "signal",
            number == SIGINT ? "SIGINT" : "SIGTERM", LOG_END);
    if (again) {
        move_on(d, SHARED_CUT);
        return;
    }
    move_on(d, SHARED_LEAVING);
    uint64_t delay = config_number(d->config, CONFIG_DRAIN_DELAY);
    if (delay)
        uv_timer_start(&d->timer, on_drain_delay, delay, 0);
    else
        on_drain_delay(&d->timer);
}

static void read_tokens_again(struct daemon *d)
{
    struct config_error e;
    if (!d->shared.tokens)
        return;
    if (learned_reread(d->config, d->shared.tokens, &e))
        log_say(LOG_INFO, "signal: tokens read again", LOG_END);
    else
        log_say(LOG_ERROR, "signal: the old tokens stay in force", "error", e.text, LOG_END);
}

static void on_hangup(uv_signal_t *handle, int number)
{
    struct daemon *d = handle->data;
    struct config_error e;
    uint64_t level;
    (void)number;
    read_tokens_again(d);
    if (config_reread_level(d->config, &level, &e)) {
        log_set_level((enum log_level)level);
        log_say(LOG_INFO, "signal: log level read again", LOG_END);
    } else {
        log_say(LOG_ERROR, "signal: the configuration cannot be read again", "error", e.text,
                LOG_END);
    }
}

static void panic(void *closure, const char *file, unsigned line, const char *reason)
{
    (void)closure;
    (void)file;
    (void)line;
    log_say(LOG_ERROR, "panic of libmicrohttpd", "reason", reason ? reason : "", LOG_END);
    abort();
}

/* As many files as the limit of connections needs, or a lower limit. */
static void raise_files(struct daemon *d)
{
    struct rlimit files;
    uint64_t *most = &d->shared.limits.max_connections, beside = OTHER_FILES(d->loops);
    if (getrlimit(RLIMIT_NOFILE, &files))
        return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_NOFILE, &files);
    uint64_t need = *most + *most / 16 + beside;
    if (files.rlim_cur == RLIM_INFINITY || files.rlim_cur >= need)
        return;
    *most =
        files.rlim_cur > 2 * beside ? (files.rlim_cur - beside) * 16 / 17 : files.rlim_cur / 4 + 1;
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)*most);
    log_say(LOG_WARN, "the limit of open files lowers --max-connections", "max_connections", text,
            LOG_END);
}

static bool open_shared(struct daemon *d)
{
    struct shared *s = &d->shared;
    s->config = d->config;
    s->limits = config_limits(d->config);
    s->idle_ms = config_number(d->config, CONFIG_IDLE_TIMEOUT);
    raise_files(d);
    s->cache = cache_open(s->limits.cache_size);
    s->plans = plans_open(PLAN_BYTES);
    s->digests = digests_open();
    s->admit = admit_open(s->limits.max_connections, s->limits.max_connections_per_ip);
    return s->cache && s->plans && s->digests && s->admit;
}

/* Tokens and the store of learned tables, where there are to be any. */
static int open_learned(struct daemon *d)
{
    struct config_error e;
    if (learned_open(d->config, &d->shared.tokens, &d->shared.store, &e))
        return 0;
    log_say(LOG_ERROR, "cannot start", "error", e.text, LOG_END);
    return e.exit;
}

static int cannot(const struct value_address *a)
{
    char url[160];
    int why = errno;
    value_url(a, url, sizeof url);
    log_say(LOG_ERROR, "cannot listen", "address", url, "error", strerror(why), LOG_END);
    return EXIT_BIND;
}

/* Every loop has a socket for every address. */
static int open_ports(struct daemon *d, enum config_option option)
{
    struct config_value *v = &d->config->value[option];
    bool health = option == CONFIG_HEALTH_LISTEN;
    for (size_t i = 0; i < v->count; i++) {
        int one = -1;
        if (!listen_claim(&v->at[i]))
            return cannot(&v->at[i]);
        d->claimed += !health;
        for (unsigned l = 0; l < (health ? 1 : d->loops); l++) {
            int fd = listen_open(&v->at[i], one);
            if (fd < 0)
                return cannot(&v->at[i]);
            one = one < 0 ? fd : one;
            if (!loop_add_port(&d->loop[l], fd, health))
                return EXIT_INTERNAL;
        }
    }
    return 0;
}

static void say_ready(struct daemon *d)
{
    char url[2 * CONFIG_MAX_ADDRESSES][160];
    const char *urls[2 * CONFIG_MAX_ADDRESSES];
    size_t n = 0;
    const enum config_option options[] = {CONFIG_LISTEN, CONFIG_HEALTH_LISTEN};
    for (size_t o = 0; o < 2; o++)
        for (size_t i = 0; i < d->config->value[options[o]].count; i++, n++) {
            value_url(&d->config->value[options[o]].at[i], url[n], sizeof url[n]);
            urls[n] = url[n];
        }
    log_ready(urls, n);
}

static void *thread(void *closure)
{
    struct worker_thread *t = closure;
    loop_run(t->loop);
    atomic_fetch_sub(&t->daemon->running, 1);
    uv_async_send(&t->daemon->ended);
    return NULL;
}

static void on_ended(uv_async_t *async)
{
    struct daemon *d = async->data;
    if (atomic_load(&d->running))
        return;
    for (int i = 0; i < 3; i++)
        uv_close((uv_handle_t *)&d->signal[i], NULL);
    /* One more of them, now that nobody handles it, would end us as if we had crashed. */
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    uv_close((uv_handle_t *)&d->timer, NULL);
    uv_close((uv_handle_t *)&d->ended, NULL);
}

static bool watch(struct daemon *d)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    if (uv_loop_init(&d->uv))
        return false;
    must(uv_async_init(&d->uv, &d->ended, on_ended) == 0 && uv_timer_init(&d->uv, &d->timer) == 0);
    for (int i = 0; i < 3; i++) {
        must(uv_signal_init(&d->uv, &d->signal[i]) == 0);
        d->signal[i].data = d;
        must(uv_signal_start(&d->signal[i], numbers[i] == SIGHUP ? on_hangup : on_end,
                             numbers[i]) == 0);
    }
    d->ended.data = d->timer.data = d;
    fill_warm_up(&d->uv, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    return true;
}

static int serve_all(struct daemon *d)
{
    int code = open_ports(d, CONFIG_LISTEN);
    if (!code)
        code = open_ports(d, CONFIG_HEALTH_LISTEN);
    if (!code && !watch(d))
        code = EXIT_INTERNAL;
    if (code)
        return code;
    for (; d->started < d->loops; d->started++) {
        struct worker_thread *t = &d->thread[d->started];
        *t = (struct worker_thread){.daemon = d, .loop = &d->loop[d->started]};
        atomic_fetch_add(&d->running, 1);
        if (pthread_create(&t->id, NULL, thread, t)) {
            atomic_fetch_sub(&d->running, 1);
            code = EXIT_INTERNAL;
            break;
        }
    }
    if (code) {
        move_on(d, SHARED_CUT);
        uv_async_send(&d->ended);
    } else {
        say_ready(d);
    }
    uv_run(&d->uv, UV_RUN_DEFAULT);
    for (unsigned i = 0; i < d->started; i++)
        pthread_join(d->thread[i].id, NULL);
    must(uv_loop_close(&d->uv) == 0);
    return code;
}

static void close_shared(struct daemon *d)
{
    cache_close(&d->shared.cache);
    plans_close(&d->shared.plans);
    digests_close(&d->shared.digests);
    admit_close(&d->shared.admit);
    store_close(&d->shared.store);
    tokens_box_close(&d->shared.tokens);
    for (size_t i = 0; i < d->claimed; i++)
        listen_remove(&d->config->value[CONFIG_LISTEN].at[i]);
    metrics_close();
}

int daemon_run(struct config *config)
{
    struct daemon d = {.config = config, .loops = (unsigned)config_number(config, CONFIG_THREADS)};
    uint64_t format = config_number(config, CONFIG_LOG_FORMAT);
    int code = EXIT_INTERNAL;
    log_open(format == 1 || (format == 2 && !isatty(STDERR_FILENO)),
             (enum log_level)config_number(config, CONFIG_LOG_LEVEL));
    signal(SIGPIPE, SIG_IGN);
    MHD_set_panic_func(panic, NULL);
    d.loop = calloc(d.loops, sizeof *d.loop);
    d.thread = calloc(d.loops, sizeof *d.thread);
    bool good = d.loop && d.thread && open_shared(&d);
    unsigned opened = 0;
    if (good) {
        code = open_learned(&d);
        good = !code;
    }
    while (good && opened < d.loops && loop_open(&d.loop[opened], &d.shared))
        opened++;
    if (good)
        code = opened == d.loops ? serve_all(&d) : EXIT_INTERNAL;
    if (code == EXIT_INTERNAL)
        log_say(LOG_ERROR, "cannot start: no memory, threads or descriptors", LOG_END);
    for (unsigned i = 0; i < opened; i++)
        loop_free(&d.loop[i]);
    close_shared(&d);
    free(d.loop);
    free(d.thread);
    return code;
}
