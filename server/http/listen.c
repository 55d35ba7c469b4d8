/* SPDX-License-Identifier: MIT
 *
 * listen.c: see listen.h. SO_REUSEPORT would let a second daemon of the same user share a port
 * unnoticed, so a port is first bound without it: that fails where anybody listens.
 */
#include "listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make(const struct value_address *a)
{
    return socket(a->at.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static bool set(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

static int give_up(int fd)
{
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

/* A socket file is left behind by a daemon that was killed; one that answers is in use. */
static bool claim_path(const struct value_address *a)
{
    struct stat s;
    if (lstat(a->at.local.sun_path, &s))
        return errno == ENOENT;
    int fd = S_ISSOCK(s.st_mode) ? make(a) : -1;
    bool used = fd < 0 || connect(fd, &a->at.any, a->size) == 0 || errno != ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    if (used)
        errno = EADDRINUSE;
    return !used && unlink(a->at.local.sun_path) == 0;
}

bool listen_claim(struct value_address *a)
{
    if (a->at.any.sa_family == AF_UNIX)
        return claim_path(a);
    int fd = make(a);
    if (fd < 0 || !set(fd, SOL_SOCKET, SO_REUSEADDR, 1) || bind(fd, &a->at.any, a->size) ||
        getsockname(fd, &a->at.any, &a->size)) {
        give_up(fd);
        return false;
    }
    close(fd);
    return true;
}

int listen_open(const struct value_address *a, int first)
{
    bool local = a->at.any.sa_family == AF_UNIX;
    if (local && first >= 0)
        return fcntl(first, F_DUPFD_CLOEXEC, 0);
    int fd = make(a);
    /* Accepted sockets inherit TCP_NODELAY. */
    if (fd < 0 ||
        (!local &&
         (!set(fd, SOL_SOCKET, SO_REUSEADDR, 1) || !set(fd, SOL_SOCKET, SO_REUSEPORT, 1) ||
          !set(fd, IPPROTO_TCP, TCP_NODELAY, 1))) ||
        bind(fd, &a->at.any, a->size) || listen(fd, LISTEN_BACKLOG))
        return give_up(fd);
    return fd;
}

void listen_remove(const struct value_address *a)
{
    if (a->at.any.sa_family == AF_UNIX)
        unlink(a->at.local.sun_path);
}
