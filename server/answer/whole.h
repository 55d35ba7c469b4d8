/* SPDX-License-Identifier: MIT
 *
 * whole.h: bodies that are written, or coded, in one piece because they are small: their length is
 * stated, and the answer can be kept.
 */
#ifndef SERVER_WHOLE_H
#define SERVER_WHOLE_H

#include "stream.h"

/* Whether the table of an order is such a one. */
bool whole_fits(const struct order *);

/* Its body as it is sent, to be freed with free; from a payload or a plan, which are taken over as
 * by stream_open. NULL without memory, or where rows cannot be made. */
char *whole_write(struct order *, struct payload *, struct shared_plan *, size_t *length);

#endif
