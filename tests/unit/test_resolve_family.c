/* SPDX-License-Identifier: MIT
 *
 * test_resolve_family.c: the table of families is whole: what a scheme needs stands in its row,
 * names are found as configs spell them, and every architecture of GGUF leads to a family.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "resolve/resolve_family.h"

#include <string.h>

static const char *const names[] = {
#define API_FAMILY(name, ...) name,
#define API_ARCH(arch, family, pairs)
#include "resolve/resolve_families.def"
#undef API_FAMILY
#undef API_ARCH
};

static const struct {
    const char *arch, *family;
} archs[] = {
#define API_FAMILY(name, ...)
#define API_ARCH(arch, family, pairs) {arch, family},
#include "resolve/resolve_families.def"
#undef API_FAMILY
#undef API_ARCH
};

static bool find(enum api__dialect dialect, const char *name, const char *outer,
                 struct api__family *out)
{
    struct api__config config = {.dialect = dialect, .family = name, .outer = outer};
    return api__find_family(&config, out);
}

static void rows(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct api__family f;
        assert_true(find(API__HF, names[i], "", &f));
        assert_string_equal(f.name, names[i]); /* no name stands twice */
        bool counted = f.rule == API__RULE_SCALED || f.rule == API__RULE_SLIDING ||
                       f.rule == API__RULE_WINDOW || f.rule == API__RULE_LISTED;
        assert_true(f.scheme != API__SCHEME_ROPE || f.pairs != API__PAIRS_UNKNOWN);
        assert_true(!counted || f.period > 1);
        assert_int_equal(f.why != NULL, f.scheme == API__SCHEME_UNSUPPORTED);
        assert_true(f.partial >= 0 && f.partial < 1);
        assert_true(f.base == 0 || f.base > 1);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(names[k], names[i]);
    }
}

static void architectures(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        struct api__family arch, family;
        assert_true(find(API__GGUF, archs[i].arch, "", &arch));
        assert_true(find(API__HF, archs[i].family, "", &family));
        assert_int_equal(arch.scheme, family.scheme);
        assert_int_equal(arch.rule, family.rule);
        assert_string_equal(arch.name, archs[i].arch);
        assert_true(arch.base == 0 && arch.partial == 0 && arch.head_dim == 0);
    }
}

static void search(void **unused)
{
    (void)unused;
    struct api__family f;
    assert_true(find(API__HF, "gemma3_text", "", &f));
    assert_string_equal(f.name, "gemma3");
    assert_true(find(API__HF, "speech_to_text", "", &f));
    assert_string_equal(f.name, "speech_to_text");
    assert_true(find(API__HF, "wholly_new", "qwen2_vl", &f));
    assert_string_equal(f.name, "qwen2_vl");
    assert_false(find(API__HF, "wholly_new", "", &f));
    assert_string_equal(f.name, "wholly_new");
    assert_false(find(API__HF, "Llama", "", &f));
    assert_false(find(API__HF, "_text", "", &f));
    assert_false(find(API__GGUF, "gpt_neox", "", &f));
    assert_true(find(API__GGUF, "llama", "", &f));
    assert_int_equal(f.pairs, API__PAIRS_NEIGHBOURS);
    assert_true(find(API__MEGATRON, "", "", &f));
    assert_int_equal(f.scheme, API__SCHEME_LEARNED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(architectures),
        cmocka_unit_test(search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
