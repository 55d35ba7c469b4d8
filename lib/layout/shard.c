/* SPDX-License-Identifier: MIT
 *
 * shard.c: options of a split, and the spans of one rank.
 */
#include "layout/shard.h"
#include "layout/fault.h"

#include <inttypes.h>
#include <stdlib.h>

static bool common_multiple(int64_t a, int64_t b, int64_t *out)
{
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return !__builtin_mul_overflow(a / x, b, out) && *out <= PE_SLOT_END;
}

/* Lets every row, and by document every room, grow to the multiple. */
static enum pe_error grow(struct pe_layout_request *q, bool masked, struct pe_layout_fault *fault)
{
    static const enum pe_option fixed[] = {PE_OPTION_SEGMENT_IDS, PE_OPTION_INPUT_IDS,
                                           PE_OPTION_SEGMENTS};
    for (unsigned i = 0; i < 3; i++)
        if (q->given[fixed[i]])
            return pe__fault(fault, PE_UNUSED, PE_OPTION_UNEVEN,
                             "uneven=pad is not used with %s, whose slots are fixed",
                             pe_option_info(fixed[i])->name);
    int64_t need = pe__shard_multiple(q->split, q->shards, q->stripe);
    bool fine = common_multiple(need, q->pad_to_multiple_of, &q->pad_to_multiple_of);
    q->given[PE_OPTION_PAD_TO_MULTIPLE_OF] = true;
    if (fine && q->unit == PE_UNIT_DOCUMENT && !masked) {
        fine = common_multiple(need, q->pad_each_to_multiple_of, &q->pad_each_to_multiple_of);
        q->given[PE_OPTION_PAD_EACH_TO_MULTIPLE_OF] = true;
    }
    if (!fine)
        return pe__fault(fault, PE_RANGE, PE_OPTION_UNEVEN,
                         "uneven=pad would make rows of more than 2^53 slots");
    return PE_OK;
}

enum pe_error pe__shard_options(struct pe_layout_request *q, bool masked,
                                struct pe_layout_fault *fault)
{
    static const enum pe_option required[] = {PE_OPTION_SHARDS, PE_OPTION_SHARD, PE_OPTION_SPLIT};
    for (unsigned i = 0; i < 3; i++)
        if (!q->given[required[i]])
            return pe__fault(fault, PE_MISSING, required[i], "%s is required",
                             pe_option_info(required[i])->name);
    if (q->shard >= q->shards)
        return pe__fault(fault, PE_RANGE, PE_OPTION_SHARD,
                         "shard %" PRId64 " is not one of %" PRId64, q->shard, q->shards);
    if (!q->given[PE_OPTION_UNIT])
        q->unit = q->split == PE_SPLIT_ZIGZAG ? PE_UNIT_DOCUMENT : PE_UNIT_ROW;
    if (q->piece_order == PE_PIECES_HEADS &&
        (q->split != PE_SPLIT_ZIGZAG || q->unit != PE_UNIT_DOCUMENT))
        return pe__fault(fault, PE_CONFLICT, PE_OPTION_PIECE_ORDER,
                         "piece_order=heads is for split=zigzag by document");
    if (q->given[PE_OPTION_STRIPE] && q->split != PE_SPLIT_ROUND_ROBIN)
        return pe__fault(fault, PE_UNUSED, PE_OPTION_STRIPE,
                         "stripe is for split=round_robin only");
    return q->uneven == PE_UNEVEN_PAD ? grow(q, masked, fault) : PE_OK;
}

/* ---------------------------------------------------------------- spans */

static enum pe_error check_even(const struct pe__shard *s, struct pe_layout_fault *fault)
{
    const struct pe_layout_request *q = s->q;
    int64_t need = pe__shard_multiple(q->split, q->shards, q->stripe);
    for (uint64_t u = 0; q->uneven == PE_UNEVEN_ERROR && u < s->units; u++) {
        int64_t n = pe__unit_first(s, u + 1) - pe__unit_first(s, u);
        if (n % need == 0)
            continue;
        pe__fault(fault, PE_RANGE, PE_OPTION_UNEVEN,
                  "%s %" PRIu64 " has %" PRId64 " slots; %" PRId64
                  " ranks need a multiple of %" PRId64,
                  s->by_document ? "document" : "row", u, n, q->shards, need);
        if (fault) {
            fault->rank = 1;
            fault->index[0] = u;
        }
        return PE_RANGE;
    }
    return PE_OK;
}

static void add_span(struct pe__shard *s, uint64_t unit, int64_t slot, int64_t length)
{
    if (length == 0)
        return;
    s->span[s->spans++] = (struct pe__span){s->slots, slot, length, (uint32_t)unit};
    s->slots += length;
}

/* Heads of every unit, or its only piece; tails; or both, unit by unit. */
static void add_spans(struct pe__shard *s, bool heads, bool tails)
{
    bool zigzag = s->q->split == PE_SPLIT_ZIGZAG;
    int64_t rank = s->q->shard;
    for (uint64_t u = 0; u < s->units; u++) {
        int64_t first = pe__unit_first(s, u);
        struct pe__cut c = pe__cut_unit(s, pe__unit_first(s, u + 1) - first);
        if (heads)
            add_span(s, u, first + (s->stripes ? 0 : pe__piece_first(&c, rank)),
                     pe__piece_size(&c, rank));
        int64_t last = s->count - 1 - rank;
        if (zigzag && tails)
            add_span(s, u, first + pe__piece_first(&c, last), pe__piece_size(&c, last));
    }
}

enum pe_error pe__shard_make(struct pe__shard *s, const struct pe_layout_request *q,
                             const struct pe__form *form, uint64_t outputs,
                             struct pe_layout_fault *fault)
{
    s->q = q;
    s->form = form;
    s->by_document = q->unit == PE_UNIT_DOCUMENT;
    s->heads = q->piece_order == PE_PIECES_HEADS;
    s->stripes = q->split == PE_SPLIT_ROUND_ROBIN && q->shards > 1;
    s->count = q->split == PE_SPLIT_ZIGZAG ? 2 * q->shards : q->shards;
    s->units = s->by_document ? form->sequences : (uint64_t)form->rows;
    enum pe_error e = check_even(s, fault);
    if (e)
        return e;
    uint64_t most = s->units * (q->split == PE_SPLIT_ZIGZAG ? 2 : 1);
    s->span = malloc((most + 1) * sizeof *s->span);
    if (!s->span)
        return pe__fault(fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the shard");
    if (s->heads) {
        add_spans(s, true, false);
        s->head_spans = s->spans;
        add_spans(s, false, true);
    } else {
        add_spans(s, true, true);
    }
    bool parts = outputs >> PE_OUT_CU_PIECES & 1 || outputs >> PE_OUT_PIECE_KV_LENGTHS & 1;
    e = pe__shard_runs(s, parts);
    if (!e && outputs >> PE_OUT_INVERSE & 1)
        e = pe__ahead_make(s);
    return e ? pe__fault(fault, e, PE_OPTION_NONE, "no memory for the shard") : PE_OK;
}

void pe__shard_clear(struct pe__shard *s)
{
    free(s->span);
    free(s->run);
    free(s->part);
    free(s->ahead.value);
    free(s->ahead.base);
    free(s->ahead.more);
    free(s->ahead.rest);
    free(s->ahead.spent);
    *s = (struct pe__shard){0};
}

size_t pe__shard_bytes(const struct pe__shard *s)
{
    return s->spans * sizeof *s->span + s->runs * sizeof *s->run + s->parts * sizeof *s->part +
           s->ahead.marks * (2 * s->ahead.values + 2) * sizeof(int64_t);
}
