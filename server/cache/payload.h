/* SPDX-License-Identifier: MIT
 *
 * payload.h: the bytes of one table, counted, and how far they are made. Bytes below the progress
 * never change any more; whoever needs more waits for a letter. One builder writes, any number of
 * readers read.
 */
#ifndef SERVER_PAYLOAD_H
#define SERVER_PAYLOAD_H

#include "watch/mail.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_FAILED UINT64_MAX

struct payload_wait {
    struct mail_letter letter;
    struct mail_box *box;
    struct payload *payload; /* NULL: not waiting */
    uint64_t need;
    struct payload_wait *next, *prev;
};

struct payload {
    unsigned char *at;
    size_t size;
    size_t mapped;                  /* bytes of address space, 0 where it came from malloc */
    void (*release)(void *closure); /* of bytes that are borrowed; NULL: its own */
    void *closure;
    uint64_t goal; /* progress of the whole */
    atomic_uint owners;
    atomic_int readers;        /* those who want it built; the cache and the builder do not count */
    atomic_bool kept;          /* in the cache */
    atomic_bool used;          /* since the cache last looked */
    _Atomic uint64_t progress; /* PAYLOAD_FAILED: it will never be whole */
    struct build *build;       /* that makes it; of the loop that began it, as is this field */
    pthread_mutex_t lock;      /* of the waits */
    struct payload_wait *waits;
};

/* Room for `size` bytes whose making ends at `goal`. One owner. NULL without memory. */
struct payload *payload_create(size_t size, uint64_t goal);

/* Whole already: bytes of somebody else's, who hears by `release` when the last owner has gone. */
struct payload *payload_borrow(const void *at, size_t size, uint64_t goal, void (*release)(void *),
                               void *closure);
void payload_hold(struct payload *);
void payload_drop(struct payload **);

/* A reader is an owner whose interest keeps a build going. */
void payload_join(struct payload *);
void payload_leave(struct payload **);

static inline uint64_t payload_progress(struct payload *p)
{
    return atomic_load_explicit(&p->progress, memory_order_acquire);
}

static inline bool payload_whole(struct payload *p)
{
    return payload_progress(p) == p->goal;
}

/* The builder's: bytes below `progress` are final. Only upwards. */
void payload_advance(struct payload *, uint64_t progress);
void payload_fail(struct payload *);

/* Waits for progress `need` (or failure): true, and wait->letter will arrive at wait->box, once.
 * False where it is there already. */
bool payload_wait(struct payload *, uint64_t need, struct payload_wait *wait);

/* On the thread of the box: the letter of a wait for this payload will not arrive. Harmless where
 * nothing is awaited. */
void payload_forget(struct payload *, struct payload_wait *wait);

#endif
