/* SPDX-License-Identifier: MIT
 *
 * bench_layout.c: speed of layouts on one core: a million documents planned and laid out, ids of
 * 10^8 tokens streamed in windows, ten million ids checked.
 */
#include "posenc_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DOCUMENTS 1000000
#define WINDOW 16384

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t below(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

/* Lengths as of web text: most are short, some fill a row. */
static int64_t web_length(void)
{
    uint64_t n = 40 + below(200) * below(200) / 20;
    return (int64_t)(below(50) ? n : 4096);
}

static struct pe_array list_of(const void *at, unsigned size, uint64_t n)
{
    return (struct pe_array){.at = at, .size = size, .rank = 1, .shape = {n}, .count = n};
}

/* Reads a tensor window by window; returns its elements. */
static uint64_t stream(const struct pe_layout *l, enum pe_out id, int64_t *window)
{
    struct pe_tensor t[PE_OUTS];
    enum pe_out ids[PE_OUTS];
    unsigned n = pe_layout_tensors(l, t, ids), at = 0;
    while (at < n && ids[at] != id)
        at++;
    for (uint64_t from = 0, more; from < t[at].rows; from += more) {
        more = t[at].rows - from < WINDOW ? t[at].rows - from : WINDOW;
        pe_layout_fill(l, id, from, more, window);
    }
    return t[at].rows;
}

static int run(const char *name, const struct pe_layout_request *q, enum pe_out id, int64_t *window)
{
    struct pe_layout *l;
    struct pe_layout_fault fault;
    double t0 = now();
    if (pe_layout_create(q, &l, &fault) != PE_OK) {
        fprintf(stderr, "%s: %s\n", name, fault.text);
        return 1;
    }
    double t1 = now();
    uint64_t n = stream(l, id, window);
    double t2 = now();
    printf("%-44s made in %6.3f s (%4zu MiB), %-12s %10llu values in %6.3f s\n", name, t1 - t0,
           pe_layout_bytes(l) >> 20, pe_out_name(id), (unsigned long long)n, t2 - t1);
    pe_layout_destroy(&l);
    return 0;
}

static int check(const int32_t *ids, uint64_t n)
{
    struct pe_layout_request q;
    struct pe_layout_fault fault;
    struct pe_check *c;
    pe_layout_request_init(&q, PE_CHECK);
    q.position_ids = list_of(ids, 4, n);
    q.given[PE_OPTION_POSITION_IDS] = true;
    double t0 = now();
    if (pe_check_create(&q, &c, &fault) != PE_OK) {
        fprintf(stderr, "check: %s\n", fault.text);
        return 1;
    }
    printf("%-44s %10llu ids in %6.3f s\n", "check of ids alone", (unsigned long long)n,
           now() - t0);
    pe_check_destroy(&c);
    return 0;
}

int main(void)
{
    static int64_t lengths[DOCUMENTS], even[DOCUMENTS], window[WINDOW];
    const uint64_t count = 10 * UINT64_C(1000000);
    int32_t *ids = malloc(count * sizeof *ids);
    int bad = ids == NULL;
    for (size_t i = 0; i < DOCUMENTS; i++) {
        lengths[i] = web_length();
        even[i] = 100;
    }
    for (uint64_t i = 0; ids && i < count; i++)
        ids[i] = (int32_t)(i % 500);
    struct pe_layout_request q;
    for (int a = 0; a < PE_ALGORITHM_WORDS; a++) {
        char name[64];
        pe_layout_request_init(&q, PE_PLAN);
        q.lengths = list_of(lengths, 8, DOCUMENTS);
        q.capacity = 4096;
        q.algorithm = a;
        q.given[PE_OPTION_LENGTHS] = q.given[PE_OPTION_CAPACITY] = q.given[PE_OPTION_ALGORITHM] =
            true;
        snprintf(name, sizeof name, "plan of 10^6, %s",
                 pe_option_info(PE_OPTION_ALGORITHM)->words[a]);
        bad |= run(name, &q, PE_OUT_DOCUMENTS, window);
    }
    q.endpoint = PE_PACKED;
    q.algorithm = PE_ALGORITHM_FIRST_FIT_DECREASING;
    bad |= run("10^6 planned and laid out", &q, PE_OUT_POSITION_IDS, window);
    pe_layout_request_init(&q, PE_PACKED);
    q.lengths = list_of(even, 8, DOCUMENTS);
    q.given[PE_OPTION_LENGTHS] = true;
    bad |= run("10^6 documents of 100", &q, PE_OUT_POSITION_IDS, window);
    q.lengths = list_of((const int64_t[]){100000000}, 8, 1);
    bad |= run("one document of 10^8", &q, PE_OUT_POSITION_IDS, window);
    bad |= ids ? check(ids, count) : 1;
    free(ids);
    return bad;
}
