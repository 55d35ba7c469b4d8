/* SPDX-License-Identifier: MIT
 *
 * assets.h: files of this folder that are part of the program.
 */
#ifndef API_ASSETS_H
#define API_ASSETS_H

#include "api.h"

struct api_bytes api__openapi(void);  /* openapi.json: OpenAPI 3.1 */
struct api_bytes api__explorer(void); /* explorer.html: the page at / for browsers */
struct api_bytes api__docs(void);     /* docs.html: the page at /docs */
struct api_bytes api__client(void);   /* client.py: the Python client */

#endif
