/* SPDX-License-Identifier: MIT
 *
 * test_api_plan.c: plan.c, route.c, pattern.c, pages.c and problem.c: paths byte by byte, methods,
 * bodies before they are read, pages, problems from outside.
 */
#include "test_api_kit.h"
#include "request/call.h"
#include "http/pattern.h"
#include "http/problem.h"

static void paths(void **unused)
{
    (void)unused;
    static const struct {
        const char *method, *target;
        int status;
        const char *route;
    } cases[] = {{"GET", "/", 200, "root"},
                 {"HEAD", "/", 200, "root"},
                 {"GET", "/v1", 200, "service"},
                 {"GET", "/v1/", 404, "none"},
                 {"GET", "/v1/kinds", 200, "kinds"},
                 {"GET", "/V1/kinds", 404, "none"},
                 {"GET", "//v1/kinds", 404, "none"},
                 {"GET", "/v1/../v1/kinds", 404, "none"},
                 {"GET", "/v1%2Fkinds", 404, "none"},
                 {"GET", "/v1/kinds/", 404, "none"},
                 {"GET", "/v1/tables", 404, "none"},
                 {"GET", "/v1/tables/", 404, "none"},
                 {"GET", "/v1/tables/.npy?length=4&width=4", 404, "none"},
                 {"GET", "/v1/tables/nosuch", 404, "table"},
                 {"GET", "/v1/tables/rope%00x?length=4&width=4", 404, "table"},
                 {"GET", "/v1/tables/sinusoidal/nosuch?width=4", 404, "beside"},
                 {"GET", "/v1/tables/sinusoidal/shift/x?width=4", 404, "none"},
                 {"GET", "/v1/tables/a%0d%0aX-Evil:%201", 404, "table"},
                 {"GET", "/livez", 200, "live"},
                 {"GET", "/livez?x=1", 400, "live"},
                 {"GET", "/livez%00", 404, "none"},
                 {"GET", "http://host/livez", 200, "live"},
                 {"GET", "HTTP://host/livez", 200, "live"},
                 {"GET", "http://host", 400, "none"},
                 {"GET", "*", 400, "none"},
                 {"GET", "livez", 400, "none"},
                 {"GET", "", 400, "none"},
                 {"GET", "/h\xff", 400, "none"},
                 {"GET", "/li vez", 400, "none"},
                 {"GET", "/h\x07", 400, "none"},
                 {"GET", "/readyz", 200, "ready"},
                 {"GET", "/healthz", 200, "ready"},
                 {"GET", "/health", 200, "ready"},
                 {"GET", "/metrics", 200, "metrics"},
                 {"GET", "/docs", 200, "docs"},
                 {"GET", "/openapi.json", 200, "openapi"},
                 {"GET", "/problems/unknown-parameter", 200, "problem"},
                 {"GET", "/problems/nosuch", 404, "problem"},
                 {"OPTIONS", "*", 204, "none"},
                 {"OPTIONS", "/v1/tables/rope.npy?x=1", 204, "table"},
                 {"OPTIONS", "/nosuch", 404, "none"},
                 {"PUT", "/v1/tables/rope.npy", 405, "table"},
                 {"DELETE", "/v1/kinds", 405, "kinds"},
                 {"POST", "/livez", 405, "live"},
                 {"BREW", "/livez", 405, "live"},
                 {"get", "/livez", 405, "live"},
                 {"TRACE", "/livez", 405, "live"},
                 {"BREW", "/nosuch", 404, "none"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_plan *plan = kit_send(cases[i].method, cases[i].target, NULL, NULL, 0);
        if (plan->status != cases[i].status)
            fail_msg("%s %s: %d instead of %d", cases[i].method, cases[i].target, plan->status,
                     cases[i].status);
        assert_string_equal(plan->route, cases[i].route);
        assert_int_equal(plan->head_only, strcmp(cases[i].method, "HEAD") == 0);
        assert_string_equal(kit_header(plan, "Access-Control-Allow-Origin"), "*");
        assert_string_equal(kit_header(plan, "X-Content-Type-Options"), "nosniff");
        if (plan->status >= 400)
            json_decref(kit_problem(plan, plan->status));
        if (plan->status == 405)
            assert_memory_equal(kit_header(plan, "Allow"), "GET, HEAD", 9);
        api_plan_free(&plan);
    }
    struct api_plan *plan =
        kit_send("OPTIONS", "/v1/tables/rope", KIT_HEADERS("Origin: http://a.test"), NULL, 0);
    assert_string_equal(kit_header(plan, "Allow"), "GET, HEAD, POST, OPTIONS");
    assert_string_equal(kit_header(plan, "Access-Control-Allow-Methods"),
                        "GET, HEAD, POST, OPTIONS");
    assert_non_null(strstr(kit_header(plan, "Access-Control-Allow-Headers"), "X-Request-Id"));
    api_plan_free(&plan);
}

static void patterns(void **unused)
{
    (void)unused;
    static const struct {
        const char *pattern, *path;
        bool fits;
        const char *captures[2], *extension; /* NULL: no dot */
    } cases[] = {{"/a", "/a", true, {"", ""}, NULL},
                 {"/a", "/ab", false, {"", ""}, NULL},
                 {"/a", "/", false, {"", ""}, NULL},
                 {"/{x}", "/b.c", true, {"b.c", ""}, NULL},
                 {"/{x}", "/", false, {"", ""}, NULL},
                 {"/{x}", "/b/c", false, {"", ""}, NULL},
                 {"/{x}/{y}", "/b/c", true, {"b", "c"}, NULL},
                 {"/{x}[.ext]", "/b", true, {"b", ""}, NULL},
                 {"/{x}[.ext]", "/b.npy", true, {"b", ""}, "npy"},
                 {"/{x}[.ext]", "/b.c.npy", true, {"b.c", ""}, "npy"},
                 {"/{x}[.ext]", "/b.", true, {"b", ""}, ""},
                 {"/{x}[.ext]", "/.npy", false, {"", ""}, NULL},
                 {"/{x}[.ext]", "/b.npy/c", false, {"", ""}, NULL},
                 {"/{x}/y[.ext]", "/b.c/y.npy", true, {"b.c", ""}, "npy"},
                 {"/{x}/y[.ext]", "/b/y", true, {"b", ""}, NULL},
                 {"/{x}/y[.ext]", "/b/yz", false, {"", ""}, NULL},
                 {"/{x}/y[.ext]", "/b/y.a/b", false, {"", ""}, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api__call call = {.path = api__bytes(cases[i].path)};
        if (api__fits(cases[i].pattern, &call) != cases[i].fits)
            fail_msg("%s on %s", cases[i].pattern, cases[i].path);
        if (!cases[i].fits)
            continue;
        assert_true(api__equal(call.captures[0], cases[i].captures[0]));
        assert_true(api__equal(call.captures[1], cases[i].captures[1]));
        assert_true((call.extension.at != NULL) == (cases[i].extension != NULL));
        assert_true(!cases[i].extension || api__equal(call.extension, cases[i].extension));
    }
}

static int refusal(const char *method, const char *target, const char *type, const char *coding,
                   uint64_t declared)
{
    struct api_header headers[2];
    size_t count = 0;
    if (type)
        headers[count++] = (struct api_header){"Content-Type", api__bytes(type)};
    if (coding)
        headers[count++] = (struct api_header){"Content-Encoding", api__bytes(coding)};
    struct api_request r = {.method = method,
                            .target = api__bytes(target),
                            .headers = headers,
                            .header_count = count,
                            .body = {"", 0},
                            .request_id = "kit-1",
                            .limits = &kit_limits};
    struct api_plan *plan = api_refuse_body(&r, declared);
    int status = plan ? plan->status : 0;
    if (plan)
        json_decref(kit_problem(plan, status));
    api_plan_free(&plan);
    return status;
}

static void bodies_before_they_come(void **unused)
{
    (void)unused;
    const char *t = "/v1/tables/rope.npy", *json = "application/json";
    assert_int_equal(refusal("POST", t, json, NULL, 10), 0);
    assert_int_equal(refusal("POST", t, "application/json; charset=utf-8", NULL, 10), 0);
    assert_int_equal(refusal("POST", t, "application/x-npy", NULL, 200 << 20), 0);
    assert_int_equal(refusal("POST", t, json, "identity", 10), 0);
    assert_int_equal(refusal("POST", t, json, NULL, 16 << 20), 0);
    assert_int_equal(refusal("POST", t, json, NULL, (16 << 20) + 1), 413);
    assert_int_equal(refusal("POST", t, "application/x-npy", NULL, (256 << 20) + 1), 413);
    assert_int_equal(refusal("POST", t, json, NULL, UINT64_MAX), 413);
    assert_int_equal(refusal("POST", t, "text/plain", NULL, 10), 415);
    assert_int_equal(refusal("POST", t, "application/json; charset=latin-1", NULL, 10), 415);
    assert_int_equal(refusal("POST", t, NULL, NULL, 10), 415);
    assert_int_equal(refusal("POST", t, json, "gzip", 10), 415);
    assert_int_equal(refusal("POST", "/nosuch", json, NULL, 10), 404);
    assert_int_equal(refusal("PUT", t, json, NULL, 10), 405);
    assert_int_equal(refusal("GET", "/livez", NULL, NULL, 10), 0);
    assert_int_equal(refusal("GET", "/livez", NULL, NULL, (256 << 20) + 1), 413);
    assert_int_equal(refusal("OPTIONS", "*", NULL, NULL, 10), 0);
}

static void problems_from_outside(void **unused)
{
    (void)unused;
    struct api_request r = {
        .method = "GET", .target = api__bytes("/x"), .request_id = "kit-1", .limits = &kit_limits};
    struct api_plan *plan = api_problem(&r, 503, "overloaded", "busy \"now\"");
    json_t *p = kit_problem(plan, 503);
    assert_string_equal(json_string_value(json_object_get(p, "detail")), "busy \"now\"");
    assert_string_equal(json_string_value(json_object_get(p, "type")), "/problems/overloaded");
    assert_non_null(kit_header(plan, "Retry-After"));
    json_decref(p);
    api_plan_free(&plan);
    plan = api_problem(&r, 431, "headers-too-large", "too many");
    json_decref(kit_problem(plan, 431));
    assert_null(kit_header(plan, "Retry-After"));
    api_plan_free(&plan);
    r.method = NULL;
    r.target = (struct api_bytes){NULL, 0};
    plan = api_problem(&r, 400, "malformed-request", "no request line");
    json_decref(kit_problem(plan, 400));
    api_plan_free(&plan);
}

static void every_problem_has_its_page(void **unused)
{
    (void)unused;
    static const char *const names[] = {
#define API_PROBLEM(id, name, status, title, prose) name,
#include "http/problems.def"
#undef API_PROBLEM
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char target[128];
        snprintf(target, sizeof target, "/problems/%s", names[i]);
        struct api_plan *plan = kit_get(target);
        assert_int_equal(plan->status, 200);
        assert_true(plan->text.len > 20);
        assert_int_equal(api__problem_find(api__bytes(names[i])), i);
        assert_in_range(api__problem_status((enum api__problem_id)i), 400, 599);
        api_plan_free(&plan);
    }
}

static void text_of_clients_is_escaped(void **unused)
{
    (void)unused;
    struct api_plan *plan =
        kit_get("/v1/tables/sinusoidal?length=4&width=4&dtype=%22%3E%3Cscript%3E%5C%E2%80%A8%0a");
    json_t *p = kit_problem(plan, 400);
    assert_string_equal(json_string_value(json_object_get(p, "value")),
                        "\"><script>\\\xe2\x80\xa8\n");
    json_decref(p);
    api_plan_free(&plan);
    /* long values are cut at a character */
    char target[9000] = "/v1/tables/sinusoidal?length=4&width=4&dtype=";
    while (strlen(target) < 8000)
        strcat(target, "a%E2%82%AC");
    plan = kit_get(target);
    p = kit_problem(plan, 400);
    assert_in_range(strlen(json_string_value(json_object_get(p, "value"))), 900, 1024);
    json_decref(p);
    api_plan_free(&plan);
}

static void pages(void **unused)
{
    (void)unused;
    struct api_plan *plan =
        kit_send("GET", "/", KIT_HEADERS("Accept: text/html,*/*;q=0.8"), NULL, 0);
    assert_memory_equal(kit_header(plan, "Content-Type"), "text/html", 9);
    assert_string_equal(kit_header(plan, "Vary"), "Accept");
    assert_non_null(kit_header(plan, "Content-Security-Policy"));
    assert_memory_equal(plan->text.at, "<!doctype html>", 15);
    char *tag = kit_keep(plan, "ETag"), line[128];
    api_plan_free(&plan);
    plan = kit_send("GET", "/", KIT_HEADERS("Accept: */*"), NULL, 0);
    assert_memory_equal(kit_header(plan, "Content-Type"), "text/plain", 10);
    assert_non_null(memmem(plan->text.at, plan->text.len, "curl", 4));
    assert_string_not_equal(kit_header(plan, "ETag"), tag);
    api_plan_free(&plan);
    snprintf(line, sizeof line, "If-None-Match: %s", tag);
    plan = kit_send("GET", "/", KIT_HEADERS("Accept: text/html", line), NULL, 0);
    assert_int_equal(plan->status, 304);
    assert_int_equal(plan->source, API_EMPTY);
    api_plan_free(&plan);
    free(tag);
    plan = kit_send("GET", "/", KIT_HEADERS("Accept: image/png"), NULL, 0);
    json_decref(kit_problem(plan, 406));
    api_plan_free(&plan);
    plan = kit_get("/metrics");
    assert_int_equal(plan->source, API_PAGE);
    assert_int_equal(plan->page, API_PAGE_METRICS);
    assert_string_equal(kit_header(plan, "Cache-Control"), "no-store");
    api_plan_free(&plan);
    plan = kit_get("/v1");
    json_t *d = kit_json(plan);
    assert_string_equal(json_string_value(json_object_get(d, "name")), "posenc");
    assert_string_equal(json_string_value(json_object_get(d, "version")), PE_VERSION);
    assert_int_equal(json_integer_value(json_object_get(d, "numerics_rev")), PE_NUMERICS_REV);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(d, "limits"), "max_json_values")),
        4194304);
    assert_int_equal(json_array_size(json_object_get(d, "kinds")), PE_KINDS);
    assert_true(json_array_size(json_object_get(d, "formats")) >= 7);
    json_decref(d);
    api_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(patterns),
        cmocka_unit_test(bodies_before_they_come),
        cmocka_unit_test(problems_from_outside),
        cmocka_unit_test(every_problem_has_its_page),
        cmocka_unit_test(text_of_clients_is_escaped),
        cmocka_unit_test(pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
