/* SPDX-License-Identifier: MIT
 *
 * test_resolve_fact.c: resolve_config.c, resolve_members.c, resolve_fact.c and resolve_value.c:
 * which of several values holds, what is read of it, and what is refused; on configs of a few keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "resolve/resolve_fact.h"

struct desk {
    struct api__arena *arena;
    struct api_request request;
    struct api__call call;
    struct api__config config;
    bool read;
};

static struct desk *open_desk(const char *json)
{
    struct desk *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->arena = api__arena_new();
    if (setjmp(*api__arena_exit(d->arena)))
        fail_msg("no memory");
    d->request.body = api__bytes(json);
    d->call = (struct api__call){.request = &d->request, .arena = d->arena};
    d->read = api__config_read(&d->call, &d->config);
    return d;
}

static void close_desk(struct desk *d)
{
    api__arena_free(&d->arena);
    free(d);
}

static const struct api__where anywhere;

/* ---------------------------------------------------------------- precedence */

static void winners(void **unused)
{
    (void)unused;
    static const struct {
        const char *json;
        enum api__meaning meaning;
        struct api__where where;
        const char *path;     /* NULL: nothing holds */
        const char *conflict; /* the path that is reported, or NULL */
    } cases[] = {
        {"{\"rope_theta\":1e4,\"rope_parameters\":{\"rope_theta\":5e5}}",
         API__MEANS_BASE,
         {0},
         "rope_parameters.rope_theta",
         "rope_theta"},
        {"{\"rope_theta\":500000,\"rope_parameters\":{\"rope_theta\":5e5}}",
         API__MEANS_BASE,
         {0},
         "rope_parameters.rope_theta",
         NULL},
        {"{\"partial_rotary_factor\":0.5,\"rope_parameters\":{\"partial_rotary_factor\":0.25}}",
         API__MEANS_PARTIAL,
         {0},
         "partial_rotary_factor",
         "rope_parameters.partial_rotary_factor"},
        {"{\"original_max_position_embeddings\":1,\"rope_scaling\":"
         "{\"original_max_position_embeddings\":2}}",
         API__MEANS_ORIGINAL,
         {0},
         "original_max_position_embeddings",
         "rope_scaling.original_max_position_embeddings"},
        {"{\"rope_scaling\":{\"type\":\"linear\",\"rope_type\":\"dynamic\"}}",
         API__MEANS_TYPE,
         {0},
         "rope_scaling.rope_type",
         "rope_scaling.type"},
        {"{\"rope_theta\":1e4,\"text_config\":{\"rope_theta\":2e4}}",
         API__MEANS_BASE,
         {0},
         "text_config.rope_theta",
         "rope_theta"},
        {"{\"rope_parameters\":{\"a\":{\"rope_theta\":1},\"b\":{\"rope_theta\":2}}}",
         API__MEANS_BASE,
         {.scope = "b"},
         "rope_parameters.b.rope_theta",
         NULL},
        {"{\"rope_parameters\":{\"a\":{\"rope_theta\":1}}}",
         API__MEANS_BASE,
         {.scope = "b"},
         NULL,
         NULL},
        {"{\"rope_theta\":3,\"rope_parameters\":{\"a\":{\"rope_theta\":1}}}",
         API__MEANS_BASE,
         {.scope = "b", .entry_only = true},
         NULL,
         NULL},
        {"{\"rope_scaling\":{\"rope_type\":\"linear\"}}",
         API__MEANS_TYPE,
         {.plain = true},
         NULL,
         NULL},
        {"{\"rope_theta\":null}", API__MEANS_BASE, {0}, NULL, NULL},
        {"{\"n_embd\":4,\"hidden_size\":8}", API__MEANS_HIDDEN, {0}, "hidden_size", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct desk *d = open_desk(cases[i].json);
        const struct api__fact *f = api__find_fact(&d->config, cases[i].meaning, cases[i].where);
        const struct api__note *note = d->config.notes.first;
        assert_true(d->read && !d->config.refused);
        assert_string_equal(f ? f->path : "", cases[i].path ? cases[i].path : "");
        assert_string_equal(note ? note->key : "", cases[i].conflict ? cases[i].conflict : "");
        if (note)
            assert_string_equal(note->status, "conflicting");
        close_desk(d);
    }
}

static void refused_searches(void **unused)
{
    (void)unused;
    static const struct {
        const char *json;
        enum api__meaning meaning;
        enum api__problem_id id;
        const char *parameter, *near;
    } cases[] = {
        {"{\"rope_thetta\":1}", API__MEANS_BASE, API__UNKNOWN_PARAMETER, "rope_thetta",
         "rope_theta"},
        {"{\"rope_scaling\":{\"factor\":1},\"rope_parameters\":{\"factor\":2}}", API__MEANS_FACTOR,
         API__CONFLICT, "rope_scaling.factor", NULL},
        {"{\"rope_scaling\":{\"type\":\"yarn\"},\"rope_parameters\":{\"rope_type\":\"llama3\"}}",
         API__MEANS_TYPE, API__CONFLICT, "rope_scaling.type", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct desk *d = open_desk(cases[i].json);
        api__find_fact(&d->config, cases[i].meaning, anywhere);
        assert_true(d->config.refused);
        assert_int_equal(d->call.issue.id, cases[i].id);
        assert_true(api__equal(d->call.issue.parameter, cases[i].parameter));
        if (cases[i].near)
            assert_string_equal(d->call.issue.did_you_mean, cases[i].near);
        close_desk(d);
    }
}

static void first_refusal_stays(void **unused)
{
    (void)unused;
    struct desk *d = open_desk("{}");
    api__refuse_absent(&d->config, API__MEANS_BASE, "first");
    api__refuse_absent(&d->config, API__MEANS_FACTOR, "second");
    assert_true(api__equal(d->call.issue.parameter, "rope_theta"));
    assert_string_equal(d->call.issue.detail, "rope_theta is missing: first");
    close_desk(d);
}

static void leftovers(void **unused)
{
    (void)unused;
    struct desk *d =
        open_desk("{\"alibi\":true,\"hidden_size\":1,\"rotary_x\":1,\"attn_scale\":1,"
                  "\"rope_scaling\":{\"zz\":1},\"rope_parameters\":{\"a\":{\"factor\":1}},"
                  "\"vision_config\":{\"rope_theta\":1}}");
    static const char *const keys[] = {
        "vision_config",   "alibi",    "attn_scale",       "rope_parameters.a.factor",
        "rope_scaling.zz", "rotary_x", "rope_parameters.a"};
    static const char *const status[] = {"ignored", "ignored", "beside", "ignored",
                                         "unknown", "unknown", "unknown"};
    api__report_rest(&d->config, "a reason");
    const struct api__note *note = d->config.notes.first;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++, note = note->next) {
        assert_non_null(note);
        assert_string_equal(note->key, keys[i]);
        assert_string_equal(note->status, status[i]);
    }
    assert_null(note);
    close_desk(d);
}

/* ---------------------------------------------------------------- values */

enum reader { INTEGER, REAL, BOOL, TEXT, INTEGERS, REALS, TEXTS };

static bool read_as(struct api__config *config, const struct api__fact *f, enum reader reader)
{
    int64_t n;
    double r;
    bool b;
    const char *t, *const *ts;
    struct pe_ints ints;
    struct pe_reals reals;
    size_t count;
    switch (reader) {
    case INTEGER:
        return api__fact_integer(config, f, 1, 100, &n);
    case REAL:
        return api__fact_real(config, f, 0.5, 100, &r);
    case BOOL:
        return api__fact_bool(config, f, &b);
    case TEXT:
        return api__fact_text(config, f, &t);
    case INTEGERS:
        return api__fact_integers(config, f, 0, 1, &ints);
    case REALS:
        return api__fact_reals(config, f, 0.5, 2, &reals);
    default:
        return api__fact_texts(config, f, &ts, &count);
    }
}

static void values(void **unused)
{
    (void)unused;
    static const struct {
        enum reader reader;
        const char *value;
        int id; /* the issue, or -1 for a value that is fine */
    } cases[] = {
        {INTEGER, "1", -1},
        {INTEGER, "100", -1},
        {INTEGER, "4e1", -1},
        {INTEGER, "8.0", -1},
        {INTEGER, "0", API__OUT_OF_RANGE},
        {INTEGER, "101", API__OUT_OF_RANGE},
        {INTEGER, "-5", API__OUT_OF_RANGE},
        {INTEGER, "1e400", API__OUT_OF_RANGE},
        {INTEGER, "99999999999999999999999", API__OUT_OF_RANGE},
        {INTEGER, "1.5", API__BAD_VALUE},
        {INTEGER, "\"7\"", API__BAD_VALUE},
        {INTEGER, "true", API__BAD_VALUE},
        {INTEGER, "[1]", API__BAD_VALUE},
        {REAL, "0.5", -1},
        {REAL, "7", -1},
        {REAL, "0.4", API__OUT_OF_RANGE},
        {REAL, "1e400", API__OUT_OF_RANGE},
        {REAL, "\"1\"", API__BAD_VALUE},
        {REAL, "{}", API__BAD_VALUE},
        {BOOL, "true", -1},
        {BOOL, "false", -1},
        {BOOL, "1", API__BAD_VALUE},
        {BOOL, "\"true\"", API__BAD_VALUE},
        {TEXT, "\"a\\u0062\"", -1},
        {TEXT, "5", API__BAD_VALUE},
        {INTEGERS, "[]", -1},
        {INTEGERS, "[0, 1,1]", -1},
        {INTEGERS, "[2]", API__OUT_OF_RANGE},
        {INTEGERS, "[0.5]", API__BAD_VALUE},
        {INTEGERS, "1", API__BAD_VALUE},
        {INTEGERS, "[[1]]", API__BAD_VALUE},
        {REALS, "[1, 1.5]", -1},
        {REALS, "[0]", API__OUT_OF_RANGE},
        {REALS, "[\"1\"]", API__BAD_VALUE},
        {REALS, "1.0", API__BAD_VALUE},
        {TEXTS, "[\"a\",\"b\"]", -1},
        {TEXTS, "[\"a\",1]", API__BAD_VALUE},
        {TEXTS, "\"a\"", API__BAD_VALUE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[256];
        snprintf(json, sizeof json, "{\"rope_theta\":%s}", cases[i].value);
        struct desk *d = open_desk(json);
        const struct api__fact *f = api__find_fact(&d->config, API__MEANS_BASE, anywhere);
        bool fine = read_as(&d->config, f, cases[i].reader);
        assert_int_equal(fine, cases[i].id < 0);
        assert_int_equal(d->config.refused, cases[i].id >= 0);
        if (!fine) {
            assert_int_equal(d->call.issue.id, cases[i].id);
            assert_true(api__equal(d->call.issue.parameter, "rope_theta"));
            assert_true(api__equal(d->call.issue.value, cases[i].value));
        }
        assert_false(read_as(&d->config, NULL, cases[i].reader));
        close_desk(d);
    }
}

static void parameters(void **unused)
{
    (void)unused;
    struct pe_spec spec = {0};
    struct desk *d = open_desk("{\"rope_scaling\":{\"factor\":2.5,\"truncate\":false,"
                               "\"short_factor\":[1,2]}}");
    assert_true(api__take_param(&d->config, API__MEANS_FACTOR, anywhere, &spec));
    assert_true(api__take_param(&d->config, API__MEANS_TRUNCATE, anywhere, &spec));
    assert_true(api__take_param(&d->config, API__MEANS_SHORT_FACTOR, anywhere, &spec));
    assert_false(api__take_param(&d->config, API__MEANS_LONG_FACTOR, anywhere, &spec));
    assert_true(spec.factor == 2.5 && !spec.truncate);
    assert_int_equal(spec.short_factor.count, 2);
    assert_true(spec.short_factor.at[1] == 2);
    assert_int_equal(spec.given, UINT64_C(1) << PE_PARAM_FACTOR | UINT64_C(1) << PE_PARAM_TRUNCATE |
                                     UINT64_C(1) << PE_PARAM_SHORT_FACTOR);
    close_desk(d);
}

/* ---------------------------------------------------------------- the body */

static void bodies(void **unused)
{
    (void)unused;
    static const char *const bad[] = {"",
                                      "[]",
                                      "5",
                                      "{",
                                      "{\"a\":1}x",
                                      "{\"a\":1,}",
                                      "{'a':1}",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"x\":{\"a\":1,\"\\u0061\":2}}",
                                      "{\"x\":[[{\"a\":1,\"a\":1}]]}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct desk *d = open_desk(bad[i]);
        assert_false(d->read);
        assert_int_equal(d->call.issue.id, API__MALFORMED_BODY);
        close_desk(d);
    }
    struct desk *d = open_desk(" {\"x\":{\"a\":1,\"b\":{\"a\":1}},\"y\":\"\\u0000\"} ");
    assert_true(d->read);
    assert_int_equal(d->config.count, 0);
    close_desk(d);
}

static void dialects(void **unused)
{
    (void)unused;
    static const struct {
        const char *json, *family;
        enum api__dialect dialect;
        size_t facts;
    } cases[] = {
        {"{\"model_type\":\"llama\",\"rope_theta\":1}", "llama", API__HF, 2},
        {"{\"general.architecture\":\"qwen2\",\"qwen2.rope.freq_base\":1,\"tokenizer.ggml.model\":"
         "1,"
         "\"llama.rope.freq_base\":2}",
         "qwen2", API__GGUF, 2},
        {"{\"--rotary-base\":1,\"--num-layers\":2}", "", API__MEGATRON, 2},
        {"{\"rotary_base\":1}", "", API__MEGATRON, 1},
        {"{\"_class_name\":\"X\",\"axes_dims_rope\":[1]}", "X", API__DIFFUSERS, 2},
        {"{\"model_type\":\"a\",\"text_config\":{\"model_type\":\"b\"}}", "b", API__HF, 2},
        {"{\"model_type\":\"a\",\"text_config\":{\"head_dim\":1}}", "a", API__HF, 2},
        {"{\"rope_theta\":1}", "", API__HF, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct desk *d = open_desk(cases[i].json);
        assert_true(d->read);
        assert_string_equal(d->config.family, cases[i].family);
        assert_int_equal(d->config.dialect, cases[i].dialect);
        assert_int_equal(d->config.count, cases[i].facts);
        close_desk(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winners),   cmocka_unit_test(refused_searches),
        cmocka_unit_test(leftovers), cmocka_unit_test(first_refusal_stays),
        cmocka_unit_test(values),    cmocka_unit_test(parameters),
        cmocka_unit_test(bodies),    cmocka_unit_test(dialects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
