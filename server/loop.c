/* SPDX-License-Identifier: MIT
 *
 * loop.c: see loop.h. Shutting down is ordered: the backlog is accepted, then the socket is closed,
 * idle connections end, answers under way are finished or cut, and only a loop without connections
 * stops its daemons, because the library aborts where one is suspended.
 */
#include "loop.h"
#include "cache/memory.h"
#include "http/lane.h"
#include "http/listen.h"
#include "must.h"

#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Memory of a connection for the head of a request and that of its answer. The library zeroes all
 * of it for each request: twice as much costs a tenth of the speed of small answers. This takes
 * heads of 8 KiB (the guard's limit) and what the library makes of them. */
#define CONNECTION_MEMORY (16 << 10)

/* Deadlines are looked at this often; while leaving, more often. */
#define TICK_MS 250
#define LEAVING_TICK_MS 10

/* Lines of the log are written at the latest after this time, and together: a write for each turn
 * of the loop would cost as much as making them. */
#define FLUSH_MS 5
#define FLUSH_BYTES (32 << 10)

/* Rounds of a port before the other things on the loop have their turn. */
#define ROUNDS 64

/* Places beyond the limit, for those who are to hear of it. */
#define UNWELCOME(most) (64 + (most) / 16)

static bool has_work(struct port *p)
{
    MHD_UNSIGNED_LONG_LONG timeout;
    return p->resumed || (MHD_get_timeout(p->daemon, &timeout) == MHD_YES && timeout == 0);
}

static void run_port(struct port *p)
{
    int n = 0;
    do {
        p->resumed = false;
        MHD_run(p->daemon);
    } while (has_work(p) && ++n < ROUNDS);
}

static void on_again(uv_idle_t *idle)
{
    struct loop *l = idle->data;
    bool more = false;
    for (unsigned i = 0; i < l->ports; i++)
        if (l->port[i].daemon && has_work(&l->port[i])) {
            run_port(&l->port[i]);
            more |= has_work(&l->port[i]);
        }
    if (!more)
        uv_idle_stop(idle);
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct port *p = poll->data;
    struct loop *l = (struct loop *)((char *)p->worker - offsetof(struct loop, worker));
    (void)status;
    (void)events;
    run_port(p);
    if (has_work(p))
        uv_idle_start(&l->worker.again, l->worker.run_again);
}

static void on_flush(uv_timer_t *timer)
{
    struct loop *l = timer->data;
    log_flush(&l->worker.log);
}

static void on_before_sleep(uv_prepare_t *prepare)
{
    struct loop *l = prepare->data;
    if (l->worker.log.length >= FLUSH_BYTES)
        log_flush(&l->worker.log);
    else if (l->worker.log.length && !uv_is_active((uv_handle_t *)&l->flush))
        uv_timer_start(&l->flush, on_flush, FLUSH_MS, 0);
}

/* Accepts what has come already, then no more. */
static void stop_listening(struct port *p)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(p->daemon, MHD_DAEMON_INFO_LISTEN_FD);
    struct pollfd waiting = {.fd = info ? info->listen_fd : -1, .events = POLLIN};
    for (int n = 0; n < LISTEN_BACKLOG && poll(&waiting, 1, 0) > 0; n++)
        MHD_run(p->daemon);
    MHD_socket fd = MHD_quiesce_daemon(p->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
}

static void end(struct loop *l)
{
    l->ended = true;
    uv_idle_stop(&l->worker.again);
    for (unsigned i = 0; i < l->ports; i++)
        if (l->port[i].polled)
            uv_close((uv_handle_t *)&l->port[i].poll, NULL);
    mail_close(&l->worker.mail);
    uv_close((uv_handle_t *)&l->tick, NULL);
    uv_close((uv_handle_t *)&l->flush, NULL);
    uv_close((uv_handle_t *)&l->before_sleep, NULL);
    uv_close((uv_handle_t *)&l->worker.again, NULL);
    uv_close((uv_handle_t *)&l->nudge, NULL);
}

static void leave(struct loop *l)
{
    for (unsigned i = 0; i < l->ports; i++)
        run_port(&l->port[i]);
    conn_leave(&l->worker, l->phase == SHARED_CUT);
    for (unsigned i = 0; i < l->ports; i++)
        run_port(&l->port[i]);
    if (!l->worker.conns && mail_empty(&l->worker.mail))
        end(l);
}

static void on_tick(uv_timer_t *timer)
{
    struct loop *l = timer->data;
    conn_tick(&l->worker);
    memo_sweep(l->worker.memo);
    memory_age();
    if (l->phase >= SHARED_CLOSED)
        leave(l);
}

static void on_nudge(uv_async_t *async)
{
    struct loop *l = async->data;
    int phase = atomic_load(&l->worker.shared->phase);
    if (l->ended || phase == l->phase)
        return;
    if (phase >= SHARED_CLOSED && l->phase < SHARED_CLOSED) {
        for (unsigned i = 0; i < l->ports; i++)
            stop_listening(&l->port[i]);
        uv_timer_start(&l->tick, on_tick, LEAVING_TICK_MS, LEAVING_TICK_MS);
    }
    l->phase = phase;
    if (phase >= SHARED_CLOSED)
        leave(l);
}

bool loop_open(struct loop *l, struct shared *shared)
{
    struct worker *w = &l->worker;
    memset(l, 0, sizeof *l);
    w->shared = shared;
    w->run_again = on_again;
    w->metrics = metrics_shard();
    w->memo = memo_open();
    if (!w->metrics || !w->memo || getrandom(&w->ids, sizeof w->ids, 0) != sizeof w->ids ||
        uv_loop_init(&w->uv))
        return false;
    if (mail_open(&w->mail, &w->uv) || uv_async_init(&w->uv, &l->nudge, on_nudge))
        return false;
    uv_timer_init(&w->uv, &l->tick);
    uv_timer_init(&w->uv, &l->flush);
    uv_prepare_init(&w->uv, &l->before_sleep);
    uv_idle_init(&w->uv, &l->worker.again);
    l->nudge.data = l->tick.data = l->flush.data = l->before_sleep.data = l->worker.again.data = l;
    uv_timer_start(&l->tick, on_tick, TICK_MS, TICK_MS);
    uv_prepare_start(&l->before_sleep, on_before_sleep);
    l->opened = true;
    return true;
}

/* Nobody asks the library for a decoded target, so it need not decode one. */
static size_t leave_escaped(void *closure, struct MHD_Connection *connection, char *text)
{
    (void)closure;
    (void)connection;
    return strlen(text);
}

static struct MHD_Daemon *start(struct port *p, int fd, unsigned connections)
{
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, http_handle, p,
                            MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, connections,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
                            MHD_OPTION_CONNECTION_TIMEOUT, 0U, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                            MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_NOTIFY_CONNECTION,
                            conn_notify, p, MHD_OPTION_NOTIFY_COMPLETED, conn_completed, p,
                            MHD_OPTION_URI_LOG_CALLBACK, conn_target, p,
                            MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_END);
}

bool loop_add_port(struct loop *l, int fd, bool health_only)
{
    must(l->ports < LOOP_MAX_PORTS);
    struct port *p = &l->port[l->ports];
    uint64_t most = l->worker.shared->limits.max_connections;
    p->worker = &l->worker;
    p->health_only = health_only;
    p->daemon = start(p, fd, (unsigned)(health_only ? 256 : most + UNWELCOME(most)));
    if (!p->daemon) {
        close(fd);
        return false;
    }
    l->ports++;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(p->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info || uv_poll_init(&l->worker.uv, &p->poll, info->epoll_fd))
        return false;
    p->poll.data = p;
    p->polled = true;
    return uv_poll_start(&p->poll, UV_READABLE, on_ready) == 0;
}

void loop_run(struct loop *l)
{
    lane_open(&l->worker);
    /* The library adds its socket to its epoll descriptor when it first runs. */
    for (unsigned i = 0; i < l->ports; i++)
        run_port(&l->port[i]);
    uv_run(&l->worker.uv, UV_RUN_DEFAULT);
    lane_open(NULL);
}

void loop_nudge(struct loop *l)
{
    uv_async_send(&l->nudge);
}

void loop_free(struct loop *l)
{
    if (l->opened && !l->ended) {
        end(l);
        uv_run(&l->worker.uv, UV_RUN_DEFAULT);
    }
    for (unsigned i = 0; i < l->ports; i++)
        MHD_stop_daemon(l->port[i].daemon);
    if (l->opened)
        must(uv_loop_close(&l->worker.uv) == 0);
    memo_close(&l->worker.memo);
    free(l->worker.by_fd);
    log_buffer_free(&l->worker.log);
}
