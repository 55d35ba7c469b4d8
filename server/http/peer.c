/* SPDX-License-Identifier: MIT
 *
 * peer.c: tcp(7), unix(7). Uses the kernel's own struct tcp_info, which is longer than the C
 * library's.
 */
#include "peer.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

/* 25 Gbit/s over a way of 100 microseconds is 300 KiB; the kernel doubles what it is told, and
 * counts its own share against it. */
#define NEAR_US 100
#define NEAR_BYTES (256 << 10)

static bool tcp_info(int fd, struct tcp_info *info)
{
    socklen_t size = sizeof *info;
    memset(info, 0, sizeof *info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size) == 0;
}

bool peer_heard(int fd, uint64_t ms)
{
    struct tcp_info info;
    return tcp_info(fd, &info) && info.tcpi_last_data_recv < ms;
}

uint64_t peer_taken(int fd)
{
    struct tcp_info info;
    int unsent = 0;
    if (tcp_info(fd, &info))
        return info.tcpi_bytes_acked;
    ioctl(fd, SIOCOUTQ, &unsent);
    return (uint64_t)(INT32_MAX - unsent);
}

void peer_pace(int fd)
{
    struct tcp_info info;
    int size = NEAR_BYTES;
    if (tcp_info(fd, &info) && info.tcpi_rtt <= NEAR_US)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

int peer_unread(int fd)
{
    int n = 0;
    ioctl(fd, SIOCINQ, &n);
    return n;
}

bool peer_gone(int fd)
{
    struct pollfd p = {.fd = fd, .events = 0};
    return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP);
}
