/* SPDX-License-Identifier: MIT
 *
 * fill.h: makes payloads. Small ones at once, on the loop that asks; larger ones in bands on
 * libuv's pool, by as many threads as there are, from the last rows to the first, while the loop
 * makes the first ones and sends them. A build that nobody waits for any more stops at the next
 * band.
 */
#ifndef SERVER_FILL_H
#define SERVER_FILL_H

#include "cache.h"
#include "plans.h"

/* Up to this many bytes a payload is made on the loop: some 100 microseconds. */
#define FILL_AT_ONCE (128 << 10)

/* What the loop makes at a time for a client that waits, and what is sent at a time: less than half
 * of an L2 cache of 1 MiB, and a third of the system calls of 128 KiB. Measured from 128 KiB to
 * 1 MiB. */
#define FILL_BAND (384 << 10)

/* Makes an empty payload of the cache whole, or fails it (and then the cache forgets it). */
void fill_now(struct cache *, struct shared_plan *, struct order *, struct payload *);

/* The same on the pool, from the next turn of the box's loop on; the loop must run until it is
 * over. A first part is made at once where that is quick. Fails the payload without memory. */
void fill_later(struct cache *, struct plans *, struct order *, struct payload *,
                struct mail_box *);

/* On the loop that began the build of a payload: makes some of its first rows that nobody makes.
 * False where there are none. */
bool fill_help(struct payload *);

/* Sets the size of the pool and starts its threads; once, before any other use of the pool. */
void fill_warm_up(uv_loop_t *, unsigned threads);

#endif
