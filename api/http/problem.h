/* SPDX-License-Identifier: MIT
 *
 * problem.h: problem documents (RFC 9457), the one form that every refusal takes.
 */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include "request/call.h"

/* Turns the plan of a call into the answer that call->issue describes: drops what a handler had
 * added, keeps plan->route. `status` 0 means the one of problems.def. */
void api__problem_answer(struct api__call *, int status);

/* By name: -1 where there is none. */
int api__problem_find(struct api_bytes name);
int api__problem_status(enum api__problem_id);

/* The page at a problem's type, as plain text. */
struct api_bytes api__problem_page(struct api__call *, enum api__problem_id);

#endif
