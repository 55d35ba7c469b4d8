/* SPDX-License-Identifier: MIT
 *
 * test_10_basic.c: the simplest truths of the surface: health, descriptions, the worked example in
 * every format, HEAD, methods, request ids, what every answer carries, and a wrong parameter named.
 */
#include "kit/kit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct kit_daemon daemon_;

#define TABLE "/v1/tables/sinusoidal"

static void health(void **state)
{
    (void)state;
    static const char *const paths[] = {"/livez", "/readyz", "/healthz", "/health"};
    for (size_t i = 0; i < 4; i++) {
        struct kit_answer a;
        kit_get(&daemon_, paths[i], NULL, &a);
        assert_int_equal(a.status, 200);
        assert_non_null(strstr(kit_header(&a, "Cache-Control"), "no-store"));
        kit_free(&a);
    }
}

static void metrics_count_requests(void **state)
{
    (void)state;
    double before = kit_metric(&daemon_, "posenc_requests_total");
    struct kit_answer a;
    kit_get(&daemon_, TABLE ".bin?length=4&width=4", NULL, &a);
    kit_free(&a);
    assert_true(kit_metric(&daemon_, "posenc_requests_total") >= before + 1);
    assert_true(kit_metric(&daemon_, "posenc_build_info") == 1);
}

static void describes_itself(void **state)
{
    (void)state;
    static const struct {
        const char *path, *type, *holds;
    } pages[] = {
        {"/v1", "application/json", "\"numerics_rev\""},
        {"/v1/kinds", "application/json", "sinusoidal"},
        {"/openapi.json", "json", "\"openapi\""},
        {"/problems/unknown-parameter", "", "parameter"},
        {"/", "text/plain", "curl"},
    };
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct kit_answer a;
        kit_get(&daemon_, pages[i].path, NULL, &a);
        assert_int_equal(a.status, 200);
        assert_non_null(strstr(kit_header(&a, "Content-Type"), pages[i].type));
        assert_non_null(strstr(a.body, pages[i].holds));
        kit_free(&a);
    }
}

/* The reference table of the formula at width 4: positions 0, 1, 2. */
static void worked_example(void **state)
{
    (void)state;
    static const float want[12] = {0.0F,         1.0F,          0.0F,           1.0F,
                                   0.841470957F, 0.540302277F,  0.00999983307F, 0.999949992F,
                                   0.909297407F, -0.416146845F, 0.0199986659F,  0.999800026F};
    struct kit_answer bin, npy, safe, json;
    kit_get(&daemon_, TABLE ".bin?length=3&width=4", NULL, &bin);
    assert_int_equal(bin.status, 200);
    assert_int_equal(bin.size, sizeof want);
    assert_string_equal(kit_header(&bin, "X-Tensor-Shape"), "3, 4");
    assert_string_equal(kit_header(&bin, "X-Tensor-Dtype"), "f32");
    assert_memory_equal(bin.body, want, sizeof want);

    kit_get(&daemon_, TABLE ".npy?length=3&width=4", NULL, &npy);
    assert_int_equal(npy.size, 128 + sizeof want);
    assert_memory_equal(npy.body, "\x93NUMPY\x01\x00", 8);
    assert_non_null(
        strstr(npy.body + 10, "'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)"));
    assert_memory_equal(npy.body + 128, want, sizeof want);

    kit_get(&daemon_, TABLE ".safetensors?length=3&width=4", NULL, &safe);
    assert_memory_equal(safe.body + safe.size - sizeof want, want, sizeof want);

    kit_get(&daemon_, TABLE "?length=3&width=4", NULL, &json);
    assert_string_equal(kit_header(&json, "Content-Type"), "application/json");
    char *data = strstr(json.body, "\"data\":[[");
    assert_non_null(data);
    data += strlen("\"data\":[[");
    for (int i = 0; i < 12; i++) {
        char *end;
        assert_true(strtof(data, &end) == want[i]);
        assert_true(strcspn(data, ".e") < (size_t)(end - data)); /* a point or an exponent */
        data = end + strspn(end, "[],");
    }
    kit_free(&bin);
    kit_free(&npy);
    kit_free(&safe);
    kit_free(&json);
}

static void rope_stacks_its_planes(void **state)
{
    (void)state;
    struct kit_answer all, c, s;
    kit_get(&daemon_, "/v1/tables/rope.bin?length=5&width=8", NULL, &all);
    kit_get(&daemon_, "/v1/tables/rope.bin?length=5&width=8&tensor=cos", NULL, &c);
    kit_get(&daemon_, "/v1/tables/rope.bin?length=5&width=8&tensor=sin", NULL, &s);
    assert_string_equal(kit_header(&all, "X-Tensor-Shape"), "2, 5, 4");
    assert_int_equal(all.size, c.size + s.size);
    assert_memory_equal(all.body, c.body, c.size);
    assert_memory_equal(all.body + c.size, s.body, s.size);
    for (size_t i = 0; i < c.size / 4; i++) {
        float x, y;
        memcpy(&x, c.body + 4 * i, 4);
        memcpy(&y, s.body + 4 * i, 4);
        assert_true(fabs((double)x * x + (double)y * y - 1) < 2e-7);
    }
    kit_free(&all);
    kit_free(&c);
    kit_free(&s);
}

static void head_is_get_without_its_body(void **state)
{
    (void)state;
    static const char *const targets[] = {
        TABLE ".bin?length=4&width=4", TABLE ".npy?length=4&width=4", "/v1", "/v1/kinds", "/livez"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct kit_link l;
        struct kit_answer get, head;
        kit_open(&l, daemon_.port);
        kit_ask(&l, "GET", targets[i], NULL, &get);
        kit_ask(&l, "HEAD", targets[i], NULL, &head);
        assert_int_equal(head.status, get.status);
        static const char *const same[] = {"Content-Length", "Content-Type", "ETag",
                                           "Cache-Control", "Vary"};
        for (size_t h = 0; h < sizeof same / sizeof *same; h++) {
            const char *x = kit_header(&get, same[h]), *y = kit_header(&head, same[h]);
            assert_true((x == NULL) == (y == NULL));
            if (x)
                assert_string_equal(x, y);
        }
        kit_free(&get);
        kit_free(&head);
        kit_close(&l);
    }
}

static void head_makes_no_table(void **state)
{
    (void)state;
    struct kit_link l;
    struct kit_answer a;
    double before = kit_metric(&daemon_, "posenc_builds_total");
    kit_open(&l, daemon_.port);
    kit_ask(&l, "HEAD", TABLE ".bin?length=1099511627776&width=64", NULL, &a);
    assert_int_equal(a.status, 200);
    assert_string_equal(kit_header(&a, "Content-Length"), "281474976710656");
    kit_free(&a);
    kit_close(&l);
    assert_true(kit_metric(&daemon_, "posenc_builds_total") == before);
}

static void methods_and_paths(void **state)
{
    (void)state;
    static const struct {
        const char *method, *target;
        int status;
    } cases[] = {
        {"GET", "/nosuch", 404},
        {"GET", "/v1/tables/nosuch?length=4&width=4", 404},
        {"GET", "//v1", 404},
        {"GET", "/v1/../v1", 404},
        {"PUT", TABLE ".bin?length=4&width=4", 405},
        {"DELETE", "/v1/kinds", 405},
        {"POST", "/livez", 405},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kit_link l;
        struct kit_answer a;
        kit_open(&l, daemon_.port);
        kit_ask(&l, cases[i].method, cases[i].target, NULL, &a);
        assert_int_equal(a.status, cases[i].status);
        assert_string_equal(kit_header(&a, "Content-Type"), "application/problem+json");
        if (a.status == 405)
            assert_non_null(strstr(kit_header(&a, "Allow"), "GET"));
        kit_free(&a);
        kit_close(&l);
    }
}

static void every_answer_carries(void **state)
{
    (void)state;
    static const char *const targets[] = {TABLE ".bin?length=4&width=4", TABLE "?length=4",
                                          "/nosuch", "/livez", "/v1"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct kit_answer a;
        kit_get(&daemon_, targets[i], NULL, &a);
        assert_string_equal(kit_header(&a, "X-Content-Type-Options"), "nosniff");
        assert_string_equal(kit_header(&a, "Access-Control-Allow-Origin"), "*");
        assert_non_null(kit_header(&a, "Date"));
        assert_non_null(kit_header(&a, "X-Request-Id"));
        assert_null(kit_header(&a, "Server"));
        kit_free(&a);
    }
}

static void request_ids(void **state)
{
    (void)state;
    struct kit_answer a, b;
    kit_get(&daemon_, TABLE ".bin?length=4&width=4", "X-Request-Id: job-7\r\n", &a);
    assert_string_equal(kit_header(&a, "X-Request-Id"), "job-7");
    kit_free(&a);
    kit_get(&daemon_, TABLE ".bin?length=4&width=4", NULL, &a);
    kit_get(&daemon_, TABLE ".bin?length=4&width=4", NULL, &b);
    assert_string_not_equal(kit_header(&a, "X-Request-Id"), kit_header(&b, "X-Request-Id"));
    kit_free(&a);
    kit_free(&b);
}

static void wrong_parameters_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *query, *parameter, *holds;
    } cases[] = {
        {"lenght=4&width=4", "lenght", "\"did_you_mean\":\"length\""},
        {"Length=4&width=4", "Length", "\"did_you_mean\":\"length\""},
        {"length=4&width=4&colour=red", "colour", "red"},
        {"length=4&length=4&width=4", "length", "\"parameter\":\"length\""},
        {"length=&width=4", "length", "\"parameter\":\"length\""},
        {"length=4", "width", "\"parameter\":\"width\""},
        {"length=1e3&width=4", "length", "1e3"},
        {"length=4&width=5", "width", "\"value\":\"5\""},
        {"length=4&width=4&base=1", "base", "\"parameter\":\"base\""},
        {"length=4&width=4&base=nan", "base", "nan"},
        {"length=4&width=4&dtype=f23", "dtype", "bf16"},
        {"length=4&width=4&layout=pairs", "layout", "interleaved"},
        {"length=4&width=4&rope_type=default", "rope_type", "\"parameter\":\"rope_type\""},
        {"length=9007199254740993&width=4", "length", "9007199254740993"},
        {"positions=1,,2&width=4", "positions", "1,,2"},
        {"length=%zz&width=4", "length", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[256], member[64];
        struct kit_answer a;
        snprintf(target, sizeof target, TABLE ".bin?%s", cases[i].query);
        kit_get(&daemon_, target, NULL, &a);
        assert_int_equal(a.status, 400);
        snprintf(member, sizeof member, "\"%s\"", cases[i].parameter);
        if (cases[i].holds[0] && (!strstr(a.body, member) || !strstr(a.body, cases[i].holds)))
            fail_msg("%s: %s", cases[i].query, a.body);
        kit_free(&a);
    }
}

static void posts(void **state)
{
    (void)state;
    struct kit_link l;
    struct kit_answer a, b;
    kit_open(&l, daemon_.port);
    kit_post(&l, TABLE ".bin", "application/json", "{\"positions\":[[0,1,2],[7,8,9]],\"width\":4}",
             &a);
    assert_int_equal(a.status, 200);
    assert_string_equal(kit_header(&a, "X-Tensor-Shape"), "2, 3, 4");
    kit_close(&l);
    kit_get(&daemon_, TABLE ".bin?positions=0-2,7-9&width=4", NULL, &b);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.body, b.body, b.size);
    kit_free(&a);
    kit_free(&b);
    static const struct {
        const char *type, *body;
        int status;
    } cases[] = {
        {"text/plain", "{\"length\":4,\"width\":4}", 415},
        {"application/json", "{\"length\":4.0,\"width\":4}", 400},
        {"application/json", "{\"length\":\"4\",\"width\":4}", 400},
        {"application/json", "{\"length\":4,\"length\":4,\"width\":4}", 400},
        {"application/json", "{\"positions\":[[1,2],[3]],\"width\":4}", 400},
        {"application/json", "[4,4]", 400},
        {"application/json", "{\"length\":4,\"width\":4} x", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kit_open(&l, daemon_.port);
        kit_post(&l, TABLE ".bin", cases[i].type, cases[i].body, &a);
        assert_int_equal(a.status, cases[i].status);
        kit_free(&a);
        kit_close(&l);
    }
}

static int begin(void **state)
{
    (void)state;
    kit_start(&daemon_, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return kit_stop(&daemon_);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(health),
        cmocka_unit_test(metrics_count_requests),
        cmocka_unit_test(describes_itself),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(rope_stacks_its_planes),
        cmocka_unit_test(head_is_get_without_its_body),
        cmocka_unit_test(head_makes_no_table),
        cmocka_unit_test(methods_and_paths),
        cmocka_unit_test(every_answer_carries),
        cmocka_unit_test(request_ids),
        cmocka_unit_test(wrong_parameters_are_named),
        cmocka_unit_test(posts),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
