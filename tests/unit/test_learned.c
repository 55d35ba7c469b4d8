/* SPDX-License-Identifier: MIT
 *
 * test_learned.c: requests about stored tables, in both halves: what they ask of the store, and the
 * answer to what it says. Rows of a table are in test_learned_rows.c.
 */
#include "test_api_kit.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffffffffffffffffffff0123456789abcdef0123456789abcdef"
#define TAG "\"0123456789abcdef0123456789abcdef\""
#define NPY "Content-Type: application/x-npy"

static const struct api_learned_table table = {
    .name = "wpe", .digest = HEX, .file = {PE_DTYPE_F16, 7, 4, 128}};

/* Both halves of a request. */
static struct api_plan *ask(const char *method, const char *target, const char *const *headers,
                            size_t body, const struct api_learned_facts *facts)
{
    static char names[8][64];
    struct api_header list[8];
    size_t count = 0;
    for (; headers && headers[count]; count++) {
        const char *colon = strchr(headers[count], ':');
        snprintf(names[count], sizeof names[count], "%.*s", (int)(colon - headers[count]),
                 headers[count]);
        list[count] = (struct api_header){names[count], {colon + 1, strlen(colon + 1)}};
    }
    struct api_request request = {.method = method,
                                  .target = {target, strlen(target)},
                                  .headers = list,
                                  .header_count = count,
                                  .body = {NULL, body},
                                  .request_id = "kit-1",
                                  .limits = &kit_limits};
    struct api_plan *plan = facts ? api_learned_plan(&request, facts) : api_plan(&request);
    assert_non_null(plan);
    return plan;
}

static struct api_plan *found(const char *method, const char *target, const char *const *headers,
                              size_t body, enum api_learned_outcome outcome)
{
    struct api_learned_facts facts = {
        .outcome = outcome, .tables = &table, .count = 1, .fault = "it is odd"};
    return ask(method, target, headers, body, &facts);
}

static void what_is_asked(void **unused)
{
    (void)unused;
    struct api_plan *plan = ask("GET", "/v1/learned/wpe", NULL, 0, NULL);
    assert_int_equal(plan->source, API_LEARNED);
    assert_int_equal(plan->learned->act, API_LEARNED_DESCRIBE);
    assert_string_equal(plan->learned->name, "wpe");
    assert_null(plan->learned->digest);
    assert_true(plan->no_memo);
    api_plan_free(&plan);
    plan = ask("HEAD", "/v1/learned/a..b@sha256:" HEX, NULL, 0, NULL);
    assert_string_equal(plan->learned->name, "a..b");
    assert_string_equal(plan->learned->digest, HEX);
    assert_true(plan->head_only);
    api_plan_free(&plan);
    plan = ask("PUT", "/v1/learned/wpe", KIT_HEADERS(NPY, "If-Match: \"x\"", "If-Match: \"y\""), 99,
               NULL);
    assert_int_equal(plan->learned->act, API_LEARNED_PUT);
    assert_int_equal(plan->learned->form, API_LEARNED_NPY);
    assert_memory_equal(plan->learned->if_match.at, "\"x\",\"y\"", 7);
    assert_null(plan->learned->if_none_match.at);
    api_plan_free(&plan);
    plan = ask("DELETE", "/v1/learned/wpe", NULL, 0, NULL);
    assert_int_equal(plan->learned->act, API_LEARNED_DELETE);
    api_plan_free(&plan);
    plan = ask("GET", "/v1/learned?limit=7&after=a%20b", NULL, 0, NULL);
    assert_int_equal(plan->learned->act, API_LEARNED_LIST);
    assert_int_equal(plan->learned->limit, 7);
    assert_string_equal(plan->learned->after, "a b");
    api_plan_free(&plan);
    plan = ask("GET", "/v1/learned", NULL, 0, NULL);
    assert_int_equal(plan->learned->limit, 100);
    assert_string_equal(plan->learned->after, "");
    api_plan_free(&plan);
}

static void types_of_uploads(void **unused)
{
    (void)unused;
    static const struct {
        const char *type;
        int form; /* -1: refused */
    } cases[] = {{"Content-Type: application/x-npy", API_LEARNED_NPY},
                 {"Content-Type: application/x-numpy", API_LEARNED_NPY},
                 {"Content-Type: application/x-safetensors", API_LEARNED_SAFETENSORS},
                 {"Content-Type: application/vnd.safetensors", API_LEARNED_SAFETENSORS},
                 {"Content-Type: application/octet-stream", API_LEARNED_ANY},
                 {"Content-Type: application/json", -1},
                 {"Content-Type: text/plain", -1},
                 {"Accept: */*", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_plan *plan = ask("PUT", "/v1/learned/wpe", KIT_HEADERS(cases[i].type), 99, NULL);
        if (cases[i].form < 0)
            json_decref(kit_problem(plan, 415));
        else
            assert_int_equal(plan->learned->form, cases[i].form);
        api_plan_free(&plan);
    }
    struct api_plan *plan =
        ask("PUT", "/v1/learned/wpe", KIT_HEADERS(NPY, "Content-Encoding: gzip"), 99, NULL);
    json_decref(kit_problem(plan, 415));
    api_plan_free(&plan);
}

static void refusals_without_a_store(void **unused)
{
    (void)unused;
    static const struct {
        const char *method, *target;
        size_t body;
        int status;
        const char *says;
    } cases[] = {
        {"PUT", "/v1/learned/.hidden", 9, 400, "name"},
        {"PUT", "/v1/learned/a%2fb", 9, 400, "name"},
        {"PUT", "/v1/learned/a@sha256:" HEX, 9, 400, "name"},
        {"DELETE", "/v1/learned/a@sha256:" HEX, 0, 400, "name"},
        {"GET", "/v1/learned/-a", 0, 404, "-a"},
        {"GET", "/v1/learned/a@sha256:00", 0, 404, "a@"},
        {"GET", "/v1/learned/a@sha256:" HEX "0", 0, 404, "a@"},
        {"GET", "/v1/learned/", 0, 404, "there is no"},
        {"PUT", "/v1/learned/a/b", 9, 404, "there is no"},
        {"PUT", "/v1/learned/wpe?dtpye=f32", 9, 400, "dtpye"},
        {"PUT", "/v1/learned/wpe", 0, 411, "Content-Length"},
        {"PUT", "/v1/learned", 9, 400, "name"},
        {"DELETE", "/v1/learned", 0, 400, "name"},
        {"PUT", "/v1/learned/wpe", (size_t)(256 << 20) + 1, 413, "268435456"},
        {"GET", "/v1/learned?limit=0", 0, 400, "limit"},
        {"GET", "/v1/learned?limit=1001", 0, 400, "limit"},
        {"GET", "/v1/learned?after=", 0, 400, "after"},
        {"GET", "/v1/learned?limit=5&limit=5", 0, 400, "limit"},
        {"GET", "/v1/learned?limti=5", 0, 400, "limit?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_plan *plan =
            ask(cases[i].method, cases[i].target, KIT_HEADERS(NPY), cases[i].body, NULL);
        json_t *p = kit_problem(plan, cases[i].status);
        if (!strstr(json_string_value(json_object_get(p, "detail")), cases[i].says))
            fail_msg("%s %s: %s", cases[i].method, cases[i].target,
                     json_string_value(json_object_get(p, "detail")));
        json_decref(p);
        api_plan_free(&plan);
    }
    struct api_plan *plan =
        ask("PUT", "/v1/learned/wpe", KIT_HEADERS(NPY, "Content-Length: 0"), 0, NULL);
    json_decref(kit_problem(plan, 400));
    api_plan_free(&plan);
    plan = ask("POST", "/v1/learned", KIT_HEADERS(NPY), 9, NULL);
    json_decref(kit_problem(plan, 405));
    assert_string_equal(kit_header(plan, "Allow"), "GET, HEAD, PUT, DELETE, OPTIONS");
    api_plan_free(&plan);
}

static void holds_description(struct api_plan *plan, int status)
{
    assert_int_equal(plan->status, status);
    json_t *j = kit_json(plan);
    char *text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, "{\"digest\":\"sha256:" HEX
                              "\",\"dtype\":\"f16\",\"name\":\"wpe\",\"shape\":[7,4]}");
    assert_string_equal(kit_header(plan, "ETag"), TAG);
    assert_true(plan->no_memo);
    free(text);
    json_decref(j);
    api_plan_free(&plan);
}

static void descriptions(void **unused)
{
    (void)unused;
    holds_description(found("GET", "/v1/learned/wpe", NULL, 0, API_LEARNED_FOUND), 200);
    holds_description(found("PUT", "/v1/learned/wpe", KIT_HEADERS(NPY), 9, API_LEARNED_MADE), 201);
    holds_description(found("PUT", "/v1/learned/wpe", KIT_HEADERS(NPY), 9, API_LEARNED_SAME), 200);
    holds_description(
        found("PUT", "/v1/learned/wpe", KIT_HEADERS(NPY, "If-Match: " TAG), 9, API_LEARNED_CHANGED),
        200);
    struct api_plan *plan = found("GET", "/v1/learned/wpe", NULL, 0, API_LEARNED_FOUND);
    assert_string_equal(kit_header(plan, "Cache-Control"), "no-cache");
    api_plan_free(&plan);
    plan = found("GET", "/v1/learned/wpe@sha256:" HEX, NULL, 0, API_LEARNED_FOUND);
    assert_non_null(strstr(kit_header(plan, "Cache-Control"), "immutable"));
    api_plan_free(&plan);
    plan =
        found("GET", "/v1/learned/wpe", KIT_HEADERS("If-None-Match: W/" TAG), 0, API_LEARNED_FOUND);
    assert_int_equal(plan->status, 304);
    assert_int_equal(plan->source, API_EMPTY);
    assert_string_equal(kit_header(plan, "ETag"), TAG);
    api_plan_free(&plan);
    plan = found("GET", "/v1/learned/wpe", KIT_HEADERS("If-Match: \"x\""), 0, API_LEARNED_FOUND);
    json_decref(kit_problem(plan, 412));
    api_plan_free(&plan);
    plan = found("DELETE", "/v1/learned/wpe", NULL, 0, API_LEARNED_REMOVED);
    assert_int_equal(plan->status, 204);
    assert_int_equal(plan->source, API_EMPTY);
    api_plan_free(&plan);
}

static void what_went_wrong(void **unused)
{
    (void)unused;
    static const struct {
        enum api_learned_outcome outcome;
        int status;
        const char *type;
    } cases[] = {
        {API_LEARNED_ABSENT, 404, "not-found"},
        {API_LEARNED_TAKEN, 409, "name-taken"},
        {API_LEARNED_FAILED, 412, "precondition-failed"},
        {API_LEARNED_BAD_FILE, 400, "bad-table"},
        {API_LEARNED_NO_ROOM, 507, "no-room"},
        {API_LEARNED_DAMAGED, 500, "internal"},
        {API_LEARNED_BROKEN, 500, "internal"},
        {API_LEARNED_NO_STORE, 403, "read-only"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_plan *plan =
            found("PUT", "/v1/learned/wpe", KIT_HEADERS(NPY), 9, cases[i].outcome);
        json_t *p = kit_problem(plan, cases[i].status);
        assert_string_equal(json_string_value(json_object_get(p, "type")) + strlen("/problems/"),
                            cases[i].type);
        if (cases[i].outcome == API_LEARNED_BAD_FILE)
            assert_non_null(strstr(json_string_value(json_object_get(p, "detail")), "it is odd"));
        json_decref(p);
        api_plan_free(&plan);
    }
}

static void lists(void **unused)
{
    (void)unused;
    const struct api_learned_table two[] = {
        table, {.name = "x", .digest = OTHER, .file = {PE_DTYPE_F64, 1, 2, 8}}};
    struct api_learned_facts facts = {
        .outcome = API_LEARNED_FOUND, .tables = two, .count = 2, .more = true};
    struct api_plan *plan = ask("GET", "/v1/learned?limit=2", NULL, 0, &facts);
    json_t *j = kit_json(plan), *tables = json_object_get(j, "tables");
    assert_int_equal(json_array_size(tables), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(tables, 1), "digest")),
                        "sha256:" OTHER);
    assert_string_equal(json_string_value(json_object_get(j, "next")), "x");
    assert_string_equal(kit_header(plan, "Link"), "</v1/learned?after=x&limit=2>; rel=\"next\"");
    json_decref(j);
    api_plan_free(&plan);
    facts.more = false;
    plan = ask("GET", "/v1/learned", NULL, 0, &facts);
    j = kit_json(plan);
    assert_true(json_is_null(json_object_get(j, "next")));
    assert_null(kit_header(plan, "Link"));
    json_decref(j);
    api_plan_free(&plan);
    facts.count = 0;
    plan = ask("GET", "/v1/learned", NULL, 0, &facts);
    assert_memory_equal(plan->text.at, "{\"tables\":[],\"next\":null}\n", plan->text.len);
    api_plan_free(&plan);
}

/* What may be done to a name: every condition against every state. */
static void judgements(void **unused)
{
    (void)unused;
    static const struct {
        enum api_learned_act act;
        const char *match, *none_match, *now;
        enum api_learned_outcome outcome;
    } cases[] = {
        {API_LEARNED_PUT, NULL, NULL, NULL, API_LEARNED_MADE},
        {API_LEARNED_PUT, NULL, NULL, HEX, API_LEARNED_SAME},
        {API_LEARNED_PUT, NULL, NULL, OTHER, API_LEARNED_TAKEN},
        {API_LEARNED_PUT, NULL, "*", NULL, API_LEARNED_MADE},
        {API_LEARNED_PUT, NULL, "*", HEX, API_LEARNED_FAILED},
        {API_LEARNED_PUT, NULL, "*", OTHER, API_LEARNED_FAILED},
        {API_LEARNED_PUT, NULL, "\"x\"", OTHER, API_LEARNED_TAKEN},
        {API_LEARNED_PUT, NULL, "W/" TAG, HEX, API_LEARNED_FAILED},
        {API_LEARNED_PUT, "*", NULL, NULL, API_LEARNED_FAILED},
        {API_LEARNED_PUT, "*", NULL, OTHER, API_LEARNED_CHANGED},
        {API_LEARNED_PUT, "*", NULL, HEX, API_LEARNED_SAME},
        {API_LEARNED_PUT, "\"x\", " TAG, NULL, HEX, API_LEARNED_SAME},
        {API_LEARNED_PUT, TAG, NULL, OTHER, API_LEARNED_FAILED},
        {API_LEARNED_PUT, "W/" TAG, NULL, HEX, API_LEARNED_FAILED},
        {API_LEARNED_PUT, "", NULL, OTHER, API_LEARNED_FAILED},
        {API_LEARNED_PUT, "*", "*", OTHER, API_LEARNED_FAILED},
        {API_LEARNED_DELETE, NULL, NULL, NULL, API_LEARNED_ABSENT},
        {API_LEARNED_DELETE, "*", NULL, NULL, API_LEARNED_ABSENT},
        {API_LEARNED_DELETE, NULL, NULL, OTHER, API_LEARNED_REMOVED},
        {API_LEARNED_DELETE, TAG, NULL, HEX, API_LEARNED_REMOVED},
        {API_LEARNED_DELETE, TAG, NULL, OTHER, API_LEARNED_FAILED},
        {API_LEARNED_DELETE, NULL, "*", OTHER, API_LEARNED_FAILED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_learned wish = {.act = cases[i].act, .name = "wpe"};
        if (cases[i].match)
            wish.if_match = (struct api_bytes){cases[i].match, strlen(cases[i].match)};
        if (cases[i].none_match)
            wish.if_none_match =
                (struct api_bytes){cases[i].none_match, strlen(cases[i].none_match)};
        enum api_learned_outcome got = api_learned_judge(&wish, cases[i].now, HEX);
        if (got != cases[i].outcome)
            fail_msg("case %zu: %d instead of %d", i, (int)got, (int)cases[i].outcome);
    }
}

static void scopes(void **unused)
{
    (void)unused;
    static const struct {
        const char *method, *target;
        enum api_scope scope;
    } cases[] = {
        {"PUT", "/v1/learned/x", API_SCOPE_WRITE},
        {"PUT", "http://h/v1/learned/x", API_SCOPE_WRITE},
        {"PUT", "/v1/learned", API_SCOPE_WRITE},
        {"PUT", "/v1/learned?x", API_SCOPE_WRITE},
        {"DELETE", "/v1/learned/x?y=/z", API_SCOPE_WRITE},
        {"PUT", "/v1/learned/../x", API_SCOPE_WRITE},
        {"GET", "/v1/learned/x", API_SCOPE_NONE},
        {"HEAD", "/v1/learned/x", API_SCOPE_NONE},
        {"OPTIONS", "/v1/learned/x", API_SCOPE_NONE},
        {"PUT", "/v1/learnedx", API_SCOPE_NONE},
        {"PUT", "/v1/learn", API_SCOPE_NONE},
        {"PUT", "", API_SCOPE_NONE},
        {"PUT", "http://h", API_SCOPE_NONE},
        {"GET", "/v1/cache", API_SCOPE_ADMIN},
        {"HEAD", "/v1/cache?", API_SCOPE_ADMIN},
        {"DELETE", "/v1/cache", API_SCOPE_ADMIN},
        {"POST", "/v1/warm", API_SCOPE_ADMIN},
        {"GET", "/v1/tables/learned/x", API_SCOPE_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (api_scope(cases[i].method,
                      (struct api_bytes){cases[i].target, strlen(cases[i].target)}) !=
            cases[i].scope)
            fail_msg("%s %s", cases[i].method, cases[i].target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked),
        cmocka_unit_test(types_of_uploads),
        cmocka_unit_test(refusals_without_a_store),
        cmocka_unit_test(descriptions),
        cmocka_unit_test(what_went_wrong),
        cmocka_unit_test(lists),
        cmocka_unit_test(judgements),
        cmocka_unit_test(scopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
