/* SPDX-License-Identifier: MIT
 *
 * resolve_print.h: groups as JSON, and as requests of our own.
 */
#ifndef API_RESOLVE_PRINT_H
#define API_RESOLVE_PRINT_H

#include "resolve_group.h"

/* "/v1/tables/rope.safetensors?base=...": the request for the table of a group; NULL where it has
 * none. */
const char *api__group_href(struct api__arena *, const struct api__group *);

/* The whole answer. */
struct api_bytes api__print_groups(const struct api__config *, const struct api__groups *);

/* `"warnings":[...]`: the reports so far, as a member of a problem document; NULL where there are
 * none. */
const char *api__print_warnings(const struct api__config *, const struct api__groups *);

#endif
