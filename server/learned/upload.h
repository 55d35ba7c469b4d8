/* SPDX-License-Identifier: MIT
 *
 * upload.h: the body of a PUT on its way into the store. What comes is gathered in one small buffer
 * and written by the pool while the connection rests, so an upload takes as little memory as a
 * download.
 */
#ifndef SERVER_UPLOAD_H
#define SERVER_UPLOAD_H

#include "answer/serve.h"

/* Before the body of a PUT is read, of which api_refuse_body has nothing to say: NULL, and from now
 * on the body goes to upload_take; or the plan of a refusal. */
struct api_plan *upload_begin(struct conn *, const struct api_request *);

/* Takes bytes of the body, and lowers *size by as many; rests before it takes the others. False:
 * close the connection. */
bool upload_take(struct conn *, const char *bytes, size_t *size);

/* The body is whole: stores it and answers; called again until it has. False: close the connection.
 */
bool upload_answer(struct conn *);

#endif
