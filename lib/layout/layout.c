/* SPDX-License-Identifier: MIT
 *
 * layout.c: a request to a layout, and a layout to arrays. One of five things stands behind it: a
 * form, a form and one rank's part of it, a plan, a cache, several axes.
 */
#include "layout/axes.h"
#include "layout/bounds.h"
#include "layout/cached.h"
#include "layout/convert.h"
#include "layout/fault.h"
#include "layout/mask.h"
#include "layout/options.h"
#include "layout/planned.h"
#include "layout/project.h"
#include "layout/shard.h"
#include "layout/slots.h"

#include <stdlib.h>

struct pe_layout {
    struct pe_layout_request q;
    uint64_t outputs;
    struct pe__plan plan;
    struct pe__form form;
    struct pe__batch batch;
    struct pe__shard shard;
    struct pe__cached cached;
    struct pe__axes axes;
};

/* ---------------------------------------------------------------- making */

static enum pe_error make_form(struct pe_layout *l, struct pe_layout_fault *fault)
{
    struct pe__source s = {&l->q, fault, &l->form, &l->plan};
    enum pe_error e;
    bool masked = l->q.given[PE_OPTION_ATTENTION_MASK];
    switch (l->q.endpoint) {
    case PE_PADDED:
        e = pe__from_padded(&s);
        break;
    case PE_CONVERT:
        e = pe__batch_read(&l->batch, &l->q, fault);
        if (!e)
            e = pe__arrange(&l->batch, &s, &l->q);
        break;
    case PE_SHARDED:
        e = pe__shard_options(&l->q, masked, fault);
        if (!e)
            e = masked ? pe__from_padded(&s) : pe__from_packed(&s);
        if (!e)
            e = pe__shard_make(&l->shard, &l->q, &l->form, l->outputs, fault);
        break;
    default:
        e = pe__from_packed(&s);
    }
    if (!e && (e = pe__branch_ends(&l->form)))
        pe__fault(fault, e, PE_OPTION_NONE, "no memory for the layout");
    return e;
}

static enum pe_error make(struct pe_layout *l, struct pe_layout_fault *fault)
{
    enum pe_error e = pe__check_options(&l->q, fault);
    if (e)
        return e;
    l->outputs = l->q.outputs ? l->q.outputs : pe_outs_presented(l->q.endpoint);
    switch (l->q.endpoint) {
    case PE_CACHED:
        return pe__cached_make(&l->cached, &l->q, fault);
    case PE_MULTIMODAL:
        return pe__axes_make(&l->axes, &l->q, fault);
    case PE_PLAN:
        return pe__plan_make(&l->plan, &l->q, fault);
    default:
        return make_form(l, fault);
    }
}

static enum pe_error allowed(const struct pe_layout *l, enum pe_out id,
                             struct pe_layout_fault *fault)
{
    switch (l->q.endpoint) {
    case PE_CACHED:
        return pe__cached_allowed(&l->cached, id, fault);
    case PE_MULTIMODAL:
        return pe__axes_allowed(&l->axes, id, fault);
    case PE_PLAN:
        return pe__plan_allowed(&l->plan, &l->q, id, fault);
    case PE_SHARDED:
        return pe__shard_allowed(&l->shard, id, fault);
    default:
        return pe__allowed(&l->form, id, fault);
    }
}

enum pe_error pe_layout_create(const struct pe_layout_request *q, struct pe_layout **out,
                               struct pe_layout_fault *fault)
{
    struct pe_layout *l = calloc(1, sizeof *l);
    *out = NULL;
    if (!l)
        return pe__fault(fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout");
    l->q = *q;
    enum pe_error e = make(l, fault);
    for (int id = 0; !e && id < PE_OUTS; id++)
        if (l->outputs >> id & 1)
            e = allowed(l, (enum pe_out)id, fault);
    *out = l;
    if (e)
        pe_layout_destroy(out);
    return e;
}

void pe_layout_destroy(struct pe_layout **layout)
{
    struct pe_layout *l = *layout;
    if (!l)
        return;
    pe__shard_clear(&l->shard);
    pe__form_clear(&l->form);
    pe__batch_clear(&l->batch);
    pe__plan_clear(&l->plan);
    pe__cached_clear(&l->cached);
    pe__axes_clear(&l->axes);
    free(l);
    *layout = NULL;
}

/* ---------------------------------------------------------------- arrays */

static unsigned shape_of(const struct pe_layout *l, enum pe_out id, uint64_t shape[4])
{
    switch (l->q.endpoint) {
    case PE_CACHED:
        return pe__cached_shape(&l->cached, id, shape);
    case PE_MULTIMODAL:
        return pe__axes_shape(&l->axes, id, shape);
    case PE_PLAN:
        return pe__plan_shape(&l->plan, id, shape);
    case PE_SHARDED:
        return pe__shard_shape(&l->shard, id, shape);
    default:
        return pe__shape(&l->form, id, shape);
    }
}

static struct pe_tensor tensor_of(const struct pe_layout *l, enum pe_out id)
{
    struct pe_tensor t = {
        .name = pe_out_name(id), .dtype = pe__dtype(&l->q, id), .row_elements = 1};
    bool empty = false, fits = true;
    t.rank = shape_of(l, id, t.shape);
    t.rows = 1;
    for (unsigned i = 0; i < t.rank; i++) {
        empty |= t.shape[i] == 0;
        fits &= !__builtin_mul_overflow(t.rows, t.shape[i], &t.rows);
    }
    fits &=
        !__builtin_mul_overflow(t.rows, pe_dtype_size(t.dtype), &t.bytes) && t.bytes <= INT64_MAX;
    if (empty)
        t.rows = t.bytes = 0;
    else if (!fits)
        t.rows = t.bytes = UINT64_MAX;
    return t;
}

unsigned pe_layout_tensors(const struct pe_layout *l, struct pe_tensor *out, enum pe_out *ids)
{
    unsigned n = 0;
    for (int id = 0; id < PE_OUTS; id++) {
        if (!(l->outputs >> id & 1))
            continue;
        struct pe_tensor t = tensor_of(l, (enum pe_out)id);
        unsigned at = n++;
        while (at > 0 && (out[at - 1].dtype > t.dtype ||
                          (out[at - 1].dtype == t.dtype && strcmp(out[at - 1].name, t.name) > 0))) {
            out[at] = out[at - 1];
            if (ids)
                ids[at] = ids[at - 1];
            at--;
        }
        out[at] = t;
        if (ids)
            ids[at] = (enum pe_out)id;
    }
    return n;
}

void pe_layout_positions_tensor(const struct pe_layout *l, struct pe_tensor *out)
{
    *out = tensor_of(l, PE_OUT_POSITION_IDS);
}

void pe_layout_fill(const struct pe_layout *l, enum pe_out id, uint64_t first, uint64_t count,
                    void *out)
{
    if (count == 0)
        return;
    switch (l->q.endpoint) {
    case PE_CACHED:
        pe__cached_project(&l->cached, id, first, count, out);
        break;
    case PE_MULTIMODAL:
        pe__axes_project(&l->axes, id, first, count, out);
        break;
    case PE_PLAN:
        pe__plan_project(&l->plan, &l->q, id, first, count, out);
        break;
    case PE_SHARDED:
        pe__shard_project(&l->shard, id, first, count, out);
        break;
    default:
        pe__project(&l->form, id, first, count, out);
    }
}

void pe_layout_positions(const struct pe_layout *l, uint64_t first, uint64_t count, int64_t *out)
{
    if (count == 0)
        return;
    switch (l->q.endpoint) {
    case PE_CACHED:
        pe__cached_positions(&l->cached, first, count, out);
        break;
    case PE_SHARDED:
        pe__shard_positions(&l->shard, first, count, out);
        break;
    default:
        pe__positions(&l->form, first, count, out);
    }
}

bool pe_layout_extent(const struct pe_layout *l, int64_t *least, int64_t *most)
{
    if (l->q.endpoint == PE_CACHED)
        return pe__cached_extent(&l->cached, least, most);
    return pe__position_extent(&l->form, least, most);
}

const struct pe_layout_request *pe_layout_request_of(const struct pe_layout *l)
{
    return &l->q;
}

unsigned pe_layout_warnings(const struct pe_layout *l,
                            struct pe_layout_warning out[PE_MAX_WARNINGS])
{
    unsigned n = 0;
    bool several = pe__several_documents(&l->form), by_row = l->q.attention == PE_ATTENTION_ROW;
    if (several && !l->q.restart && !by_row)
        out[n++] = (struct pe_layout_warning){"segment_does_not_restart",
                                              "positions run on over documents that do not see "
                                              "each other (restart=false, attention=document)"};
    if (several && l->q.restart && by_row)
        out[n++] = (struct pe_layout_warning){
            "restart_inside_segment",
            "positions restart inside of what attends to itself (restart=true, attention=row)"};
    if (l->form.lane)
        out[n++] = (struct pe_layout_warning){
            "branches_need_a_mask",
            "branches share a trunk: cu_seqlens alone cannot keep them apart, a mask can"};
    if (l->axes.overlaps)
        out[n++] = (struct pe_layout_warning){
            "text_after_vision_overlaps_earlier_axis",
            "text after a long clip has ids that the clip has too (advance=spatial)"};
    if (l->batch.may_end_in_pads && n < PE_MAX_WARNINGS)
        out[n++] = (struct pe_layout_warning){
            "last_document_may_be_padding",
            "a row ends in a document of one token, which may be a pad; send attention_mask too"};
    return n;
}

size_t pe_layout_bytes(const struct pe_layout *l)
{
    return sizeof *l + pe__form_bytes(&l->form) + pe__plan_bytes(&l->plan) +
           pe__shard_bytes(&l->shard) + l->cached.batch * sizeof *l->cached.request +
           l->axes.room_stretches * sizeof *l->axes.stretch +
           l->axes.room_documents * sizeof *l->axes.document +
           l->batch.room_documents * sizeof *l->batch.document +
           l->batch.room_runs * sizeof *l->batch.run;
}
