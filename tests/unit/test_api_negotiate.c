/* SPDX-License-Identifier: MIT
 *
 * test_api_negotiate.c: negotiate.c by a table of Accept headers, and which format a table comes
 * in.
 */
#include "test_api_kit.h"
#include "format/format.h"
#include "http/negotiate.h"
#include "text.h"

#define T "/v1/tables/sinusoidal?length=4&width=4"
#define NPY "application/x-npy"
#define BIN "application/octet-stream"
#define SAFE "application/x-safetensors"
#define JSON "application/json"

static const struct {
    const char *first, *second; /* lines of Accept; NULL: absent */
    const char *format;         /* NULL: 406 */
} cases[] = {
    {NULL, NULL, "json"},
    {"*/*", NULL, "json"},
    {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", NULL, "json"},
    {NPY, NULL, "npy"},
    {"application/x-numpy", NULL, "npy"},
    {BIN, NULL, "bin"},
    {SAFE, NULL, "safetensors"},
    {"text/csv", NULL, "csv"},
    {"text/csv;header=absent", NULL, "csv"},
    {"text/plain", NULL, "txt"},
    {"text/*", NULL, "csv"},
    {JSON ";q=0.5, " NPY, NULL, "npy"},
    {NPY ";q=0.2, " JSON ";q=0.9", NULL, "json"},
    {JSON ";q=0.501, " BIN ";q=0.502", NULL, "bin"},
    {SAFE ";q=1.000, " JSON ";q=0.999", NULL, "safetensors"},
    {JSON ";q=0, " BIN, NULL, "bin"},
    {JSON ";q=0, */*", NULL, "npy"},
    {"*/*;q=0, " NPY ";q=0.1", NULL, "npy"},
    {"application/*;q=0.9, " JSON ";q=0.1", NULL, "npy"},
    {"application/*;q=0.9, " JSON ";q=0.1, " NPY ";q=0.1", NULL, "npz"},
    {"*/*;q=0.1, " NPY ";q=0.2", NULL, "npy"},
    {"APPLICATION/X-NPY", NULL, "npy"},
    {"  " NPY " ; q=1 ,\t" JSON " ; q=0.5 ", NULL, "npy"},
    {JSON ";q=0.5", NPY, "npy"},
    {"image/png, " NPY ";q=0.1", NULL, "npy"},
    {", ," NPY ",,", NULL, "npy"},
    {NPY ";a=\"b,c\\\"d;q=0\";Q=1", NULL, "npy"},
    {"", NULL, "json"},
    {",,,,", NULL, "json"},
    {NPY ";q=abc", NULL, "json"},
    {NPY ";q=1e-1, " BIN, NULL, "bin"},
    {NPY ";q=1.5, " BIN ";q=0.1", NULL, "bin"},
    {"image/png", NULL, NULL},
    {"text/html", NULL, NULL},
    {JSON ";q=0", NULL, NULL},
    {"*/*;q=0", NULL, NULL},
    {"application/x-npyy", NULL, NULL},
    {"application/x-np", NULL, NULL},
    {"application/xml;q=0.9, image/*", NULL, NULL},
};

static void formats(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char first[256], second[256];
        const char *headers[3] = {NULL, NULL, NULL};
        if (cases[i].first) {
            snprintf(first, sizeof first, "Accept: %s", cases[i].first);
            headers[0] = first;
        }
        if (cases[i].second) {
            snprintf(second, sizeof second, "aCCept: %s", cases[i].second);
            headers[1] = second;
        }
        struct api_plan *plan = kit_send("GET", T, headers, NULL, 0);
        if (cases[i].format) {
            assert_int_equal(plan->status, 200);
            if (strcmp(api_format_name(plan->table->format), cases[i].format) != 0)
                fail_msg("%s: %s instead of %s", cases[i].first,
                         api_format_name(plan->table->format), cases[i].format);
            bool text = plan->table->format->compresses;
            assert_string_equal(kit_header(plan, "Vary"),
                                text ? "Accept, Accept-Encoding" : "Accept");
        } else {
            json_t *p = kit_problem(plan, 406);
            char *allowed = kit_member(p, "allowed");
            assert_non_null(strstr(allowed, NPY));
            free(allowed);
            json_decref(p);
        }
        api_plan_free(&plan);
    }
}

static void others_come_first(void **unused)
{
    (void)unused;
    static const struct {
        const char *target, *format, *vary;
    } chosen[] = {{"/v1/tables/sinusoidal.npy?length=4&width=4", "npy", ""},
                  {T "&format=csv", "csv", "Accept-Encoding"}};
    for (size_t i = 0; i < 2; i++) {
        struct api_plan *plan =
            kit_send("GET", chosen[i].target, KIT_HEADERS("Accept: image/png"), NULL, 0);
        assert_int_equal(plan->status, 200);
        assert_string_equal(api_format_name(plan->table->format), chosen[i].format);
        char *vary = kit_keep(plan, "Vary");
        assert_string_equal(vary, chosen[i].vary);
        free(vary);
        api_plan_free(&plan);
    }
}

static void types_of_bodies(void **unused)
{
    (void)unused;
    assert_true(api__type_is(api__bytes("application/json"), JSON));
    assert_true(api__type_is(api__bytes("Application/JSON ; charset=UTF-8"), JSON));
    assert_true(api__type_is(api__bytes("application/json;charset=\"utf-8\""), JSON));
    assert_false(api__type_is(api__bytes("application/json;charset=latin-1"), JSON));
    assert_false(api__type_is(api__bytes("application/jsonx"), JSON));
    assert_false(api__type_is(api__bytes(""), JSON));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(formats),
                                       cmocka_unit_test(others_come_first),
                                       cmocka_unit_test(types_of_bodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
