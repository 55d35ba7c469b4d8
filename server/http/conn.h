/* SPDX-License-Identifier: MIT
 *
 * conn.h: a connection and the request in hand on it. All of a connection's life is on its worker's
 * thread. The library's own time-out begins anew with each byte; the deadlines here are totals.
 */
#ifndef SERVER_CONN_H
#define SERVER_CONN_H

#include "answer/stream.h"
#include "worker.h"

enum conn_phase {
    CONN_OPEN, /* accepted; no head has come yet */
    CONN_IDLE, /* between an answer and the next head */
    CONN_HEAD, /* a head has begun */
    CONN_BODY,
    CONN_WORK, /* the answer is being decided, or awaited */
    CONN_SEND
};

/* Work that is done for the request in hand while its connection rests. `left` is called where the
 * request ends first: then nobody waits for it any more. */
struct conn_errand {
    void (*left)(struct conn_errand *);
};

struct upload;

struct conn {
    struct conn *next, *prev;
    struct worker *worker;
    struct port *port;
    struct MHD_Connection *handle;
    int fd;
    bool local; /* a unix socket: no TCP_INFO */
    enum conn_phase phase;
    enum admit_verdict verdict;
    struct admit_address address;
    char client[48];
    uint64_t since;  /* ms: when the phase began */
    uint64_t looked; /* ms: when a deadline was last looked at closely */
    uint64_t mark; /* what had moved by then: bytes of the body received, or taken by the client */
    bool cut;      /* a deadline passed, or the daemon ends: the socket is shut */
    size_t unread; /* bytes that the library was given and has made no request of yet */

    /* The request in hand. */
    const char *raw; /* its target in the library's buffer */
    struct api_bytes target;
    char short_target[512];
    char *long_target;
    size_t head_size;
    char method[32];
    char id[129];
    char trace[33];
    uint64_t began_us;
    uint64_t asked_us, planned_us; /* its plan was begun, and there */
    unsigned char calls;           /* of the handler: 0, 1, 2 (and more) */
    bool takes_chunks;             /* HTTP/1.1 */
    bool close_after;
    char *body;
    size_t body_size, body_room;
    uint64_t declared;
    uint64_t heard; /* ms: when the last of the body came */
    struct order *order;
    struct stream *stream; /* the answer under way, owned by its response */
    uint64_t streamed;     /* bytes of it that the library has taken */
    struct conn_loan {
        const char *as;          /* a block that the library believes to send */
        const unsigned char *at; /* what it stands for */
        size_t size;
    } loan;
    bool lends; /* the library sends through us: it can be lent bytes */
    int status;
    uint64_t bytes; /* of the body that is being sent, where they are known */
    struct metrics_series *series;

    /* Waiting for a table. */
    bool suspended;
    bool owing;              /* suspended while the client is to take the rest of a reply */
    struct payload *awaited; /* a reader's share of it */
    struct payload_wait wait;
    struct plans_job *job;
    struct shared_plan *plan; /* what the job made */
    bool planned;             /* the job is over */
    unsigned tries;
    struct conn_errand *errand;
    struct upload *upload; /* where the body goes; it is the errand, then */
};

/* Callbacks of the library. `port` is the closure. */
void conn_notify(void *port, struct MHD_Connection *, void **context,
                 enum MHD_ConnectionNotificationCode);
void *conn_target(void *port, const char *target, struct MHD_Connection *);
void conn_completed(void *port, struct MHD_Connection *, void **context,
                    enum MHD_RequestTerminationCode);

uint64_t conn_clock_us(void);
void conn_enter(struct conn *, enum conn_phase);

/* The worker whose connections this thread serves, or NULL. */
extern _Thread_local struct worker *conn_here;

/* The connection of a socket on this worker, or NULL. */
static inline struct conn *conn_of(const struct worker *w, int fd)
{
    return (size_t)fd < w->fds ? w->by_fd[fd] : NULL;
}

/* A new id for the request in hand: REPLY_ID digits. */
void conn_name_request(struct conn *);

/* Keeps a copy of the target of the request in hand. False without memory. */
bool conn_keep_target(struct conn *, struct api_bytes);

/* The request in hand was answered, all of it or not: the line in the log, and the metrics. */
void conn_account(struct conn *, bool whole);

/* Suspends until the payload reaches `need`: false where it has already, or failed. */
bool conn_await(struct conn *, struct payload *, uint64_t need);
/* Suspends until conn_wake. */
void conn_suspend(struct conn *);
void conn_wake(struct conn *);

/* Resets a connection: what is under way is given up. */
void conn_cut(struct conn *);

/* Looks at every deadline of a worker's connections; some times a second. */
void conn_tick(struct worker *);

/* The daemon ends: cuts the connections that have nothing under way. `all`: those that have, too.
 */
void conn_leave(struct worker *, bool all);

#endif
