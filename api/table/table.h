/* SPDX-License-Identifier: MIT
 *
 * table.h: the handler of /v1/tables/{kind}[.ext] and of what stands beside a table.
 */
#ifndef API_TABLE_H
#define API_TABLE_H

#include "request/param.h"

/* captures: kind, and the resource or nothing. */
bool api__table(struct api__call *);

/* What all paths below /v1/tables/ begin with: the kind by its name in the path; and the parameters
 * from the query and from a JSON body, with positions from a body that is an array, which go into
 * the spec. */
bool api__table_kind(struct api__call *, enum pe_kind *);
bool api__table_params(struct api__call *, struct api__params *, struct pe_spec *);

#endif
