/* SPDX-License-Identifier: MIT
 *
 * http.h: requests, from the library's handler calls to serve.c.
 */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include "answer/serve.h"

/* The library's access handler. `port` is the closure; *context is the connection (conn_target set
 * it). */
enum MHD_Result http_handle(void *port, struct MHD_Connection *, const char *url,
                            const char *method, const char *version, const char *upload,
                            size_t *upload_size, void **context);

#endif
