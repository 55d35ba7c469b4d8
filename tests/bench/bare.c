/* SPDX-License-Identifier: MIT
 *
 * bare.c: what this kernel lets one thread do: an epoll loop that answers every request on a
 * connection with the same prepared bytes, and reads nothing of it but its end. The yardstick for
 * the daemon in serving.py, not a server.
 *
 *   bare FILE     serves the bytes of FILE (head and body) on a free port of 127.0.0.1, which it
 * prints
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

enum { MOST_FILES = 65536, EVENTS = 256 };

/* What is still to be sent on each connection: whole answers, and how far the first one has come.
 */
static struct peer {
    unsigned owed;
    size_t sent;
    unsigned matched; /* bytes of \r\n\r\n seen at the end of what was read */
} peers[MOST_FILES];

static char *answer;
static size_t answer_size;

static int listen_here(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 1024) ||
        getsockname(fd, (struct sockaddr *)&a, &len))
        return -1;
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    return fd;
}

static void count_requests(struct peer *p, const char *bytes, ssize_t n)
{
    static const char end[] = "\r\n\r\n";
    for (ssize_t i = 0; i < n; i++) {
        p->matched = bytes[i] == end[p->matched] ? p->matched + 1 : bytes[i] == '\r';
        if (p->matched == 4) {
            p->owed++;
            p->matched = 0;
        }
    }
}

/* False where the connection is over. */
static int serve(int fd, struct peer *p)
{
    char bytes[16384];
    ssize_t n = recv(fd, bytes, sizeof bytes, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        return 0;
    count_requests(p, bytes, n > 0 ? n : 0);
    while (p->owed) {
        n = send(fd, answer + p->sent, answer_size - p->sent, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN;
        p->sent += (size_t)n;
        if (p->sent == answer_size) {
            p->sent = 0;
            p->owed--;
        }
    }
    return 1;
}

static void loop(int listener)
{
    struct epoll_event events[EVENTS], e = {.events = EPOLLIN, .data.fd = listener};
    int ep = epoll_create1(0), one = 1;
    epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        int n = epoll_wait(ep, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd != listener) {
                if (!serve(fd, &peers[fd]))
                    close(fd);
                continue;
            }
            while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                if (fd >= MOST_FILES) {
                    close(fd);
                    continue;
                }
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                memset(&peers[fd], 0, sizeof peers[fd]);
                e = (struct epoll_event){.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = fd};
                epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
            }
        }
    }
}

int main(int argc, char **argv)
{
    struct stat st;
    int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &st) || !(answer = malloc((size_t)st.st_size)) ||
        read(fd, answer, (size_t)st.st_size) != st.st_size) {
        fprintf(stderr, "usage: bare FILE\n");
        return 64;
    }
    answer_size = (size_t)st.st_size;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int listener = listen_here();
    if (listener < 0) {
        perror("bare");
        return 69;
    }
    loop(listener);
}
