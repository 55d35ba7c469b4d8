/* SPDX-License-Identifier: MIT
 *
 * axes_project.c: the tensors of `multimodal`.
 */
#include "layout/axes.h"
#include "layout/fault.h"
#include "layout/form.h"
#include "layout/project.h"
#include "must.h"

#include <inttypes.h>

static int64_t axis_count(const struct pe__axes *a)
{
    return a->q->text_axis ? 4 : 3;
}

static bool is_slots(enum pe_out id)
{
    return id == PE_OUT_POSITION_IDS || id == PE_OUT_ATTENTION_MASK || id == PE_OUT_SEGMENT_IDS;
}

unsigned pe__axes_shape(const struct pe__axes *a, enum pe_out id, uint64_t shape[4])
{
    unsigned rank = 0;
    switch (id) {
    case PE_OUT_ROPE_DELTAS:
    case PE_OUT_NEXT_POSITION:
    case PE_OUT_DOCUMENTS:
        shape[0] = a->documents;
        return 1;
    case PE_OUT_CU_SEQLENS:
        shape[0] = a->documents + UINT64_C(1);
        return 1;
    case PE_OUT_INDICES:
        shape[0] = (uint64_t)a->tokens;
        return 1;
    case PE_OUT_MAX_SEQLEN:
        return 0;
    default:
        break;
    }
    if (id == PE_OUT_POSITION_IDS)
        shape[rank++] = (uint64_t)axis_count(a);
    shape[rank++] = (uint64_t)a->rows;
    shape[rank++] = (uint64_t)a->width;
    if (a->q->given[PE_OPTION_SLICE])
        shape[rank - 1] = (uint64_t)(a->q->slice.end - a->q->slice.first);
    return rank;
}

/* ---------------------------------------------------------------- one value a slot */

/* The first stretch that ends behind the flat slot. */
static uint32_t stretch_at(const struct pe__axes *a, int64_t flat)
{
    uint32_t lo = 0, hi = a->stretches;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (a->stretch[mid].slot + a->stretch[mid].length <= flat)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Tokens k .. k+n-1 of a stretch. */
struct part {
    const struct pe__stretch *s;
    int64_t k, n;
};

/* A part of a grid on axis 0 t, 1 h, 2 w. */
static void put_grid(const struct pe__axes *a, int axis, struct part part, struct pe__sink *out)
{
    const struct pe__stretch *s = part.s;
    int64_t k = part.k, n = part.n;
    struct pe__frames f = pe__grid_of(a->q, s->video, s->grid);
    while (n > 0) {
        int64_t frame = k / (f.h * f.w), rest = k % (f.h * f.w);
        int64_t y = rest / f.w, x = rest % f.w;
        int64_t now = pe__min(n, axis == 0 ? f.h * f.w - rest : f.w - x);
        if (axis == 0)
            pe__put_run(out, s->now + pe__frame_at(a->q, s->video, s->grid, frame), 0, now);
        else
            pe__put_run(out, s->now + (axis == 1 ? y : x), axis == 2, now);
        k += now;
        n -= now;
    }
}

static void put_tokens(const struct pe__axes *a, enum pe_out id, int64_t axis, struct part part,
                       struct pe__sink *out)
{
    const struct pe__stretch *s = part.s;
    int64_t k = part.k, n = part.n;
    if (id == PE_OUT_ATTENTION_MASK)
        pe__put_run(out, 1, 0, n);
    else if (id == PE_OUT_SEGMENT_IDS)
        pe__put_run(out, a->q->segment_base + s->document - a->document[s->document].first_of_row,
                    0, n);
    else if (a->q->text_axis && axis == 0)
        pe__put_run(out, s->text + k, 1, n);
    else if (s->grid < 0)
        pe__put_run(out, s->now + k, 1, n);
    else
        put_grid(a, (int)(axis - a->q->text_axis), part, out);
}

static void put_slots(const struct pe__axes *a, enum pe_out id, int64_t axis, int64_t flat,
                      int64_t count, struct pe__sink *out)
{
    int64_t pad = id == PE_OUT_POSITION_IDS  ? a->q->fill
                  : id == PE_OUT_SEGMENT_IDS ? a->q->segment_base - 1
                                             : 0;
    for (uint32_t i = stretch_at(a, flat); count > 0; i++) {
        int64_t gap =
            i < a->stretches ? pe__min(count, pe__max(0, a->stretch[i].slot - flat)) : count;
        pe__put_run(out, pad, 0, gap);
        flat += gap;
        count -= gap;
        if (count == 0)
            return;
        const struct pe__stretch *s = &a->stretch[i];
        int64_t k = flat - s->slot, n = pe__min(count, s->length - k);
        put_tokens(a, id, axis, (struct part){s, k, n}, out);
        flat += n;
        count -= n;
    }
}

/* Elements of [axes, B, W], or of its slice. */
static void put_rows(const struct pe__axes *a, enum pe_out id, int64_t first, int64_t count,
                     struct pe__sink *out)
{
    int64_t begin = 0, width = a->width;
    if (a->q->given[PE_OPTION_SLICE]) {
        begin = a->q->slice.first;
        width = a->q->slice.end - begin;
    }
    while (count > 0) {
        int64_t line = first / width, column = first % width;
        int64_t n = pe__min(count, width - column);
        put_slots(a, id, line / a->rows, line % a->rows * a->width + begin + column, n, out);
        first += n;
        count -= n;
    }
}

/* ---------------------------------------------------------------- the rest */

static int64_t bound(const struct pe__axes *a, enum pe_out id, uint64_t i)
{
    const struct pe__story *d = &a->document[i];
    switch (id) {
    case PE_OUT_CU_SEQLENS:
        return i < a->documents ? d->before : a->tokens;
    case PE_OUT_ROPE_DELTAS:
        return d->next - (a->q->delta == PE_DELTA_TOKENS ? d->tokens : a->width);
    case PE_OUT_NEXT_POSITION:
        return d->next;
    case PE_OUT_DOCUMENTS:
        return (int64_t)i;
    default:
        must(id == PE_OUT_MAX_SEQLEN);
        return a->longest;
    }
}

static void put_indices(const struct pe__axes *a, int64_t first, int64_t count,
                        struct pe__sink *out)
{
    uint32_t lo = 0, hi = a->stretches;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (a->stretch[mid].before <= first)
            lo = mid;
        else
            hi = mid;
    }
    for (; count > 0; lo++) {
        const struct pe__stretch *s = &a->stretch[lo];
        int64_t k = first - s->before, n = pe__min(count, s->length - k);
        pe__put_run(out, s->slot + k, 1, n);
        first += n;
        count -= n;
    }
}

void pe__axes_project(const struct pe__axes *a, enum pe_out id, uint64_t first, uint64_t count,
                      void *out)
{
    struct pe__sink sink = {out, pe__dtype(a->q, id) == PE_DTYPE_I64};
    if (is_slots(id))
        put_rows(a, id, (int64_t)first, (int64_t)count, &sink);
    else if (id == PE_OUT_INDICES)
        put_indices(a, (int64_t)first, (int64_t)count, &sink);
    else
        for (uint64_t i = 0; i < count; i++)
            pe__put(&sink, bound(a, id, first + i));
}

enum pe_error pe__axes_allowed(const struct pe__axes *a, enum pe_out id,
                               struct pe_layout_fault *fault)
{
    const struct pe_layout_request *q = a->q;
    int64_t lo = -1, hi = 0;
    if (is_slots(id) && q->given[PE_OPTION_SLICE] && q->slice.end > a->width)
        return pe__fault(fault, PE_RANGE, PE_OPTION_SLICE,
                         "slice %" PRId64 ",%" PRId64 " lies outside of rows of %" PRId64 " slots",
                         q->slice.first, q->slice.end, a->width);
    if (pe__dtype(q, id) != PE_DTYPE_I32)
        return PE_OK;
    for (uint32_t i = 0; i < a->documents; i++) {
        if (id == PE_OUT_POSITION_IDS) {
            lo = pe__min(lo, pe__min(q->start, q->fill));
            hi = pe__max(hi, pe__max(q->fill, a->document[i].next - 1));
        } else if (id == PE_OUT_ROPE_DELTAS || id == PE_OUT_NEXT_POSITION) {
            lo = pe__min(lo, bound(a, id, i));
            hi = pe__max(hi, bound(a, id, i));
        }
    }
    return pe__fits(q, id, lo, hi, fault);
}
