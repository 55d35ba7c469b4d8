/* SPDX-License-Identifier: MIT
 *
 * memo.h: answers of hot requests, ready to be sent. What a table's answer depends on is the
 * method, the target and three headers; a request that has those in common with an earlier one
 * needs no parsing, no planning and no new response. A memo belongs to one worker, and forgets
 * answers whose payload the cache has pushed out.
 */
#ifndef SERVER_MEMO_H
#define SERVER_MEMO_H

#include "reply.h"

struct memo;

/* What is asked, for one look-up. `hash` is memo_find's. */
struct memo_key {
    struct api_bytes part[5]; /* method, target, Accept, Accept-Encoding, If-None-Match */
    uint64_t hash;
};

/* NULL without memory. */
struct memo *memo_open(void);
void memo_close(struct memo **);

/* Answers the request in hand from the memo: true, and *sent says whether the library took it.
 * Otherwise false, with key->hash set for memo_keep. */
bool memo_answer(struct memo *, struct conn *, struct memo_key *, bool *sent);

/* Offers an answer that is about to be sent: taken from the second time on that its key is offered
 * in a while. True: the memo owns answer->response from now on, and the request is to be answered
 * by memo_answer. `payload` (or NULL) is what the body stands on. */
bool memo_keep(struct memo *, const struct memo_key *, const struct answer *, struct payload *,
               const char *route, struct conn *);

/* A reply that is ready, and what the log and the metrics say of it; until the memo is used again.
 */
struct memo_hit {
    struct reply *reply;
    struct metrics_series *series;
    const char *method;
    struct api_bytes target;
};

/* The answer to a request of which all bytes are these: those of a head that memo_answer answered
 * before. Counts it as asked for. */
bool memo_find_head(struct memo *, struct worker *, struct api_bytes head, struct memo_hit *);

/* Lets go of answers that have lost their payload. Some times a second. */
void memo_sweep(struct memo *);

#endif
