/* SPDX-License-Identifier: MIT
 *
 * learned.c: see learned.h. Descriptions, the list, and what may be done to a name. The tag of a
 * table is made of its digest alone, so it says the same in every answer and after every restart.
 */
#include "learned.h"
#include "http/condition.h"
#include "pages/document.h"
#include "request/param.h"
#include "http/reply.h"
#include "table/table_answer.h"

#include <inttypes.h>
#include <string.h>

#define LIST_LIMIT 1000
#define LIST_DEFAULT 100

static const char name_rule[] =
    "1 to 128 letters, digits, dots, dashes and underscores, the first a letter or digit";

/* ---------------------------------------------------------------- names */

static bool letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_name(struct api_bytes b)
{
    if (!b.len || b.len > API_LEARNED_NAME || !letter_or_digit(b.at[0]))
        return false;
    for (size_t i = 1; i < b.len; i++)
        if (!letter_or_digit(b.at[i]) && b.at[i] != '.' && b.at[i] != '_' && b.at[i] != '-')
            return false;
    return true;
}

static bool is_digest(struct api_bytes b)
{
    static const char kind[] = "sha256:";
    const size_t n = sizeof kind - 1;
    if (b.len != n + API_LEARNED_DIGITS || memcmp(b.at, kind, n) != 0)
        return false;
    for (size_t i = n; i < b.len; i++)
        if (!(b.at[i] >= '0' && b.at[i] <= '9') && !(b.at[i] >= 'a' && b.at[i] <= 'f'))
            return false;
    return true;
}

bool api__learned_name(struct api__call *call, struct api_bytes text, struct api_learned *out)
{
    const bool write = out->act == API_LEARNED_PUT || out->act == API_LEARNED_DELETE;
    const char *at = write ? NULL : memchr(text.at, '@', text.len);
    struct api_bytes name = {text.at, at ? (size_t)(at - text.at) : text.len};
    struct api_bytes digest = {at ? at + 1 : NULL, at ? text.len - name.len - 1 : 0};
    if (is_name(name) && (!at || is_digest(digest))) {
        out->name = api__arena_copy(call->arena, name.at, name.len);
        if (at)
            out->digest = api__arena_copy(call->arena, digest.at + digest.len - API_LEARNED_DIGITS,
                                          API_LEARNED_DIGITS);
        return true;
    }
    if (!write)
        return api__refuse(call, API__NOT_FOUND, "there is no learned table by the name %s",
                           api__shown(call->arena, text));
    api__blame(call, API__BAD_VALUE, api__bytes("name"),
               "%s cannot be the name of a table; names have %s", api__shown(call->arena, text),
               name_rule);
    call->issue.value = text;
    call->issue.allowed_text = name_rule;
    return false;
}

/* ---------------------------------------------------------------- conditions */

/* All lines of a header as one list (RFC 9110, 5.3). */
static struct api_bytes joined(struct api__call *call, const char *header)
{
    struct api__text t;
    struct api_bytes line;
    size_t at = 0;
    if (!api__next_header(call->request, header, &at, &line))
        return (struct api_bytes){NULL, 0};
    api__text_init(&t, call->arena, line.len + 16);
    api__text_add(&t, line.at, line.len);
    while (api__next_header(call->request, header, &at, &line)) {
        api__text_add(&t, ",", 1);
        api__text_add(&t, line.at, line.len);
    }
    return api__text_done(&t);
}

static void tag_of(const char *digest, char out[API__TAG_SIZE])
{
    out[0] = '"';
    memcpy(out + 1, digest, API__TAG_SIZE - 3);
    memcpy(out + API__TAG_SIZE - 2, "\"", 2);
}

enum api_learned_outcome api_learned_judge(const struct api_learned *wish, const char *now,
                                           const char *then)
{
    char tag[API__TAG_SIZE] = "";
    const bool removes = wish->act == API_LEARNED_DELETE;
    if (now)
        tag_of(now, tag);
    /* RFC 9110, 13.2.1: conditions do not count where the answer would be 404 without them */
    if (removes && !now)
        return API_LEARNED_ABSENT;
    /* 13.1.1: strong comparison; 13.1.2: weak */
    if (wish->if_match.at && !(now && api__tag_listed(wish->if_match, tag, false)))
        return API_LEARNED_FAILED;
    if (wish->if_none_match.at && now && api__tag_listed(wish->if_none_match, tag, true))
        return API_LEARNED_FAILED;
    if (removes)
        return API_LEARNED_REMOVED;
    if (!now)
        return API_LEARNED_MADE;
    if (strcmp(now, then) == 0)
        return API_LEARNED_SAME;
    return wish->if_match.at ? API_LEARNED_CHANGED : API_LEARNED_TAKEN;
}

bool api__learned_ask(struct api__call *call, struct api_learned *wish)
{
    wish->if_match = joined(call, "If-Match");
    wish->if_none_match = joined(call, "If-None-Match");
    call->plan->status = 200;
    call->plan->source = API_LEARNED;
    call->plan->learned = wish;
    call->plan->no_memo = true;
    return true;
}

bool api__learned_refuse(struct api__call *call, const struct api_learned *wish)
{
    switch (call->facts->outcome) {
    case API_LEARNED_TAKEN:
        return api__refuse(
            call, API__NAME_TAKEN,
            "%s exists with other bytes; replace it with If-Match, or delete it first", wish->name);
    case API_LEARNED_FAILED:
        return api__refuse(call, API__PRECONDITION_FAILED, "%s does not hold for %s as it is now",
                           wish->if_match.at ? "If-Match" : "If-None-Match", wish->name);
    case API_LEARNED_BAD_FILE:
        return api__refuse(call, API__BAD_TABLE, "the body is no table that can be kept: %s",
                           call->facts->fault);
    case API_LEARNED_NO_ROOM:
        return api__refuse(call, API__NO_ROOM, "there is no room on the disk for %s", wish->name);
    case API_LEARNED_DAMAGED:
        return api__refuse(
            call, API__INTERNAL,
            "the bytes of %s on the disk are not those that were stored; send it again",
            wish->name);
    case API_LEARNED_BROKEN:
        return api__refuse(call, API__INTERNAL, "the disk failed");
    case API_LEARNED_NO_STORE:
        return api__refuse(call, API__READ_ONLY,
                           "this server keeps no tables: it was started without --state-dir");
    default:
        return api__refuse(call, API__NOT_FOUND, "there is no learned table by the name %s%s%s",
                           wish->name, wish->digest ? " with the digest sha256:" : "",
                           wish->digest ? wish->digest : "");
    }
}

/* ---------------------------------------------------------------- descriptions */

static void put_description(struct api__text *t, const struct api_learned_table *table)
{
    api__text_print(t,
                    "{\"name\":\"%s\",\"digest\":\"sha256:%s\",\"dtype\":\"%s\",\"shape\":[%" PRIu64
                    ",%" PRIu64 "]}",
                    table->name, table->digest, pe_dtype_name(table->file.dtype), table->file.rows,
                    table->file.width);
}

/* 200 or 201 with the description, to a PUT or under the conditions of a GET. */
static bool describe(struct api__call *call, const struct api_learned *wish, int status)
{
    const struct api_learned_table *table = call->facts->tables;
    char *tag = api__arena_take(call->arena, API__TAG_SIZE);
    struct api__text t;
    tag_of(table->digest, tag);
    enum api__verdict verdict =
        wish->act == API_LEARNED_DESCRIBE ? api__conditions(call->request, tag) : API__PROCEED;
    if (verdict == API__FAILED)
        return api__refuse(call, API__PRECONDITION_FAILED, "If-Match does not name %s", tag);
    api__reply_begin(call, verdict == API__NOT_MODIFIED ? 304 : status);
    api__text_init(&t, call->arena, 320);
    put_description(&t, table);
    api__text_put(&t, "\n");
    if (verdict == API__PROCEED)
        api__reply_text(call, "application/json", api__text_done(&t));
    else
        api__reply_same_text(call, api__text_done(&t));
    api__header(call, "ETag", tag);
    api__header(call, "Cache-Control", wish->digest ? API__IMMUTABLE : "no-cache");
    call->plan->no_memo = true;
    return true;
}

/* RFC 9110, 8.6: who states no length has sent no body that could be read. */
static bool check_upload(struct api__call *call)
{
    size_t at = 0;
    struct api_bytes length;
    if (call->request->body.len)
        return true;
    if (!api__next_header(call->request, "Content-Length", &at, &length))
        return api__refuse(call, API__LENGTH_REQUIRED, "a table is sent with its Content-Length");
    return api__refuse(call, API__BAD_TABLE, "the body is no table that can be kept: it is empty");
}

bool api__learned_table(struct api__call *call)
{
    struct api_learned *wish = api__arena_take(call->arena, sizeof *wish);
    *wish = (struct api_learned){.act = call->method == API__PUT      ? API_LEARNED_PUT
                                        : call->method == API__DELETE ? API_LEARNED_DELETE
                                                                      : API_LEARNED_DESCRIBE,
                                 .form = call->body == API__NPY           ? API_LEARNED_NPY
                                         : call->body == API__SAFETENSORS ? API_LEARNED_SAFETENSORS
                                                                          : API_LEARNED_ANY};
    if (!api__learned_name(call, call->captures[0], wish) || !api__no_params(call) ||
        (wish->act == API_LEARNED_PUT && !check_upload(call)))
        return false;
    if (!call->facts)
        return api__learned_ask(call, wish);
    switch (call->facts->outcome) {
    case API_LEARNED_FOUND:
    case API_LEARNED_CHANGED:
    case API_LEARNED_SAME:
        return describe(call, wish, 200);
    case API_LEARNED_MADE:
        return describe(call, wish, 201);
    case API_LEARNED_REMOVED:
        api__reply_begin(call, 204);
        api__header(call, "Cache-Control", "no-store");
        call->plan->no_memo = true;
        return true;
    default:
        wish->if_match = joined(call, "If-Match");
        return api__learned_refuse(call, wish);
    }
}

/* ---------------------------------------------------------------- the list */

static bool read_page(struct api__call *call, struct api_learned *wish)
{
    static const char *const names[] = {"after", "limit"};
    struct api__params *params = api__arena_take(call->arena, sizeof *params);
    struct api_bytes after = {"", 0};
    int64_t limit = LIST_DEFAULT;
    params->count = 0;
    if (!api__read_query(call, params) || !api__check_names(call, params, names, 2))
        return false;
    const struct api__param *p = api__find_param(params, "limit");
    if (p && !api__read_integer(call, p, 1, LIST_LIMIT, &limit))
        return false;
    p = api__find_param(params, "after");
    if (p && !api__read_word(call, p, &after))
        return false;
    if (p && !after.len)
        return api__bad_value(call, API__BAD_VALUE, p,
                              "after must be a name, or absent for the first page");
    wish->after = api__arena_copy(call->arena, after.at, after.len);
    wish->limit = (unsigned)limit;
    return true;
}

bool api__learned_list(struct api__call *call)
{
    const struct api_learned_facts *facts = call->facts;
    struct api_learned *wish = api__arena_take(call->arena, sizeof *wish);
    struct api__text t;
    *wish = (struct api_learned){.act = API_LEARNED_LIST, .name = ""};
    if (call->method == API__PUT || call->method == API__DELETE)
        return api__blame(
            call, API__MISSING_PARAMETER, api__bytes("name"),
            "the name of the table is missing: %s /v1/learned/NAME, where names have %s",
            call->request->method, name_rule);
    if (!read_page(call, wish))
        return false;
    if (!facts)
        return api__learned_ask(call, wish);
    const char *last = facts->more && facts->count ? facts->tables[facts->count - 1].name : NULL;
    api__text_init(&t, call->arena, 64 + 256 * facts->count);
    api__text_put(&t, "{\"tables\":[");
    for (size_t i = 0; i < facts->count; i++) {
        api__text_put(&t, i ? "," : "");
        put_description(&t, &facts->tables[i]);
    }
    api__text_print(&t, last ? "],\"next\":\"%s\"}\n" : "],\"next\":null}\n", last);
    if (!api__document(call, "application/json", NULL, api__text_done(&t)))
        return false;
    if (last)
        api__header(call, "Link",
                    api__format_text(call->arena, "</v1/learned?after=%s&limit=%u>; rel=\"next\"",
                                     last, wish->limit));
    call->plan->no_memo = true;
    return true;
}
