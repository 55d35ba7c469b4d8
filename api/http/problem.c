/* SPDX-License-Identifier: MIT
 *
 * problem.c: see problem.h. `error` repeats `detail` because clients of model servers read that
 * member. A problem document names its request, so its plan is never used for another one.
 */
#include "problem.h"
#include "request/decode.h"
#include "reply.h"

#include <string.h>

#define LONGEST_VALUE 1024 /* of a client's own text in a document */

static const struct {
    const char *name;
    int status;
    const char *title;
    const char *prose;
} problems[] = {
#define API_PROBLEM(id, name, status, title, prose) {name, status, title, prose},
#include "problems.def"
#undef API_PROBLEM
};

int api__problem_find(struct api_bytes name)
{
    for (int i = 0; i < API__PROBLEMS; i++)
        if (api__equal(name, problems[i].name))
            return i;
    return -1;
}

int api__problem_status(enum api__problem_id id)
{
    return problems[id].status;
}

/* Cuts at a character's beginning. */
static struct api_bytes shortened(struct api_bytes b)
{
    if (b.len > LONGEST_VALUE) {
        b.len = LONGEST_VALUE;
        while (b.len && ((unsigned char)b.at[b.len] & 0xc0) == 0x80)
            b.len--;
    }
    return b;
}

static void member(struct api__text *t, const char *name, struct api_bytes value)
{
    api__text_print(t, ",\"%s\":", name);
    api__text_json(t, value.at, value.len);
}

/* Whether any reader of JSON can read the value back: arrays may hold numbers beyond binary64. */
static bool plain_json(struct api_bytes value)
{
    int64_t integer;
    double real;
    if (value.len == 0 || value.len > LONGEST_VALUE || value.at[0] == '[' || value.at[0] == '{')
        return false;
    if (value.at[0] != '-' && (value.at[0] < '0' || value.at[0] > '9'))
        return true;
    enum api__number n = api__integer(value, &integer);
    return n == API__NUMBER || (n == API__NO_NUMBER && api__real(value, &real) == API__NUMBER);
}

static void blame(struct api__text *t, const struct api__issue *issue)
{
    if (issue->parameter.at)
        member(t, "parameter", shortened(issue->parameter));
    if (issue->value.at && issue->value_is_json && plain_json(issue->value)) {
        api__text_put(t, ",\"value\":");
        api__text_add(t, issue->value.at, issue->value.len);
    } else if (issue->value.at) {
        member(t, "value", shortened(issue->value));
    }
    if (issue->allowed) {
        api__text_put(t, ",\"allowed\":[");
        for (size_t i = 0; i < issue->allowed_count; i++) {
            api__text_put(t, i ? "," : "");
            api__text_json(t, issue->allowed[i], strlen(issue->allowed[i]));
        }
        api__text_put(t, "]");
    } else if (issue->allowed_text && issue->allowed_text[0]) {
        member(t, "allowed", api__bytes(issue->allowed_text));
    }
    if (issue->did_you_mean)
        member(t, "did_you_mean", api__bytes(issue->did_you_mean));
    if (issue->members)
        api__text_print(t, ",%s", issue->members);
}

static void retry(struct api__call *call, int status)
{
    if (status == 429 || status == 503)
        api__header(call, "Retry-After", "1");
    if (status == 401)
        api__header(call, "WWW-Authenticate", "Bearer");
}

void api__problem_answer(struct api__call *call, int status)
{
    const struct api__issue *issue = &call->issue;
    const char *id = call->request->request_id ? call->request->request_id : "";
    struct api__text t;
    status = status ? status : problems[issue->id].status;
    api__text_init(&t, call->arena, 768);
    api__text_print(&t, "{\"type\":\"/problems/%s\",\"title\":\"%s\",\"status\":%d",
                    problems[issue->id].name, problems[issue->id].title, status);
    member(&t, "detail", api__bytes(issue->detail));
    api__text_put(&t, ",\"instance\":");
    const char *instance = api__format_text(call->arena, "/requests/%s", id);
    api__text_json(&t, instance, strlen(instance));
    member(&t, "error", api__bytes(issue->detail));
    blame(&t, issue);
    api__text_put(&t, "}\n");
    api__reply_begin(call, status);
    retry(call, status);
    api__reply_text(call, "application/problem+json", api__text_done(&t));
    api__header(call, "Cache-Control", "no-store");
    if (issue->header.name)
        api__header(call, issue->header.name, issue->header.value);
    call->plan->no_memo = true;
}

struct api_bytes api__problem_page(struct api__call *call, enum api__problem_id id)
{
    struct api__text t;
    api__text_init(&t, call->arena, 512);
    api__text_print(&t, "%s\n\nStatus %d, type /problems/%s\n\n%s\n", problems[id].title,
                    problems[id].status, problems[id].name, problems[id].prose);
    return api__text_done(&t);
}
