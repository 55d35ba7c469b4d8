/* SPDX-License-Identifier: MIT
 *
 * test_api_coding.c: coding.c by a table of Accept-Encoding headers; which tables may be coded; and
 * what else of an answer changes with its coding: tag, Vary, ranges, conditions.
 */
#include "test_api_kit.h"
#include "http/coding.h"

#define S "/v1/tables/sinusoidal"
#define OK "?length=4&width=4"
#define REFUSED (-1)

static const struct {
    const char *first, *second; /* lines; NULL: absent */
    int coding;                 /* enum api_coding, or REFUSED */
} cases[] = {
    {NULL, NULL, API_IDENTITY},
    {"", NULL, API_IDENTITY},
    {",,,", NULL, API_IDENTITY},
    {"gzip", NULL, API_GZIP},
    {"GZip", NULL, API_GZIP},
    {"x-gzip", NULL, API_GZIP},
    {"zstd", NULL, API_ZSTD},
    {"gzip, zstd", NULL, API_ZSTD},
    {"zstd, gzip", NULL, API_ZSTD},
    {"gzip, deflate, br, zstd", NULL, API_ZSTD},
    {"gzip, deflate, br", NULL, API_GZIP},
    {"br", NULL, API_IDENTITY},
    {"identity", NULL, API_IDENTITY},
    {"*", NULL, API_ZSTD},
    {"gzip;q=0", NULL, API_IDENTITY},
    {"gzip;q=0.000", NULL, API_IDENTITY},
    {"gzip;q=0, zstd;q=0", NULL, API_IDENTITY},
    {"gzip;q=0, *", NULL, API_ZSTD},
    {"zstd;q=0, *", NULL, API_GZIP},
    {"*;q=0.1, gzip;q=0.2", NULL, API_GZIP},
    {"gzip;q=0.2, zstd;q=0.8", NULL, API_ZSTD},
    {"gzip;q=0.8, zstd;q=0.2", NULL, API_GZIP},
    {"gzip;q=0.501, zstd;q=0.500", NULL, API_GZIP},
    {"gzip;q=1.000, zstd;q=1", NULL, API_ZSTD},
    {"br, gzip;q=0.001", NULL, API_GZIP},
    {" gzip ; q=1 ", NULL, API_GZIP},
    {"gzip;Q=0.5", NULL, API_GZIP},
    {"identity;q=0.5, gzip;q=0.1", NULL, API_IDENTITY},
    {"identity;q=0.5, gzip;q=0.5", NULL, API_GZIP},
    {"identity, gzip;q=0.9", NULL, API_IDENTITY},
    {"br", "gzip", API_GZIP},
    {"gzip;q=0.5", "zstd;q=0.4", API_GZIP},
    {"*;q=0, gzip;q=0.5", NULL, API_GZIP},
    {"*;q=0, identity", NULL, API_IDENTITY},
    {"*;q=0, identity;q=0.001", NULL, API_IDENTITY},
    {"identity;q=0, gzip", NULL, API_GZIP},
    {"identity;q=0, *;q=0.1", NULL, API_ZSTD},
    /* what cannot be read says nothing */
    {"gzip;q=nan", NULL, API_IDENTITY},
    {"gzip;q=2", NULL, API_IDENTITY},
    {"gzip;q=-1", NULL, API_IDENTITY},
    {"gzip;q=0.0001", NULL, API_IDENTITY},
    {"gzip;q=, zstd;q=0.1", NULL, API_ZSTD},
    {"gzip;q=nan, br;q=1e309, *;q=-1", NULL, API_IDENTITY},
    {"gzipp, agzip, zst", NULL, API_IDENTITY},
    {"\"gzip, zstd\"", NULL, API_IDENTITY},
    /* nothing is left */
    {"identity;q=0", NULL, REFUSED},
    {"*;q=0", NULL, REFUSED},
    {"identity;q=0, br", NULL, REFUSED},
    {"br, *;q=0", NULL, REFUSED},
    {"identity;q=0, gzip;q=0, zstd;q=0", NULL, REFUSED},
    {"identity;q=0", "gzip;q=0", REFUSED},
};

static struct api_plan *ask(const char *method, const char *target, const char *first,
                            const char *second)
{
    char lines[2][256];
    const char *headers[3] = {NULL, NULL, NULL};
    const char *values[2] = {first, second};
    for (int i = 0; i < 2 && values[i]; i++) {
        snprintf(lines[i], sizeof lines[i], "%s: %s", i ? "accept-encoding" : "Accept-Encoding",
                 values[i]);
        headers[i] = lines[i];
    }
    return kit_send(method, target, headers, "", 0);
}

static void what_is_asked_for(void **unused)
{
    (void)unused;
    static const char *const names[] = {NULL, "gzip", "zstd"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_plan *plan = ask("GET", S ".json" OK, cases[i].first, cases[i].second);
        const char *got = kit_header(plan, "Content-Encoding");
        if (cases[i].coding == REFUSED) {
            json_t *p = kit_problem(plan, 406);
            char *allowed = kit_member(p, "allowed");
            assert_non_null(strstr(allowed, "zstd"));
            free(allowed);
            json_decref(p);
        } else {
            const char *want = names[cases[i].coding];
            assert_int_equal(plan->status, 200);
            if ((got == NULL) != (want == NULL) || (got && strcmp(got, want) != 0))
                fail_msg("%s: %s instead of %s", cases[i].first, got ? got : "none",
                         want ? want : "none");
            assert_int_equal(plan->table->coding, cases[i].coding);
            assert_string_equal(kit_header(plan, "Vary"), "Accept-Encoding");
        }
        api_plan_free(&plan);
    }
}

static void floats_are_never_coded(void **unused)
{
    (void)unused;
    static const char *const targets[] = {S ".bin" OK,
                                          S ".npy" OK,
                                          S ".npz" OK,
                                          S ".safetensors" OK,
                                          S ".bin" OK "&dtype=bf16",
                                          S ".npy" OK "&dtype=bf16&bf16=f32",
                                          "/v1/tables/alibi.npy?width=4",
                                          "/v1/tables/rope/frequencies.safetensors?width=4"};
    static const char *const values[] = {"gzip",         "zstd, gzip", "*",
                                         "identity;q=0", "*;q=0",      "gzip, identity;q=0"};
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        struct api_plan *plain = kit_get(targets[t]);
        assert_int_equal(plain->status, 200);
        assert_null(kit_header(plain, "Vary"));
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            struct api_plan *plan = ask("GET", targets[t], values[v], NULL);
            assert_int_equal(plan->status, 200);
            assert_int_equal(plan->table->coding, API_IDENTITY);
            assert_null(kit_header(plan, "Content-Encoding"));
            assert_null(kit_header(plan, "Vary"));
            assert_string_equal(kit_header(plan, "ETag"), kit_header(plain, "ETag"));
            api_plan_free(&plan);
        }
        api_plan_free(&plain);
    }
}

static const char *const codable[] = {
    S ".json" OK,
    S ".csv" OK,
    S ".txt" OK,
    "/v1/tables/t5.npy?length=8",
    "/v1/tables/t5.bin?length=8",
    "/v1/tables/t5.npz?length=8",
    "/v1/tables/t5.safetensors?length=8",
    "/v1/tables/deberta.bin?length=8&position_buckets=4&max_relative_positions=16"};

static void a_tag_for_each_coding(void **unused)
{
    (void)unused;
    static const char *const names[] = {NULL, "gzip", "zstd"};
    for (size_t t = 0; t < sizeof codable / sizeof *codable; t++) {
        char *tags[3];
        for (int i = 0; i < 3; i++) {
            struct api_plan *plan = ask("GET", codable[t], names[i], NULL);
            struct api_plan *head = ask("HEAD", codable[t], names[i], NULL);
            assert_int_equal(plan->status, 200);
            assert_int_equal(plan->table->coding, i);
            assert_string_equal(kit_header(plan, "Vary"), "Accept-Encoding");
            tags[i] = kit_keep(plan, "ETag");
            assert_string_equal(kit_header(head, "ETag"), tags[i]);
            assert_int_equal(head->header_count, plan->header_count);
            /* equal payloads, however they are sent */
            struct api_plan *plain = kit_get(codable[t]);
            assert_memory_equal(plan->table->key.at, plain->table->key.at, 32);
            api_plan_free(&plain);
            api_plan_free(&head);
            api_plan_free(&plan);
        }
        assert_string_not_equal(tags[0], tags[1]);
        assert_string_not_equal(tags[0], tags[2]);
        assert_string_not_equal(tags[1], tags[2]);
        for (int i = 0; i < 3; i++)
            free(tags[i]);
    }
}

static void conditions_know_the_coding(void **unused)
{
    (void)unused;
    struct api_plan *gzip = ask("GET", S ".csv" OK, "gzip", NULL), *plain = kit_get(S ".csv" OK),
                    *plan;
    char none[64], match[64], plain_none[64];
    snprintf(none, sizeof none, "If-None-Match: %s", kit_header(gzip, "ETag"));
    snprintf(match, sizeof match, "If-Match: %s", kit_header(gzip, "ETag"));
    snprintf(plain_none, sizeof plain_none, "If-None-Match: %s", kit_header(plain, "ETag"));
    const struct {
        const char *condition, *accept;
        int status;
    } asked[] = {{none, "Accept-Encoding: gzip", 304},      {none, "Accept-Encoding: zstd", 200},
                 {none, "Accept-Encoding:", 200},           {match, "Accept-Encoding: gzip", 200},
                 {match, "Accept-Encoding:", 412},          {plain_none, "Accept-Encoding:", 304},
                 {plain_none, "Accept-Encoding: gzip", 200}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        plan =
            kit_send("GET", S ".csv" OK, KIT_HEADERS(asked[i].accept, asked[i].condition), "", 0);
        if (plan->status != asked[i].status)
            fail_msg("%s with %s gives %d", asked[i].condition, asked[i].accept, plan->status);
        if (plan->status == 304) {
            assert_string_equal(kit_header(plan, "Vary"), "Accept-Encoding");
            assert_null(kit_header(plan, "Content-Encoding"));
        }
        api_plan_free(&plan);
    }
    api_plan_free(&gzip);
    api_plan_free(&plain);
}

static void coded_bodies_have_no_ranges(void **unused)
{
    (void)unused;
    const char *target = "/v1/tables/t5.bin?length=8";
    struct api_plan *plan =
        kit_send("GET", target, KIT_HEADERS("Range: bytes=0-3", "Accept-Encoding: zstd"), "", 0);
    assert_int_equal(plan->status, 200);
    assert_int_equal(plan->table->count, plan->table->length);
    assert_null(kit_header(plan, "Accept-Ranges"));
    assert_null(kit_header(plan, "Content-Range"));
    api_plan_free(&plan);
    plan = kit_send("GET", target, KIT_HEADERS("Range: bytes=0-3"), "", 0);
    assert_int_equal(plan->status, 206);
    assert_string_equal(kit_header(plan, "Accept-Ranges"), "bytes");
    assert_string_equal(kit_header(plan, "Vary"), "Accept-Encoding");
    api_plan_free(&plan);
    plan = kit_send("GET", S ".bin" OK, KIT_HEADERS("Range: bytes=0-3", "Accept-Encoding: gzip"),
                    "", 0);
    assert_int_equal(plan->status, 206);
    api_plan_free(&plan);
}

static void negotiated_and_posted(void **unused)
{
    (void)unused;
    struct api_plan *plan =
        kit_send("GET", S OK, KIT_HEADERS("Accept: text/csv", "Accept-Encoding: gzip"), "", 0);
    assert_string_equal(kit_header(plan, "Vary"), "Accept, Accept-Encoding");
    assert_string_equal(kit_header(plan, "Content-Encoding"), "gzip");
    api_plan_free(&plan);
    plan = kit_send("GET", S OK, KIT_HEADERS("Accept: application/x-npy", "Accept-Encoding: gzip"),
                    "", 0);
    assert_string_equal(kit_header(plan, "Vary"), "Accept");
    assert_null(kit_header(plan, "Content-Encoding"));
    api_plan_free(&plan);
    const char *body = "{\"length\":4,\"width\":4}";
    plan = kit_send("POST", S ".json", KIT_HEADERS(KIT_JSON, "Accept-Encoding: gzip"), body,
                    strlen(body));
    assert_int_equal(plan->status, 200);
    assert_string_equal(kit_header(plan, "Content-Encoding"), "gzip");
    api_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_for),           cmocka_unit_test(floats_are_never_coded),
        cmocka_unit_test(a_tag_for_each_coding),       cmocka_unit_test(conditions_know_the_coding),
        cmocka_unit_test(coded_bodies_have_no_ranges), cmocka_unit_test(negotiated_and_posted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
