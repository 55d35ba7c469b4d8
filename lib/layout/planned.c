/* SPDX-License-Identifier: MIT
 *
 * planned.c: see planned.h.
 */
#include "layout/planned.h"
#include "layout/fault.h"
#include "layout/project.h"
#include "layout/sink.h"
#include "must.h"

#include <inttypes.h>

unsigned pe__plan_shape(const struct pe__plan *p, enum pe_out id, uint64_t shape[4])
{
    switch (id) {
    case PE_OUT_CU_DOCUMENTS:
        shape[0] = p->rows + 1;
        return 1;
    case PE_OUT_ROW_LENGTHS:
        shape[0] = p->rows;
        return 1;
    case PE_OUT_DROPPED:
        shape[0] = p->dropped_count;
        return 1;
    case PE_OUT_DOCUMENTS:
    case PE_OUT_LENGTHS:
    case PE_OUT_OFFSETS:
    case PE_OUT_PAST_LENGTHS:
        shape[0] = p->items;
        return 1;
    default:
        return 0;
    }
}

static int64_t row_length(const struct pe__plan *p, const struct pe_layout_request *q, uint64_t row)
{
    int64_t sum = 0, m = q->pad_each_to_multiple_of;
    for (uint64_t i = row ? p->row_ends[row - 1] : 0; i < p->row_ends[row]; i++)
        sum += (p->item[i].length + m - 1) / m * m;
    return sum;
}

static int64_t bound(const struct pe__plan *p, const struct pe_layout_request *q, enum pe_out id,
                     uint64_t i)
{
    switch (id) {
    case PE_OUT_DOCUMENTS:
        return p->item[i].document;
    case PE_OUT_LENGTHS:
        return p->item[i].length;
    case PE_OUT_OFFSETS:
        return p->item[i].offset;
    case PE_OUT_PAST_LENGTHS:
        return pe__item_past(q, &p->item[i]);
    case PE_OUT_CU_DOCUMENTS:
        return i ? (int64_t)p->row_ends[i - 1] : 0;
    case PE_OUT_ROW_LENGTHS:
        return row_length(p, q, i);
    case PE_OUT_TOKENS:
        return p->tokens;
    case PE_OUT_SLOTS:
        return (int64_t)p->rows * q->capacity;
    case PE_OUT_DROPPED:
        return p->dropped[i];
    default:
        must(id == PE_OUT_TOKENS_LOST);
        return p->lost;
    }
}

void pe__plan_project(const struct pe__plan *p, const struct pe_layout_request *q, enum pe_out id,
                      uint64_t first, uint64_t count, void *out)
{
    struct pe__sink sink = {out, pe__dtype(q, id) == PE_DTYPE_I64};
    double slots = (double)p->rows * (double)q->capacity,
           ratio = slots > 0 ? (double)p->tokens / slots : 0;
    for (uint64_t i = 0; i < count; i++)
        if (id == PE_OUT_FILL_RATIO)
            memcpy((char *)out + 8 * i, &ratio, 8);
        else
            pe__put(&sink, bound(p, q, id, first + i));
}

enum pe_error pe__plan_allowed(const struct pe__plan *p, const struct pe_layout_request *q,
                               enum pe_out id, struct pe_layout_fault *fault)
{
    uint64_t shape[4] = {1};
    int64_t most = 0;
    if (q->capacity && (int64_t)p->rows > PE_SLOT_END / q->capacity)
        return pe__fault(fault, PE_RANGE, PE_OPTION_CAPACITY,
                         "%" PRIu64 " rows of %" PRId64 " slots are more than 2^53 slots", p->rows,
                         q->capacity);
    if (pe__dtype(q, id) != PE_DTYPE_I32)
        return PE_OK;
    pe__plan_shape(p, id, shape);
    for (uint64_t i = 0; i < shape[0]; i++)
        most = pe__max(most, bound(p, q, id, i));
    return pe__fits(q, id, 0, most, fault);
}

bool pe__several_documents(const struct pe__form *f)
{
    for (int64_t row = 0; row < f->rows; row++) {
        unsigned n = 0;
        for (uint32_t i = f->row[row].segment; i < f->row[row + 1].segment && n < 2; i++)
            n += f->segment[i].reason == PE_REASON_DOCUMENT ||
                 f->segment[i].reason == PE_REASON_CHUNK;
        if (n > 1)
            return true;
    }
    return false;
}
