/* SPDX-License-Identifier: MIT
 *
 * test_api_table.c: table.c end to end: every wrong spelling of a parameter, names and headers of a
 * table, one tag for each table and format, conditions, ranges, limits.
 */
#include "test_api_kit.h"

#define S "/v1/tables/sinusoidal"
#define R "/v1/tables/rope"
#define OK "length=4&width=4"

/* ---------------------------------------------------------------- wrong spellings */

struct wrong {
    const char *target;
    const char *parameter;
    const char *value;  /* NULL: not looked at */
    const char *member; /* a member of the document ... */
    const char *text;   /* ... and what must stand in it */
};

static const struct wrong queries[] = {
    {S ".bin?" OK "&colour=red", "colour", "red", NULL, NULL},
    {S ".bin?lenght=4&width=4", "lenght", "4", "did_you_mean", "length"},
    {S ".bin?length=4&widht=4", "widht", "4", "did_you_mean", "width"},
    {S ".bin?" OK "&dtpye=f32", "dtpye", "f32", "did_you_mean", "dtype"},
    {S ".bin?Length=4&width=4", "Length", "4", "did_you_mean", "length"},
    {S ".bin?" OK "&length=4", "length", NULL, NULL, NULL},
    {S ".bin?" OK "&length=8", "length", NULL, "type", "repeated"},
    {S ".bin?length=&width=4", "length", "", NULL, NULL},
    {S ".bin?length&width=4", "length", NULL, NULL, NULL},
    {S ".bin?length=4", "width", NULL, "type", "missing"},
    {S ".bin?width=4", "length", NULL, "type", "missing"},
    {S ".bin?width=4&nosuch=1", "nosuch", NULL, NULL, NULL},
    {S ".bin?" OK "&dtype=f23", "dtype", "f23", "allowed", "bf16"},
    {S ".bin?" OK "&dtype=i32", "dtype", "i32", "allowed", "f64"},
    {S ".bin?" OK "&dtype=F32", "dtype", "F32", "did_you_mean", "f32"},
    {S ".bin?" OK "&layout=splt", "layout", "splt", "did_you_mean", "split"},
    {S ".bin?" OK "&layout=pairs", "layout", "pairs", "allowed", "interleaved"},
    {S ".bin?" OK "&arithmetic=fast", "arithmetic", "fast", "allowed", "exact"},
    {S ".bin?" OK "&ladder=half", "ladder", "half", "allowed", "closed"},
    {S "?" OK "&format=xml", "format", "xml", "allowed", "npy"},
    {S "?" OK "&format=NPY", "format", "NPY", "allowed", "npy"},
    {S ".npy?" OK "&format=json", "format", "json", NULL, NULL},
    {S ".bin?" OK "&tensor=cos", "tensor", "cos", "allowed", "weight"},
    {S ".bin?" OK "&rope_type=default", "rope_type", "default", NULL, NULL},
    {R ".bin?" OK "&factor=2", "factor", "2", "detail", "rope_type=default"},
    {R ".bin?" OK "&rope_type=nosuch", "rope_type", "nosuch", "allowed", "yarn"},
    {R ".bin?" OK "&rope_type=Yarn&factor=2", "rope_type", "Yarn", "did_you_mean", "yarn"},
    {S ".bin?length=4&width=5", "width", "5", NULL, NULL},
    {R ".bin?length=4&width=5", "width", "5", NULL, NULL},
    {S ".bin?length=4&width=0", "width", "0", NULL, NULL},
    {S ".bin?positions=1,x&width=4", "positions", "1,x", NULL, NULL},
    {S ".bin?positions=9-3&width=4", "positions", "9-3", NULL, NULL},
    {S ".bin?positions=1,,2&width=4", "positions", "1,,2", NULL, NULL},
    {S ".bin?positions=3-&width=4", "positions", "3-", NULL, NULL},
    {S ".bin?positions=9007199254740992&width=4", "positions", NULL, NULL, NULL},
    {S ".bin?" OK "&offset=9007199254740992", "offset", "9007199254740992", NULL, NULL},
    {S ".bin?" OK "&offset=-1", "offset", "-1", "allowed", "from 0"},
    {S ".bin?length=9007199254740993&width=4", "length", "9007199254740993", NULL, NULL},
    {S ".bin?" OK "&layout=%ff%fe", "layout", NULL, NULL, NULL},
    {S ".npy?" OK "&dtype=bf16&bf16=u8", "bf16", "u8", "allowed", "void"},
    {S ".npy?" OK "&bf16=void", "bf16", "void", NULL, NULL},
    {S ".bin?" OK "&dtype=bf16&bf16=void", "bf16", "void", NULL, NULL},
    {S ".bin?" OK "&rev=-1", "rev", "-1", NULL, NULL},
    {S ".bin?" OK "&rev=", "rev", "", NULL, NULL},
    {S ".bin?" OK "&rev=1.0", "rev", "1.0", NULL, NULL},
    {R ".bin?" OK "&inverse=yes", "inverse", "yes", "allowed", "true"},
    {"/v1/tables/alibi.npy?width=4&length=4", "tensor", NULL, "allowed", "slopes"},
    {"/v1/tables/mrope.npy?length=4&width=16&mrope_section=2,x,3", "mrope_section", "2,x,3", NULL,
     NULL},
    {R ".npy?length=4&width=8&rope_type=longrope&original_max_position_embeddings=64&factor=4&"
       "short_factor=1,1,,1"
       "&long_factor=1,1,1,1",
     "short_factor", "1,1,,1", NULL, NULL},
};

static void blames(const struct api_plan *plan, const struct wrong *w)
{
    json_t *p = kit_problem(plan, 400);
    char *parameter = kit_member(p, "parameter"), *value = kit_member(p, "value");
    const char *detail = json_string_value(json_object_get(p, "detail"));
    if (strcmp(parameter, w->parameter) != 0)
        fail_msg("%s blames %s instead of %s: %s", w->target, parameter, w->parameter, detail);
    if (!strstr(detail, w->parameter))
        fail_msg("%s: no %s in: %s", w->target, w->parameter, detail);
    if (w->value)
        assert_string_equal(value, w->value);
    if (w->member) {
        char *member = kit_member(p, w->member);
        if (!strstr(member, w->text))
            fail_msg("%s: %s is %s", w->target, w->member, member);
        free(member);
    }
    free(parameter);
    free(value);
    json_decref(p);
}

static void every_wrong_query(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        struct api_plan *plan = kit_get(queries[i].target);
        blames(plan, &queries[i]);
        api_plan_free(&plan);
        assert_null(plan);
    }
}

static void every_wrong_number(void **unused)
{
    (void)unused;
    static const char *const lengths[] = {"1e3",
                                          "0x4",
                                          "+4",
                                          "%204",
                                          "4%20",
                                          "4.0",
                                          "4e0",
                                          "4abc",
                                          "4%00",
                                          "-1",
                                          "0",
                                          "00",
                                          "04",
                                          "-0",
                                          "18446744073709551620",
                                          "18446744073709551616",
                                          "9223372036854775808",
                                          "99999999999999999999999999",
                                          "%D9%A4",
                                          "4,0",
                                          "1_0",
                                          "%2B4",
                                          "NaN",
                                          "%094",
                                          "-",
                                          "--4",
                                          "true",
                                          "%EF%BC%94"};
    static const char *const bases[] = {
        "nan",      "inf", "-inf", "1e400",  "0",     "1",     "-10000",   "10000,5",
        "0x10",     "1e",  ".5e",  ".5",     "5.",    "1.5.2", "%2010000", "1e3abc",
        "infinity", "1d4", "0100", "%2B100", "1e%2B", "--1",   "ten",      "1.0000000000000000001"};
    char target[256];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        snprintf(target, sizeof target, S ".bin?length=%s&width=4", lengths[i]);
        struct api_plan *plan = kit_get(target);
        blames(plan, &(struct wrong){target, "length", NULL, NULL, NULL});
        api_plan_free(&plan);
    }
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        snprintf(target, sizeof target, S ".bin?" OK "&base=%s", bases[i]);
        struct api_plan *plan = kit_get(target);
        blames(plan, &(struct wrong){target, "base", NULL, NULL, NULL});
        api_plan_free(&plan);
    }
}

static void every_malformed_query(void **unused)
{
    (void)unused;
    static const char *const targets[] = {S ".bin?length=%zz&width=4",
                                          S ".bin?width=4&length=4%2",
                                          S ".bin?length%00=4&width=4",
                                          S ".bin?&" OK,
                                          S ".bin?" OK "&",
                                          S ".bin?length=4&&width=4",
                                          S ".bin?=4&" OK,
                                          S ".bin?length=4%0d%0aX-Evil:%201&width=4"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct api_plan *plan = kit_get(targets[i]);
        json_decref(kit_problem(plan, 400));
        assert_null(kit_header(plan, "X-Evil"));
        api_plan_free(&plan);
    }
}

static const struct wrong bodies[] = {
    {"{", "", NULL, NULL, NULL},
    {"", "", NULL, NULL, NULL},
    {"  ", "", NULL, NULL, NULL},
    {"[]", "", NULL, NULL, NULL},
    {"null", "", NULL, NULL, NULL},
    {"{\"length\":4,\"width\":8}x", "", NULL, NULL, NULL},
    {"{\"length\":4,\"width\":8}{}", "", NULL, NULL, NULL},
    {"{\"length\":4,\"width\":8,}", "", NULL, NULL, NULL},
    {"\xef\xbb\xbf{\"length\":4,\"width\":8}", "", NULL, NULL, NULL},
    {"{\"length\":4,\"width\":8,\"\\ud800\":1}", "", NULL, NULL, NULL},
    {"{\"length\":4,\"width\":8,\"a\\u0000b\":1}", "", NULL, NULL, NULL},
    {"{\"length\":4,\"width\":8,\"\xff\":1}", "", NULL, NULL, NULL},
    {"{\"length\":4.7,\"width\":8}", "length", "4.7", NULL, NULL},
    {"{\"length\":5.0,\"width\":8}", "length", "5.0", NULL, NULL},
    {"{\"length\":1e3,\"width\":8}", "length", NULL, NULL, NULL},
    {"{\"length\":\"4\",\"width\":8}", "length", "4", NULL, NULL},
    {"{\"length\":true,\"width\":8}", "length", "true", NULL, NULL},
    {"{\"length\":null,\"width\":8}", "length", NULL, NULL, NULL},
    {"{\"length\":4,\"length\":4,\"width\":8}", "length", NULL, "type", "repeated"},
    {"{\"length\":9223372036854775808,\"width\":8}", "length", NULL, NULL, NULL},
    {"{\"length\":4,\"width\":8,\"foo\":1}", "foo", "1", NULL, NULL},
    {"{\"lenght\":4,\"width\":8}", "lenght", NULL, "did_you_mean", "length"},
    {"{\"length\":4,\"width\":8,\"base\":\"10000\"}", "base", NULL, NULL, NULL},
    {"{\"length\":4,\"width\":8,\"base\":NaN}", "", NULL, NULL, NULL},
    {"{\"length\":4,\"width\":8,\"base\":1e400}", "base", NULL, NULL, NULL},
    {"{\"length\":4,\"width\":8,\"dtype\":32}", "dtype", "32", NULL, NULL},
    {"{\"length\":[4],\"width\":8}", "length", "[4]", NULL, NULL},
    {"{\"length\":{\"a\":4},\"width\":8}", "length", NULL, NULL, NULL},
    {"{\"width\":8,\"positions\":[1,2.5]}", "positions", NULL, "index", "[1]"},
    {"{\"width\":8,\"positions\":[1,\"2\"]}", "positions", NULL, "index", "[1]"},
    {"{\"width\":8,\"positions\":[[1,2],[3]]}", "positions", NULL, NULL, NULL},
    {"{\"width\":8,\"positions\":[[1,2],3]}", "positions", NULL, NULL, NULL},
    {"{\"width\":8,\"positions\":[1,[2]]}", "positions", NULL, NULL, NULL},
    {"{\"width\":8,\"positions\":[[],[]]}", "positions", NULL, NULL, NULL},
    {"{\"width\":8,\"positions\":[]}", "positions", NULL, NULL, NULL},
    {"{\"width\":8,\"positions\":5}", "positions", NULL, NULL, NULL},
    {"{\"width\":8,\"positions\":\"1,2\"}", "positions", NULL, NULL, NULL},
    {"{\"width\":8,\"positions\":[[[[[[[[[1]]]]]]]]]}", "positions", NULL, NULL, NULL},
    {"{\"width\":8,\"positions\":[9007199254740993]}", "positions", NULL, NULL, NULL},
    {"{\"width\":8,\"positions\":{\"0\":1}}", "positions", NULL, NULL, NULL},
};

static void every_wrong_body(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct api_plan *plan = kit_post(S ".npy", bodies[i].target);
        blames(plan, &bodies[i]);
        api_plan_free(&plan);
    }
    char *deep = malloc(100000);
    memset(deep, '[', 100000);
    struct api_plan *plan = kit_send("POST", S ".npy", KIT_HEADERS(KIT_JSON), deep, 100000);
    json_decref(kit_problem(plan, 400));
    api_plan_free(&plan);
    free(deep);
}

static void query_and_body_are_one_list(void **unused)
{
    (void)unused;
    struct api_plan *plan = kit_post(S ".npy?width=8", "{\"length\":4,\"width\":8}");
    blames(plan, &(struct wrong){S, "width", NULL, "type", "repeated"});
    api_plan_free(&plan);
    plan = kit_post(S ".npy?width=8", "{\"length\":4}");
    struct api_plan *get = kit_get(S ".npy?width=8&length=4");
    assert_int_equal(plan->status, 200);
    assert_string_equal(kit_header(plan, "ETag"), kit_header(get, "ETag"));
    api_plan_free(&plan);
    api_plan_free(&get);
}

/* ---------------------------------------------------------------- names of tables */

/* Whether the names of a query are sorted, none twice. */
static void names_rise(const char *query)
{
    struct api_bytes before = {"", 0};
    while (*query) {
        size_t len = strcspn(query, "="), least = len < before.len ? len : before.len;
        int order = memcmp(before.at, query, least);
        assert_true(order < 0 || (order == 0 && before.len < len));
        before = (struct api_bytes){query, len};
        query += strcspn(query, "&");
        query += *query == '&';
    }
}

static void canonical_url(void **unused)
{
    (void)unused;
    static const char *const targets[] = {
        S ".bin?" OK,
        S ".bin?width=4&base=1e300&length=4&dtype=float16",
        S "?positions=-5--3,7,9-11&width=6&format=csv",
        R ".npy?length=8&head_dim=16&partial_rotary_factor=0.25&dtype=bf16&bf16=u16&tensor=sin",
        R "/frequencies.json?width=8&rope_type=linear&factor=2.5",
        S "/shift.npy?width=8&offset=-3&compact=true",
        "/v1/tables/alibi.safetensors?width=6&length=9"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct api_plan *plan = kit_get(targets[i]);
        assert_int_equal(plan->status, 200);
        char *url = kit_keep(plan, "Content-Location"), *tag = kit_keep(plan, "ETag");
        struct api_plan *again = kit_get(url);
        assert_non_null(strstr(url, "rev=1"));
        assert_int_equal(again->status, 200);
        assert_string_equal(kit_header(again, "Content-Location"), url);
        assert_string_equal(kit_header(again, "ETag"), tag);
        names_rise(strchr(url, '?') + 1);
        api_plan_free(&plan);
        api_plan_free(&again);
        free(url);
        free(tag);
    }
    struct api_plan *plan = kit_get(S ".bin?" OK);
    assert_string_equal(
        kit_header(plan, "Content-Location"),
        S ".bin?arithmetic=exact&base=10000&dtype=f32&ladder=open&layout=interleaved&length=4"
          "&offset=0&order=sin&rev=1&scale=1&width=4");
    api_plan_free(&plan);
}

static void spellings_of_one_table(void **unused)
{
    (void)unused;
    static const char *const spellings[] = {
        S ".bin?length=4&width=4",
        S ".bin?width=4&length=4",
        S ".bin?" OK "&base=10000",
        S ".bin?" OK "&base=1e4",
        S ".bin?" OK "&base=1E%2B4",
        S ".bin?" OK "&base=1E+4",
        S ".bin?" OK "&base=10000.0",
        S ".bin?" OK "&dtype=float32",
        S ".bin?" OK
          "&offset=0&layout=interleaved&ladder=open&order=sin&scale=1&arithmetic=exact&odd=error",
        S "?" OK "&format=bin",
        S ".bin?" OK "&format=bin",
        S ".bin?" OK "&rev=1",
        "http://host:1" S ".bin?" OK,
        S ".bin?%6cength=%34&widt%68=4"};
    struct api_plan *first = kit_get(spellings[0]);
    for (size_t i = 1; i < sizeof spellings / sizeof *spellings; i++) {
        struct api_plan *plan = kit_get(spellings[i]);
        assert_int_equal(plan->status, 200);
        assert_string_equal(kit_header(plan, "ETag"), kit_header(first, "ETag"));
        assert_string_equal(kit_header(plan, "Content-Location"),
                            kit_header(first, "Content-Location"));
        assert_memory_equal(plan->table->key.at, first->table->key.at, 32);
        api_plan_free(&plan);
    }
    api_plan_free(&first);
}

static void each_table_and_format_has_its_tag(void **unused)
{
    (void)unused;
    static const char *const targets[] = {S ".bin?" OK,
                                          S ".npy?" OK,
                                          S ".json?" OK,
                                          S ".csv?" OK,
                                          S ".txt?" OK,
                                          S ".npz?" OK,
                                          S ".safetensors?" OK,
                                          S ".bin?length=5&width=4",
                                          S ".bin?length=4&width=6",
                                          S ".bin?" OK "&offset=1",
                                          S ".bin?" OK "&base=10001",
                                          S ".bin?" OK "&base=10000.000000000002",
                                          S ".bin?" OK "&dtype=f16",
                                          S ".bin?" OK "&dtype=bf16",
                                          S ".bin?" OK "&dtype=f64",
                                          S ".bin?" OK "&layout=split",
                                          S ".bin?" OK "&order=cos",
                                          S ".bin?" OK "&scale=2",
                                          S ".bin?" OK "&padding_idx=1",
                                          S ".bin?" OK "&ladder=closed",
                                          S ".bin?" OK "&arithmetic=float32",
                                          S ".npy?" OK "&dtype=bf16&bf16=void",
                                          S ".npy?" OK "&dtype=bf16&bf16=u16",
                                          S ".npy?" OK "&dtype=bf16&bf16=f32",
                                          R ".bin?" OK,
                                          R ".bin?" OK "&tensor=cos",
                                          R ".bin?" OK "&tensor=sin",
                                          R ".bin?" OK "&inverse=true",
                                          S "/shift.bin?width=4&offset=4",
                                          S "/similarity.bin?width=4&max_offset=4"};
    enum { COUNT = sizeof targets / sizeof *targets };
    char *tags[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        struct api_plan *plan = kit_get(targets[i]);
        assert_int_equal(plan->status, 200);
        tags[i] = kit_keep(plan, "ETag");
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(tags[i], tags[j]);
        api_plan_free(&plan);
    }
    for (size_t i = 0; i < COUNT; i++)
        free(tags[i]);
}

static void headers_of_a_table(void **unused)
{
    (void)unused;
    struct api_plan *plan = kit_get(R ".npy?length=2048&width=128");
    assert_string_equal(kit_header(plan, "Content-Disposition"),
                        "inline; filename=\"rope_n2048_d128_b10000_f32.npy\"");
    assert_string_equal(kit_header(plan, "Cache-Control"), "public, max-age=86400");
    assert_string_equal(kit_header(plan, "Access-Control-Allow-Origin"), "*");
    assert_string_equal(kit_header(plan, "X-Content-Type-Options"), "nosniff");
    assert_string_equal(kit_header(plan, "Accept-Ranges"), "bytes");
    assert_null(kit_header(plan, "Vary"));
    assert_null(kit_header(plan, "Server"));
    assert_true(plan->table->stacked);
    assert_int_equal(plan->table->length, 128 + 2 * 2048 * 64 * 4);
    assert_false(plan->no_memo);
    api_plan_free(&plan);

    plan = kit_get(R ".bin?length=3&width=8&tensor=sin&dtype=f16&rev=1");
    assert_string_equal(kit_header(plan, "X-Tensor-Shape"), "3, 4");
    assert_string_equal(kit_header(plan, "X-Tensor-Dtype"), "f16");
    assert_string_equal(kit_header(plan, "Cache-Control"), "public, max-age=31536000, immutable");
    assert_int_equal(plan->table->payload_first, 3 * 4 * 2);
    assert_int_equal(plan->table->payload_length, 3 * 4 * 2);
    api_plan_free(&plan);

    plan = kit_get(R ".bin?length=3&width=8");
    assert_string_equal(kit_header(plan, "X-Tensor-Shape"), "2, 3, 4");
    api_plan_free(&plan);

    plan = kit_post(S ".bin", "{\"positions\":[[0,1,2],[7,8,9]],\"width\":4}");
    assert_string_equal(kit_header(plan, "X-Tensor-Shape"), "2, 3, 4");
    assert_null(kit_header(plan, "Content-Location"));
    api_plan_free(&plan);

    plan = kit_get(S "?" OK);
    assert_string_equal(kit_header(plan, "Content-Type"), "application/json");
    assert_string_equal(kit_header(plan, "Vary"), "Accept, Accept-Encoding");
    assert_null(kit_header(plan, "Accept-Ranges"));
    assert_true(plan->table->length == API_UNKNOWN);
    api_plan_free(&plan);
}

static void parameters_as_json(void **unused)
{
    (void)unused;
    struct api_plan *plan = kit_post(S ".json", "{\"positions\":[[0,1,2],[7,8,-9]],\"width\":4}");
    assert_string_equal(
        plan->table->parameters,
        "{\"arithmetic\":\"exact\",\"base\":10000,\"dtype\":\"f32\",\"ladder\":\"open\","
        "\"layout\":\"interleaved\",\"order\":\"sin\",\"positions\":[[0,1,2],[7,8,-9]],\"scale\":1,"
        "\"width\":4}");
    api_plan_free(&plan);
    plan = kit_get(S ".json?positions=0-4999&width=4");
    json_t *p = json_loads(plan->table->parameters, 0, NULL);
    assert_int_equal(
        strlen(json_string_value(json_object_get(json_object_get(p, "positions"), "sha256"))), 64);
    json_decref(p);
    api_plan_free(&plan);
}

/* ---------------------------------------------------------------- conditions, ranges, limits */

static int status_of(const char *method, const char *target, const char *const *headers)
{
    struct api_plan *plan = kit_send(method, target, headers, NULL, 0);
    int status = plan->status;
    assert_true(plan->no_memo);
    api_plan_free(&plan);
    return status;
}

static void conditions(void **unused)
{
    (void)unused;
    struct api_plan *whole = kit_get(S ".bin?" OK);
    const char *tag = kit_header(whole, "ETag");
    char match[128], none[128], range[128];
    snprintf(match, sizeof match, "If-Match: %s", tag);
    snprintf(none, sizeof none, "If-None-Match: W/%s", tag);
    snprintf(range, sizeof range, "If-Range: %s", tag);
    const char *t = S ".bin?" OK;

    struct api_plan *plan = kit_send("GET", t, KIT_HEADERS(none), NULL, 0);
    assert_int_equal(plan->status, 304);
    assert_int_equal(plan->source, API_EMPTY);
    static const char *const kept[] = {"ETag", "Cache-Control", "Content-Location"};
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(kit_header(plan, kept[i]), kit_header(whole, kept[i]));
    api_plan_free(&plan);

    assert_int_equal(status_of("HEAD", t, KIT_HEADERS(none)), 304);
    assert_int_equal(status_of("GET", t, KIT_HEADERS("If-None-Match: *")), 304);
    assert_int_equal(status_of("GET", t, KIT_HEADERS("If-None-Match: \"x\"")), 200);
    assert_int_equal(status_of("GET", t, KIT_HEADERS("If-None-Match: \"x\"", none)), 304);
    assert_int_equal(status_of("GET", t, KIT_HEADERS(match)), 200);
    assert_int_equal(status_of("GET", t, KIT_HEADERS("If-Match: *")), 200);
    assert_int_equal(status_of("GET", t, KIT_HEADERS("If-Match: \"x\"", none)), 412);
    assert_int_equal(status_of("GET", S ".bin?" OK "&nosuch=1", KIT_HEADERS("If-None-Match: *")),
                     400);
    assert_int_equal(status_of("GET", t, KIT_HEADERS("Range: bytes=0-3", range)), 206);
    assert_int_equal(status_of("GET", t, KIT_HEADERS("Range: bytes=0-3", "If-Range: \"x\"")), 200);
    assert_int_equal(status_of("GET", t, KIT_HEADERS("Range: bytes=64-", "If-Range: \"x\"")), 200);
    assert_int_equal(status_of("GET", t, KIT_HEADERS("Range: bytes=0-3", none)), 304);
    assert_int_equal(status_of("HEAD", t, KIT_HEADERS("Range: bytes=0-3")), 200);
    assert_int_equal(status_of("GET", S ".json?" OK, KIT_HEADERS("Range: bytes=0-3")), 200);
    api_plan_free(&whole);
}

static void ranges(void **unused)
{
    (void)unused;
    struct api_plan *plan =
        kit_send("GET", S ".npy?" OK, KIT_HEADERS("Range: bytes=100-139"), NULL, 0);
    assert_int_equal(plan->status, 206);
    assert_string_equal(kit_header(plan, "Content-Range"), "bytes 100-139/192");
    assert_int_equal(plan->table->first, 100);
    assert_int_equal(plan->table->count, 40);
    assert_int_equal(plan->table->length, 192);
    api_plan_free(&plan);

    plan = kit_send("GET", S ".bin?length=1125899906842624&width=4&dtype=f64",
                    KIT_HEADERS("Range: bytes=-32"), NULL, 0);
    assert_string_equal(kit_header(plan, "Content-Range"),
                        "bytes 36028797018963936-36028797018963967/36028797018963968");
    api_plan_free(&plan);

    plan = kit_send("GET", S ".bin?" OK, KIT_HEADERS("Range: bytes=64-"), NULL, 0);
    json_decref(kit_problem(plan, 416));
    assert_string_equal(kit_header(plan, "Content-Range"), "bytes */64");
    api_plan_free(&plan);
}

static void limits(void **unused)
{
    (void)unused;
    struct api_plan *plan = kit_get(S ".json?length=1048577&width=4");
    json_t *p = kit_problem(plan, 413);
    const char *detail = json_string_value(json_object_get(p, "detail"));
    assert_non_null(strstr(detail, "4194304"));
    assert_non_null(strstr(detail, S ".npy"));
    json_decref(p);
    api_plan_free(&plan);
    static const struct {
        const char *target;
        int status;
    } cases[] = {
        {S ".json?length=1048576&width=4", 200},
        {S ".bin?length=9007199254740992&width=65536&dtype=f64", 413},
        {S ".bin?length=9007199254740992&width=65536", 413},
        {S ".npy?length=9007199254740992&width=256&dtype=bf16&bf16=u16", 200},
        {S ".npy?length=9007199254740992&width=256&dtype=bf16&bf16=f32", 413},
        {S ".bin?positions=0-9007199254740991&width=4", 400},
        {S ".bin?positions=0-65535&width=4", 200},
        {S ".bin?positions=0-40000,0-40000&width=4", 413},
        {S ".bin?" OK "&rev=2", 409},
        {S ".npy?" OK "&dtype=bf16", 406},
        {S ".npz?" OK "&dtype=bf16", 406},
        {S ".safetensors?" OK "&dtype=bf16", 200},
        {"/v1/tables/alibi.json?width=2&length=3&queries=3&offset=0&masked=true", 406},
        {"/v1/tables/alibi.json?width=2&length=3&queries=3&offset=0&masked=true&tensor=slopes",
         200},
        {"/v1/tables/alibi.npy?width=2&length=3&queries=3&offset=0&masked=true&tensor=bias", 200},
        /* 65504 is the last f16, and 65520 the first number that rounds to infinity */
        {"/v1/tables/rope.json?positions=65519&width=2&layout=phase&dtype=f16", 200},
        {"/v1/tables/rope.json?positions=3,65520&width=2&layout=phase&dtype=f16", 406},
        {"/v1/tables/rope.npy?positions=3,65520&width=2&layout=phase&dtype=f16", 200},
        {"/v1/tables/rope.json?positions=3,65520&width=2&layout=phase", 200},
        {"/v1/tables/alibi.json?width=1&length=2&offset=70000&alibi_bias_max=0.001&dtype=f16", 406},
        {"/v1/tables/rope.json?length=1&width=4&rope_type=yarn&factor=4&dtype=f16"
         "&original_max_position_embeddings=64&attention_factor=65520",
         406},
        {"/v1/tables/nosuch.npy?width=2", 404},
        {S ".exe?" OK, 404},
        {"/v1/tables/.npy?" OK, 404},
        {S "/nosuch?" OK, 404},
        {"/v1/tables/t5/frequencies?width=4", 404}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plan = kit_get(cases[i].target);
        if (cases[i].target[0] && plan->status != cases[i].status &&
            !(cases[i].status == 400 && plan->status == 413))
            fail_msg("%s: %d instead of %d", cases[i].target, plan->status, cases[i].status);
        api_plan_free(&plan);
    }
}

static void arrays_as_bodies(void **unused)
{
    (void)unused;
    char file[128 + 4 * 6];
    static const int values[6] = {0, 1, 2, 7, 8, 9};
    memset(file, ' ', 128);
    memcpy(file,
           "\x93NUMPY\x01\x00\x76\x00{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }",
           69);
    file[127] = '\n';
    for (int i = 0; i < 6; i++)
        memcpy(file + 128 + 4 * i, (char[]){(char)values[i], 0, 0, 0}, 4);
    const char *const npy[] = {"Content-Type: application/x-npy", NULL};
    struct api_plan *plan = kit_send("POST", S ".bin?width=4", npy, file, sizeof file);
    struct api_plan *same = kit_post(S ".bin", "{\"positions\":[[0,1,2],[7,8,9]],\"width\":4}");
    assert_int_equal(plan->status, 200);
    assert_string_equal(kit_header(plan, "ETag"), kit_header(same, "ETag"));
    api_plan_free(&plan);
    api_plan_free(&same);
    static const struct {
        const char *target;
        size_t cut;
        const char *parameter;
    } wrong[] = {{S ".bin?width=4&positions=1", 0, "positions"},
                 {S ".bin?width=4", 1, "positions"},
                 {S ".bin?width=4", 140, "positions"},
                 {S ".bin?width=4&length=3", 0, "length"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        plan = kit_send("POST", wrong[i].target, npy, file, sizeof file - wrong[i].cut);
        json_t *p = kit_problem(plan, 400);
        assert_non_null(
            strstr(json_string_value(json_object_get(p, "detail")), wrong[i].parameter));
        json_decref(p);
        api_plan_free(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wrong_query),
        cmocka_unit_test(every_wrong_number),
        cmocka_unit_test(every_malformed_query),
        cmocka_unit_test(every_wrong_body),
        cmocka_unit_test(query_and_body_are_one_list),
        cmocka_unit_test(canonical_url),
        cmocka_unit_test(spellings_of_one_table),
        cmocka_unit_test(each_table_and_format_has_its_tag),
        cmocka_unit_test(headers_of_a_table),
        cmocka_unit_test(parameters_as_json),
        cmocka_unit_test(conditions),
        cmocka_unit_test(ranges),
        cmocka_unit_test(limits),
        cmocka_unit_test(arrays_as_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
