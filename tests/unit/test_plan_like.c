/* SPDX-License-Identifier: MIT
 *
 * test_plan_like.c: plans that take over what another one has: the same bytes whatever they are
 * like; which specs have the same ladder, held against the frequencies themselves; the order in
 * which plans go, and threads.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include "frequency/frequency.h"
#include "spec/spec.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);

static uint64_t below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define PICK(...)           \
    ((const char *const[]){ \
        __VA_ARGS__}[below(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))])

/* ---------------------------------------------------------------- random specs */

/* What frequencies follow from; width 16 where pairs are not shared by two axes. */
static const char *const scalings[] = {
    "",
    "&base=500000",
    "&rope_type=linear&factor=4",
    "&rope_type=linear&factor=5",
    "&rope_type=ntk&factor=4",
    "&rope_type=dynamic&factor=4&max_position_embeddings=64",
    "&rope_type=dynamic&factor=4&max_position_embeddings=64&sequence_length=64",
    "&rope_type=dynamic&factor=4&max_position_embeddings=64&sequence_length=3000",
    "&rope_type=yarn&factor=4&original_max_position_embeddings=4096",
    "&rope_type=yarn&factor=4&original_max_position_embeddings=4096&truncate=false",
    "&rope_type=yarn&factor=4&original_max_position_embeddings=4096&attention_factor=1",
    "&rope_type=yarn&factor=4&original_max_position_embeddings=4096&mscale=1&mscale_all_dim=0.5",
    "&rope_type=yarn&factor=4&original_max_position_embeddings=4096&mscale=1",
    "&rope_type=llama3&factor=8&low_freq_factor=1&high_freq_factor=4"
    "&original_max_position_embeddings=8192",
    "&rope_type=longrope&short_factor=1,1,1,1,2,2,2,2&long_factor=1,2,4,8,8,8,8,9"
    "&original_max_position_embeddings=64&factor=32",
    "&rope_type=longrope&short_factor=1,1,1,1,2,2,2,3&long_factor=1,2,4,8,8,8,8,9"
    "&original_max_position_embeddings=64&factor=32",
    "&rope_type=longrope&short_factor=1,1,1,1,2,2,2,2&long_factor=1,2,4,8,8,8,8,9"
    "&original_max_position_embeddings=64&factor=32&sequence_length=65",
};

/* Rows of all sorts; `axes` equal lists of positions. */
static void random_rows(char *out, size_t size, unsigned axes)
{
    static const char *const windows[] = {"length=5",
                                          "length=64",
                                          "length=65",
                                          "length=300",
                                          "length=40&offset=8170",
                                          "length=3&offset=1099511627776",
                                          "length=90&offset=45",
                                          "length=1&offset=123456789"};
    int at = snprintf(out, size, "positions=");
    if (below(2)) {
        snprintf(out, size, "%s", windows[below(COUNT(windows))]);
        return;
    }
    for (uint64_t n = axes * (3 + below(30)); n; n--)
        at += snprintf(out + at, size - (size_t)at, "%lld%s",
                       (long long)(below(3) ? below(100) : below(UINT64_C(1) << below(53))),
                       n > 1 ? "," : "");
    if (axes > 1) {
        char *list = out + strlen("positions=");
        uint64_t count = 1;
        for (const char *c = list; *c; c++)
            count += *c == ',';
        snprintf(out + at, size - (size_t)at, ";shape=%ux%llu", axes,
                 (unsigned long long)(count / axes));
    }
}

static void random_line(char *out, size_t size, const char *scaling)
{
    char rows[1500];
    const char *dtype = PICK("f64", "f32", "f16", "bf16");
    const char *layout = PICK("pairs", "split", "interleaved");
    switch (below(scaling[0] && scaling[1] == 'r' ? 4 : 8)) {
    case 0:
        random_rows(rows, sizeof rows, 3);
        snprintf(out, size, "mrope?width=16&mrope_section=%s&layout=%s&dtype=%s&inverse=%s&%s%s",
                 PICK("2,3,3", "4,2,2&mrope_interleaved=true", "8,0,0"), layout, dtype,
                 PICK("true", "false"), rows, scaling);
        break;
    case 1:
        random_rows(rows, sizeof rows, 1);
        snprintf(out, size, "xpos?width=16&layout=%s&dtype=%s&scale_base=%s&%s%s", layout, dtype,
                 PICK("512", "512", "300"), rows, scaling);
        break;
    case 4:
        snprintf(out, size, "%s&width=32&height=%d&columns=%d&dtype=%s%s",
                 PICK("grid?order=wh", "grid?cls_token=true", "axial_rope?layout=split",
                      "axial_rope?inverse=true"),
                 1 + (int)below(20), 1 + (int)below(90), dtype, scaling);
        break;
    case 5:
        random_rows(rows, sizeof rows, 1);
        snprintf(out, size, "sinusoidal?width=%s&layout=%s&order=%s&dtype=%s&padding_idx=4&%s%s%s",
                 PICK("16", "16", "17&odd=zero", "17&odd=sine"), PICK("split", "interleaved"),
                 PICK("sin", "cos"), dtype, rows,
                 PICK("", "&scale=-1", "&scale=2.5", "&scale=-2.5"), scaling);
        break;
    case 6:
        snprintf(out, size, "sinusoidal/%s&dtype=%s%s",
                 PICK("similarity?width=16&max_offset=70", "similarity?width=16&max_offset=300",
                      "shift?width=16&offset=9", "shift?width=16&offset=-7&compact=true",
                      "frequencies?width=16"),
                 dtype, scaling);
        if (strstr(out, "frequencies"))
            snprintf(out, size, "sinusoidal/frequencies?width=16%s", scaling);
        break;
    default:
        random_rows(rows, sizeof rows, 1);
        snprintf(out, size, "rope?width=16&layout=%s&dtype=%s&arithmetic=%s&%s%s",
                 PICK("pairs", "split", "interleaved", "cos_sin", "complex", "matrix", "phase"),
                 dtype, PICK("exact", "exact", "exact", "float32"), rows, scaling);
    }
}

/* ---------------------------------------------------------------- bytes */

/* All tensors one after another; freed by the caller. */
static char *fill(const struct pe_spec *s, const struct pe_plan *plan, size_t *size)
{
    struct pe_tensor t[PE_MAX_TENSORS];
    unsigned count = pe_spec_tensors(s, t);
    *size = 0;
    for (unsigned i = 0; i < count; i++)
        *size += t[i].bytes;
    char *all = malloc(*size + 1), *at = all;
    assert_non_null(all);
    memset(all, 0x5a, *size + 1);
    for (unsigned i = 0; i < count; i++) {
        void *out[PE_MAX_TENSORS] = {NULL};
        out[i] = at;
        assert_int_equal(pe_fill(plan, 0, t[i].rows, out), PE_OK);
        at += t[i].bytes;
    }
    assert_int_equal(*at, 0x5a);
    return all;
}

static void hold_equal(const struct pe_spec *s, const struct pe_plan *came, const char *why)
{
    struct pe_plan *alone;
    size_t size;
    assert_int_equal(pe_plan_create(s, &alone), PE_OK);
    char *want = fill(s, alone, &size), *got = fill(s, came, &size);
    if (memcmp(want, got, size) != 0)
        fail_msg("%s", why);
    free(want);
    free(got);
    pe_plan_destroy(&alone);
}

/* Whether two ladders are the same numbers. */
static bool equal_frequencies(const struct pe_spec *a, const struct pe_spec *b)
{
    struct pe__frequencies f, g;
    assert_int_equal(pe__frequencies_init(&f, a), PE_OK);
    assert_int_equal(pe__frequencies_init(&g, b), PE_OK);
    bool equal = f.pairs == g.pairs && mpfr_equal_p(f.amplitude, g.amplitude);
    for (size_t r = 0; equal && r < f.pairs; r++)
        equal = mpfr_equal_p(f.w[r], g.w[r]);
    pe__frequencies_clear(&f);
    pe__frequencies_clear(&g);
    return equal;
}

static void parse(struct kit_spec *k, const char *line)
{
    struct pe_fault fault;
    if (!kit_spec(k, line, &fault))
        fail_msg("%s: %s", line, fault.text);
}

/* A chain of plans, each like the one before, which is destroyed before the new one fills. */
static void test_same_bytes(void **state)
{
    struct pe_plan *last = NULL;
    struct kit_spec before = {.list_count = 0};
    char line[2000], former[2000] = "", why[4200];
    int same = 0, differ = 0, missed = 0;
    size_t scaling = 0;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct kit_spec k;
        struct pe_plan *plan;
        if (below(3) == 0)
            scaling = below(COUNT(scalings));
        random_line(line, sizeof line, scalings[scaling]);
        parse(&k, line);
        snprintf(why, sizeof why, "%s like %s", line, former);
        if (last) {
            bool shares = pe__spec_same_ladder(&k.spec, &before.spec);
            bool equal = k.spec.resource != PE_RESOURCE_FREQUENCIES &&
                         before.spec.resource != PE_RESOURCE_FREQUENCIES &&
                         pe__spec_arithmetic(&k.spec) == pe__spec_arithmetic(&before.spec) &&
                         equal_frequencies(&k.spec, &before.spec);
            if (shares && !equal)
                fail_msg("%s: not the same frequencies", why);
            missed += equal && !shares;
            uint64_t key = pe_spec_ladder(&k.spec);
            if ((key != 0 && key == pe_spec_ladder(&before.spec)) != shares)
                fail_msg("%s: key", why);
            same += shares;
            differ += !shares;
        }
        assert_int_equal(pe_plan_create_like(&k.spec, last, &plan), PE_OK);
        pe_plan_destroy(&last);
        hold_equal(&k.spec, plan, why);
        kit_spec_clear(&before);
        before = k;
        last = plan;
        snprintf(former, sizeof former, "%s", line);
    }
    pe_plan_destroy(&last);
    kit_spec_clear(&before);
    /* a growth of 1 is still another rope_type than none */
    assert_true(same > 800 && differ > 800 && missed < 150);
}

/* ---------------------------------------------------------------- ladders */

static uint64_t key_of(const char *line)
{
    struct kit_spec k;
    parse(&k, line);
    uint64_t key = pe_spec_ladder(&k.spec);
    kit_spec_clear(&k);
    return key;
}

#define DYNAMIC "rope?width=16&rope_type=dynamic&factor=2&max_position_embeddings=4096&"
#define LONG                                                                             \
    "rope?width=8&rope_type=longrope&short_factor=1,1,1,1&long_factor=1,2,4,8&factor=32" \
    "&original_max_position_embeddings=4096&"

static void test_keys(void **state)
{
    static const char *const pairs[][3] = {
        {"=", "rope?width=16&length=5", "rope?width=16&positions=1,2&dtype=bf16&layout=split"},
        {"=", "rope?width=16&length=5", "sinusoidal?width=16&length=9&scale=-1&padding_idx=0"},
        {"=", "rope?width=16&length=5", "grid?width=32&height=9&columns=9&cls_token=true"},
        {"=", "rope?width=16&length=5", "sinusoidal/shift?width=16&offset=3"},
        {"=", "rope?width=16&length=5", "rope?head_dim=32&partial_rotary_factor=0.5&length=5"},
        {"=", "sinusoidal?width=6&length=1", "sinusoidal?width=7&odd=zero&length=1"},
        {"!", "sinusoidal?width=6&length=1", "sinusoidal?width=7&odd=sine&length=1"},
        {"!", "sinusoidal?width=6&length=1", "sinusoidal?width=6&ladder=closed&length=1"},
        {"!", "sinusoidal?width=6&length=1", "sinusoidal?width=6&scale=2&length=1"},
        {"!", "rope?width=16&length=5", "rope?width=18&length=5"},
        {"!", "rope?width=16&length=5", "rope?width=16&length=5&base=10000.000000000002"},
        {"!", "rope?width=16&length=5", "rope?width=16&length=5&arithmetic=float32"},
        {"=", DYNAMIC "length=5", DYNAMIC "length=4096&inverse=true"},
        {"!", DYNAMIC "length=5", DYNAMIC "length=4097"},
        {"!", DYNAMIC "length=4098", DYNAMIC "length=4097"},
        {"=", DYNAMIC "length=4098", DYNAMIC "positions=4097"},
        {"=", DYNAMIC "length=5", DYNAMIC "length=9000&sequence_length=4000"},
        {"=", LONG "length=5", LONG "length=4096"},
        {"!", LONG "length=4096", LONG "length=4097"},
        {"=", LONG "length=4097", LONG "positions=5000,3"},
        {"=", LONG "length=1&offset=4096", LONG "length=9&sequence_length=4097"}};
    static const char *const none[] = {
        "alibi?width=8&length=3", "t5?length=3",
        "deberta?length=3&position_buckets=4&max_relative_positions=9", "rope/frequencies?width=16",
        "sinusoidal/frequencies?width=16"};
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        if ((key_of(pairs[i][1]) == key_of(pairs[i][2])) != (pairs[i][0][0] == '='))
            fail_msg("%s %s %s", pairs[i][1], pairs[i][0], pairs[i][2]);
    for (size_t i = 0; i < COUNT(none); i++)
        assert_true(key_of(none[i]) == 0);
}

/* ---------------------------------------------------------------- promises */

static void test_refusals(void **state)
{
    struct kit_spec k, other;
    struct pe_plan *plan, *like, *alone;
    (void)state;
    parse(&k, "sinusoidal?length=5&width=8");
    parse(&other, "t5?length=5");
    assert_int_equal(pe_plan_create(&other.spec, &like), PE_OK);
    assert_int_equal(pe_plan_create_like(&k.spec, like, &plan), PE_OK);
    hold_equal(&k.spec, plan, "like another kind");
    assert_int_equal(pe_plan_create(&k.spec, &alone), PE_OK);
    assert_true(pe_plan_bytes(plan) == pe_plan_bytes(alone));
    pe_plan_destroy(&like);
    /* what is shared counts in each: as much as if it were not */
    assert_int_equal(pe_plan_create_like(&k.spec, alone, &like), PE_OK);
    assert_true(pe_plan_bytes(like) == pe_plan_bytes(alone));
    k.spec.width = 7;
    pe_plan_destroy(&plan);
    assert_int_equal(pe_plan_create_like(&k.spec, alone, &plan), PE_INVALID);
    assert_null(plan);
    pe_plan_destroy(&alone);
    pe_plan_destroy(&like);
    kit_spec_clear(&k);
    kit_spec_clear(&other);
}

/* Many threads make, fill and destroy plans like one that goes meanwhile. */
struct crowd {
    pthread_barrier_t ready;
    struct pe_plan *first;
    const struct pe_spec *specs;
    char *const *want;
    const size_t *size;
};

#define SPECS 6
#define THREADS 4

static void *member(void *arg)
{
    struct crowd *c = arg;
    struct pe_plan *mine;
    if (pe_plan_create_like(&c->specs[0], c->first, &mine) != PE_OK)
        abort();
    pthread_barrier_wait(&c->ready);
    for (int i = 0; i < 300; i++) {
        struct pe_plan *next;
        int n = i % SPECS;
        size_t size;
        if (pe_plan_create_like(&c->specs[n], mine, &next) != PE_OK)
            abort();
        pe_plan_destroy(&mine);
        mine = next;
        char *got = fill(&c->specs[n], mine, &size);
        if (size != c->size[n] || memcmp(got, c->want[n], size) != 0)
            abort();
        free(got);
    }
    pe_plan_destroy(&mine);
    return NULL;
}

static void test_threads(void **state)
{
    static const char *const lines[SPECS] = {
        "xpos?width=16&length=70",          "rope?width=16&length=70&dtype=f64",
        "rope?width=16&positions=3,900000", "mrope?width=16&mrope_section=2,3,3&length=9",
        "sinusoidal?width=16&length=99",    "xpos?width=16&length=71&dtype=bf16"};
    struct kit_spec k[SPECS];
    struct pe_spec specs[SPECS];
    char *want[SPECS];
    size_t size[SPECS];
    pthread_t threads[THREADS];
    struct crowd c = {.specs = specs, .want = want, .size = size};
    (void)state;
    for (int i = 0; i < SPECS; i++) {
        struct pe_plan *plan;
        parse(&k[i], lines[i]);
        specs[i] = k[i].spec;
        assert_int_equal(pe_plan_create(&specs[i], &plan), PE_OK);
        want[i] = fill(&specs[i], plan, &size[i]);
        pe_plan_destroy(&plan);
    }
    assert_int_equal(pe_plan_create(&specs[0], &c.first), PE_OK);
    pthread_barrier_init(&c.ready, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, member, &c), 0);
    pthread_barrier_wait(&c.ready);
    pe_plan_destroy(&c.first);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&c.ready);
    for (int i = 0; i < SPECS; i++) {
        free(want[i]);
        kit_spec_clear(&k[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
