/* SPDX-License-Identifier: MIT
 *
 * test_instruction_sets.c: the same bytes from every instruction set, for every kind and dtype. A
 * process chooses its kernels once, so each set is a run of this program, which writes the bytes of
 * all tables.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const tables[] = {
    "sinusoidal?length=300&width=130&offset=70000",
    "sinusoidal?length=90&width=64&layout=split&order=cos&ladder=closed",
    "rope?length=300&width=128",
    "rope?length=70&width=40&layout=complex&inverse=true",
    "rope?length=70&width=40&layout=matrix",
    "rope?length=70&width=40&layout=phase",
    "rope?length=70&width=64&rope_type=yarn&factor=4&original_max_position_embeddings=4096",
    "rope?length=70&width=64&arithmetic=float32",
    "mrope?length=40&width=32&mrope_section=4,6,6",
    "axial_rope?height=7&columns=5&width=32",
    "grid?height=7&columns=5&width=32",
    "xpos?length=50&width=24",
    "alibi?width=12&length=33&queries=33",
};
static const char *const dtypes[] = {"f64", "f32", "f16", "bf16"};

static void write_all(FILE *to)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (size_t k = 0; k < 4; k++) {
            char line[256];
            struct kit_spec s;
            struct pe_fault fault;
            struct pe_plan *plan;
            struct pe_tensor t[PE_MAX_TENSORS];
            snprintf(line, sizeof line, "%s&dtype=%s", tables[i], dtypes[k]);
            if (!kit_spec(&s, line, &fault) || pe_plan_create(&s.spec, &plan) != PE_OK)
                exit(3);
            unsigned n = pe_spec_tensors(&s.spec, t);
            for (unsigned j = 0; j < n; j++) {
                void *out[PE_MAX_TENSORS] = {NULL};
                out[j] = malloc(t[j].bytes);
                if (!out[j] || pe_fill(plan, 0, t[j].rows, out) != PE_OK ||
                    fwrite(out[j], 1, t[j].bytes, to) != t[j].bytes)
                    exit(3);
                free(out[j]);
            }
            pe_plan_destroy(&plan);
            kit_spec_clear(&s);
        }
}

static char *bytes_of(const char *set, size_t *size)
{
    char self[512] = {0}, command[640], *all = NULL;
    size_t n = 0;
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(command, sizeof command, "POSENC_ISA=%s '%s' write", set, self);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    do {
        all = realloc(all, n + (1 << 20));
        assert_non_null(all);
        *size = fread(all + n, 1, 1 << 20, from);
        n += *size;
    } while (*size);
    assert_int_equal(pclose(from), 0);
    *size = n;
    return all;
}

static void every_set_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const sets[] = {"avx2", "avx512"};
    size_t size, other_size;
    char *portable = bytes_of("portable", &size);
    assert_true(size > 1000000);
    for (size_t i = 0; i < 2; i++) {
        char *other = bytes_of(sets[i], &other_size);
        assert_int_equal(other_size, size);
        assert_memory_equal(other, portable, size);
        free(other);
    }
    free(portable);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_set_gives_the_same_bytes)};
    if (argc == 2 && strcmp(argv[1], "write") == 0) {
        write_all(stdout);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
