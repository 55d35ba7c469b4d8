/* SPDX-License-Identifier: MIT
 *
 * shard_project.c: the tensors of one rank: the whole layout's values at its slots, cut and never
 * made anew, and its own boundaries.
 */
#include "layout/fault.h"
#include "layout/project.h"
#include "layout/shard.h"

static unsigned list(uint64_t shape[4], uint64_t n)
{
    shape[0] = n;
    return 1;
}

unsigned pe__shard_shape(const struct pe__shard *s, enum pe_out id, uint64_t shape[4])
{
    switch (id) {
    case PE_OUT_INVERSE:
        return list(shape, (uint64_t)(s->form->rows * s->form->width));
    case PE_OUT_CU_SEQLENS:
    case PE_OUT_CU_SEQLENS_PADDED:
        return list(shape, s->runs + 1);
    case PE_OUT_SEQLENS:
    case PE_OUT_SEQUSED:
    case PE_OUT_DOCUMENTS:
        return list(shape, s->runs);
    case PE_OUT_CU_PIECES:
        return list(shape, s->pieces + 1);
    case PE_OUT_PIECE_KV_LENGTHS:
        return list(shape, s->pieces);
    case PE_OUT_MAX_SEQLEN:
        return 0;
    default:
        if (s->by_document)
            return list(shape, (uint64_t)s->slots);
        shape[0] = (uint64_t)s->form->rows;
        shape[1] = s->form->rows ? (uint64_t)(s->slots / s->form->rows) : 0;
        return 2;
    }
}

/* ---------------------------------------------------------------- values at the rank's slots */

static uint64_t span_at(const struct pe__shard *s, int64_t local)
{
    uint64_t lo = 0, hi = s->spans;
    while (hi - lo > 1) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (s->span[mid].local <= local)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void put_slots(const struct pe__shard *s, enum pe_out id, int64_t first, int64_t count,
                      struct pe__sink *out)
{
    struct pe__spot at = {0};
    for (uint64_t i = count ? span_at(s, first) : 0; count > 0; i++) {
        const struct pe__span *span = &s->span[i];
        int64_t inside = first - span->local, n = pe__min(count, span->length - inside);
        first += n;
        count -= n;
        while (n > 0) {
            int64_t now = s->stripes ? pe__min(n, s->q->stripe - inside % s->q->stripe) : n;
            int64_t slot = pe__span_slot(s, span, inside);
            if (id == PE_OUT_GLOBAL_INDEX)
                pe__put_run(out, slot, 1, now);
            else
                pe__slots(s->form, id, slot, now, out, &at);
            inside += now;
            n -= now;
        }
    }
}

void pe__shard_positions(const struct pe__shard *s, uint64_t first, uint64_t count, int64_t *out)
{
    struct pe__sink sink = {(char *)out, true};
    put_slots(s, PE_OUT_POSITION_IDS, (int64_t)first, (int64_t)count, &sink);
}

/* ---------------------------------------------------------------- boundaries */

/* The part that holds a piece, the piece's place in it, and its slots. */
static const struct pe__part *piece_at(const struct pe__shard *s, uint64_t piece, int64_t *from,
                                       int64_t *length)
{
    uint64_t lo = 0, hi = s->parts;
    while (hi - lo > 1) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (s->part[mid].pieces <= piece)
            lo = mid;
        else
            hi = mid;
    }
    const struct pe__part *p = &s->part[lo];
    *from = 0;
    *length = p->length;
    if (s->stripes) {
        int64_t stripe = s->q->stripe, k = p->inside / stripe + (int64_t)(piece - p->pieces);
        *from = pe__max(0, k * stripe - p->inside);
        *length = pe__min(p->length, (k + 1) * stripe - p->inside) - *from;
    }
    return p;
}

/* Keys from the start of the sequence to the piece's last token, past included. */
static int64_t keys_of(const struct pe__shard *s, uint64_t piece)
{
    int64_t from, length;
    const struct pe__part *p = piece_at(s, piece, &from, &length);
    if (!p->token)
        return 0;
    int64_t flat = p->slot + from + length - 1;
    if (s->stripes) {
        struct pe__span unit = {.slot = pe__unit_first(s, p->unit)};
        flat = pe__span_slot(s, &unit, p->inside + from + length - 1);
    }
    const struct pe__form *f = s->form;
    const struct pe__segment *g = &f->segment[pe__segment_at(f, flat / f->width, flat)];
    return pe__past(f, p->room) + g->cover + (flat - g->slot) + 1 - pe__cu(f, p->room);
}

static int64_t document_of(const struct pe__form *f, uint32_t sequence)
{
    uint32_t segment = f->sequence[sequence].segment;
    return segment != PE__NONE ? f->segment[segment].document : -1;
}

static int64_t longest(const struct pe__shard *s)
{
    int64_t most = 0;
    for (uint64_t i = 0; i < s->runs; i++)
        most = pe__max(most, s->run[i + 1].covered - s->run[i].covered);
    return most;
}

static int64_t bound(const struct pe__shard *s, enum pe_out id, uint64_t i)
{
    int64_t from, length;
    switch (id) {
    case PE_OUT_CU_SEQLENS:
        return s->run[i].covered;
    case PE_OUT_CU_SEQLENS_PADDED:
        return s->run[i].first;
    case PE_OUT_SEQLENS:
        return s->run[i + 1].covered - s->run[i].covered;
    case PE_OUT_SEQUSED:
        return s->run[i].used;
    case PE_OUT_DOCUMENTS:
        return document_of(s->form, s->run[i].sequence);
    case PE_OUT_MAX_SEQLEN:
        return longest(s);
    case PE_OUT_PIECE_KV_LENGTHS:
        return keys_of(s, i);
    default:
        if (i == s->pieces)
            return s->slots;
        return piece_at(s, i, &from, &length)->local + from;
    }
}

static bool is_slots(enum pe_out id)
{
    return id <= PE_OUT_PREDICTED_BY || id == PE_OUT_GLOBAL_INDEX;
}

void pe__shard_project(const struct pe__shard *s, enum pe_out id, uint64_t first, uint64_t count,
                       void *out)
{
    struct pe__sink sink = {out, pe__dtype(s->q, id) == PE_DTYPE_I64};
    if (is_slots(id)) {
        put_slots(s, id, (int64_t)first, (int64_t)count, &sink);
    } else if (id == PE_OUT_INVERSE) {
        pe__inverse(s, (int64_t)first, (int64_t)count, &sink);
    } else {
        for (uint64_t i = 0; i < count; i++)
            pe__put(&sink, bound(s, id, first + i));
    }
}

enum pe_error pe__shard_allowed(const struct pe__shard *s, enum pe_out id,
                                struct pe_layout_fault *fault)
{
    int64_t most = 0;
    uint64_t n;
    if (id <= PE_OUT_PREDICTED_BY)
        return pe__allowed(s->form, id, fault);
    if (pe__dtype(s->q, id) != PE_DTYPE_I32)
        return PE_OK;
    switch (id) {
    case PE_OUT_INVERSE:
        most = s->form->rows * s->form->width - 1;
        break;
    case PE_OUT_GLOBAL_INDEX:
        for (uint64_t i = 0; i < s->spans; i++)
            most = pe__max(most, pe__span_slot(s, &s->span[i], s->span[i].length - 1));
        break;
    case PE_OUT_PIECE_KV_LENGTHS:
        /* The longest are the last of their parts. */
        for (n = 0; n < s->parts; n++)
            most = pe__max(most,
                           keys_of(s, (n + 1 < s->parts ? s->part[n + 1].pieces : s->pieces) - 1));
        break;
    case PE_OUT_CU_SEQLENS:
    case PE_OUT_CU_SEQLENS_PADDED:
    case PE_OUT_CU_PIECES:
        most = bound(s, id, id == PE_OUT_CU_PIECES ? s->pieces : s->runs);
        break;
    case PE_OUT_MAX_SEQLEN:
        most = longest(s);
        break;
    case PE_OUT_DOCUMENTS:
        break;
    default:
        for (n = 0; n < s->runs; n++)
            most = pe__max(most, bound(s, id, n));
    }
    return pe__fits(s->q, id, 0, most, fault);
}
