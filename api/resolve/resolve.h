/* SPDX-License-Identifier: MIT
 *
 * resolve.h: the handler of POST /v1/resolve: a model's config in, the tables of its layers out.
 *
 * The config is read in the dialects of transformers (v4 and v5), GGUF, Megatron flags and
 * diffusers. Every key that bears on positions is used, or reported in `warnings`, or refused. A
 * model whose positions no kind of table gives is named as such. Rules of precedence:
 * resolve_fact.h; families and spellings: the .def tables.
 */
#ifndef API_RESOLVE_H
#define API_RESOLVE_H

#include "request/call.h"

/* 200 with {"groups": [...], "warnings": [...]}; with ?redirect=GROUP 303 to the table of that
 * group. Issues: malformed-body; bad-value, out-of-range, missing-parameter, unknown-parameter (a
 * misspelt key in place of one that is needed) and conflict for what the config says, naming the
 * key, with the reports so far as `warnings`; not-found for a group that is not there, or has no
 * table; too-large for a body beyond 4 MiB, or more than 2048 keys in what is read of it. */
bool api__resolve(struct api__call *);

#endif
