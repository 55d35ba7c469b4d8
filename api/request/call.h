/* SPDX-License-Identifier: MIT
 *
 * call.h: one request on its way to its plan. A handler reads the request, adds to the plan, and
 * returns true; or it describes what is wrong in call->issue and returns false, and the caller
 * makes a problem document of that. Every function here that returns bool and takes a call follows
 * this rule.
 */
#ifndef API_CALL_H
#define API_CALL_H

#include "api.h"
#include "arena.h"
#include "text.h"

enum api__problem_id {
#define API_PROBLEM(id, name, status, title, prose) API__##id,
#include "http/problems.def"
#undef API_PROBLEM
    API__PROBLEMS
};

enum api__method {
    API__GET = 1,
    API__HEAD = 2,
    API__POST = 4,
    API__PUT = 8,
    API__DELETE = 16,
    API__OPTIONS = 32,
    API__OTHER_METHOD = 64
};

/* What is wrong. Texts live in the arena or are static. `parameter` is a NULL pointer where none is
 * to blame; `value` is as the client spelled it, as JSON where `value_is_json`. `allowed` is a
 * list, or `allowed_text` a sentence. `members` are further members of the document:
 * `"index":[2],"rule":"x"`. */
struct api__issue {
    enum api__problem_id id;
    const char *detail;
    struct api_bytes parameter;
    struct api_bytes value;
    bool value_is_json;
    const char *const *allowed;
    size_t allowed_count;
    const char *allowed_text;
    const char *did_you_mean;
    const char *members;
    struct api_answer_header header; /* one more header of the answer, where it has a name */
};

/* What a body may be: bits of a route, and one of them in a call. */
enum api__body {
    API__NO_BODY = 0,
    API__JSON = 1,
    API__NPY = 2,
    API__SAFETENSORS = 4,
    API__UNTYPED = 8, /* JSON without a type, or under the type that curl sends for -d */
    API__ALIASES =
        16 /* .npy and .safetensors under other names, too; in a call: octets of either */
};

#define API__CAPTURES 2

struct api__call {
    const struct api_request *request;
    struct api__arena *arena;
    struct api_plan *plan;
    enum api__method method;
    struct api_bytes path;
    struct api_bytes query;                   /* without '?' */
    struct api_bytes captures[API__CAPTURES]; /* what the braces of the route's pattern stood for */
    struct api_bytes extension; /* behind the dot; a NULL pointer where there is no dot */
    enum api__body body;        /* type of request->body */
    const struct api_learned_facts *facts; /* what the store says; NULL before it was asked */
    struct api__issue issue;
};

/* Describes an issue. Always returns false. The second form blames a parameter. */
__attribute__((format(printf, 3, 4))) bool api__refuse(struct api__call *, enum api__problem_id,
                                                       const char *format, ...);
__attribute__((format(printf, 4, 5))) bool api__blame(struct api__call *, enum api__problem_id,
                                                      struct api_bytes parameter,
                                                      const char *format, ...);

/* Adds a header to the answer. `name` is static, `value` static or in the arena. */
void api__header(struct api__call *, const char *name, const char *value);

/* The next value of a request header by that name, OWS trimmed. *at begins as 0 and is advanced;
 * false when there is no more. */
bool api__next_header(const struct api_request *, const char *name, size_t *at,
                      struct api_bytes *value);

/* The value of a header that stands once; false where it is absent or repeated (*count says which;
 * may be NULL). */
bool api__one_header(const struct api_request *, const char *name, struct api_bytes *value,
                     size_t *count);

/* Cuts the next element off a comma-separated list: trims it, skips empty ones, minds quoted
 * strings (RFC 9110, 5.6.1). False at the end. */
bool api__next_element(struct api_bytes *rest, struct api_bytes *element);

/* Without blanks and tabs at both ends. */
struct api_bytes api__trim(struct api_bytes);

#endif
