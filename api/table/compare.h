/* SPDX-License-Identifier: MIT
 *
 * compare.h: the handler of /v1/compare?a=PATH&b=PATH: whether two of our own tables have the same
 * values, and if not, where they begin to differ and how far they lie apart.
 */
#ifndef API_COMPARE_H
#define API_COMPARE_H

#include "request/call.h"

bool api__compare(struct api__call *);

#endif
