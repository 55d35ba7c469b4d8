/* SPDX-License-Identifier: MIT
 *
 * test_format.c: the list of formats: names, types, what each is.
 */
#include "tables.h"

static void found_by_name(void **unused)
{
    (void)unused;
    static const char *const names[] = {"json", "npy", "npz", "safetensors", "bin", "csv", "txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_ptr_equal(api__formats[i], api__format_find(names[i], strlen(names[i])));
        assert_string_equal(api_format_name(api__formats[i]), names[i]);
    }
    assert_null(api__formats[sizeof names / sizeof *names]);
    assert_null(api__format_find("jso", 3));
    assert_null(api__format_find("jsonl", 5));
    assert_null(api__format_find("JSON", 4));
    assert_null(api__format_find("", 0));
    assert_non_null(api__format_find("npyx", 3));
}

static void types_are_distinct(void **unused)
{
    (void)unused;
    for (const struct api_format *const *f = api__formats; *f; f++) {
        const size_t len = strlen((*f)->media[0]);
        assert_memory_equal((*f)->content_type, (*f)->media[0], len);
        assert_true((*f)->content_type[len] == 0 || (*f)->content_type[len] == ';');
        for (unsigned i = 0; i < API__MAX_MEDIA && (*f)->media[i]; i++)
            for (const struct api_format *const *g = api__formats; *g; g++)
                for (unsigned k = 0; k < API__MAX_MEDIA && (*g)->media[k]; k++)
                    assert_true((*f == *g && i == k) ||
                                strcmp((*f)->media[i], (*g)->media[k]) != 0);
    }
}

static void sorts_of_formats(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        bool text, single, compresses, known;
    } sorts[] = {
        {"json", true, false, true, false}, {"npy", false, true, false, true},
        {"npz", true, false, false, true},  {"safetensors", false, false, false, true},
        {"bin", false, true, false, true},  {"csv", true, true, true, false},
        {"txt", true, true, true, false},
    };
    const struct pe_tensor t = tensor_of("weight", PE_DTYPE_F32, 2, (uint64_t[]){4, 6}, false);
    struct api__arena *arena = api__arena_new();
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        struct api_table table = table_of(sorts[i].name, &t, 1);
        api__format_lay_out(&table, arena);
        assert_int_equal(api_format_is_text(table.format), sorts[i].text);
        assert_int_equal(table.format->single, sorts[i].single);
        assert_int_equal(table.format->compresses, sorts[i].compresses);
        assert_int_equal(table.length != API_UNKNOWN, sorts[i].known);
        assert_int_equal(table.payload_length, 96);
    }
    api__arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_by_name),
        cmocka_unit_test(types_are_distinct),
        cmocka_unit_test(sorts_of_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
