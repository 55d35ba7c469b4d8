/* SPDX-License-Identifier: MIT
 *
 * test_learned_rows.c: plans for rows of a stored table: which rows, in which shape, dtype and
 * format, under which tag; and rows that are not there.
 */
#include "test_api_kit.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PATH "/v1/tables/learned/"

static struct api_learned_table table = {
    .name = "a.b", .digest = HEX, .file = {PE_DTYPE_F32, 512, 6, 128}, .largest = 70000};

static struct api_plan *ask(const char *method, const char *target, const char *const *headers,
                            const char *body)
{
    struct api_header list[4];
    static char names[4][64];
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
                                  .body = {body, body ? strlen(body) : 0},
                                  .request_id = "kit-1",
                                  .limits = &kit_limits};
    struct api_learned_facts facts = {.outcome = API_LEARNED_FOUND, .tables = &table, .count = 1};
    struct api_plan *first = api_plan(&request);
    if (first->source != API_LEARNED)
        return first;
    assert_int_equal(first->learned->act, API_LEARNED_ROWS);
    assert_string_equal(first->learned->name, "a.b");
    api_plan_free(&first);
    return api_learned_plan(&request, &facts);
}

static struct api_plan *rows(const char *query)
{
    char target[512];
    snprintf(target, sizeof target, PATH "a.b%s", query);
    return ask("GET", target, NULL, NULL);
}

static void windows(void **unused)
{
    (void)unused;
    struct api_plan *plan = rows(".bin?length=3&offset=9");
    assert_int_equal(plan->status, 200);
    assert_int_equal(plan->source, API_TABLE);
    const struct pe_tensor *t = &plan->table->tensors[0];
    assert_string_equal(t->name, "weight");
    assert_int_equal(t->dtype, PE_DTYPE_F32);
    assert_int_equal(t->rank, 2);
    assert_int_equal(t->shape[0], 3);
    assert_int_equal(t->shape[1], 6);
    assert_int_equal(t->rows, 3);
    assert_int_equal(t->bytes, 72);
    assert_int_equal(plan->table->length, 72);
    assert_int_equal(plan->table->spec.offset, 9);
    assert_string_equal(kit_header(plan, "X-Tensor-Shape"), "3, 6");
    assert_string_equal(kit_header(plan, "Cache-Control"), "no-cache");
    assert_string_equal(kit_header(plan, "Content-Location"),
                        PATH "a.b@sha256:" HEX ".bin?dtype=f32&length=3&offset=9&rev=1");
    assert_string_equal(kit_header(plan, "Content-Disposition"),
                        "inline; filename=\"a.b_n3_f32.bin\"");
    assert_true(plan->no_memo);
    api_plan_free(&plan);
    plan = rows(".bin?positions=0,7,100-103,7&dtype=bfloat16");
    t = &plan->table->tensors[0];
    assert_int_equal(t->rows, 7);
    assert_int_equal(t->shape[0], 7);
    assert_int_equal(t->dtype, PE_DTYPE_BF16);
    assert_int_equal(plan->table->spec.positions.at[5], 103);
    api_plan_free(&plan);
    plan = ask("POST", PATH "a.b.npy", KIT_HEADERS(KIT_JSON),
               "{\"positions\":[[0,511],[5,5]],\"dtype\":\"f32\"}");
    t = &plan->table->tensors[0];
    assert_int_equal(t->rank, 3);
    assert_int_equal(t->shape[0], 2);
    assert_int_equal(t->shape[1], 2);
    assert_int_equal(t->shape[2], 6);
    assert_int_equal(plan->table->length, 128 + 4 * 6 * 4);
    api_plan_free(&plan);
}

static void rows_that_are_not_there(void **unused)
{
    (void)unused;
    static const char *const queries[] = {
        "length=513",          "offset=1&length=512",
        "offset=512&length=1", "length=9007199254740992",
        "positions=512",       "positions=0,1,600",
        "positions=500-512",   "positions=-1",
        "offset=511&length=2", "offset=9007199254740991&length=1"};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        char query[128];
        snprintf(query, sizeof query, ".bin?%s", queries[i]);
        struct api_plan *plan = rows(query);
        json_t *p = kit_problem(plan, 400);
        if (!strstr(json_string_value(json_object_get(p, "detail")), "512 rows"))
            fail_msg("%s: %s", query, json_string_value(json_object_get(p, "detail")));
        json_decref(p);
        api_plan_free(&plan);
    }
    struct api_plan *plan = rows(".bin?offset=511&length=1");
    assert_int_equal(plan->status, 200);
    api_plan_free(&plan);
}

static void refusals(void **unused)
{
    (void)unused;
    static const struct {
        const char *query, *parameter;
        int status;
    } cases[] = {
        {".bin", "length", 400},
        {".bin?length=0", "length", 400},
        {".bin?length=1e2", "length", 400},
        {".bin?lenght=3", "lenght", 400},
        {".bin?length=3&length=3", "length", 400},
        {".bin?length=3&base=10000", "base", 400},
        {".bin?length=3&layout=pairs", "layout", 400},
        {".bin?length=3&positions=1", "length", 400},
        {".bin?offset=3&positions=1", "offset", 400},
        {".bin?length=3&dtype=f8", "dtype", 400},
        {".bin?length=3&offset=+1", "offset", 400},
        {".bin?offset=18446744073709551615&length=2", "offset", 400},
        {".bin?length=3&rev=999", "rev", 409},
        {".npy?length=3&dtype=bf16", "bf16", 406},
        {".npy?length=3&bf16=u16", "bf16", 400},
        {".npy?length=3&tensor=cos", "tensor", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_plan *plan = rows(cases[i].query);
        json_t *p = kit_problem(plan, cases[i].status);
        char *parameter = kit_member(p, "parameter");
        assert_string_equal(parameter, cases[i].parameter);
        free(parameter);
        json_decref(p);
        api_plan_free(&plan);
    }
}

/* What stands behind the last dot is an extension only where it names a format. */
static void names_with_dots(void **unused)
{
    (void)unused;
    static const char *const targets[] = {PATH "a.b?length=1", PATH "a.b.json?length=1",
                                          PATH "a.b@sha256:" HEX "?length=1",
                                          PATH "a.b@sha256:" HEX ".json?length=1"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct api_plan *plan = ask("GET", targets[i], NULL, NULL);
        assert_int_equal(plan->status, 200);
        assert_string_equal(kit_header(plan, "Content-Type"), "application/json");
        assert_true((strstr(kit_header(plan, "Cache-Control"), "immutable") != NULL) == (i >= 2));
        api_plan_free(&plan);
    }
}

static void json_has_no_infinities(void **unused)
{
    (void)unused;
    struct api_plan *plan = rows(".json?length=1&dtype=f16");
    json_decref(kit_problem(plan, 406));
    api_plan_free(&plan);
    plan = rows(".bin?length=1&dtype=f16");
    assert_int_equal(plan->status, 200);
    api_plan_free(&plan);
    plan = rows(".json?length=1&dtype=bf16");
    assert_int_equal(plan->status, 200);
    assert_string_equal(plan->table->kind, "learned/a.b");
    assert_string_equal(plan->table->members, "\"digest\":\"sha256:" HEX "\"");
    assert_string_equal(plan->table->parameters, "{\"dtype\":\"bf16\",\"length\":1,\"offset\":0}");
    api_plan_free(&plan);
}

/* Equal requests have equal tags; whatever changes the bytes changes the tag. */
static void tags(void **unused)
{
    (void)unused;
    static const char *const queries[] = {".bin?length=4",
                                          ".bin?length=5",
                                          ".bin?length=4&offset=1",
                                          ".bin?length=4&dtype=f64",
                                          ".bin?positions=0-3",
                                          ".npy?length=4",
                                          ".npy?length=4&dtype=bf16&bf16=u16",
                                          ".npy?length=4&dtype=bf16&bf16=f32"};
    enum { QUERIES = sizeof queries / sizeof *queries };
    char *seen[QUERIES + 1];
    for (size_t i = 0; i < QUERIES; i++) {
        struct api_plan *plan = rows(queries[i]), *again = rows(queries[i]);
        seen[i] = kit_keep(plan, "ETag");
        assert_string_equal(kit_header(again, "ETag"), seen[i]);
        assert_memory_equal(plan->table->key.at, again->table->key.at, 32);
        api_plan_free(&plan);
        api_plan_free(&again);
    }
    table.digest = "f" HEX;
    struct api_plan *plan = rows(queries[0]);
    seen[QUERIES] = kit_keep(plan, "ETag");
    table.digest = HEX;
    api_plan_free(&plan);
    for (size_t i = 0; i <= QUERIES; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(seen[i], seen[j]);
    char header[128];
    snprintf(header, sizeof header, "If-None-Match:%s", seen[0]);
    plan = ask("GET", PATH "a.b.bin?length=4", KIT_HEADERS(header), NULL);
    assert_int_equal(plan->status, 304);
    api_plan_free(&plan);
    for (size_t i = 0; i <= QUERIES; i++)
        free(seen[i]);
}

static void ranges(void **unused)
{
    (void)unused;
    struct api_plan *plan =
        ask("GET", PATH "a.b.bin?length=512", KIT_HEADERS("Range: bytes=24-47"), NULL);
    assert_int_equal(plan->status, 206);
    assert_string_equal(kit_header(plan, "Content-Range"), "bytes 24-47/12288");
    assert_int_equal(plan->table->first, 24);
    assert_int_equal(plan->table->count, 24);
    api_plan_free(&plan);
    plan = ask("GET", PATH "a.b.bin?length=512", KIT_HEADERS("Range: bytes=12288-"), NULL);
    json_decref(kit_problem(plan, 416));
    api_plan_free(&plan);
}

/* Lists too long to be spelled out go by their digest. */
static void long_lists(void **unused)
{
    (void)unused;
    enum { COUNT = 70000 };
    char *body = malloc(32 + 4 * COUNT), *p = body, *tags[2];
    for (int side = 0; side < 2; side++) {
        p = body + sprintf(body, "{\"positions\":[");
        for (int i = 0; i < COUNT; i++)
            p += sprintf(p, "%s%d", i ? "," : "", i == COUNT - 1 ? side : i % 512);
        sprintf(p, "]}");
        struct api_plan *plan = ask("POST", PATH "a.b.safetensors", KIT_HEADERS(KIT_JSON), body);
        assert_int_equal(plan->status, 200);
        assert_int_equal(plan->table->tensors[0].rows, COUNT);
        assert_null(kit_header(plan, "Content-Location"));
        tags[side] = kit_keep(plan, "ETag");
        api_plan_free(&plan);
    }
    assert_string_not_equal(tags[0], tags[1]);
    free(tags[0]);
    free(tags[1]);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows),
        cmocka_unit_test(rows_that_are_not_there),
        cmocka_unit_test(refusals),
        cmocka_unit_test(names_with_dots),
        cmocka_unit_test(json_has_no_infinities),
        cmocka_unit_test(tags),
        cmocka_unit_test(ranges),
        cmocka_unit_test(long_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
