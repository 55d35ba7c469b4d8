/* SPDX-License-Identifier: MIT
 *
 * test_resolve_keys.c: the tables of spellings and meanings agree with each other, and what a
 * misspelt key is taken for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "resolve/resolve_keys.h"

#include <string.h>

static const unsigned both = API__OUTSIDE | API__INSIDE;

static void spellings(void **unused)
{
    (void)unused;
    static const struct {
        enum api__dialect dialect;
        unsigned places;
        const char *name;
        int meaning; /* -1: not known there */
    } cases[] = {
        {API__HF, API__OUTSIDE, "rope_theta", API__MEANS_BASE},
        {API__HF, API__INSIDE, "rope_theta", API__MEANS_BASE},
        {API__HF, API__OUTSIDE, "factor", -1},
        {API__HF, API__INSIDE, "type", API__MEANS_TYPE},
        {API__HF, API__OUTSIDE, "type", -1},
        {API__HF, both, "Rope_Theta", -1},
        {API__GGUF, API__OUTSIDE, "rope.freq_base", API__MEANS_BASE},
        {API__HF, both, "rope.freq_base", -1},
        {API__MEGATRON, API__OUTSIDE, "rotary_base", API__MEANS_BASE},
        {API__MEGATRON, both, "rope_theta", -1},
        {API__HF, API__OUTSIDE, "v_head_dim", API__MEANS_NOTHING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct api__key *key =
            api__find_key(cases[i].dialect, cases[i].places, api__bytes(cases[i].name));
        assert_int_equal(key ? (int)key->meaning : -1, cases[i].meaning);
    }
}

static void slips(void **unused)
{
    (void)unused;
    static const struct {
        unsigned places;
        const char *name, *near;
    } cases[] = {
        {API__OUTSIDE, "rope_thetta", "rope_theta"},
        {API__OUTSIDE, "ROPE-THETA", "rope_theta"},
        {API__INSIDE, "facter", "factor"},
        {API__INSIDE, "beta_fats", "beta_fast"},
        {API__OUTSIDE, "hidden_act", NULL},
        {API__OUTSIDE, "vocab_size", NULL},
        {API__INSIDE, "finetuned", NULL},
        {API__OUTSIDE, "torch_dtype", NULL},
        {API__OUTSIDE, "rope_scalling", "rope_scaling"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct api__key *near =
            api__near_key(API__HF, cases[i].places, api__bytes(cases[i].name));
        assert_int_equal(near != NULL, cases[i].near != NULL);
        if (near)
            assert_string_equal(near->spelling, cases[i].near);
    }
}

/* The present spelling is the first row of its meaning, and a row is found where it says. */
static void rows(void **unused)
{
    (void)unused;
    unsigned count = 0;
    for (int m = 0; m < API__MEANINGS; m++) {
        for (unsigned d = API__HF; d <= API__DIFFUSERS; d *= 2) {
            const char *name = api__spelling((enum api__dialect)d, (enum api__meaning)m);
            const struct api__key *key =
                api__find_key((enum api__dialect)d, both, api__bytes(name));
            if (!*name)
                continue;
            assert_non_null(key);
            assert_ptr_equal(api__key_row(api__row_of(key)), key);
            assert_int_equal(key->meaning, m);
            count++;
        }
    }
    assert_true(count > 100);
}

/* Every meaning but these has a key, and what breaks or stands beside a table says why. */
static void meanings(void **unused)
{
    (void)unused;
    for (int m = 0; m < API__MEANINGS; m++) {
        const struct api__meaning_info *info = api__meaning_info((enum api__meaning)m);
        bool spelled = false;
        for (unsigned d = API__HF; d <= API__DIFFUSERS; d *= 2)
            spelled |= *api__spelling((enum api__dialect)d, (enum api__meaning)m) != 0;
        assert_int_equal(spelled, m != API__MEANS_UNKNOWN);
        assert_int_equal(*info->text != 0, info->weight >= API__BESIDE);
    }
    assert_int_equal(api__meaning_info(API__MEANS_BASE)->param, PE_PARAM_BASE);
    assert_true(api__meaning_info(API__MEANS_PARTIAL)->outer);
    assert_false(api__meaning_info(API__MEANS_BASE)->outer);
}

static void positional_words(void **unused)
{
    (void)unused;
    static const char *const yes[] = {"use_rope", "rotary_foo", "my.ROPE.key", "max_position",
                                      "alibi"};
    static const char *const no[] = {"scope", "europe", "proper_noun", "hidden_act",
                                     "_",     "",       "rop"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        assert_true(api__sounds_positional(api__bytes(yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(api__sounds_positional(api__bytes(no[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings),
        cmocka_unit_test(slips),
        cmocka_unit_test(rows),
        cmocka_unit_test(meanings),
        cmocka_unit_test(positional_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
