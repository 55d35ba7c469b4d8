/* SPDX-License-Identifier: MIT
 *
 * test_api_kit.h: requests and looks at plans, for the tests of api.
 */
#ifndef TEST_API_KIT_H
#define TEST_API_KIT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api.h"

#define KIT_JSON "Content-Type: application/json"

static const struct api_limits kit_limits = {.max_json_values = 4194304,
                                             .max_layout_entries = 1 << 24,
                                             .max_layout_values = 1 << 30,
                                             .max_body = 256 << 20,
                                             .cache_size = 512 << 20,
                                             .max_connections = 4096};

/* `headers` is a list of "Name: value", ended by NULL; it may be NULL itself. */
__attribute__((unused)) static struct api_plan *kit_send(const char *method, const char *target,
                                                         const char *const *headers,
                                                         const void *body, size_t length)
{
    static char names[16][64];
    struct api_header list[16];
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
                                  .body = {body ? body : "", length},
                                  .request_id = "kit-1",
                                  .limits = &kit_limits};
    struct api_plan *plan = api_plan(&request);
    assert_non_null(plan);
    return plan;
}

#define KIT_HEADERS(...) ((const char *const[]){__VA_ARGS__, NULL})

__attribute__((unused)) static struct api_plan *kit_get(const char *target)
{
    return kit_send("GET", target, NULL, NULL, 0);
}

__attribute__((unused)) static struct api_plan *kit_post(const char *target, const char *json)
{
    return kit_send("POST", target, KIT_HEADERS(KIT_JSON), json, strlen(json));
}

/* The value of a header that stands once, or NULL. */
__attribute__((unused)) static const char *kit_header(const struct api_plan *plan, const char *name)
{
    const char *value = NULL;
    for (unsigned i = 0; i < plan->header_count; i++) {
        if (strcasecmp(plan->headers[i].name, name) != 0)
            continue;
        assert_null(value);
        value = plan->headers[i].value;
    }
    return value;
}

/* A copy, for comparing after the plan is gone; "" where there is none. */
__attribute__((unused)) static char *kit_keep(const struct api_plan *plan, const char *name)
{
    const char *value = kit_header(plan, name);
    return strdup(value ? value : "");
}

__attribute__((unused)) static json_t *kit_json(const struct api_plan *plan)
{
    json_error_t error;
    assert_int_equal(plan->source, API_TEXT);
    json_t *json = json_loadb(plan->text.at, plan->text.len, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("%s in %.*s", error.text, (int)plan->text.len, plan->text.at);
    return json;
}

/* Holds the form of a problem document and returns it. */
__attribute__((unused)) static json_t *kit_problem(const struct api_plan *plan, int status)
{
    if (plan->status != status)
        fail_msg("status %d instead of %d: %.*s", plan->status, status, (int)plan->text.len,
                 plan->text.at ? plan->text.at : "");
    json_t *p = kit_json(plan);
    const char *instance = json_string_value(json_object_get(p, "instance"));
    assert_string_equal(kit_header(plan, "Content-Type"), "application/problem+json");
    assert_string_equal(kit_header(plan, "Cache-Control"), "no-store");
    assert_true(plan->no_memo);
    assert_int_equal(json_integer_value(json_object_get(p, "status")), status);
    assert_memory_equal(json_string_value(json_object_get(p, "type")), "/problems/", 10);
    assert_non_null(json_string_value(json_object_get(p, "title")));
    assert_string_equal(json_string_value(json_object_get(p, "error")),
                        json_string_value(json_object_get(p, "detail")));
    assert_string_equal(instance + strlen(instance) - 5, "kit-1");
    return p;
}

/* A member as text: strings as they are, other values as JSON; "" where it is absent. The caller
 * frees. */
__attribute__((unused)) static char *kit_member(json_t *p, const char *name)
{
    json_t *m = json_object_get(p, name);
    if (!m)
        return strdup("");
    return json_is_string(m)
               ? strdup(json_string_value(m))
               : json_dumps(m, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
}

#endif
