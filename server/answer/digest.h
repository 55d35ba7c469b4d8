/* SPDX-License-Identifier: MIT
 *
 * digest.h: Repr-Digest (RFC 9530). A strong tag names the bytes of a representation for good, so
 * digests are remembered by tags, for all workers and formats, and outlive payload and answer. The
 * memory is of a fixed size and may forget; what it says is right.
 */
#ifndef SERVER_DIGEST_H
#define SERVER_DIGEST_H

#include "body.h"

#include <uv.h>

struct digests;

/* NULL without memory. Closed when no work is under way. */
struct digests *digests_open(void);
void digests_close(struct digests **);

/* The value of the header: "sha-256=:", 44 characters of base64, ":", NUL. */
#define DIGEST_ROOM 55

/* Thread-safe. False where the digest of the representation with this tag is not known. */
bool digests_find(struct digests *, const char *tag, char out[DIGEST_ROOM]);

/* Makes it of a whole body and remembers it. */
void digests_make(struct digests *, const char *tag, const struct body *, char out[DIGEST_ROOM]);

/* On the loop of the body's owners: the same on the pool, where nothing else is being digested
 * there; digests_find then knows it. */
void digests_make_later(struct digests *, const char *tag, struct body *, uv_loop_t *);

#endif
