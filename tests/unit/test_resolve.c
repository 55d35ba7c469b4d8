/* SPDX-License-Identifier: MIT
 *
 * test_resolve.c: POST /v1/resolve as a whole: right tables for the configs of 82 families in every
 * spelling (golden/resolve/families.jsonl), and what becomes of misspelt, conflicting and
 * impossible ones (odd.jsonl), and the rules of classes and dialects (rules.jsonl). Parameters must
 * be equal, member by member, and every link must be a request that this service answers.
 */
#include "test_api_kit.h"
#include "resolve/resolve_keys.h"

#include <stdio.h>

#define PATH TESTS_DIR "/golden/resolve/"

static json_t *resolve(const char *body, size_t len, const char *query, int *status, char **text)
{
    char target[128];
    snprintf(target, sizeof target, "/v1/resolve%s", query);
    struct api_plan *plan = kit_send("POST", target, KIT_HEADERS(KIT_JSON), body, len);
    json_t *json = plan->source == API_TEXT ? kit_json(plan) : NULL;
    *status = plan->status;
    if (text)
        *text = strndup(plan->text.at ? plan->text.at : "", plan->text.len);
    api_plan_free(&plan);
    return json;
}

/* Whether a word stands in a text, not inside of a longer one. */
static bool says(const char *text, const char *word)
{
    size_t len = strlen(word);
    const char *letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    for (const char *p = text; (p = strstr(p, word)); p++)
        if ((p == text || !strchr(letters, p[-1]) || !p[-1]) &&
            (!p[len] || !strchr(letters, p[len])))
            return true;
    return false;
}

static bool says_any(const char *text, json_t *words)
{
    size_t i;
    json_t *word;
    json_array_foreach(words, i, word) if (says(text, json_string_value(word))) return true;
    return json_is_string(words) && says(text, json_string_value(words));
}

static const char *unsaid(const char *text, json_t *words)
{
    size_t i;
    json_t *word;
    json_array_foreach(words, i, word) if (!says_any(text, word)) return json_string_value(
        json_is_array(word) ? json_array_get(word, 0) : word);
    return NULL;
}

/* ---------------------------------------------------------------- comparing */

static bool same_value(json_t *a, json_t *b)
{
    size_t i;
    json_t *item;
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    if (!json_is_array(a) || json_array_size(a) != json_array_size(b))
        return json_equal(a, b);
    json_array_foreach(a, i, item) if (!same_value(item, json_array_get(b, i))) return false;
    return true;
}

static bool same_object(json_t *a, json_t *b)
{
    const char *key;
    json_t *value;
    if (json_object_size(a) != json_object_size(b))
        return false;
    json_object_foreach(a, key,
                        value) if (!json_object_get(b, key) ||
                                   !same_value(value, json_object_get(b, key))) return false;
    return true;
}

/* Whether "0-2,5" names layer n. */
static bool names_layer(const char *list, long n)
{
    while (*list) {
        char *end;
        long lo = strtol(list, &end, 10), hi = *end == '-' ? strtol(end + 1, &end, 10) : lo;
        if (lo <= n && n <= hi)
            return true;
        list = end + (*end == ',');
    }
    return false;
}

static long last_layer(const char *list)
{
    const char *tail = list + strlen(list);
    while (tail > list && tail[-1] >= '0' && tail[-1] <= '9')
        tail--;
    return strtol(tail, NULL, 10);
}

static json_t *group_of_layer(json_t *groups, long n)
{
    size_t i, k;
    json_t *group, *layer, *found = NULL;
    json_array_foreach(groups, i, group)
    {
        json_t *layers = json_object_get(group, "layers");
        json_array_foreach(layers, k, layer)
        {
            if (json_integer_value(layer) != n)
                continue;
            assert_null(found); /* a layer is in one group */
            found = group;
        }
    }
    return found;
}

static json_t *group_by_name(json_t *groups, const char *name)
{
    size_t i;
    json_t *group;
    json_array_foreach(groups, i,
                       group) if (strcmp(json_string_value(json_object_get(group, "name")), name) ==
                                  0) return group;
    return NULL;
}

static const char *member(json_t *group, const char *name)
{
    const char *text = json_string_value(json_object_get(group, name));
    return text ? text : "";
}

static bool same_group(json_t *got, json_t *want)
{
    json_t *parameters = json_object_get(want, "parameters");
    return got && strcmp(member(got, "kind"), member(want, "kind")) == 0 &&
           (!parameters || same_object(json_object_get(got, "parameters"), parameters));
}

static bool has_layers(json_t *group, const char *list)
{
    size_t i;
    json_t *layer, *layers = json_object_get(group, "layers");
    long count = 0;
    if (!*list || *list == 'a')
        return !*list || strcmp(member(group, "layers"), "all") == 0;
    for (long n = 0; n <= last_layer(list); n++)
        count += names_layer(list, n);
    json_array_foreach(layers, i,
                       layer) if (!names_layer(list, json_integer_value(layer))) return false;
    return json_array_size(layers) == (size_t)count;
}

/* NULL, or the first wanted group that the answer does not have. One with a name must have exactly
 * its layers; without one, its layers may be spread over groups that are alike. */
static json_t *missing_group(json_t *groups, json_t *wanted)
{
    size_t i;
    json_t *want;
    json_array_foreach(wanted, i, want)
    {
        const char *layers = member(want, "layers"), *name = member(want, "name");
        if (*name) {
            json_t *group = group_by_name(groups, name);
            if (!same_group(group, want) || !has_layers(group, layers))
                return want;
            continue;
        }
        if (*layers == 'a' && !same_group(json_array_get(groups, 0), want))
            return want;
        for (long n = 0; *layers && *layers != 'a' && n <= last_layer(layers); n++)
            if (names_layer(layers, n) && !same_group(group_of_layer(groups, n), want))
                return want;
    }
    return NULL;
}

/* The members of an answer, and that its links are served. */
static void check_form(json_t *answer, const char *name)
{
    size_t i;
    json_t *group;
    json_array_foreach(json_object_get(answer, "groups"), i, group)
    {
        const char *href = member(group, "href"), *kind = member(group, "kind");
        bool table = strcmp(kind, "none") && strcmp(kind, "learned") && strcmp(kind, "unsupported");
        assert_true(json_is_array(json_object_get(group, "warnings")));
        assert_true(*member(group, "name"));
        if (table != (*href != 0))
            fail_msg("%s: kind %s with link %s", name, kind, href);
        if (!table)
            continue;
        struct api_plan *plan = kit_send("HEAD", href, NULL, NULL, 0);
        if (plan->status != 200)
            fail_msg("%s: %s gives %d", name, href, plan->status);
        api_plan_free(&plan);
    }
    assert_true(json_is_array(json_object_get(answer, "warnings")));
}

/* ---------------------------------------------------------------- golden files */

static void each_line(const char *file, size_t least, void (*check)(json_t *))
{
    FILE *in = fopen(file, "r");
    char *line = NULL;
    size_t room = 0, count = 0;
    assert_non_null(in);
    while (getline(&line, &room, in) > 0) {
        json_t *entry = json_loads(line, JSON_ALLOW_NUL, NULL);
        assert_non_null(entry);
        check(entry);
        json_decref(entry);
        count++;
    }
    free(line);
    fclose(in);
    assert_true(count >= least);
}

static void check_family(json_t *entry)
{
    const char *name = member(entry, "name");
    char *body = json_dumps(json_object_get(entry, "config"), JSON_COMPACT), *text;
    int status;
    json_t *answer = resolve(body, strlen(body), "", &status, &text);
    if (status != 200)
        fail_msg("%s: %d %s", name, status, text);
    check_form(answer, name);
    json_t *groups = json_object_get(answer, "groups");
    json_t *missing = missing_group(groups, json_object_get(entry, "groups"));
    if (missing)
        fail_msg("%s: no group %s in %s", name, json_dumps(missing, 0), text);
    const char *word = unsaid(text, json_object_get(entry, "words"));
    if (word)
        fail_msg("%s: no word of %s in %s", name, word, text);
    json_decref(answer);
    free(text);
    free(body);
}

static void families(void **unused)
{
    (void)unused;
    each_line(PATH "families.jsonl", 129, check_family);
}

/* ---------------------------------------------------------------- nothing is silent */

static bool is_quiet(json_t *entry, const char *key)
{
    size_t i;
    json_t *quiet;
    json_array_foreach(json_object_get(entry, "quiet"), i,
                       quiet) if (strcmp(json_string_value(quiet), key) == 0) return true;
    return false;
}

/* Doubles, flips or replaces each value that bears on positions, one at a time: the answer must
 * change, or have named the key before. */
static void alter(json_t *entry, json_t *node, unsigned side, const char *before)
{
    const char *key;
    void *next;
    json_t *value;
    json_object_foreach_safe(node, next, key, value)
    {
        const char *dot = strchr(key, '.');
        const char *plain = json_object_get(node, "general.architecture") && dot ? dot + 1 : key;
        bool block = strcmp(key, "rope_parameters") == 0 || strcmp(key, "rope_scaling") == 0;
        const struct api__key *row = NULL;
        for (unsigned d = API__HF; d <= API__DIFFUSERS && !row; d *= 2)
            row = api__find_key((enum api__dialect)d, side, api__bytes(plain));
        if (json_is_object(value) && (block || side == API__INSIDE || !says(before, key)))
            alter(entry, value, block || side == API__INSIDE ? API__INSIDE : API__OUTSIDE, before);
        if (!row || api__meaning_info(row->meaning)->weight == API__PLAIN || is_quiet(entry, key) ||
            says(before, plain) || (!json_is_number(value) && !json_is_boolean(value)))
            continue;
        json_t *kept = json_incref(value);
        json_object_set_new(node, key,
                            json_is_integer(kept) ? json_integer(2 * json_integer_value(kept))
                            : json_is_real(kept)  ? json_real(1.5 * json_real_value(kept))
                            : json_is_true(kept)  ? json_false()
                                                  : json_true());
        char *body = json_dumps(json_object_get(entry, "config"), 0), *after;
        int status;
        json_decref(resolve(body, strlen(body), "", &status, &after));
        if (strcmp(before, after) == 0)
            fail_msg("%s: %s is silent", member(entry, "name"), key);
        json_object_set_new(node, key, kept);
        free(body);
        free(after);
    }
}

static void check_silence(json_t *entry)
{
    char *body = json_dumps(json_object_get(entry, "config"), 0), *before;
    int status;
    json_decref(resolve(body, strlen(body), "", &status, &before));
    if (!strstr(before, "unsupported"))
        alter(entry, json_object_get(entry, "config"), API__OUTSIDE, before);
    free(body);
    free(before);
}

static void no_silent_key(void **unused)
{
    (void)unused;
    each_line(PATH "families.jsonl", 129, check_silence);
}

static bool any_link(json_t *answer)
{
    size_t i;
    json_t *group;
    json_array_foreach(json_object_get(answer, "groups"), i,
                       group) if (*member(group, "href")) return true;
    return false;
}

static bool meets(json_t *answer, int status, const char *text, json_t *want)
{
    const char *is = member(want, "is");
    if (unsaid(text, json_object_get(want, "words")))
        return false;
    if (strcmp(is, "right") == 0)
        return status == 200 &&
               !missing_group(json_object_get(answer, "groups"), json_object_get(want, "groups"));
    if (strcmp(is, "named") == 0)
        return true;
    return status == 400 || (status == 200 && !any_link(answer));
}

static void check_odd(json_t *entry)
{
    const char *name = member(entry, "name");
    json_t *body = json_object_get(entry, "body"), *want;
    char *text;
    int status;
    size_t i;
    bool met = false;
    json_t *answer = resolve(json_string_value(body), json_string_length(body), "", &status, &text);
    if (status == 200)
        check_form(answer, name);
    else
        assert_int_equal(status, 400);
    json_array_foreach(json_object_get(entry, "want"), i, want) met |=
        meets(answer, status, text, want);
    if (!met)
        fail_msg("%s: %d %s is not %s", name, status, text,
                 json_dumps(json_object_get(entry, "want"), 0));
    json_decref(answer);
    free(text);
}

static void odd_configs(void **unused)
{
    (void)unused;
    each_line(PATH "odd.jsonl", 200, check_odd);
}

static void rules(void **unused)
{
    (void)unused;
    each_line(PATH "rules.jsonl", 70, check_odd);
}

/* ---------------------------------------------------------------- the resource */

#define GEMMA                                                                                    \
    "{\"model_type\":\"gemma3_text\",\"hidden_size\":4096,\"num_attention_heads\":32,"           \
    "\"head_dim\":128,\"num_hidden_layers\":4,\"max_position_embeddings\":8192,\"layer_types\":" \
    "[\"sliding_attention\",\"full_attention\",\"sliding_attention\",\"full_attention\"],"       \
    "\"rope_parameters\":{\"sliding_attention\":{\"rope_type\":\"default\",\"rope_theta\":1e4}," \
    "\"full_attention\":{\"rope_type\":\"linear\",\"factor\":8.0,\"rope_theta\":1e6}}}"

static void redirects(void **unused)
{
    (void)unused;
    static const char *const names[] = {"sliding_attention", "full_attention"};
    int status;
    json_t *answer = resolve(GEMMA, strlen(GEMMA), "", &status, NULL);
    for (int i = 0; i < 2; i++) {
        char target[128];
        snprintf(target, sizeof target, "/v1/resolve?redirect=%s", names[i]);
        struct api_plan *plan = kit_post(target, GEMMA);
        json_t *group = group_by_name(json_object_get(answer, "groups"), names[i]);
        assert_int_equal(plan->status, 303);
        assert_string_equal(kit_header(plan, "Location"), member(group, "href"));
        api_plan_free(&plan);
    }
    json_decref(answer);
}

static void refused_redirects(void **unused)
{
    (void)unused;
    static const struct {
        const char *query, *body;
        int status;
        const char *word;
    } cases[] = {
        {"?redirect=chunked_attention", GEMMA, 404, "full_attention"},
        {"?redirect=", GEMMA, 400, "redirect"},
        {"?redirect=a&redirect=b", GEMMA, 400, "redirect"},
        {"?redirct=all", GEMMA, 400, "redirect"},
        {"?redirect=all", "{\"model_type\":\"mamba\"}", 404, "all"},
        {"?redirect=all", "{\"model_type\":\"xlnet\"}", 404, "xlnet"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        char *text;
        json_t *p = resolve(cases[i].body, strlen(cases[i].body), cases[i].query, &status, &text);
        assert_int_equal(status, cases[i].status);
        assert_true(says(text, cases[i].word));
        json_decref(p);
        free(text);
    }
}

static void order_of_keys(void **unused)
{
    (void)unused;
    static const char one[] =
        "{\"model_type\":\"llama\",\"head_dim\":64,\"num_hidden_layers\":2,\"rope_thetas\":3,"
        "\"max_position_embeddings\":64,\"rope_theta\":5e5,\"rotary_foo\":1,\"alibi\":true}";
    static const char other[] =
        "{\"alibi\":true,\"rotary_foo\":1,\"rope_theta\":5e5,\"max_position_embeddings\":64,"
        "\"rope_thetas\":3,\"num_hidden_layers\":2,\"head_dim\":64,\"model_type\":\"llama\"}";
    int status;
    char *a, *b;
    json_decref(resolve(one, strlen(one), "", &status, &a));
    assert_int_equal(status, 200);
    json_decref(resolve(other, strlen(other), "", &status, &b));
    assert_string_equal(a, b);
    assert_true(says(a, "rope_thetas") && says(a, "rotary_foo") && says(a, "alibi"));
    free(a);
    free(b);
}

static void reports_in_problems(void **unused)
{
    (void)unused;
    static const char body[] =
        "{\"model_type\":\"llama\",\"head_dim\":64,\"rope_scaling\":{\"type\":"
        "\"linear\",\"facter\":2,\"finetuned\":true}}";
    struct api_plan *plan = kit_post("/v1/resolve", body);
    json_t *p = kit_problem(plan, 400);
    assert_string_equal(member(p, "parameter"), "rope_scaling.facter");
    assert_string_equal(member(p, "did_you_mean"), "factor");
    char *warnings = json_dumps(json_object_get(p, "warnings"), 0);
    assert_true(says(warnings, "finetuned"));
    free(warnings);
    json_decref(p);
    api_plan_free(&plan);
}

/* What takes long to look at is refused before it is looked at. */
static void too_large(void **unused)
{
    (void)unused;
    static const char *const begin[] = {"{", "{\"rope_scaling\":{"};
    size_t room = (4 << 20) + 64;
    char *body = malloc(room);
    assert_non_null(body);
    for (int i = 0; i < 2; i++) {
        size_t len = (size_t)sprintf(body, "%s", begin[i]);
        for (size_t k = 0; k < 2100; k++)
            len += (size_t)sprintf(body + len, i ? "\"a%zx\":{\"b\":1}," : "\"rope_%zx\":1,", k);
        strcpy(body + len - 1, i ? "}}" : "}");
        struct api_plan *plan =
            kit_send("POST", "/v1/resolve", KIT_HEADERS(KIT_JSON), body, strlen(body));
        json_decref(kit_problem(plan, 413));
        api_plan_free(&plan);
    }
    memset(body, ' ', room);
    struct api_plan *plan = kit_send("POST", "/v1/resolve", KIT_HEADERS(KIT_JSON), body, room);
    json_decref(kit_problem(plan, 413));
    api_plan_free(&plan);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families),      cmocka_unit_test(odd_configs),
        cmocka_unit_test(rules),         cmocka_unit_test(no_silent_key),
        cmocka_unit_test(redirects),     cmocka_unit_test(refused_redirects),
        cmocka_unit_test(order_of_keys), cmocka_unit_test(reports_in_problems),
        cmocka_unit_test(too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
