/* SPDX-License-Identifier: MIT
 *
 * answer.h: one HTTP/1.1 answer as load.c reads it: the head is looked at, the body is thrown away
 * inside the kernel and only counted. An answer needs exactly one Content-Length, except where it
 * cannot have a body: 204, 304, and whatever answers HEAD.
 */
#ifndef PE_BENCH_ANSWER_H
#define PE_BENCH_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEAD_MOST = 8192 }; /* bytes */

/* All zero: nothing has come yet. */
struct answer {
    size_t have;   /* bytes of head, until it is whole */
    bool has_head; /* the fields below hold from then on */
    bool closes;   /* the connection ends with this answer */
    int status;
    uint64_t left; /* bytes of the body that are still to come */
    char head[HEAD_MOST + 1];
};

void answer_reset(struct answer *);

/* Takes what a socket that does not block holds, and adds the bytes of body to *bytes. What is
 * wrong with the answer, or NULL. It does not go past the answer's end: there, more bytes are a
 * fault. */
const char *answer_read(struct answer *, int fd, bool for_head, uint64_t *bytes);

bool answer_is_whole(const struct answer *);

#endif
