/* SPDX-License-Identifier: MIT
 *
 * service.h: the handler of /v1: which service this is, and within which limits.
 */
#ifndef API_SERVICE_H
#define API_SERVICE_H

#include "request/call.h"

/* JSON bodies of requests, apart from the configured limit of all bodies. */
#define API__MAX_JSON_BODY (UINT64_C(16) << 20)

bool api__service_page(struct api__call *);

#endif
