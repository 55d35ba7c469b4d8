/* SPDX-License-Identifier: MIT
 *
 * nearest.h: what somebody may have meant. A name is near when few typing slips lead to it: a
 * letter wrong, missing, extra, or two neighbours swapped; case does not count.
 */
#ifndef API_NEAREST_H
#define API_NEAREST_H

#include "api.h"

/* The nearest of `count` names, or NULL where none is near: at most one slip for each three letters
 * of the name, and at least one. The first of equals. Texts longer than 64 bytes are near nothing.
 */
const char *api__nearest(struct api_bytes text, const char *const *names, size_t count);

/* Slips between two texts (optimal string alignment distance), without case; `limit` + 1 where
 * more. */
size_t api__slips(struct api_bytes, struct api_bytes, size_t limit);

#endif
