/* SPDX-License-Identifier: MIT
 *
 * tokens.h: who may do what. A file names tokens by their SHA-256, so neither it nor the memory of
 * the daemon holds one; a token that comes is hashed and compared with all of them in constant
 * time. It is never logged.
 */
#ifndef SERVER_TOKENS_H
#define SERVER_TOKENS_H

#include "api.h"

struct tokens;

/* Reads a file: one token a line, name:sha256hex:scopes; empty lines and those that begin with #
 * are skipped. False with a sentence in `error` that names the line, and then *out is as it was. */
bool tokens_read(const char *path, struct tokens **out, char *error, size_t size);
void tokens_close(struct tokens **);

enum tokens_verdict {
    TOKENS_GRANTED,
    TOKENS_NONE,    /* no header, or one that is no bearer token */
    TOKENS_UNKNOWN, /* no such token */
    TOKENS_LACKING  /* a known one without the scope */
};

/* What the Authorization headers of a request grant. NULL tokens know nobody. */
enum tokens_verdict tokens_check(const struct tokens *, const struct api_request *, enum api_scope);

/* Tokens that may be read anew while they are used. Any thread. */
struct tokens_box;
struct tokens_box *tokens_box_open(struct tokens **);
void tokens_box_close(struct tokens_box **);
void tokens_box_put(struct tokens_box *, struct tokens **);
enum tokens_verdict tokens_box_check(struct tokens_box *, const struct api_request *,
                                     enum api_scope);

#endif
