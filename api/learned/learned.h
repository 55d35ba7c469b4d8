/* SPDX-License-Identifier: MIT
 *
 * learned.h: the handlers of stored tables. Each reads its request first, which needs no store, and
 * makes a plan of source API_LEARNED; called again with call->facts it makes the answer. So nothing
 * is looked up for a request that cannot be meant, and both halves see the same request.
 */
#ifndef API_LEARNED_H
#define API_LEARNED_H

#include "request/param.h"

/* /v1/learned and /v1/learned/{name} */
bool api__learned_list(struct api__call *);
bool api__learned_table(struct api__call *);

/* /v1/tables/learned/{name}[.ext] */
bool api__learned_rows(struct api__call *);

/* NAME, or NAME@sha256:HEX where `alias` allows it; sets name and digest. Refuses what no table can
 * be called: with 404 where one is looked for, with 400 where one is to be made. */
bool api__learned_name(struct api__call *, struct api_bytes text, struct api_learned *);

/* Makes the provisional plan. */
bool api__learned_ask(struct api__call *, struct api_learned *);

/* The dtype of rows, if the parameter is there (NULL: it is not); and whether JSON can carry a
 * found table of the dtype of table->spec. */
bool api__learned_dtype(struct api__call *, const struct api__param *, struct pe_spec *);
bool api__learned_json(struct api__call *, const struct api_table *);

/* The issue of an outcome that is none of FOUND, MADE, CHANGED, SAME, REMOVED. */
bool api__learned_refuse(struct api__call *, const struct api_learned *);

#endif
