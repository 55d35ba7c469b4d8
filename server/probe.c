/* SPDX-License-Identifier: MIT
 *
 * probe.c: `posenc healthcheck`: one request for /livez within five seconds, for containers without
 * curl.
 */
#include "config/commands.h"
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 5000

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits until the socket is ready; false at the deadline. */
static bool ready(int fd, short events, int64_t deadline)
{
    struct pollfd p = {.fd = fd, .events = events};
    int64_t left = deadline - now_ms();
    return left > 0 && poll(&p, 1, (int)left) > 0;
}

static bool connected(int fd, const struct value_address *a, int64_t deadline)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (connect(fd, &a->at.any, a->size) == 0)
        return true;
    return errno == EINPROGRESS && ready(fd, POLLOUT, deadline) &&
           getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

static bool ask(const struct value_address *a)
{
    static const char request[] =
        "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    int64_t deadline = now_ms() + PATIENCE_MS;
    char head[16] = "";
    size_t have = 0;
    int fd = socket(a->at.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && connected(fd, a, deadline) &&
                send(fd, request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)sizeof request - 1;
    while (good && have < 12) {
        good = ready(fd, POLLIN, deadline);
        ssize_t n = good ? recv(fd, head + have, 12 - have, 0) : 0;
        good = n > 0;
        have += good ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return good && !strncmp(head, "HTTP/1.", 7) && !strcmp(head + 8, " 200");
}

/* A daemon that listens everywhere is asked here. */
static void reach(struct value_address *a)
{
    if (a->at.any.sa_family == AF_INET && a->at.v4.sin_addr.s_addr == htonl(INADDR_ANY))
        a->at.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (a->at.any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a->at.v6.sin6_addr))
        a->at.v6.sin6_addr = in6addr_loopback;
}

static int read_url(const char *url, struct value_address *a)
{
    char text[256], wrong[160] = "http://HOST:PORT or unix:PATH";
    bool local = !strncmp(url, "unix:", 5);
    size_t skip = local ? 0 : 7;
    snprintf(text, sizeof text, "%s", strlen(url) >= skip ? url + skip : "");
    if (!local)
        text[strcspn(text, "/")] = 0;
    if ((!local && strncmp(url, "http://", 7)) || !value_address(text, a, wrong)) {
        fprintf(stderr, "posenc healthcheck: \"%.200s\" must be %s\n", url, wrong);
        return EXIT_USAGE;
    }
    return 0;
}

static int read_own(struct value_address *a)
{
    struct config c;
    struct config_error e;
    bool help, good = config_read(&c, 0, NULL, &help, &e);
    if (good)
        *a = c.value[CONFIG_LISTEN].at[0];
    else
        fprintf(stderr, "posenc healthcheck: %s\n", e.text);
    config_free(&c);
    return good ? 0 : (int)e.exit;
}

int command_healthcheck(int argc, char **argv)
{
    struct value_address a;
    if (argc > 1) {
        fprintf(stderr, "posenc healthcheck: argument %.200s is one too many\n", argv[1]);
        return EXIT_USAGE;
    }
    int code = argc ? read_url(argv[0], &a) : read_own(&a);
    if (code)
        return code;
    reach(&a);
    return ask(&a) ? 0 : 1;
}
