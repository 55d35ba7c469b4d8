/* SPDX-License-Identifier: MIT
 *
 * admit.h: how many connections there are, of all clients and of each address, over all threads. A
 * connection beyond a limit is still accepted: it is told so in an answer, and closed.
 */
#ifndef SERVER_ADMIT_H
#define SERVER_ADMIT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

enum admit_verdict { ADMIT_WELCOME, ADMIT_TOO_MANY, ADMIT_TOO_MANY_OF_ONE };

/* An address as a key; unix sockets all share one. */
struct admit_address {
    uint64_t half[2];
};

struct admit;

/* `per_address` 0: not counted. NULL without memory. */
struct admit *admit_open(uint64_t most, uint64_t per_address);
void admit_close(struct admit **);

/* Counts a connection in, whatever the verdict; thread-safe. admit_leave counts it out. */
enum admit_verdict admit_enter(struct admit *, const struct sockaddr *, struct admit_address *out);
void admit_leave(struct admit *, const struct admit_address *);

/* The verdict once more on a connection that is counted in: others may have left. */
enum admit_verdict admit_again(struct admit *, const struct admit_address *);

#endif
