/* SPDX-License-Identifier: MIT
 *
 * plan.c: what rows need, made once; and rows, as often as anybody likes.
 *
 * A plan owns a copy of its spec with lists of its own and the state of one producer. It never
 * changes once it is made, so threads share it without locks. Which producer serves which spec is
 * told here alone.
 */
#include "must.h"
#include "producer.h"
#include "spec/spec.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

struct pe_plan {
    struct pe_spec spec;
    const struct pe__producer *producer;
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

enum pe_error pe_plan_create(const struct pe_spec *spec, struct pe_plan **out)
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
        error = plan->producer->create(&plan->spec, &plan->state);
    /* what MPFR keeps for this thread: cheap to make again, and the thread may end */
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
    if (error)
        pe_plan_destroy(&plan);
    *out = plan;
    return error;
}

void pe_plan_destroy(struct pe_plan **plan)
{
    struct pe_plan *p = *plan;
    if (!p)
        return;
    if (p->state)
        p->producer->destroy(&p->state);
    free(p->lists);
    free(p);
    *plan = NULL;
}

size_t pe_plan_bytes(const struct pe_plan *plan)
{
    return sizeof *plan + plan->list_bytes + plan->producer->bytes(plan->state);
}

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
