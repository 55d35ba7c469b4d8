/* SPDX-License-Identifier: MIT
 *
 * load.c: keeps connections busy, one request out on each, and tells how long the answers took: for
 * what wrk cannot do (HEAD, a 304 with a Content-Length, a given number of requests). An answer
 * counts when it has the status that was expected and the body that its head announces; anything
 * else is an error, and the first one is told on stderr.
 *
 *   load [-c CONNECTIONS] [-d SECONDS] [-n REQUESTS] [-m METHOD] [-s STATUS] [-H HEADER]...
 *        (-f FILE | -t TARGET) PORT
 *
 * A line of FILE is [STATUS ]TARGET[<tab>HEADER]; lines are asked in turn, over and over. Prints
 * one line of JSON; exit status 1 if there was any error, 64 for usage, 69 without a server.
 */
#include "answer.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 256, TICK_MS = 50, USAGE = 64, UNAVAILABLE = 69 };
#define SECOND UINT64_C(1000000000) /* ns */
#define PATIENCE (10 * SECOND)      /* without a byte on any connection */

/* Latencies in ns: exact below 64, then 64 slots for each power of two, 1.6 % wide. */
enum { STEP_BITS = 6, STEPS = 1 << STEP_BITS, SLOTS = (64 - STEP_BITS + 1) * STEPS };

struct ask {
    char *text;
    size_t size;
    int status;
};

struct connection {
    int fd; /* -1: not needed any more */
    const struct ask *asked;
    uint64_t since; /* ns */
    struct answer answer;
};

static struct {
    unsigned connections, port;
    uint64_t most;  /* requests; 0: no limit */
    double seconds; /* 0: no limit */
    const char *method;
    int status;
    char headers[4096];
    struct ask *asks;
    size_t asks_count;
} opt = {.connections = 1, .method = "GET", .status = 200};

static struct {
    uint64_t sent, right, wrong, bytes, connects, longest;
    unsigned busy;
    uint64_t slots[SLOTS];
} sum;

static volatile sig_atomic_t stopped;
static int poller;
static bool for_head;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

__attribute__((noreturn, format(printf, 2, 3))) static void die(int code, const char *form, ...)
{
    va_list more;
    va_start(more, form);
    fputs("load: ", stderr);
    vfprintf(stderr, form, more);
    fputc('\n', stderr);
    va_end(more);
    exit(code);
}

static size_t slot_of(uint64_t ns)
{
    if (ns < STEPS)
        return ns;
    unsigned shift = 63u - STEP_BITS - (unsigned)__builtin_clzll(ns);
    return (shift + 1) * STEPS + (ns >> shift) - STEPS;
}

/* The microseconds that a part of the right answers did not exceed: the upper end of a slot. */
static double quantile(double part)
{
    uint64_t wanted = (uint64_t)(part * (double)sum.right), seen = 0;
    size_t i = 0;
    while (i < SLOTS && (seen += sum.slots[i]) <= wanted)
        i++;
    double end = (double)i;
    if (i >= STEPS)
        end = (double)(i % STEPS + STEPS + 1) * (double)(UINT64_C(1) << (i / STEPS - 1));
    return (end < (double)sum.longest ? end : (double)sum.longest) / 1000;
}

static void wrong(const struct connection *c, const char *what)
{
    if (sum.wrong++ == 0)
        fprintf(stderr, "load: %s: %.*s\n", what, (int)strcspn(c->asked->text, "\r"),
                c->asked->text);
}

static void open_connection(struct connection *c)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)opt.port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof to))
        die(UNAVAILABLE, "127.0.0.1:%u: %s", opt.port, strerror(errno));
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (fcntl(c->fd, F_SETFL, O_NONBLOCK) || epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &e))
        die(UNAVAILABLE, "a connection: %s", strerror(errno));
    sum.connects++;
}

/* Sends the next request, on a new connection where the old one is over. */
static void ask_next(struct connection *c, uint64_t at, bool over)
{
    bool last = opt.most && sum.sent >= opt.most;
    if (over || last) {
        close(c->fd);
        c->fd = -1;
    }
    if (last) {
        sum.busy--;
        return;
    }
    if (c->fd < 0)
        open_connection(c);
    c->asked = &opt.asks[sum.sent++ % opt.asks_count];
    c->since = at;
    answer_reset(&c->answer);
    /* A server that has hung up meanwhile shows itself when the answer is read. */
    ssize_t n = send(c->fd, c->asked->text, c->asked->size, MSG_NOSIGNAL);
    if (n >= 0 && (size_t)n != c->asked->size)
        die(UNAVAILABLE, "a request does not fit into the socket");
}

static void answered(struct connection *c)
{
    uint64_t at = now(), took = at - c->since;
    if (c->answer.status != c->asked->status) {
        char what[64];
        snprintf(what, sizeof what, "%d instead of %d", c->answer.status, c->asked->status);
        wrong(c, what);
    } else {
        sum.right++;
        sum.slots[slot_of(took)]++;
        sum.longest = took > sum.longest ? took : sum.longest;
    }
    ask_next(c, at, c->answer.closes);
}

static void readable(struct connection *c)
{
    const char *fault = answer_read(&c->answer, c->fd, for_head, &sum.bytes);
    if (fault) {
        wrong(c, fault);
        ask_next(c, now(), true);
    } else if (answer_is_whole(&c->answer)) {
        answered(c);
    }
}

/* The seconds that it took. */
static double run(struct connection *all)
{
    struct epoll_event events[EVENTS];
    uint64_t start = now(), at = start, last = start;
    uint64_t end = opt.seconds > 0 ? start + (uint64_t)(opt.seconds * (double)SECOND) : UINT64_MAX;
    sum.busy = opt.connections;
    for (unsigned i = 0; i < opt.connections; i++)
        ask_next(&all[i], now(), false);
    while (sum.busy && !stopped && at < end && at - last < PATIENCE) {
        int n = epoll_wait(poller, events, EVENTS, TICK_MS);
        at = now();
        for (int i = 0; i < n; i++)
            readable(events[i].data.ptr);
        if (n > 0)
            last = at;
    }
    /* An answer that the clock cuts short is no error; not a byte from anybody is one. */
    bool silent = at - last >= PATIENCE || (at >= end && !(sum.right + sum.wrong + sum.bytes));
    for (unsigned i = 0; i < opt.connections && silent; i++)
        if (all[i].fd >= 0)
            wrong(&all[i], "no answer");
    return (double)(at - start) / (double)SECOND;
}

static void add_ask(const char *target, int target_size, const char *header, int status)
{
    static size_t room;
    if (opt.asks_count == room) {
        room = room ? 2 * room : 64;
        opt.asks = realloc(opt.asks, room * sizeof *opt.asks);
    }
    struct ask *a = opt.asks ? &opt.asks[opt.asks_count++] : NULL;
    int n =
        !a ? -1
           : asprintf(&a->text, "%s %.*s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s%s%s\r\n", opt.method,
                      target_size, target, opt.port, opt.headers, header, *header ? "\r\n" : "");
    if (n < 0)
        die(UNAVAILABLE, "no memory");
    a->size = (size_t)n;
    a->status = status;
}

static void read_asks(const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    if (!f)
        die(USAGE, "%s: %s", path, strerror(errno));
    while (getline(&line, &room, f) > 0) {
        char *target = line;
        line[strcspn(line, "\n")] = 0;
        int status = isdigit((unsigned char)*line) ? (int)strtol(line, &target, 10) : opt.status;
        target += *target == ' ';
        size_t size = strcspn(target, "\t");
        if (*target != '/')
            die(USAGE, "%s: not a target: %s", path, line);
        add_ask(target, (int)size, target[size] ? target + size + 1 : "", status);
    }
    free(line);
    fclose(f);
}

static double number(const char *text, double most)
{
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x > 0 && x <= most))
        die(USAGE, "not a number up to %g: %s", most, text);
    return x;
}

static void read_options(int argc, char **argv)
{
    const char *file = NULL, *target = NULL;
    size_t used = 0;
    for (int c; (c = getopt(argc, argv, "c:d:n:m:s:H:f:t:")) != -1;) {
        if (c == 'c')
            opt.connections = (unsigned)number(optarg, 100000);
        else if (c == 'd')
            opt.seconds = number(optarg, 1e6);
        else if (c == 'n')
            opt.most = (uint64_t)number(optarg, 1e15);
        else if (c == 'm')
            opt.method = optarg;
        else if (c == 's')
            opt.status = (int)number(optarg, 999);
        else if (c == 'H' && used + strlen(optarg) + 3 <= sizeof opt.headers)
            used +=
                (size_t)snprintf(opt.headers + used, sizeof opt.headers - used, "%s\r\n", optarg);
        else if (c == 'f')
            file = optarg;
        else if (c == 't')
            target = optarg;
        else
            exit(USAGE);
    }
    if (optind != argc - 1 || !file == !target)
        die(USAGE, "it takes one PORT, and one of -f FILE and -t TARGET");
    opt.port = (unsigned)number(argv[optind], 65535);
    if (!opt.most && opt.seconds <= 0)
        opt.seconds = 1;
    for_head = !strcmp(opt.method, "HEAD");
    if (file)
        read_asks(file);
    else
        add_ask(target, (int)strlen(target), "", opt.status);
    if (!opt.asks_count)
        die(USAGE, "%s: no targets", file);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    struct connection *all = calloc(opt.connections, sizeof *all);
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (!all || poller < 0)
        die(UNAVAILABLE, "%s", strerror(errno));
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);
    sigaction(SIGINT, &(struct sigaction){.sa_handler = stop}, NULL);
    for (unsigned i = 0; i < opt.connections; i++)
        open_connection(&all[i]);
    double seconds = run(all);
    printf("{\"requests\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"connects\":%" PRIu64
           ",\"bytes\":%" PRIu64 ",\"seconds\":%.6f",
           sum.right, sum.wrong, sum.connects, sum.bytes, seconds);
    printf(",\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f}\n", quantile(0.5), quantile(0.99),
           (double)sum.longest / 1000);
    free(all);
    return sum.wrong != 0;
}
