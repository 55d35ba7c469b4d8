/* SPDX-License-Identifier: MIT
 *
 * test_layout_cases.c: the cases of golden/layouts, each a request and what its answer holds:
 * arrays that peers make, arrays that they get wrong, and every kind of refusal.
 */
#include "test_api_kit.h"

#include <stdio.h>

static const char *const files[] = {"cached", "check", "convert",  "multimodal", "packed",
                                    "padded", "plan",  "requests", "sharded"};

/* The body of a JSON answer, rows in portions of changing size. The caller frees. */
static char *body_of(const struct api_plan *plan)
{
    if (plan->source == API_TEXT)
        return strndup(plan->text.at, plan->text.len);
    assert_int_equal(plan->source, API_TABLE);
    const struct api_table *table = plan->table;
    struct pe_plan *rows = NULL;
    struct api_writer w;
    size_t size = api_writer_head_size(table), len, portion = 1;
    if (api_layout_has_rows(table->layout))
        assert_int_equal(pe_plan_create(&table->spec, &rows), PE_OK);
    char *out = malloc(size);
    len = api_writer_open(&w, table, out);
    for (unsigned t = 0; t < table->tensor_count; t++) {
        const struct pe_tensor *x = &table->tensors[t];
        for (uint64_t at = 0, n; at < x->rows; at += n) {
            n = portion < x->rows - at ? portion : x->rows - at;
            portion = portion % 7 + 1;
            void *band = malloc(n * x->row_elements * pe_dtype_size(x->dtype));
            assert_true(api_table_fill(table, rows, t, at, n, band));
            out = realloc(out, len + api_writer_room(table, t, n));
            len += api_writer_rows(&w, t, band, n, out + len);
            free(band);
        }
    }
    out = realloc(out, len + api_writer_room(table, table->tensor_count - 1, 0) + 1);
    len += api_writer_tail(&w, out + len);
    out[len] = 0;
    pe_plan_destroy(&rows);
    return out;
}

/* Members of an object are a subset; a list of objects holds each of them; other values are equal.
 */
static bool within(const json_t *want, const json_t *got)
{
    const char *key;
    json_t *value;
    if (json_is_object(want)) {
        json_object_foreach((json_t *)want, key,
                            value) if (!json_object_get(got, key) ||
                                       !within(value, json_object_get(got, key))) return false;
        return true;
    }
    if (!json_is_array(want) || !json_is_object(json_array_get(want, 0)))
        return json_equal(want, got);
    for (size_t i = 0; i < json_array_size(want); i++) {
        bool any = false;
        for (size_t k = 0; k < json_array_size(got); k++)
            any |= within(json_array_get(want, i), json_array_get(got, k));
        if (!any)
            return false;
    }
    return true;
}

static struct api_plan *send(json_t *request)
{
    char target[8192];
    const char *query = json_string_value(json_object_get(request, "query"));
    const char *path = json_string_value(json_object_get(request, "path"));
    json_t *json = json_object_get(request, "json");
    const char *method = json_string_value(json_object_get(request, "method"));
    snprintf(target, sizeof target, "%s%s%s", path, query ? "?" : "", query ? query : "");
    if (json) {
        char *text = json_dumps(json, JSON_COMPACT);
        struct api_plan *plan = kit_send(method, target, KIT_HEADERS(KIT_JSON), text, strlen(text));
        /* the plan must not need the body any more */
        memset(text, 'x', strlen(text));
        free(text);
        return plan;
    }
    const char *body = json_string_value(json_object_get(request, "body"));
    const char *type = json_string_value(json_object_get(request, "content_type"));
    char header[128];
    snprintf(header, sizeof header, "Content-Type: %s", type ? type : "application/json");
    return kit_send(method, target, body ? KIT_HEADERS(header) : NULL, body,
                    body ? strlen(body) : 0);
}

static void check_problem(const char *name, const json_t *want, const json_t *got)
{
    const char *key, *part = json_string_value(json_object_get(want, "detail_contains"));
    json_t *value;
    json_object_foreach((json_t *)want, key,
                        value) if (strcmp(key, "detail_contains") != 0 &&
                                   !json_equal(value, json_object_get(got, key)))
        fail_msg("%s: %s is %s", name, key, json_dumps(got, JSON_COMPACT));
    if (part && !strstr(json_string_value(json_object_get(got, "detail")), part))
        fail_msg("%s: the detail lacks %s", name, part);
}

static bool status_is(const json_t *want, int status)
{
    bool any = json_integer_value(want) == status;
    for (size_t i = 0; i < json_array_size(want); i++)
        any |= json_integer_value(json_array_get(want, i)) == status;
    return any;
}

static void run(json_t *test)
{
    const char *name = json_string_value(json_object_get(test, "name"));
    json_t *expect = json_object_get(test, "expect");
    struct api_plan *plan = send(json_object_get(test, "request"));
    char *text = body_of(plan);
    json_t *got = json_loads(text, 0, NULL), *tensors = json_object_get(expect, "tensors"), *value;
    const char *key;
    if (!status_is(json_object_get(expect, "status"), plan->status) || !got)
        fail_msg("%s: status %d, %s", name, plan->status, text);
    if (plan->status != 200)
        check_problem(name, json_object_get(expect, "problem"), got);
    json_object_foreach(
        tensors, key,
        value) if (!json_equal(value, json_object_get(json_object_get(got, "tensors"), key)))
        fail_msg("%s: %s differs in %s", name, key, text);
    if (json_object_get(expect, "json") && !within(json_object_get(expect, "json"), got))
        fail_msg("%s: %s", name, text);
    json_decref(got);
    free(text);
    api_plan_free(&plan);
}

static void every_case(void **unused)
{
    size_t count = 0;
    (void)unused;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char path[512];
        snprintf(path, sizeof path, TESTS_DIR "/golden/layouts/%s.json", files[f]);
        json_t *cases = json_load_file(path, 0, NULL);
        assert_non_null(cases);
        for (size_t i = 0; i < json_array_size(cases); i++, count++)
            run(json_array_get(cases, i));
        json_decref(cases);
    }
    assert_true(count > 350);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
