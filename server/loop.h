/* SPDX-License-Identifier: MIT
 *
 * loop.h: an event loop and everything that runs on it: libuv polls the epoll descriptor of a
 * libmicrohttpd daemon for each port, and calls it. Its thread is the caller of loop_run.
 */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include "http/http.h"

#define LOOP_MAX_PORTS 33

struct loop {
    struct worker worker;
    struct port port[LOOP_MAX_PORTS];
    unsigned ports;
    uv_async_t nudge;
    uv_timer_t tick, flush;
    uv_prepare_t before_sleep;
    int phase; /* what of shared->phase has been acted on */
    bool opened, ended;
};

/* False without memory or descriptors; loop_free then frees what there is. */
bool loop_open(struct loop *, struct shared *);

/* Serves a listening socket, which the loop owns from now on in either case. */
bool loop_add_port(struct loop *, int fd, bool health_only);

/* Serves until shared->phase is CLOSED and every connection is gone. */
void loop_run(struct loop *);

/* Any thread: look at shared->phase. */
void loop_nudge(struct loop *);

/* After loop_run, or when it is not to run at all. */
void loop_free(struct loop *);

#endif
