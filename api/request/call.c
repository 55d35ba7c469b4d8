/* SPDX-License-Identifier: MIT
 *
 * call.c: see call.h.
 */
#include "call.h"
#include "must.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void describe(struct api__call *call, enum api__problem_id id, const char *format,
                     va_list args)
{
    char text[1024];
    int len = vsnprintf(text, sizeof text, format, args);
    size_t kept = len < 0 ? 0 : (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    while (kept + 1 == sizeof text && kept && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--;
    call->issue = (struct api__issue){.id = id, .detail = api__arena_copy(call->arena, text, kept)};
}

bool api__refuse(struct api__call *call, enum api__problem_id id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    describe(call, id, format, args);
    va_end(args);
    return false;
}

bool api__blame(struct api__call *call, enum api__problem_id id, struct api_bytes parameter,
                const char *format, ...)
{
    va_list args;
    va_start(args, format);
    describe(call, id, format, args);
    va_end(args);
    call->issue.parameter = parameter;
    return false;
}

void api__header(struct api__call *call, const char *name, const char *value)
{
    struct api_plan *plan = call->plan;
    must(plan->header_count < API_MAX_HEADERS);
    plan->headers[plan->header_count++] = (struct api_answer_header){name, value};
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

struct api_bytes api__trim(struct api_bytes b)
{
    while (b.len && blank(b.at[0]))
        b.at++, b.len--;
    while (b.len && blank(b.at[b.len - 1]))
        b.len--;
    return b;
}

bool api__next_header(const struct api_request *r, const char *name, size_t *at,
                      struct api_bytes *value)
{
    while (*at < r->header_count) {
        const struct api_header *h = &r->headers[(*at)++];
        if (api__equal_case(api__bytes(h->name), name)) {
            *value = api__trim(h->value);
            return true;
        }
    }
    return false;
}

bool api__one_header(const struct api_request *r, const char *name, struct api_bytes *value,
                     size_t *count)
{
    size_t at = 0, n = 0;
    struct api_bytes next;
    while (api__next_header(r, name, &at, &next)) {
        *value = next;
        n++;
    }
    if (count)
        *count = n;
    return n == 1;
}

bool api__next_element(struct api_bytes *rest, struct api_bytes *element)
{
    while (rest->len) {
        const char *p = rest->at, *end = p + rest->len;
        bool quoted = false;
        while (p < end && (quoted || *p != ',')) {
            if (*p == '"')
                quoted = !quoted;
            else if (*p == '\\' && quoted && p + 1 < end)
                p++;
            p++;
        }
        *element = api__trim((struct api_bytes){rest->at, (size_t)(p - rest->at)});
        size_t used = (size_t)(p - rest->at) + (p < end);
        rest->at += used;
        rest->len -= used;
        if (element->len)
            return true;
    }
    return false;
}
