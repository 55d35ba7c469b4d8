/* SPDX-License-Identifier: MIT
 *
 * bench_table.c: what a value costs, by kind, dtype and instruction set, next to numpy on the same
 * machine.
 *
 * Runs itself once for each instruction set, because a process chooses its kernels once. Every
 * figure is the best of several runs on one thread into memory that has been touched before. numpy
 * makes the sinusoidal table in binary64 as its users do: arange, outer, sin, cos, interleave.
 */
#include "kit/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUDGET 0.02 /* seconds for one figure, at least three runs */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void die(const char *line, const char *why)
{
    fprintf(stderr, "bench_table: %s: %s\n", line, why);
    exit(1);
}

static void fill_all(const struct pe_plan *plan, const struct pe_tensor *tensors, unsigned count,
                     char *memory)
{
    for (unsigned i = 0; i < count; i++) {
        void *out[PE_MAX_TENSORS] = {NULL};
        size_t at = 0;
        /* tensors of as many rows as the i-th are filled together, with the first of them */
        for (unsigned k = 0; k < count; k++) {
            if (k < i && tensors[k].rows == tensors[i].rows)
                break;
            if (tensors[k].rows == tensors[i].rows)
                out[k] = memory + at;
            at += tensors[k].bytes;
            if (k + 1 == count && pe_fill(plan, 0, tensors[i].rows, out) != PE_OK)
                die(tensors[i].name, "pe_fill");
        }
    }
}

/* Nanoseconds for a value of a table. */
static double measure(const char *line)
{
    struct kit_spec k;
    struct pe_fault fault;
    struct pe_tensor tensors[PE_MAX_TENSORS];
    struct pe_plan *plan;
    size_t bytes = 0;
    double values = 0, best = 1e9, start = now();
    if (!kit_spec(&k, line, &fault))
        die(line, fault.text);
    unsigned count = pe_spec_tensors(&k.spec, tensors);
    for (unsigned i = 0; i < count; i++) {
        bytes += tensors[i].bytes;
        values += (double)tensors[i].rows * (double)tensors[i].row_elements;
    }
    char *memory = malloc(bytes);
    if (!memory || pe_plan_create(&k.spec, &plan) != PE_OK)
        die(line, "no memory");
    memset(memory, 1, bytes);
    for (int runs = 0; runs < 3 || now() - start < BUDGET; runs++) {
        double begin = now();
        fill_all(plan, tensors, count, memory);
        double took = now() - begin;
        best = took < best ? took : best;
    }
    pe_plan_destroy(&plan);
    free(memory);
    kit_spec_clear(&k);
    return best / values * 1e9;
}

/* Microseconds for the plan of a base that was never asked for, or for one like a plan of `like`
 * (rows of the same base) where that is not NULL. */
static double measure_plan(const char *rows, const char *like)
{
    double best = 1e9, start = now();
    int count = 0;
    for (; count < 10 || now() - start < BUDGET; count++) {
        struct kit_spec k, other;
        struct pe_fault fault;
        struct pe_plan *plan, *known = NULL;
        char line[120];
        if (like) {
            snprintf(line, sizeof line, "rope?width=128&%s&base=%d.5", like, 10000 + count);
            if (!kit_spec(&other, line, &fault) || pe_plan_create(&other.spec, &known) != PE_OK)
                die(line, "no plan");
            kit_spec_clear(&other);
        }
        snprintf(line, sizeof line, "rope?width=128&%s&base=%d.5", rows, 10000 + count);
        if (!kit_spec(&k, line, &fault))
            die(line, fault.text);
        double begin = now();
        if (pe_plan_create_like(&k.spec, known, &plan) != PE_OK)
            die(line, "no plan");
        double took = now() - begin;
        best = took < best ? took : best;
        pe_plan_destroy(&plan);
        pe_plan_destroy(&known);
        kit_spec_clear(&k);
    }
    return best * 1e6;
}

static void show_plans(void)
{
    static const char *const rows[] = {"length=8192",
                                       "length=8192&dtype=f64",
                                       "length=131072",
                                       "length=8192&offset=1000000000",
                                       "positions=5,1000,77,4000",
                                       "positions=5,1000000007,77,400000000000"};
    printf("microseconds for a plan of width 128: of a new base, and like one of length 8192\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        printf("  %-40s %8.1f %8.1f\n", rows[i], measure_plan(rows[i], NULL),
               measure_plan(rows[i], "length=8192"));
}

/* Tables of 8192 x 128 or 131072 x 128 values; %s stands for one more parameter. */
struct shape {
    const char *name, *small, *great;
};

#define ROWS(kind, more)                                                                         \
    {                                                                                            \
        kind, kind "?width=128&length=8192" more "%s", kind "?width=128&length=131072" more "%s" \
    }
static const struct shape by_dtype[] = {ROWS("sinusoidal", ""), ROWS("rope", "")};
static const struct shape others[] = {
    ROWS("mrope", "&mrope_section=16,24,24"),
    ROWS("xpos", "&offset=0"),
    {"axial_rope", "axial_rope?width=128&height=64&columns=128%s",
     "axial_rope?width=128&height=512&columns=256%s"},
    {"grid", "grid?width=128&height=64&columns=128%s", "grid?width=128&height=512&columns=256%s"},
    {"alibi", "alibi?width=128&length=8192%s", "alibi?width=128&length=131072%s"},
    {"t5", "t5?length=8192&queries=128%s", "t5?length=131072&queries=128%s"},
    {"deberta", "deberta?length=8192&queries=128&position_buckets=256&max_relative_positions=512%s",
     "deberta?length=131072&queries=128&position_buckets=256&max_relative_positions=512%s"},
};

static void show(const struct shape *shape, const char *label, const char *more, double numpy[2])
{
    const char *lines[] = {shape->small, shape->great};
    printf("%-12s %-10s", shape->name, label);
    for (int i = 0; i < 2; i++) {
        char line[200];
        /* the format is one of the literals above */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(line, sizeof line, lines[i], more);
#pragma GCC diagnostic pop
        double ns = measure(line);
        printf("  %8.3f", ns);
        if (numpy[i] > 0)
            printf(" (%4.1f x numpy)", numpy[i] / ns);
    }
    printf("\n");
    fflush(stdout);
}

static void one_instruction_set(double numpy[2])
{
    static const char *const dtypes[] = {"f32", "f64", "f16", "bf16"};
    double none[2] = {0, 0};
    printf("-- %s\n", pe_instruction_set());
    show_plans();
    for (size_t i = 0; i < sizeof by_dtype / sizeof *by_dtype; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            char more[32];
            snprintf(more, sizeof more, "&dtype=%s", dtypes[d]);
            show(&by_dtype[i], dtypes[d], more, numpy);
        }
    show(&by_dtype[1], "float32", "&arithmetic=float32", none);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        show(&others[i], "", "", none);
}

/* Nanoseconds for a value in numpy, 0 where there is no numpy. */
static double ask_numpy(int length)
{
    char command[700], answer[64] = "";
    snprintf(
        command, sizeof command,
        "OMP_NUM_THREADS=1 /usr/bin/python3 -c '\n"
        "import time, numpy as np\n"
        "def make(n, d):\n"
        "    x = np.outer(np.arange(n, dtype=np.float64), 10000.0 ** (-np.arange(0, d, 2) / d))\n"
        "    t = np.empty((n, d))\n"
        "    t[:, 0::2] = np.sin(x)\n"
        "    t[:, 1::2] = np.cos(x)\n"
        "    return t\n"
        "best = 1e9\n"
        "for _ in range(2):\n"
        "    s = time.perf_counter(); make(%d, 128); best = min(best, time.perf_counter() - s)\n"
        "print(best / %d / 128 * 1e9)\n' 2>/dev/null",
        length, length);
    FILE *f = popen(command, "r");
    if (!f)
        return 0;
    if (!fgets(answer, sizeof answer, f))
        *answer = 0;
    return pclose(f) == 0 ? strtod(answer, NULL) : 0;
}

int main(int argc, char **argv)
{
    static const char *const sets[] = {"avx512", "avx2", "portable"};
    double numpy[2];
    if (argc == 4 && strcmp(argv[1], "--numpy") == 0) {
        numpy[0] = strtod(argv[2], NULL);
        numpy[1] = strtod(argv[3], NULL);
        const char *wanted = getenv("POSENC_ISA");
        if (wanted && strcmp(wanted, pe_instruction_set()) == 0)
            one_instruction_set(numpy);
        return 0;
    }
    numpy[0] = ask_numpy(8192);
    numpy[1] = ask_numpy(131072);
    printf("nanoseconds for a value, tables of 8192 x 128 and of 131072 x 128, one thread; numpy "
           "in binary64: "
           "%.2f and %.2f\n",
           numpy[0], numpy[1]);
    fflush(stdout);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char command[600], self[400];
        snprintf(self, sizeof self, "%s", argv[0]);
        snprintf(command, sizeof command, "POSENC_ISA=%s '%s' --numpy %.6g %.6g", sets[i], self,
                 numpy[0], numpy[1]);
        if (system(command) != 0)
            return 1;
    }
    return 0;
}
