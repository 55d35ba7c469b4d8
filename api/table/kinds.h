/* SPDX-License-Identifier: MIT
 *
 * kinds.h: the handler of /v1/kinds: the tables of lib, and the parameters of presentation, as
 * JSON.
 */
#ifndef API_KINDS_H
#define API_KINDS_H

#include "request/call.h"

bool api__kinds_page(struct api__call *);

#endif
