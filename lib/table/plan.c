/* SPDX-License-Identifier: MIT
 *
 * plan.c: what rows need, made once; and rows, as often as anybody likes.
 *
 * A plan owns a copy of its spec with lists of its own, the state of one producer, and a share of a
 * ladder, which other plans may own as well. It never changes once it is made, but for counts of
 * owners, so threads share it without locks. Which producer and which arithmetic serve which spec
 * is told here alone.
 */
#include "must.h"
#include "producer.h"
#include "source.h"
#include "spec/spec.h"

#include <mpfr.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Frequencies and what an arithmetic makes of them. */
struct ladder {
    atomic_uint owners;
    const struct pe__arithmetic *how;
    void *at;
};

struct pe_plan {
    struct pe_spec spec;
    const struct pe__producer *producer;
    struct ladder *ladder; /* NULL where the spec has none */
    void *state;
    unsigned count;
    struct pe_tensor tensors[PE_MAX_TENSORS];
    size_t list_bytes;
    char *lists; /* copies of the lists of the spec */
};

static const struct pe__producer *producer_of(const struct pe_spec *s)
{
    switch (s->resource) {
    case PE_RESOURCE_FREQUENCIES:
        return &pe__frequency_producer;
    case PE_RESOURCE_SHIFT:
        return &pe__shift_producer;
    case PE_RESOURCE_SIMILARITY:
        return &pe__similarity_producer;
    default:
        return s->kind == PE_KIND_ALIBI                              ? &pe__alibi_producer
               : s->kind == PE_KIND_T5 || s->kind == PE_KIND_DEBERTA ? &pe__bucket_producer
                                                                     : &pe__trig_producer;
    }
}

/* ---------------------------------------------------------------- ladders */

static const struct pe__arithmetic *arithmetic_of(const struct pe_spec *s)
{
    return pe__spec_arithmetic(s) == PE_ARITHMETIC_FLOAT32 ? &pe__staged_arithmetic
                                                           : &pe__exact_arithmetic;
}

static enum pe_error ladder_create(const struct pe_spec *s, struct ladder **out)
{
    struct ladder *l = malloc(sizeof *l);
    *out = NULL;
    if (!l)
        return PE_NO_MEMORY;
    *l = (struct ladder){.owners = 1, .how = arithmetic_of(s)};
    enum pe_error error = l->how->ladder_create(s, &l->at);
    if (error)
        free(l);
    else
        *out = l;
    return error;
}

static struct ladder *ladder_share(struct ladder *l)
{
    atomic_fetch_add_explicit(&l->owners, 1, memory_order_relaxed);
    return l;
}

static void ladder_drop(struct ladder **address)
{
    struct ladder *l = *address;
    *address = NULL;
    if (!l || atomic_fetch_sub_explicit(&l->owners, 1, memory_order_acq_rel) != 1)
        return;
    l->how->ladder_destroy(&l->at);
    free(l);
}

/* ---------------------------------------------------------------- lists */

/* Bytes of a list of the spec, 0 where p is no list or an empty one. */
static size_t list_bytes(const struct pe_spec *s, enum pe_param p)
{
    const struct pe_param_info *info = pe_param_info(p);
    const char *at = (const char *)s + info->offset;
    if (info->type == PE_TYPE_INTS)
        return ((const struct pe_ints *)at)->count * sizeof(int64_t);
    if (info->type == PE_TYPE_REALS)
        return ((const struct pe_reals *)at)->count * sizeof(double);
    return 0;
}

/* Copies the list of parameter p to `to` and lets the spec point there. */
static void adopt_list(struct pe_spec *s, enum pe_param p, char *to)
{
    char *at = (char *)s + pe_param_info(p)->offset;
    if (pe_param_info(p)->type == PE_TYPE_INTS) {
        struct pe_ints *list = (struct pe_ints *)at;
        list->at = memcpy(to, list->at, list->count * sizeof *list->at);
    } else {
        struct pe_reals *list = (struct pe_reals *)at;
        list->at = memcpy(to, list->at, list->count * sizeof *list->at);
    }
}

static enum pe_error copy_lists(struct pe_plan *plan)
{
    size_t sum = 0, at = 0;
    for (int p = 0; p < PE_PARAMS; p++)
        sum += list_bytes(&plan->spec, p);
    plan->list_bytes = sum;
    plan->lists = malloc(sum ? sum : 1);
    if (!plan->lists)
        return PE_NO_MEMORY;
    for (int p = 0; p < PE_PARAMS; p++) {
        size_t n = list_bytes(&plan->spec, p);
        if (n)
            adopt_list(&plan->spec, p, plan->lists + at);
        at += n;
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- life */

/* The ladder and the state; `like` is NULL or has the same ladder. */
static enum pe_error make(struct pe_plan *plan, const struct pe_plan *like)
{
    struct pe__making making = {.spec = &plan->spec};
    enum pe_error error = PE_OK;
    if (like)
        plan->ladder = ladder_share(like->ladder);
    else if (pe__spec_has_ladder(&plan->spec))
        error = ladder_create(&plan->spec, &plan->ladder);
    if (error)
        return error;
    if (plan->ladder) {
        making.how = plan->ladder->how;
        making.ladder = plan->ladder->at;
    }
    if (like && like->producer == plan->producer)
        making.like = like->state;
    return plan->producer->create(&making, &plan->state);
}

enum pe_error pe_plan_create_like(const struct pe_spec *spec, const struct pe_plan *like,
                                  struct pe_plan **out)
{
    struct pe_spec checked = *spec;
    struct pe_plan *plan;
    enum pe_error error;
    *out = NULL;
    if (pe_spec_check(&checked, NULL))
        return PE_INVALID;
    plan = calloc(1, sizeof *plan);
    if (!plan)
        return PE_NO_MEMORY;
    plan->spec = checked;
    plan->count = pe_spec_tensors(&checked, plan->tensors);
    plan->producer = producer_of(&checked);
    error = copy_lists(plan);
    if (!error)
        error = make(plan, like && pe__spec_same_ladder(&checked, &like->spec) ? like : NULL);
    /* what MPFR keeps for this thread: cheap to make again, and the thread may end */
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    if (error)
        pe_plan_destroy(&plan);
    *out = plan;
    return error;
}

enum pe_error pe_plan_create(const struct pe_spec *spec, struct pe_plan **out)
{
    return pe_plan_create_like(spec, NULL, out);
}

void pe_plan_destroy(struct pe_plan **plan)
{
    struct pe_plan *p = *plan;
    if (!p)
        return;
    if (p->state)
        p->producer->destroy(&p->state);
    ladder_drop(&p->ladder);
    free(p->lists);
    free(p);
    *plan = NULL;
}

size_t pe_plan_bytes(const struct pe_plan *plan)
{
    const struct ladder *l = plan->ladder;
    return sizeof *plan + plan->list_bytes + plan->producer->bytes(plan->state) +
           (l ? sizeof *l + l->how->ladder_bytes(l->at) : 0);
}

/* ---------------------------------------------------------------- rows */

enum pe_error pe_fill(const struct pe_plan *plan, uint64_t first_row, uint64_t rows,
                      void *const out[])
{
    bool wanted = false;
    for (unsigned t = 0; t < plan->count; t++) {
        uint64_t have = plan->tensors[t].rows;
        if (out[t] && (first_row > have || rows > have - first_row))
            return PE_INVALID;
        wanted = wanted || out[t];
    }
    if (wanted && rows)
        plan->producer->fill(plan->state, first_row, rows, out);
    return PE_OK;
}
