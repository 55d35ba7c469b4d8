/* SPDX-License-Identifier: MIT
 *
 * reply.h: what every answer has, and the simplest bodies.
 */
#ifndef API_REPLY_H
#define API_REPLY_H

#include "request/call.h"

/* Begins the plan anew: no headers but those that every answer has, no body. */
void api__reply_begin(struct api__call *, int status);

/* A body of text in memory. `media` is static. */
void api__reply_text(struct api__call *, const char *media, struct api_bytes text);

/* 304: the text that a 200 would have, of which only the length is stated (RFC 9110, 8.6). */
void api__reply_same_text(struct api__call *, struct api_bytes text);

#endif
