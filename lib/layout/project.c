/* SPDX-License-Identifier: MIT
 *
 * project.c: see project.h. Sends each tensor to the file that knows its formula, and cuts columns
 * out.
 */
#include "layout/project.h"
#include "layout/bounds.h"
#include "layout/covered.h"
#include "layout/fault.h"
#include "layout/mask.h"
#include "layout/slots.h"

#include <inttypes.h>

enum class { IDS, OFFSETS, BOOL, I32, I64, F64 };

static const enum class classes[] = {
#define PE_TENSOR(id, name, class, offered, presented) class,
#include "layout_tensors.def"
#undef PE_TENSOR
};

static enum pe_dtype wide_or_not(int word)
{
    return word == PE_INTEGER_I64 ? PE_DTYPE_I64 : PE_DTYPE_I32;
}

enum pe_dtype pe__dtype(const struct pe_layout_request *q, enum pe_out id)
{
    switch (classes[id]) {
    case IDS:
        return wide_or_not(q->index_dtype);
    case OFFSETS:
        return wide_or_not(q->offset_dtype);
    case BOOL:
        return PE_DTYPE_BOOL;
    case I32:
        return PE_DTYPE_I32;
    case I64:
        return PE_DTYPE_I64;
    default:
        return PE_DTYPE_F64;
    }
}

/* The tensors that `slice` cuts are the first of the table. */
static bool is_sliced(const struct pe__form *f, enum pe_out id)
{
    return f->q->given[PE_OPTION_SLICE] && id <= PE_OUT_PREDICTED_BY;
}

unsigned pe__shape(const struct pe__form *f, enum pe_out id, uint64_t shape[4])
{
    unsigned rank = pe__form_shape(f, id, shape);
    if (is_sliced(f, id))
        shape[1] = (uint64_t)(f->q->slice.end - f->q->slice.first);
    return rank;
}

/* ---------------------------------------------------------------- values */

static void project_slots(const struct pe__form *f, enum pe_out id, uint64_t first, uint64_t count,
                          struct pe__sink *out)
{
    struct pe__spot at = {0};
    if (!is_sliced(f, id)) {
        pe__slots(f, id, (int64_t)first, (int64_t)count, out, &at);
        return;
    }
    int64_t width = f->q->slice.end - f->q->slice.first;
    while (count) {
        int64_t row = (int64_t)first / width, column = (int64_t)first % width;
        int64_t n = pe__min((int64_t)count, width - column);
        pe__slots(f, id, row * f->width + f->q->slice.first + column, n, out, &at);
        first += (uint64_t)n;
        count -= (uint64_t)n;
    }
}

static bool is_slots(enum pe_out id)
{
    return id <= PE_OUT_GATHER || id == PE_OUT_REPAD_INDICES || id == PE_OUT_RUN_LENGTH;
}

static bool is_listed(enum pe_out id)
{
    return id == PE_OUT_INDICES || id == PE_OUT_PADDING_OFFSET || id == PE_OUT_TOKEN_OFFSET ||
           id == PE_OUT_ATTENTION_MASK_IN_LENGTH;
}

void pe__project(const struct pe__form *f, enum pe_out id, uint64_t first, uint64_t count,
                 void *out)
{
    struct pe__sink sink = {out, pe__dtype(f->q, id) == PE_DTYPE_I64};
    if (is_slots(id)) {
        project_slots(f, id, first, count, &sink);
    } else if (is_listed(id)) {
        pe__listed(f, id, (int64_t)first, (int64_t)count, &sink);
    } else if (id == PE_OUT_MASK) {
        pe__mask(f, (int64_t)first, (int64_t)count, out);
    } else if (id == PE_OUT_STARTEND_ROW_INDICES) {
        pe__columns(f, (int64_t)first, (int64_t)count, &sink);
    } else if (id == PE_OUT_FILL_RATIO) {
        double slots = (double)(f->rows * f->width),
               ratio = slots > 0 ? (double)f->tokens / slots : 0;
        for (uint64_t i = 0; i < count; i++)
            memcpy((char *)out + 8 * i, &ratio, 8);
    } else {
        for (uint64_t i = 0; i < count; i++)
            pe__put(&sink, pe__bound(f, id, first + i));
    }
}

void pe__positions(const struct pe__form *f, uint64_t first, uint64_t count, int64_t *out)
{
    struct pe__sink sink = {(char *)out, true};
    project_slots(f, PE_OUT_POSITION_IDS, first, count, &sink);
}

/* ---------------------------------------------------------------- what fits */

enum pe_error pe__fits(const struct pe_layout_request *q, enum pe_out id, int64_t least,
                       int64_t most, struct pe_layout_fault *fault)
{
    if (pe__dtype(q, id) != PE_DTYPE_I32 || (least >= INT32_MIN && most <= INT32_MAX))
        return PE_OK;
    enum pe_option o = classes[id] == OFFSETS ? PE_OPTION_OFFSET_DTYPE : PE_OPTION_INDEX_DTYPE;
    return pe__fault(fault, PE_RANGE, o, "%s holds %" PRId64 ", which i32 cannot; %s=i64 can",
                     pe_out_name(id), most > INT32_MAX ? most : least, pe_option_info(o)->name);
}

/* The document at which the running sum passes the end of int32, where documents were sent in
 * order. */
static enum pe_error blame_sum(const struct pe__form *f, struct pe_layout_fault *fault)
{
    const struct pe_layout_request *q = f->q;
    uint32_t i = 0;
    while (i < f->sequences && pe__cu(f, i + 1) <= INT32_MAX)
        i++;
    uint32_t segment = i < f->sequences ? f->sequence[i].segment : PE__NONE;
    if (segment == PE__NONE || q->attention == PE_ATTENTION_ROW || q->given[PE_OPTION_ALGORITHM] ||
        q->endpoint == PE_CONVERT)
        return PE_OK;
    uint64_t document = (uint64_t)f->segment[segment].document;
    static const char what[] =
        "the sum up to here does not fit into i32; offset_dtype=i64 holds it";
    if (q->given[PE_OPTION_LENGTHS])
        return pe__fault_entry(fault, PE_RANGE, &q->lengths, PE_OPTION_LENGTHS, document, what);
    if (q->given[PE_OPTION_CU_SEQLENS])
        return pe__fault_at(fault, PE_RANGE, PE_OPTION_CU_SEQLENS, document + 1, what);
    return PE_OK;
}

struct extent {
    int64_t least, most;
};

static void widen(struct extent *e, int64_t v)
{
    e->least = pe__min(e->least, v);
    e->most = pe__max(e->most, v);
}

/* Tensors of flat slots: the largest value of each is looked for among the segments. */
static struct extent slot_extent(const struct pe__form *f, enum pe_out id)
{
    struct extent e = {-1, 0};
    if (id == PE_OUT_GATHER && f->origins)
        widen(&e, f->origin[f->origins - 1].slot + f->origin[f->origins - 1].length - 1);
    for (uint32_t i = 0; i < f->segments; i++) {
        const struct pe__segment *s = &f->segment[i];
        int64_t last = s->slot + s->length - 1;
        if (id == PE_OUT_LABEL_INDEX && s->after != PE__NONE)
            widen(&e, f->segment[s->after].slot);
        else if (id == PE_OUT_LABEL_INDEX && s->length > 1)
            widen(&e, last);
        else if (id == PE_OUT_PREDICTED_BY && s->length > 1)
            widen(&e, last - 1);
        if (id == PE_OUT_PREDICTED_BY && s->after != PE__NONE)
            widen(&e, last);
    }
    return e;
}

static struct extent extent_of(const struct pe__form *f, enum pe_out id)
{
    struct extent e = {0, 0};
    uint64_t shape[4], n = 1;
    switch (id) {
    case PE_OUT_POSITION_IDS:
        pe__position_extent(f, &e.least, &e.most);
        return e;
    case PE_OUT_ATTENTION_MASK:
    case PE_OUT_LOSS_MASK:
        return (struct extent){0, 1};
    case PE_OUT_SEGMENT_IDS:
        return (struct extent){-1, (int64_t)f->sequences + 1};
    case PE_OUT_DOCUMENT_IDS:
        return (struct extent){-1, INT32_MAX};
    case PE_OUT_LABEL_INDEX:
    case PE_OUT_PREDICTED_BY:
    case PE_OUT_GATHER:
        return slot_extent(f, id);
    case PE_OUT_INDICES:
        return (struct extent){0, pe__last_covered(f)};
    case PE_OUT_PADDING_OFFSET:
        return (struct extent){0, pe__last_covered(f) + 1 - f->covered};
    case PE_OUT_REPAD_INDICES:
        return (struct extent){-1, f->covered - 1};
    case PE_OUT_TOKEN_OFFSET:
        return (struct extent){0, f->rows * f->width - 1};
    case PE_OUT_RUN_LENGTH:
    case PE_OUT_ATTENTION_MASK_IN_LENGTH:
        return (struct extent){0, pe__longest(f, false)};
    default:
        break;
    }
    unsigned rank = pe__form_shape(f, id, shape);
    for (unsigned r = 0; r < rank; r++)
        n *= shape[r];
    /* Entries that cu_seqlens_size adds repeat the last one, or are small. */
    if (f->q->given[PE_OPTION_CU_SEQLENS_SIZE] && n > f->sequences + UINT64_C(1) &&
        id != PE_OUT_SEGMENTS)
        n = f->sequences + UINT64_C(1);
    for (uint64_t i = 0; i < n; i++)
        widen(&e, pe__bound(f, id, i));
    return e;
}

enum pe_error pe__allowed(const struct pe__form *f, enum pe_out id, struct pe_layout_fault *fault)
{
    const struct pe_layout_request *q = f->q;
    if (is_sliced(f, id) && q->slice.end > f->width)
        return pe__fault(fault, PE_RANGE, PE_OPTION_SLICE,
                         "slice %" PRId64 ",%" PRId64 " lies outside of rows of %" PRId64 " slots",
                         q->slice.first, q->slice.end, f->width);
    if (id == PE_OUT_LOSS_MASK && q->loss_skip == PE_LOSS_EOS &&
        !(f->tokens_in && q->given[PE_OPTION_EOS_TOKEN_ID]))
        return pe__fault(fault, PE_CONFLICT, PE_OPTION_LOSS_SKIP,
                         "loss_skip=eos needs input_ids and eos_token_id for a loss_mask");
    if (id == PE_OUT_STARTEND_ROW_INDICES && !q->causal && f->lane)
        return pe__fault(fault, PE_CONFLICT, PE_OPTION_OUTPUTS,
                         "startend_row_indices cannot tell branches apart with causal=false");
    if (pe__dtype(q, id) != PE_DTYPE_I32 || classes[id] == I32)
        return PE_OK;
    struct extent e = extent_of(f, id);
    if (e.most > INT32_MAX && (id == PE_OUT_CU_SEQLENS || id == PE_OUT_ACTUAL_SEQ_QLEN)) {
        enum pe_error blamed = blame_sum(f, fault);
        if (blamed)
            return blamed;
    }
    return pe__fits(q, id, e.least, e.most, fault);
}
