/* SPDX-License-Identifier: MIT
 *
 * pages.h: handlers of the paths that explain the service or tell how it is. None takes a
 * parameter.
 */
#ifndef API_PAGES_H
#define API_PAGES_H

#include "request/call.h"

bool api__root_page(struct api__call *);    /* / */
bool api__docs_page(struct api__call *);    /* /docs */
bool api__client_page(struct api__call *);  /* /client.py */
bool api__openapi_page(struct api__call *); /* /openapi.json */
bool api__type_page(struct api__call *);    /* /problems/{name} */
bool api__live_page(struct api__call *);    /* /livez */
bool api__ready_page(struct api__call *);   /* /readyz and its aliases */
bool api__metrics_page(struct api__call *); /* /metrics */

#endif
