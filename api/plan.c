/* SPDX-License-Identifier: MIT
 *
 * plan.c: the entries of this room. Each makes an arena, splits the request, and runs one handler
 * in it; whatever happens there ends in a plan, or in NULL where memory runs out.
 */
#include "http/negotiate.h"
#include "http/condition.h"
#include "http/problem.h"
#include "http/reply.h"
#include "http/route.h"
#include "pages/service.h"
#include "must.h"

#include <inttypes.h>
#include <string.h>

static enum api__method method_of(const char *method)
{
    static const struct {
        const char *name;
        enum api__method method;
    } methods[] = {{"GET", API__GET}, {"HEAD", API__HEAD},     {"POST", API__POST},
                   {"PUT", API__PUT}, {"DELETE", API__DELETE}, {"OPTIONS", API__OPTIONS}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(method, methods[i].name) == 0)
            return methods[i].method;
    return API__OTHER_METHOD;
}

/* Path and query of the target. RFC 9112, 3.2: origin-form, or absolute-form, whose authority is
 * not looked at; only visible ASCII. */
static bool split_target(struct api__call *call)
{
    struct api_bytes t = call->request->target;
    for (size_t i = 0; i < t.len; i++)
        if ((unsigned char)t.at[i] <= 0x20 || (unsigned char)t.at[i] >= 0x7f)
            return api__refuse(call, API__MALFORMED_REQUEST,
                               "the request target has a byte that is no visible ASCII character");
    if (t.len > 7 && api__equal_case((struct api_bytes){t.at, 7}, "http://")) {
        const char *slash = memchr(t.at + 7, '/', t.len - 7);
        size_t skip = slash ? (size_t)(slash - t.at) : t.len;
        t.at += skip;
        t.len -= skip;
    }
    if (t.len == 0 || t.at[0] != '/')
        return api__refuse(call, API__MALFORMED_REQUEST,
                           "the request target does not begin with /");
    const char *mark = memchr(t.at, '?', t.len);
    size_t path = mark ? (size_t)(mark - t.at) : t.len;
    call->path = (struct api_bytes){t.at, path};
    call->query = (struct api_bytes){t.at + path + (mark != NULL), t.len - path - (mark != NULL)};
    return true;
}

static bool refuse_method(struct api__call *call, const struct api__route *route)
{
    const char *allow = api__methods(call->arena, route->methods);
    api__refuse(call, API__METHOD_NOT_ALLOWED, "%s is not allowed here, but %s",
                api__shown(call->arena, api__bytes(call->request->method)), allow);
    call->issue.header = (struct api_answer_header){"Allow", allow};
    return false;
}

static const struct api__route *find(struct api__call *call)
{
    const struct api__route *route = api__find_route(call);
    if (!route) {
        api__refuse(call, API__NOT_FOUND,
                    "there is no %s; GET / and /openapi.json list what there is",
                    api__shown(call->arena, call->path));
        return NULL;
    }
    call->plan->route = route->word;
    unsigned method = call->method == API__HEAD ? API__GET : call->method;
    if (method != API__OPTIONS && !(route->methods & method)) {
        refuse_method(call, route);
        return NULL;
    }
    return route;
}

/* ---------------------------------------------------------------- bodies */

static bool refuse_type(struct api__call *call, const struct api__route *route, const char *what)
{
    static const char *const names[] = {"application/json", "application/x-npy",
                                        "application/x-safetensors"};
    const char **allowed = api__arena_array(call->arena, 3, sizeof *allowed);
    size_t count = 0;
    struct api__text list;
    api__text_init(&list, call->arena, 64);
    for (int i = 0; i < 3; i++)
        if (route->bodies >> i & 1)
            allowed[count++] = names[i];
    for (size_t i = 0; i < count; i++)
        api__text_print(&list, "%s%s", i ? ", " : "", allowed[i]);
    api__refuse(call, API__UNSUPPORTED_TYPE,
                "%s; a body here is of type %s (in UTF-8), without Content-Encoding", what,
                api__text_done(&list).at);
    call->issue.allowed = allowed;
    call->issue.allowed_count = count;
    call->issue.header = (struct api_answer_header){"Accept-Post", api__text_done(&list).at};
    return false;
}

/* Other names of the types of table files, as clients know them. */
static enum api__body alias_of(struct api_bytes type)
{
    static const struct {
        const char *type;
        enum api__body body;
    } aliases[] = {{"application/x-numpy", API__NPY},
                   {"application/x-binary", API__NPY},
                   {"application/vnd.safetensors", API__SAFETENSORS},
                   {"application/vnd.huggingface.safetensors", API__SAFETENSORS},
                   {"application/octet-stream", API__ALIASES}};
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (api__type_is(type, aliases[i].type))
            return aliases[i].body;
    return API__NO_BODY;
}

static enum api__body type_of(unsigned bodies, struct api_bytes type, bool typed)
{
    if (bodies & API__UNTYPED &&
        (!typed || api__type_is(type, "application/x-www-form-urlencoded")))
        return API__JSON;
    if (!typed)
        return API__NO_BODY;
    if (bodies & API__JSON && api__type_is(type, "application/json"))
        return API__JSON;
    if (bodies & API__NPY && api__type_is(type, "application/x-npy"))
        return API__NPY;
    if (bodies & API__SAFETENSORS && api__type_is(type, "application/x-safetensors"))
        return API__SAFETENSORS;
    return bodies & API__ALIASES ? alias_of(type) : API__NO_BODY;
}

/* Type, coding and size of a body of `length` bytes; sets call->body. */
static bool check_body(struct api__call *call, const struct api__route *route, uint64_t length)
{
    const struct api_request *r = call->request;
    struct api_bytes type = {"", 0}, coding;
    size_t types, at = 0;
    if (length > r->limits->max_body)
        return api__refuse(call, API__TOO_LARGE, "the body may have %" PRIu64 " bytes at most",
                           r->limits->max_body);
    if (!(call->method & (API__POST | API__PUT)))
        return true;
    while (api__next_header(r, "Content-Encoding", &at, &coding))
        if (!api__equal_case(coding, "identity"))
            return refuse_type(call, route, "a body with a Content-Encoding is not read");
    bool typed = api__one_header(r, "Content-Type", &type, &types);
    call->body = types > 1 ? API__NO_BODY : type_of(route->bodies, type, typed);
    if (call->body == API__NO_BODY)
        return refuse_type(
            call, route, types ? "this Content-Type is not supported" : "there is no Content-Type");
    if (call->body == API__JSON && length > API__MAX_JSON_BODY)
        return api__refuse(call, API__TOO_LARGE,
                           "a JSON body may have %" PRIu64
                           " bytes (16 MiB) at most; send long lists of positions "
                           "as application/x-npy",
                           API__MAX_JSON_BODY);
    return true;
}

/* ---------------------------------------------------------------- answers */

/* RFC 9110, 9.3.7, and the preflight of the Fetch standard. */
static bool answer_options(struct api__call *call, unsigned methods)
{
    const char *allow = api__methods(call->arena, methods);
    api__reply_begin(call, 204);
    api__header(call, "Allow", allow);
    api__header(call, "Access-Control-Allow-Methods", allow);
    api__header(call, "Access-Control-Allow-Headers",
                "Accept, Authorization, Content-Type, If-Match, If-None-Match, If-Range, Range, "
                "traceparent, "
                "X-Request-Id");
    api__header(call, "Access-Control-Max-Age", "86400");
    api__header(call, "Cache-Control", "no-store");
    return true;
}

static bool answer(struct api__call *call)
{
    if (call->method == API__OPTIONS && api__equal(call->request->target, "*"))
        return answer_options(call, API__GET | API__POST);
    if (!split_target(call))
        return false;
    const struct api__route *route = find(call);
    if (!route || !check_body(call, route, call->request->body.len))
        return false;
    if (call->method == API__OPTIONS)
        return answer_options(call, route->methods);
    return route->answer(call);
}

static bool refuse_body(struct api__call *call, uint64_t declared)
{
    if (call->method == API__OPTIONS && api__equal(call->request->target, "*"))
        return true;
    if (!split_target(call))
        return false;
    const struct api__route *route = find(call);
    return route && check_body(call, route, declared);
}

/* ---------------------------------------------------------------- entries */

/* What an entry is to do in its arena. */
struct job {
    enum { PLAN, REFUSE_BODY, PROBLEM } what;
    uint64_t declared;
    int status;
    const char *name;
    const char *detail;
    const struct api_learned_facts *facts;
};

/* Whether the plan is wanted. */
static bool carry_out(struct api__call *call, const struct job *job)
{
    bool fine = false;
    int status = 0;
    if (job->what == PLAN) {
        fine = answer(call);
    } else if (job->what == REFUSE_BODY) {
        if (refuse_body(call, job->declared))
            return false;
    } else {
        int id = api__problem_find(api__bytes(job->name));
        must(id >= 0);
        api__refuse(call, (enum api__problem_id)id, "%s", job->detail);
        status = job->status;
    }
    if (!fine)
        api__problem_answer(call, status);
    if (api__is_conditional(call->request))
        call->plan->no_memo = true;
    return true;
}

static struct api_plan *run(const struct api_request *request, const struct job *job)
{
    struct api__arena *arena = api__arena_new();
    if (!arena)
        return NULL;
    if (setjmp(*api__arena_exit(arena))) {
        api__arena_free(&arena);
        return NULL;
    }
    struct api_plan *plan = api__arena_take(arena, sizeof *plan);
    memset(plan, 0, sizeof *plan);
    plan->arena = arena;
    plan->route = "none";
    struct api__call *call = api__arena_take(arena, sizeof *call);
    memset(call, 0, sizeof *call);
    call->request = request;
    call->arena = arena;
    call->plan = plan;
    call->method = method_of(request->method ? request->method : "");
    call->facts = job->facts;
    plan->head_only = call->method == API__HEAD;
    if (carry_out(call, job))
        return plan;
    api__arena_free(&arena);
    return NULL;
}

struct api_plan *api_plan(const struct api_request *request)
{
    return run(request, &(struct job){.what = PLAN});
}

struct api_plan *api_learned_plan(const struct api_request *request,
                                  const struct api_learned_facts *facts)
{
    return run(request, &(struct job){.what = PLAN, .facts = facts});
}

struct api_plan *api_refuse_body(const struct api_request *request, uint64_t declared)
{
    return run(request, &(struct job){.what = REFUSE_BODY, .declared = declared});
}

struct api_plan *api_problem(const struct api_request *request, int status, const char *name,
                             const char *detail)
{
    return run(request,
               &(struct job){.what = PROBLEM, .status = status, .name = name, .detail = detail});
}

void api_plan_free(struct api_plan **plan)
{
    struct api__arena *arena = *plan ? (*plan)->arena : NULL;
    *plan = NULL;
    api__arena_free(&arena);
}
