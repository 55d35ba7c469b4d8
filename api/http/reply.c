/* SPDX-License-Identifier: MIT
 *
 * reply.c: see reply.h. Tables are public data, so any page may read any answer, headers included.
 */
#include "reply.h"

void api__reply_begin(struct api__call *call, int status)
{
    struct api_plan *plan = call->plan;
    plan->status = status;
    plan->header_count = 0;
    plan->source = API_EMPTY;
    plan->text = (struct api_bytes){NULL, 0};
    plan->table = NULL;
    plan->no_memo = false;
    api__header(call, "Access-Control-Allow-Origin", "*");
    api__header(call, "Access-Control-Expose-Headers", "*");
    api__header(call, "X-Content-Type-Options", "nosniff");
}

void api__reply_text(struct api__call *call, const char *media, struct api_bytes text)
{
    api__header(call, "Content-Type", media);
    call->plan->source = API_TEXT;
    call->plan->text = text;
}

void api__reply_same_text(struct api__call *call, struct api_bytes text)
{
    call->plan->text = text;
}
