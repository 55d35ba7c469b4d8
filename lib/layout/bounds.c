/* SPDX-License-Identifier: MIT
 *
 * bounds.c: see bounds.h. One formula for each tensor.
 */
#include "layout/bounds.h"
#include "must.h"

static uint64_t fixed_or(const struct pe__form *f, uint64_t entries)
{
    return f->q->given[PE_OPTION_CU_SEQLENS_SIZE] ? (uint64_t)f->q->cu_seqlens_size : entries;
}

static unsigned list(uint64_t shape[4], uint64_t n)
{
    shape[0] = n;
    return 1;
}

static unsigned grid(const struct pe__form *f, uint64_t shape[4], uint64_t third, uint64_t rank)
{
    shape[0] = (uint64_t)f->rows;
    shape[1] = (uint64_t)f->width;
    shape[2] = third;
    return (unsigned)rank;
}

unsigned pe__form_shape(const struct pe__form *f, enum pe_out id, uint64_t shape[4])
{
    uint64_t n = f->sequences;
    switch (id) {
    case PE_OUT_INDICES:
    case PE_OUT_PADDING_OFFSET:
        return list(shape, (uint64_t)f->covered);
    case PE_OUT_CU_SEQLENS:
    case PE_OUT_CU_SEQLENS_PADDED:
    case PE_OUT_CU_SEQLENS_K:
        return list(shape, fixed_or(f, n + 1));
    case PE_OUT_SEQLENS:
    case PE_OUT_SEQUSED:
    case PE_OUT_DOCUMENTS:
        return list(shape, fixed_or(f, n + 1) - 1);
    case PE_OUT_ACTUAL_SEQ_QLEN:
    case PE_OUT_NEXT_POSITION:
    case PE_OUT_OFFSETS:
    case PE_OUT_PAST_LENGTHS:
        return list(shape, n);
    case PE_OUT_LEFT_PADDING:
    case PE_OUT_ROW_LENGTHS:
        return list(shape, (uint64_t)f->rows);
    case PE_OUT_CU_DOCUMENTS:
        return list(shape, (uint64_t)f->rows + 1);
    case PE_OUT_DROPPED:
        return list(shape, f->dropped_count);
    case PE_OUT_SEGMENTS:
        list(shape, f->segments);
        shape[1] = 6;
        return 2;
    case PE_OUT_MAX_SEQLEN:
    case PE_OUT_MAX_SEQLEN_K:
    case PE_OUT_TOKENS:
    case PE_OUT_SLOTS:
    case PE_OUT_FILL_RATIO:
    case PE_OUT_TOKENS_LOST:
        return 0;
    case PE_OUT_MASK:
        return grid(f, shape, (uint64_t)f->width, 3);
    case PE_OUT_STARTEND_ROW_INDICES:
        return grid(f, shape, f->q->causal ? 1 : 2, 3);
    default:
        return grid(f, shape, 0, 2);
    }
}

int64_t pe__longest(const struct pe__form *f, bool past)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < f->sequences; i++)
        most = pe__max(most, pe__cu(f, i + 1) - pe__cu(f, i) + (past ? pe__past(f, i) : 0));
    return most;
}

static int64_t left_padding(const struct pe__form *f, int64_t row)
{
    uint32_t first = f->row[row].first_tokens;
    return first != PE__NONE ? f->segment[first].slot - row * f->width : f->width;
}

static int64_t next_position(const struct pe__form *f, uint32_t i)
{
    uint32_t last = pe__last_tokens(f, i);
    if (last != PE__NONE)
        return f->segment[last].position + f->segment[last].length;
    uint32_t first = f->sequence[i].segment;
    return first != PE__NONE ? f->segment[first].position : f->q->start;
}

static int64_t segment_field(const struct pe__form *f, uint32_t i, uint64_t field)
{
    const struct pe__segment *s = &f->segment[i];
    int64_t row = f->width ? s->slot / f->width : -1;
    if (f->width == 0 || s->slot == f->rows * f->width || i < f->row[row].segment) {
        /* A row without slots, or an empty segment at the very end of its row. */
        int64_t lo = 0, hi = f->rows;
        while (hi - lo > 1) {
            int64_t mid = lo + (hi - lo) / 2;
            if (f->row[mid].segment <= i)
                lo = mid;
            else
                hi = mid;
        }
        row = lo;
    }
    int64_t next = i + 1 < f->row[row + 1].segment ? s[1].slot : (row + 1) * f->width;
    switch (field) {
    case 0:
        return row;
    case 1:
        return s->slot - row * f->width;
    case 2:
        return s->length;
    case 3:
        return s->position;
    case 4:
        return next - s->slot - s->length;
    default:
        return s->reason;
    }
}

/* Entries beyond the sequences, where cu_seqlens_size asks for them. */
static int64_t beyond(const struct pe__form *f, enum pe_out id)
{
    switch (id) {
    case PE_OUT_SEQLENS:
    case PE_OUT_SEQUSED:
        return 0;
    case PE_OUT_DOCUMENTS:
        return -1;
    default:
        return f->q->cu_seqlens_fill == PE_A_WORD + PE_REST_LAST ? pe__bound(f, id, f->sequences)
                                                                 : -1;
    }
}

static int64_t of_sequence(const struct pe__form *f, enum pe_out id, uint32_t i)
{
    const struct pe__sequence *s = &f->sequence[i];
    switch (id) {
    case PE_OUT_ACTUAL_SEQ_QLEN:
        return pe__cu(f, i + 1);
    case PE_OUT_SEQLENS:
        return pe__cu(f, i + 1) - pe__cu(f, i);
    case PE_OUT_SEQUSED:
        return pe__cu(f, i + 1) - pe__cu(f, i) - pe__tail_cover(f, i);
    case PE_OUT_DOCUMENTS:
        return s->segment != PE__NONE ? f->segment[s->segment].document : -1;
    case PE_OUT_NEXT_POSITION:
        return next_position(f, i);
    case PE_OUT_OFFSETS:
        return f->offset ? f->offset[i] : 0;
    default:
        must(id == PE_OUT_PAST_LENGTHS);
        return pe__past(f, i);
    }
}

int64_t pe__bound(const struct pe__form *f, enum pe_out id, uint64_t i)
{
    switch (id) {
    case PE_OUT_MAX_SEQLEN:
        return pe__longest(f, false);
    case PE_OUT_MAX_SEQLEN_K:
        return pe__longest(f, true);
    case PE_OUT_TOKENS:
        return f->tokens;
    case PE_OUT_SLOTS:
        return f->rows * f->width;
    case PE_OUT_TOKENS_LOST:
        return f->tokens_lost;
    case PE_OUT_DROPPED:
        return f->dropped[i];
    case PE_OUT_LEFT_PADDING:
        return left_padding(f, (int64_t)i);
    case PE_OUT_ROW_LENGTHS:
        return f->row[i].tail;
    case PE_OUT_CU_DOCUMENTS:
        return f->row[i].sequence;
    case PE_OUT_SEGMENTS:
        return segment_field(f, (uint32_t)(i / 6), i % 6);
    case PE_OUT_CU_SEQLENS:
        return i > f->sequences ? beyond(f, id) : pe__cu(f, (uint32_t)i);
    case PE_OUT_CU_SEQLENS_K:
        if (i > f->sequences)
            return beyond(f, id);
        return pe__cu(f, (uint32_t)i) + (f->past_before ? f->past_before[i] : 0);
    case PE_OUT_CU_SEQLENS_PADDED:
        if (f->sequences == 0 && i == 0)
            return 0;
        return i > f->sequences ? beyond(f, id) : pe__room(f, (uint32_t)i);
    default:
        return i >= f->sequences ? beyond(f, id) : of_sequence(f, id, (uint32_t)i);
    }
}
