/* SPDX-License-Identifier: MIT
 *
 * document.c: see document.h.
 */
#include "document.h"
#include "http/condition.h"
#include "request/param.h"
#include "http/reply.h"

bool api__document(struct api__call *call, const char *media, const char *vary,
                   struct api_bytes text)
{
    struct api_bytes parts[] = {api__bytes(media), text};
    char *tag = api__arena_take(call->arena, API__TAG_SIZE);
    api__tag(api__sha256(parts, 2), tag);
    bool asks = call->method == API__GET || call->method == API__HEAD;
    enum api__verdict verdict = asks ? api__conditions(call->request, tag) : API__PROCEED;
    if (verdict == API__FAILED)
        return api__refuse(call, API__PRECONDITION_FAILED, "If-Match does not name %s", tag);
    api__reply_begin(call, verdict == API__NOT_MODIFIED ? 304 : 200);
    if (verdict == API__PROCEED)
        api__reply_text(call, media, text);
    else
        api__reply_same_text(call, text);
    api__header(call, "ETag", tag);
    api__header(call, "Cache-Control", "no-cache");
    if (vary)
        api__header(call, "Vary", vary);
    return true;
}

bool api__no_params(struct api__call *call)
{
    struct api__params params = {.count = 0};
    return api__read_query(call, &params) && api__check_names(call, &params, NULL, 0);
}
