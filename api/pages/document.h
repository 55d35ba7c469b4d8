/* SPDX-License-Identifier: MIT
 *
 * document.h: answers that are whole texts: descriptions and pages. They have a strong tag made of
 * their bytes and honour conditions; caches ask again each time, since an update of the server
 * changes them.
 */
#ifndef API_DOCUMENT_H
#define API_DOCUMENT_H

#include "request/call.h"

/* Answers with the text (200, 304 or, as an issue, 412). `media` and `vary` are static; `vary` may
 * be NULL. */
bool api__document(struct api__call *, const char *media, const char *vary, struct api_bytes text);

/* Refuses any parameter: for paths that have none. */
bool api__no_params(struct api__call *);

#endif
