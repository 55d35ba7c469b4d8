/* SPDX-License-Identifier: MIT
 *
 * test_api_openapi.c: holds openapi.json and /v1/kinds against the tables that the program runs by:
 * routes, kinds, parameters, options, problems, formats, tensors.
 */
#include "test_api_kit.h"
#include "request/call.h"
#include "format/format.h"
#include "http/route.h"

#include <math.h>

static json_t *document(void)
{
    struct api_plan *plan = kit_get("/openapi.json");
    json_t *doc = kit_json(plan);
    api_plan_free(&plan);
    return doc;
}

static json_t *at(json_t *json, const char *a, const char *b, const char *c)
{
    json = json_object_get(json, a);
    json = b ? json_object_get(json, b) : json;
    return c ? json_object_get(json, c) : json;
}

static bool holds(json_t *array, const char *word)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (strcmp(json_string_value(json_array_get(array, i)), word) == 0)
            return true;
    return false;
}

/* A pattern as a path template: "[.ext]" becomes nothing, or ".{ext}". */
static void template_of(const char *pattern, bool with_extension, char out[128])
{
    const char *bracket = strchr(pattern, '[');
    snprintf(out, 128, "%.*s%s", bracket ? (int)(bracket - pattern) : 127, pattern,
             with_extension ? ".{ext}" : "");
}

static void holds_methods(json_t *paths, const char *path, unsigned methods)
{
    static const struct {
        const char *name;
        enum api__method method;
    } names[] = {
        {"get", API__GET}, {"post", API__POST}, {"put", API__PUT}, {"delete", API__DELETE}};
    json_t *item = json_object_get(paths, path);
    if (!item)
        fail_msg("openapi.json has no path %s", path);
    for (size_t i = 0; i < 4; i++)
        if ((json_object_get(item, names[i].name) != NULL) != ((methods & names[i].method) != 0))
            fail_msg("%s %s differs", names[i].name, path);
}

static void every_route(void **unused)
{
    (void)unused;
    size_t count, templates = 0;
    char path[128];
    json_t *doc = document(), *paths = json_object_get(doc, "paths");
    const struct api__route *routes = api__routes(&count);
    for (size_t i = 0; i < count; i++) {
        template_of(routes[i].pattern, false, path);
        holds_methods(paths, path, routes[i].methods);
        templates++;
        if (!strchr(routes[i].pattern, '['))
            continue;
        template_of(routes[i].pattern, true, path);
        holds_methods(paths, path, routes[i].methods);
        templates++;
    }
    assert_int_equal(json_object_size(paths), templates);
    json_decref(doc);
}

/* Bounds of a number in a schema: "minimum", or "exclusiveMinimum" for the double just above it. */
static void holds_bounds(json_t *schema, const struct pe_param_info *info)
{
    json_t *low = json_object_get(schema, "minimum"),
           *above = json_object_get(schema, "exclusiveMinimum");
    json_t *high = json_object_get(schema, "maximum");
    if (low)
        assert_true(json_number_value(low) == info->lo);
    else if (above)
        assert_true(nextafter(json_number_value(above), INFINITY) == info->lo);
    else
        assert_true(info->lo < -1e308);
    if (high)
        assert_true(json_number_value(high) == info->hi);
    else
        assert_true(info->hi > 1e308);
}

static void holds_schema(json_t *schema, const struct pe_param_info *info)
{
    static const char *const types[] = {"integer", "number", "boolean", "string", "array", "array"};
    assert_string_equal(json_string_value(json_object_get(schema, "type")), types[info->type]);
    switch (info->type) {
    case PE_TYPE_INT:
    case PE_TYPE_REAL:
        holds_bounds(schema, info);
        break;
    case PE_TYPE_INTS:
    case PE_TYPE_REALS: {
        json_t *items = json_object_get(schema, "items"), *any = json_object_get(items, "anyOf");
        holds_bounds(any ? json_array_get(any, 0) : items, info);
        break;
    }
    case PE_TYPE_CHOICE: {
        size_t n = 0;
        for (; info->choices[n]; n++)
            assert_true(holds(json_object_get(schema, "enum"), info->choices[n]));
        assert_int_equal(json_array_size(json_object_get(schema, "enum")), n);
        break;
    }
    case PE_TYPE_BOOL:
        break;
    }
}

static void every_parameter(void **unused)
{
    (void)unused;
    static const char *const options[] = {
#define API_OPTION(id, name, type, values, prose) name,
#include "table/presentation.def"
#undef API_OPTION
    };
    enum { OPTIONS = sizeof options / sizeof *options };
    json_t *doc = document(), *parameters = at(doc, "components", "parameters", NULL);
    json_t *body = at(at(doc, "components", "schemas", "Parameters"), "properties", NULL, NULL);
    for (int p = 0; p < PE_PARAMS; p++) {
        const struct pe_param_info *info = pe_param_info((enum pe_param)p);
        json_t *query = json_object_get(parameters, info->name);
        if (!query || !json_object_get(body, info->name))
            fail_msg("openapi.json lacks %s", info->name);
        assert_string_equal(json_string_value(json_object_get(query, "name")), info->name);
        assert_string_equal(json_string_value(json_object_get(query, "in")), "query");
        holds_schema(json_object_get(body, info->name), info);
        if (p != PE_PARAM_POSITIONS)
            holds_schema(json_object_get(query, "schema"), info);
    }
    for (size_t i = 0; i < OPTIONS; i++)
        if (!json_object_get(parameters, options[i]) || !json_object_get(body, options[i]))
            fail_msg("openapi.json lacks %s", options[i]);
    assert_int_equal(json_object_size(body), PE_PARAMS + OPTIONS);
    json_decref(doc);
}

/* Options of layouts, their words and endpoints; besides them rows= and the four of presentation.
 */
static void every_layout_option(void **unused)
{
    (void)unused;
    enum { BESIDE = 5 };
    json_t *doc = document(), *schemas = at(doc, "components", "schemas", NULL);
    json_t *options = at(schemas, "LayoutParameters", "properties", NULL);
    for (int o = 0; o < PE_OPTIONS; o++) {
        const struct pe_option_info *info = pe_option_info((enum pe_option)o);
        json_t *one = json_object_get(options, info->name), *any = json_object_get(one, "anyOf");
        if (!one)
            fail_msg("openapi.json lacks %s", info->name);
        json_t *words = json_object_get(any ? json_array_get(any, 1) : one, "enum");
        size_t n = 0;
        for (; info->words && info->words[n]; n++)
            assert_true(holds(words, info->words[n]));
        assert_int_equal(json_array_size(words), n);
    }
    assert_int_equal(json_object_size(options), PE_OPTIONS + BESIDE);
    json_t *endpoints =
        at(at(doc, "components", "parameters", "path_layout"), "schema", "enum", NULL);
    for (int e = 0; e < PE_ENDPOINTS; e++)
        assert_true(holds(endpoints, pe_endpoint_name((enum pe_endpoint)e)));
    assert_int_equal(json_array_size(endpoints), PE_ENDPOINTS);
    json_decref(doc);
}

static void every_word(void **unused)
{
    (void)unused;
    static const char *const problems[] = {
#define API_PROBLEM(id, name, status, title, prose) "/problems/" name,
#include "http/problems.def"
#undef API_PROBLEM
    };
    json_t *doc = document(), *parameters = at(doc, "components", "parameters", NULL);
    json_t *types =
        at(at(at(doc, "components", "schemas", "Problem"), "properties", "type", "enum"), NULL,
           NULL, NULL);
    types = at(at(doc, "components", "schemas", "Problem"), "properties", "type", "enum");
    assert_int_equal(json_array_size(types), API__PROBLEMS);
    for (size_t i = 0; i < API__PROBLEMS; i++)
        assert_true(holds(types, problems[i]));
    json_t *kinds = at(parameters, "path_kind", "schema", "enum");
    assert_int_equal(json_array_size(kinds), PE_KINDS);
    for (int k = 0; k < PE_KINDS; k++)
        assert_true(holds(kinds, pe_kind_name((enum pe_kind)k)));
    json_t *formats = at(parameters, "path_ext", "schema", "enum");
    size_t f = 0;
    for (; api__formats[f]; f++)
        assert_true(holds(formats, api__formats[f]->name));
    assert_int_equal(json_array_size(formats), f);
    json_decref(doc);
}

/* ---------------------------------------------------------------- /v1/kinds */

static json_t *named(json_t *array, const char *name)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *one = json_array_get(array, i);
        if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0)
            return one;
    }
    return NULL;
}

static void holds_parameters(json_t *place, enum pe_kind kind, enum pe_resource resource)
{
    json_t *common = json_object_get(place, "parameters");
    size_t known = 0;
    for (int p = 0; p < PE_PARAMS; p++) {
        const struct pe_use *use = pe_use(kind, resource, PE_ROPE_TYPE_DEFAULT, (enum pe_param)p);
        json_t *one = named(common, pe_param_info((enum pe_param)p)->name);
        assert_true((use != NULL) == (one != NULL));
        if (!use)
            continue;
        known++;
        assert_int_equal(json_is_true(json_object_get(one, "required")), use->required);
        json_t *values = json_object_get(one, "values");
        for (size_t i = 0; i < json_array_size(values); i++) {
            const char *word = json_string_value(json_array_get(values, i));
            assert_true(pe_choice_allowed(kind, resource, (enum pe_param)p,
                                          pe_choice_find((enum pe_param)p, word, strlen(word))));
        }
    }
    assert_int_equal(json_array_size(common), known);
}

/* Tables of each place: what is listed is what comes. */
static void tensors_are_listed(json_t *kinds)
{
    static const char *const targets[][3] = {
        {"sinusoidal", "", "length=4&width=4"},
        {"rope", "", "length=4&width=4"},
        {"rope", "", "length=4&width=4&layout=matrix"},
        {"alibi", "", "width=4"},
        {"alibi", "", "width=4&length=3"},
        {"t5", "", "length=4"},
        {"deberta", "", "length=4&position_buckets=32&max_relative_positions=64"},
        {"grid", "", "height=2&columns=3&width=8"},
        {"axial_rope", "", "height=2&columns=3&width=8"},
        {"mrope", "", "length=3&width=16&mrope_section=4,2,2"},
        {"xpos", "", "length=3&width=8"},
        {"sinusoidal", "frequencies", "width=8"},
        {"rope", "frequencies",
         "width=8&rope_type=yarn&factor=4&original_max_position_embeddings=64"},
        {"sinusoidal", "shift", "width=8&offset=1"},
        {"sinusoidal", "similarity", "width=8&max_offset=3"},
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char target[256];
        json_t *place = named(kinds, targets[i][0]);
        const char *resource = targets[i][1];
        if (*resource)
            place = at(place, "beside", resource, NULL);
        snprintf(target, sizeof target, "/v1/tables/%s%s%s.safetensors?%s", targets[i][0],
                 *resource ? "/" : "", resource, targets[i][2]);
        struct api_plan *plan = kit_get(target);
        if (plan->status != 200)
            fail_msg("%s: %.*s", target, (int)plan->text.len, plan->text.at);
        for (unsigned t = 0; t < plan->table->tensor_count; t++)
            if (!named(json_object_get(place, "tensors"), plan->table->tensors[t].name))
                fail_msg("%s: %s is not listed", target, plan->table->tensors[t].name);
        api_plan_free(&plan);
    }
}

static void every_kind(void **unused)
{
    (void)unused;
    struct api_plan *plan = kit_get("/v1/kinds");
    json_t *doc = kit_json(plan), *kinds = json_object_get(doc, "kinds");
    assert_int_equal(json_array_size(kinds), PE_KINDS);
    for (int k = 0; k < PE_KINDS; k++) {
        json_t *kind = named(kinds, pe_kind_name((enum pe_kind)k));
        assert_non_null(kind);
        assert_string_equal(json_string_value(json_object_get(kind, "formula")),
                            pe_kind_formula((enum pe_kind)k));
        holds_parameters(kind, (enum pe_kind)k, PE_RESOURCE_TABLE);
        assert_true(json_array_size(json_object_get(kind, "tensors")) > 0);
        for (int r = PE_RESOURCE_TABLE + 1; r < PE_RESOURCES; r++) {
            json_t *place = at(kind, "beside", pe_resource_name((enum pe_resource)r), NULL);
            assert_true((place != NULL) ==
                        pe_resource_exists((enum pe_kind)k, (enum pe_resource)r));
            if (place)
                holds_parameters(place, (enum pe_kind)k, (enum pe_resource)r);
        }
    }
    tensors_are_listed(kinds);
    json_t *yarn = at(named(kinds, "rope"), "rope_types", "yarn", NULL);
    assert_non_null(named(json_object_get(yarn, "parameters"), "beta_fast"));
    json_decref(doc);
    api_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_route),
                                       cmocka_unit_test(every_parameter),
                                       cmocka_unit_test(every_layout_option),
                                       cmocka_unit_test(every_word), cmocka_unit_test(every_kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
