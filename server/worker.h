/* SPDX-License-Identifier: MIT
 *
 * worker.h: what a thread has, and what all threads share. Data only; those who run it are loop.c
 * and main.c.
 */
#ifndef SERVER_WORKER_H
#define SERVER_WORKER_H

#include "http/admit.h"
#include "cache/cache.h"
#include "config/config.h"
#include "http/guard.h"
#include "watch/log.h"
#include "watch/mail.h"
#include "watch/metrics.h"
#include "cache/plans.h"
#include "learned/store.h"
#include "learned/tokens.h"

enum shared_phase {
    SHARED_SERVING,
    SHARED_LEAVING, /* SIGTERM came: everything is answered, with Connection: close */
    SHARED_CLOSED,  /* and no connections are accepted any more */
    SHARED_CUT      /* what is still under way is not finished */
};

struct digests;

struct shared {
    const struct config *config;
    struct api_limits limits;
    uint64_t idle_ms;
    struct cache *cache;
    struct plans *plans;
    struct digests *digests;
    struct admit *admit;
    struct store *store;       /* NULL: no --state-dir */
    struct tokens_box *tokens; /* NULL: no --auth-token-file */
    atomic_int phase;
};

struct conn;
struct memo;
struct ponder;

/* The last head that came in one piece and alone, as it came. */
#define WORKER_HEAD 512
struct worker_head {
    const struct conn *conn;
    size_t size;
    char at[WORKER_HEAD];
};

struct worker {
    uv_loop_t uv;
    struct mail_box mail;
    uv_idle_t again; /* runs while a port has work left: the loop then does not sleep */
    uv_idle_cb run_again;
    struct shared *shared;
    struct metrics_shard *metrics;
    struct log_buffer log;
    struct memo *memo;
    struct ponder *pondering; /* requests whose plan takes long, in their order */
    struct conn *conns;
    struct conn **by_fd; /* [fds]: by their sockets */
    size_t fds;
    struct guard_head head; /* of the request in hand */
    struct worker_head last;
    uint64_t ids; /* state of the generator of request ids */
};

/* A listening socket of a worker. */
struct port {
    struct worker *worker;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    bool health_only;
    bool polled;
    bool resumed; /* it has to run, of which the library says nothing to the poll */
};

#endif
