/* SPDX-License-Identifier: MIT
 *
 * test_api_compare.c: /v1/compare: equal tables under different names, where others begin to
 * differ, how far they lie apart, and what is refused.
 */
#include "test_api_kit.h"

#include <nettle/sha2.h>
#include <stdio.h>

/* Asks with both paths percent-encoded. */
static struct api_plan *compare(const char *a, const char *b)
{
    static const char hex[] = "0123456789ABCDEF";
    const char *paths[] = {a, b};
    char target[2048], *out = target;
    for (int i = 0; i < 2; i++) {
        out += sprintf(out, i ? "&b=" : "/v1/compare?a=");
        for (const char *p = paths[i]; *p; p++) {
            *out++ = '%';
            *out++ = hex[*p >> 4 & 15];
            *out++ = hex[*p & 15];
        }
    }
    *out = 0;
    return kit_get(target);
}

static json_t *answer(struct api_plan *plan)
{
    if (plan->status != 200)
        fail_msg("%d: %.*s", plan->status, (int)plan->text.len, plan->text.at);
    return kit_json(plan);
}

static void expect(json_t *p, const char *name, const char *want)
{
    char *came = kit_member(p, name);
    if (strcmp(came, want) != 0)
        fail_msg("%s is %s, not %s", name, came, want);
    free(came);
}

static void test_equal(void **state)
{
    (void)state;
    struct api_plan *plan =
        compare("/v1/tables/rope?width=8&length=4",
                "/v1/tables/rope.npy?base=10000.0&length=4&width=8&dtype=float32");
    json_t *p = answer(plan);
    expect(p, "same_bytes", "true");
    expect(p, "same_shape", "true");
    expect(p, "first_differing_row", "null");
    expect(p, "differing_values", "0");
    expect(p, "largest_difference", "0.0");
    json_decref(p);
    api_plan_free(&plan);
}

/* The digest is that of the values as .bin sends them: here of 2 x 2 zeros and ones. */
static void test_digest(void **state)
{
    (void)state;
    static const float values[] = {0, 1, 0, 1};
    unsigned char digest[SHA256_DIGEST_SIZE];
    char text[80] = "sha256:";
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, sizeof values, (const unsigned char *)values);
    sha256_digest(&sha, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        sprintf(text + 7 + 2 * i, "%02x", digest[i]);
    struct api_plan *plan = compare("/v1/tables/sinusoidal?width=2&positions=0,0",
                                    "/v1/tables/sinusoidal?width=2&positions=0,0&scale=3");
    json_t *p = answer(plan);
    expect(json_object_get(p, "a"), "digest", text);
    expect(json_object_get(p, "b"), "digest", text);
    expect(json_object_get(p, "a"), "bytes", "16");
    expect(p, "same_bytes", "true");
    json_decref(p);
    api_plan_free(&plan);
}

static void test_different(void **state)
{
    (void)state;
    /* row 0 is the same for every base; in row 1 the first pair is, and the second turns by 0.01 or
     * 0.0025 */
    struct api_plan *plan = compare("/v1/tables/sinusoidal?width=4&length=2",
                                    "/v1/tables/sinusoidal?width=4&length=2&base=160000");
    json_t *p = answer(plan);
    json_t *first = json_object_get(p, "first_differing_at");
    json_t *at = json_object_get(p, "largest_difference_at");
    expect(p, "same_bytes", "false");
    expect(p, "first_differing_row", "1");
    expect(p, "differing_values", "2");
    expect(first, "position", "1");
    expect(first, "channel", "2");
    expect(at, "index", "[1,2]");
    double off = json_number_value(json_object_get(p, "largest_difference"));
    assert_true(off > 0.00749 && off < 0.00751);
    json_decref(p);
    api_plan_free(&plan);
}

/* Longer tables agree as far as the shorter goes; of tables of several tensors the least row
 * counts. */
static void test_lengths(void **state)
{
    (void)state;
    struct api_plan *plan =
        compare("/v1/tables/rope?width=4&length=5", "/v1/tables/rope?width=4&length=3");
    json_t *p = answer(plan);
    expect(p, "same_bytes", "false");
    expect(p, "same_shape", "false");
    expect(p, "first_differing_row", "3");
    json_decref(p);
    api_plan_free(&plan);
    plan = compare("/v1/tables/rope?width=4&length=9",
                   "/v1/tables/rope?width=4&length=9&inverse=true");
    p = answer(plan);
    expect(p, "first_differing_row", "1");
    expect(json_object_get(p, "first_differing_at"), "tensor", "sin");
    json_decref(p);
    api_plan_free(&plan);
    plan = compare("/v1/tables/rope?width=4&length=9", "/v1/tables/rope?width=8&length=9");
    p = answer(plan);
    expect(p, "same_shape", "false");
    expect(p, "first_differing_row", "null");
    json_decref(p);
    api_plan_free(&plan);
}

static void test_dtypes(void **state)
{
    (void)state;
    /* slopes of 8 heads are powers of 2: the same numbers in any dtype */
    struct api_plan *plan =
        compare("/v1/tables/alibi?width=8&tensor=slopes", "/v1/tables/alibi?width=8&dtype=bf16");
    json_t *p = answer(plan);
    expect(p, "same_bytes", "false");
    expect(p, "differing_values", "0");
    expect(p, "first_differing_row", "null");
    json_decref(p);
    api_plan_free(&plan);
    plan = compare("/v1/tables/alibi?width=2&length=2&queries=2&masked=true&tensor=bias&format=npy",
                   "/v1/tables/alibi?width=2&length=2&queries=2&tensor=bias&format=npy");
    p = answer(plan);
    expect(p, "infinite_differences", "2");
    json_decref(p);
    api_plan_free(&plan);
    plan = compare("/v1/tables/t5?length=9", "/v1/tables/t5?length=9&bidirectional=false");
    p = answer(plan);
    expect(p, "same_shape", "true");
    expect(p, "same_bytes", "false");
    json_decref(p);
    api_plan_free(&plan);
}

static void refused(struct api_plan *plan, int status, const char *parameter)
{
    json_t *p = kit_problem(plan, status);
    expect(p, "parameter", parameter);
    json_decref(p);
    api_plan_free(&plan);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char good[] = "/v1/tables/rope?width=4&length=2";
    refused(kit_get("/v1/compare"), 400, "a");
    refused(kit_get("/v1/compare?a=/v1/tables/rope%3Fwidth=4%26length=2"), 400, "b");
    refused(kit_get("/v1/compare?a=x&b=y&c=z"), 400, "c");
    refused(kit_get("/v1/compare?a=x&a=y&b=z"), 400, "a");
    refused(compare("", good), 400, "a");
    refused(compare("http://example.org/v1/tables/rope?width=4&length=2", good), 400, "a");
    refused(compare(good, "/v1/kinds"), 400, "b");
    refused(compare(good, "/v1/tables/rope/precision?width=4&length=2"), 400, "b");
    refused(compare(good, "/v1/tables/rope?width=5&length=2"), 400, "b");
    refused(compare(good, "/v1/tables/rope.npy?width=4&length=2&format=bin"), 400, "b");
    refused(compare(good, "/v1/tables/rope?width=4&length=2&rev=999"), 409, "b");
    refused(compare(good, "/v1/tables/rope?width=4&length=9007199254740992"), 413, "b");
    refused(compare("/v1/tables/rope?width=128&length=8193", good), 413, "a");
    refused(compare("/v1/tables/rope?width=8194&length=2", good), 413, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),     cmocka_unit_test(test_digest),
        cmocka_unit_test(test_different), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_dtypes),    cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
