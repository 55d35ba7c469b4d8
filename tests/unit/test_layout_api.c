/* SPDX-License-Identifier: MIT
 *
 * test_layout_api.c: how layouts are asked for and sent: spellings, binary bodies, formats, limits,
 * conditions, rows of a kind, the page of conventions.
 */
#include "test_api_kit.h"

#include <stdio.h>

#define P "/v1/layouts/padded"

static void refuses(const char *target, int status, const char *parameter, const char *text)
{
    struct api_plan *plan = kit_get(target);
    json_t *p = kit_problem(plan, status);
    char *name = kit_member(p, "parameter"), *detail = kit_member(p, "detail");
    if (strcmp(name, parameter) != 0 || !strstr(detail, text))
        fail_msg("%s blames %s: %s", target, name, detail);
    free(name);
    free(detail);
    json_decref(p);
    api_plan_free(&plan);
}

static void spellings(void **unused)
{
    (void)unused;
    refuses(P "?lengths=3,", 400, "lengths", "empty");
    refuses(P "?lengths=3;;4", 400, "lengths", "empty");
    refuses(P "?attention_mask=1,1;1", 400, "attention_mask", "not as long");
    refuses(P "?attention_mask=1,2", 400, "attention_mask", "0 .. 1");
    refuses(P "?lengths=99999999999999999999", 400, "lengths", "integer");
    refuses(P "?lengths=007", 400, "lengths", "integer");
    refuses(P "?lengths=3&slice=2,1", 400, "slice", "slice");
    refuses(P "?lengths=3&slice=2", 400, "slice", "two slots");
    refuses(P "?lengths=3&outputs=position_ids,", 400, "outputs", "empty");
    refuses(P "?lengths=3&convention=hf_forwrd", 400, "convention", "did you mean hf_forward?");
    refuses("/v1/layouts/cached?past_lengths=1&new_lengths=1&convention=axolotl", 400, "convention",
            "known to packed, plan");
    refuses("/v1/layouts/packet?lengths=3", 404, "", "did you mean packed?");
    refuses(P "?lengths=3&body=lengths", 400, "body", "not a parameter");
    refuses(P "?lengths=3&cu_seqlens_fill=0", 400, "cu_seqlens_fill", "");
    refuses("/v1/conventions?x=1", 400, "x", "");
}

static void index_is_told(void **unused)
{
    (void)unused;
    struct api_plan *plan = kit_get("/v1/layouts/packed?lengths=3,2;9,1&capacity=8");
    json_t *p = kit_problem(plan, 400);
    char *index = kit_member(p, "index");
    assert_string_equal(index, "[1,0]");
    free(index);
    json_decref(p);
    api_plan_free(&plan);
    plan = kit_post(P, "{\"lengths\":[3,true]}");
    p = kit_problem(plan, 400);
    index = kit_member(p, "index");
    assert_string_equal(index, "[1]");
    free(index);
    json_decref(p);
    api_plan_free(&plan);
}

static void limits(void **unused)
{
    (void)unused;
    refuses(P ".npy?lengths=1099511627776&outputs=position_ids", 413, "", "1073741824");
    refuses(P "?lengths=4194305&outputs=position_ids", 413, "", "/v1/layouts/padded.safetensors");
    refuses("/v1/layouts/plan?lengths=9007199254740991&capacity=1&algorithm=concat", 413, "lengths",
            "pieces");
    refuses("/v1/layouts/plan?lengths=9007199254740991&capacity=1&too_long=split", 413, "lengths",
            "pieces");
    /* a tensor that is not asked for does not count */
    struct api_plan *plan =
        kit_get(P ".npy?lengths=1099511627776&offset_dtype=i64&tensor=cu_seqlens");
    assert_int_equal(plan->status, 200);
    assert_int_equal(plan->table->length, 128 + 16);
    api_plan_free(&plan);
}

/* The first bytes of a body as the server would send them. */
static size_t front_of(const struct api_plan *plan, char *out, size_t size)
{
    const struct api_table *t = plan->table;
    assert_true(t->prefix.len + t->payload_length <= size);
    memcpy(out, t->prefix.at, t->prefix.len);
    size_t at = t->prefix.len;
    for (unsigned i = 0; i < t->tensor_count; i++) {
        if (t->tensor >= 0 && (unsigned)t->tensor != i)
            continue;
        assert_true(api_table_fill(t, NULL, i, 0, t->tensors[i].rows, out + at));
        at += t->tensors[i].bytes;
    }
    return at;
}

static void one_array(void **unused)
{
    char body[512];
    int64_t ids[3];
    int32_t documents[3];
    (void)unused;
    struct api_plan *plan = kit_get(P ".bin?lengths=3");
    assert_int_equal(front_of(plan, body, sizeof body), 24);
    memcpy(ids, body, 24);
    assert_int_equal(ids[2], 2);
    assert_string_equal(kit_header(plan, "X-Tensor-Shape"), "1, 3");
    assert_string_equal(kit_header(plan, "X-Tensor-Dtype"), "i64");
    api_plan_free(&plan);
    plan = kit_get("/v1/layouts/plan.npy?lengths=5,3,4&capacity=8");
    assert_int_equal(front_of(plan, body, sizeof body), 128 + 12);
    memcpy(documents, body + 128, 12);
    assert_memory_equal(documents, ((const int32_t[]){0, 1, 2}), 12);
    assert_string_equal(kit_header(plan, "Content-Disposition"),
                        "inline; filename=\"plan_documents.npy\"");
    api_plan_free(&plan);
    refuses(P ".npy?lengths=3&outputs=indices,cu_seqlens", 400, "tensor", "several");
    refuses(P ".npy?lengths=3&outputs=indices&tensor=cu_seqlens", 400, "tensor", "");
    refuses("/v1/layouts/check.csv?position_ids=0,1", 406, "", ".json");
}

static struct api_plan *send_file(const char *target, const char *type, const void *at, size_t n)
{
    char header[64];
    snprintf(header, sizeof header, "Content-Type: application/x-%s", type);
    return kit_send("POST", target, KIT_HEADERS(header), at, n);
}

/* An .npy file of version 1.0. */
static size_t npy(char *out, const char *descr, const char *shape, const void *data, size_t n)
{
    memset(out, ' ', 128);
    memcpy(out, "\x93NUMPY\x01\x00\x76\x00", 10);
    int len = snprintf(out + 10, 100, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                       descr, shape);
    out[10 + len] = ' ';
    out[127] = '\n';
    memcpy(out + 128, data, n);
    return 128 + n;
}

static void holds_ids(struct api_plan *plan, const int64_t *want, size_t n)
{
    char body[1024];
    if (plan->status != 200)
        fail_msg("%.*s", (int)plan->text.len, plan->text.at);
    size_t len = front_of(plan, body, sizeof body);
    assert_int_equal(len, n * sizeof *want);
    assert_memory_equal(body, want, len);
    api_plan_free(&plan);
}

static void numpy_bodies(void **unused)
{
    char file[512];
    (void)unused;
    size_t n = npy(file, "|u1", "(2,)", "\x02\x01", 2);
    holds_ids(send_file(P ".bin", "npy", file, n), (const int64_t[]){0, 1, 0, 0}, 4);
    n = npy(file, "|b1", "(1, 3)", "\x00\x01\x01", 3);
    holds_ids(send_file(P ".bin?body=attention_mask&fill=9", "npy", file, n),
              (const int64_t[]){9, 0, 1}, 3);
    n = npy(file, "<i2", "(2,)", "\x02\x00\x01\x00", 4);
    holds_ids(send_file(P ".bin?side=left", "npy", file, n), (const int64_t[]){0, 1, 0, 0}, 4);
    static const struct {
        const char *target, *parameter;
        int status;
    } bad[] = {{P ".bin?lengths=3", "lengths", 400},
               {P ".bin?body=fill", "body", 400},
               {P ".bin?body=lenths", "body", 400}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct api_plan *plan = send_file(bad[i].target, "npy", file, n);
        json_t *p = kit_problem(plan, bad[i].status);
        assert_string_equal(json_string_value(json_object_get(p, "parameter")), bad[i].parameter);
        json_decref(p);
        api_plan_free(&plan);
    }
    static const struct {
        const char *descr, *shape;
    } unusable[] = {{"<f4", "(1,)"},
                    {">i4", "(1,)"},
                    {"<i4", "(2,)"},
                    {"<i4", "(4611686018427387904, 4)"},
                    {"<i4", "(1, 1, 1, 1)"}};
    for (size_t i = 0; i < sizeof unusable / sizeof *unusable; i++) {
        n = npy(file, unusable[i].descr, unusable[i].shape, "\x01\x00\x00\x00", 4);
        struct api_plan *plan = send_file(P ".bin", "npy", file, n);
        json_decref(kit_problem(plan, 400));
        api_plan_free(&plan);
    }
}

static size_t safetensors(char *out, const char *header, const void *data, size_t n)
{
    size_t len = strlen(header);
    memset(out, 0, 8);
    out[0] = (char)len;
    out[1] = (char)(len >> 8);
    memcpy(out + 8, header, len);
    memcpy(out + 8 + len, data, n);
    return 8 + len + n;
}

#define T(name, dtype, shape, from, to)                                                          \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #from "," #to \
    "]}"

static void safetensors_bodies(void **unused)
{
    char file[1024];
    (void)unused;
    size_t n = safetensors(
        file, "{" T("lengths", "U8", "[2]", 0, 2) "," T("past_lengths", "I16", "[]", 2, 4) "}",
        "\x02\x01\x05\x00", 4);
    holds_ids(send_file(P ".bin", "safetensors", file, n), (const int64_t[]){5, 6, 5, 0}, 4);
    static const struct {
        const char *header;
        size_t n;
    } bad[] = {
        {"{" T("lengths", "F32", "[1]", 0, 4) "}", 4},
        {"{" T("lengths", "U8", "[2]", 0, 2) "}", 3},
        {"{" T("lengths", "U8", "[2]", 0, 3) "}", 3},
        {"{" T("lengths", "U8", "[2]", 0, 9) "}", 2},
        {"{" T("lengths", "U8", "[2]", 2, 0) "}", 2},
        {"{" T("lenghts", "U8", "[2]", 0, 2) "}", 2},
        {"{" T("lengths", "U8", "[2,1,1,1]", 0, 2) "}", 2},
        {"{" T("lengths", "U8", "[2]", 0, 2) "," T("lengths", "U8", "[0]", 2, 2) "}", 2},
        {"{\"lengths\":{\"dtype\":\"U8\",\"shape\":[2]}}", 2},
        {"[]", 0},
        {"{", 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        n = safetensors(file, bad[i].header, "\x01\x01\x01\x01", bad[i].n);
        struct api_plan *plan = send_file(P ".bin", "safetensors", file, n);
        json_decref(kit_problem(plan, 400));
        api_plan_free(&plan);
    }
    struct api_plan *plan =
        send_file(P ".bin", "safetensors", "\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10);
    json_decref(kit_problem(plan, 400));
    api_plan_free(&plan);
}

static void tags_and_conditions(void **unused)
{
    (void)unused;
    struct api_plan *plan = kit_get(P "?lengths=3,4");
    char *tag = kit_keep(plan, "ETag"), header[128];
    api_plan_free(&plan);
    snprintf(header, sizeof header, "If-None-Match: %s", tag);
    plan = kit_send("GET", P "?lengths=3,4", KIT_HEADERS(header), NULL, 0);
    assert_int_equal(plan->status, 304);
    api_plan_free(&plan);
    static const char *const others[] = {P "?lengths=3,5", P ".npy?lengths=3,4",
                                         P "?lengths=3,4&fill=1", "/v1/layouts/packed?lengths=3,4"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        plan = kit_send("GET", others[i], KIT_HEADERS(header), NULL, 0);
        assert_int_equal(plan->status, 200);
        api_plan_free(&plan);
    }
    plan = kit_send("GET", P ".bin?lengths=300", KIT_HEADERS("Range: bytes=8-23"), NULL, 0);
    assert_int_equal(plan->status, 206);
    assert_string_equal(kit_header(plan, "Content-Range"), "bytes 8-23/2400");
    api_plan_free(&plan);
    free(tag);
}

/* Rows of a kind are those of its table at the same positions. */
static void rows_of_a_kind(void **unused)
{
    struct pe_plan *a, *b;
    float layout[2 * 3 * 4], table[6 * 4];
    (void)unused;
    struct api_plan *plan =
        kit_get(P ".bin?lengths=2,3&fill=-2&rows=sinusoidal&width=4&tensor=weight");
    struct api_plan *other = kit_get("/v1/tables/sinusoidal.bin?positions=0,1,-2,0,1,2&width=4");
    assert_int_equal(pe_plan_create(&plan->table->spec, &a), PE_OK);
    assert_int_equal(pe_plan_create(&other->table->spec, &b), PE_OK);
    assert_true(api_layout_has_rows(plan->table->layout));
    assert_true(api_table_fill(plan->table, a, (unsigned)plan->table->tensor, 0, 6, layout));
    assert_true(api_table_fill(other->table, b, 0, 0, 6, table));
    assert_memory_equal(layout, table, sizeof table);
    assert_string_equal(kit_header(plan, "X-Tensor-Shape"), "2, 3, 4");
    pe_plan_destroy(&a);
    pe_plan_destroy(&b);
    api_plan_free(&plan);
    api_plan_free(&other);
    refuses(P "?lengths=2&rows=alibi&width=4", 400, "rows", "sinusoidal, rope, xpos");
    refuses(P "?lengths=2&rows=rope", 400, "width", "required");
    refuses(P "?lengths=2&rows=rope&width=4&length=3", 400, "length", "not a parameter");
    refuses(P "?lengths=2&width=4", 400, "width", "not a parameter");
    refuses("/v1/layouts/plan?lengths=2&capacity=4&rows=rope", 400, "rows", "not a parameter");
}

static void conventions(void **unused)
{
    (void)unused;
    struct api_plan *plan = kit_get("/v1/conventions");
    json_t *doc = kit_json(plan), *list = json_object_get(doc, "conventions"), *row;
    size_t i;
    bool found = false;
    json_array_foreach(list, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "name"));
        if (strcmp(name, "onnxruntime") == 0) {
            char *options =
                json_dumps(json_object_get(row, "options"), JSON_COMPACT | JSON_SORT_KEYS);
            assert_string_equal(options, "{\"index_dtype\":\"i32\",\"outputs\":[\"token_offset\","
                                         "\"cu_seqlens\",\"max_seqlen\"]}");
            free(options);
            found = true;
        }
    }
    assert_true(found && json_array_size(list) > 100);
    json_decref(doc);
    api_plan_free(&plan);
}

static void parameters_are_told(void **unused)
{
    (void)unused;
    struct api_plan *plan = kit_get("/v1/layouts/plan?lengths=3&capacity=4");
    assert_string_equal(
        plan->table->parameters,
        "{\"algorithm\":\"first_fit_decreasing\",\"capacity\":4,\"continuation\":\"restart\","
        "\"empty\":\"keep\",\"index_dtype\":\"i64\",\"max_documents\":0,\"offset_dtype\":\"i32\","
        "\"pad_each_to_multiple_of\":1,\"too_long\":\"error\"}");
    assert_string_equal(plan->table->members, "\"warnings\":[]");
    api_plan_free(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings),
        cmocka_unit_test(index_is_told),
        cmocka_unit_test(limits),
        cmocka_unit_test(one_array),
        cmocka_unit_test(numpy_bodies),
        cmocka_unit_test(safetensors_bodies),
        cmocka_unit_test(tags_and_conditions),
        cmocka_unit_test(rows_of_a_kind),
        cmocka_unit_test(conventions),
        cmocka_unit_test(parameters_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
