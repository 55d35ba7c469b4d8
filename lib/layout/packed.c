/* SPDX-License-Identifier: MIT
 *
 * packed.c: several documents a row, side by side, each in a room of its own: from lengths in rows,
 * from lengths that are planned first, from offsets. What has fixed slots is elsewhere.
 */
#include "layout/fault.h"
#include "layout/sources.h"

#include <inttypes.h>

/* Documents in rows, whatever they came as. */
struct rooms {
    const struct pe_layout_request *q;
    const struct pe__plan *plan; /* or NULL */
    enum pe_option form;
    uint64_t rows, items;
};

static uint64_t row_end(const struct rooms *r, uint64_t row)
{
    if (r->plan)
        return r->plan->row_ends[row];
    if (r->q->given[PE_OPTION_CU_DOCUMENTS])
        return (uint64_t)pe__at(&r->q->cu_documents, row + 1);
    return r->form == PE_OPTION_LENGTHS ? pe__row_end(&r->q->lengths, row) : r->items;
}

static struct pe__item item_at(const struct rooms *r, uint64_t i)
{
    if (r->plan)
        return r->plan->item[i];
    struct pe__item item = {.document = (uint32_t)i};
    if (r->form == PE_OPTION_LENGTHS)
        item.length = pe__at(&r->q->lengths, i);
    else
        item.length = pe__at(&r->q->cu_seqlens, i + 1) - pe__at(&r->q->cu_seqlens, i);
    return item;
}

static enum pe_error blame_item(const struct pe__source *s, const struct rooms *r, uint64_t i,
                                const char *what)
{
    if (r->form == PE_OPTION_LENGTHS)
        return pe__fault_entry(s->fault, PE_RANGE, &s->q->lengths, r->form, item_at(r, i).document,
                               what);
    return pe__fault_at(s->fault, PE_RANGE, r->form, i + 1, what);
}

/* ---------------------------------------------------------------- reading */

static enum pe_error read_cu_seqlens(const struct pe__source *s, struct rooms *r)
{
    const struct pe_array *a = &s->q->cu_seqlens;
    if (a->rank != 1 || a->count == 0)
        return pe__fault(s->fault, PE_RANGE, r->form,
                         "cu_seqlens must be a flat list of at least one entry");
    if (pe__at(a, 0) != 0)
        return pe__fault_at(s->fault, PE_RANGE, r->form, 0, "the first offset must be 0");
    for (uint64_t i = 1; i < a->count; i++)
        if (pe__at(a, i) < pe__at(a, i - 1))
            return pe__fault_at(s->fault, PE_RANGE, r->form, i,
                                "the offset is below the one before");
    r->rows = 1;
    r->items = a->count - 1;
    return PE_OK;
}

static enum pe_error read_cu_documents(const struct pe__source *s, struct rooms *r)
{
    const struct pe_array *a = &s->q->cu_documents;
    const enum pe_option o = PE_OPTION_CU_DOCUMENTS;
    if (s->q->lengths.rank != 1)
        return pe__fault(s->fault, PE_UNUSED, o, "cu_documents is not used with rows of lengths");
    if (a->rank != 1 || a->count == 0)
        return pe__fault_at(s->fault, PE_RANGE, o, 0, "the first offset must be 0");
    for (uint64_t i = 0; i < a->count; i++) {
        if (i == 0 && pe__at(a, i) != 0)
            return pe__fault_at(s->fault, PE_RANGE, o, i, "the first offset must be 0");
        if (i > 0 && pe__at(a, i) <= pe__at(a, i - 1))
            return pe__fault_at(s->fault, PE_RANGE, o, i, "the offset is not above the one before");
    }
    if (pe__at(a, a->count - 1) != (int64_t)r->items)
        return pe__fault_at(s->fault, PE_RANGE, o, a->count - 1,
                            "the last offset is not the number of lengths");
    r->rows = a->count - 1;
    return PE_OK;
}

static enum pe_error read_lengths(const struct pe__source *s, struct rooms *r)
{
    const struct pe_array *a = &s->q->lengths;
    enum pe_error e = PE_OK;
    if (a->rank == 0 || a->rank > 2)
        return pe__fault(s->fault, PE_RANGE, r->form, "lengths must be a list, or a list of rows");
    r->items = a->count;
    r->rows = pe__rows(a);
    if (s->q->given[PE_OPTION_CU_DOCUMENTS])
        return read_cu_documents(s, r);
    if (s->q->given[PE_OPTION_ALGORITHM]) {
        e = pe__plan_make(s->plan, s->q, s->fault);
        r->plan = s->plan;
        r->items = s->plan->items;
        r->rows = s->plan->rows;
        return e;
    }
    for (uint64_t row = 0; a->rank == 2 && row < r->rows; row++)
        if (pe__row_first(a, row) == pe__row_end(a, row))
            return pe__fault_at(s->fault, PE_RANGE, r->form, row,
                                "the row is empty; [0] is a row of padding");
    return PE_OK;
}

/* ---------------------------------------------------------------- rooms */

/* How wide the fullest row is; blames the first document that its row cannot hold. */
static enum pe_error fullest(const struct pe__source *s, const struct rooms *r, int64_t capacity,
                             int64_t *width)
{
    uint64_t i = 0;
    int64_t total = 0;
    for (uint64_t row = 0; row < r->rows; row++) {
        int64_t at = 0;
        for (uint64_t end = row_end(r, row); i < end; i++) {
            int64_t n = item_at(r, i).length, room;
            total += n;
            if (!pe__round_up(n, s->q->pad_each_to_multiple_of, &room) || room > PE_SLOT_END - at ||
                total > PE_SLOT_END)
                return blame_item(s, r, i, "the sum up to here is beyond 2^53");
            if (!r->plan && n == 0 && s->q->empty == PE_EMPTY_ERROR)
                return blame_item(s, r, i, "the document is empty");
            at += room;
            if (at > capacity)
                return blame_item(s, r, i, "the document does not fit into its row any more");
        }
        *width = pe__max(*width, at);
    }
    return PE_OK;
}

static enum pe_error build(const struct pe__source *s, const struct rooms *r, int64_t width)
{
    const struct pe_layout_request *q = s->q;
    struct pe__builder b = {.fault = s->fault, .with_offset = r->plan != NULL};
    pe__build_begin(&b, s->form, q, (int64_t)r->rows, width, r->items);
    uint64_t i = 0;
    for (uint64_t row = 0; row < r->rows; row++) {
        int64_t at = 0;
        pe__build_row(&b);
        for (uint64_t end = row_end(r, row); i < end && !b.error; i++) {
            struct pe__item item = item_at(r, i);
            bool on = r->plan && pe__item_goes_on(q, &item);
            int64_t room = 0;
            struct pe__piece piece = {.document = (int32_t)item.document,
                                      .reason = on ? PE_REASON_CHUNK : PE_REASON_DOCUMENT,
                                      .first = at,
                                      .offset = item.offset};
            piece.past = r->plan ? pe__item_past(q, &item) : pe__entry(&q->past_lengths, i);
            pe__round_up(item.length, q->pad_each_to_multiple_of, &room);
            pe__build_piece(&b, &piece);
            pe__build_run(&b, at, item.length, -1);
            at += room;
            pe__build_piece_end(&b, at);
        }
        pe__build_row_end(&b);
    }
    if (r->plan) {
        s->form->dropped = r->plan->dropped;
        s->form->dropped_count = r->plan->dropped_count;
        s->form->tokens_lost = r->plan->lost;
    }
    return pe__build_end(&b);
}

static enum pe_error from_rooms(const struct pe__source *s, enum pe_option form)
{
    const struct pe_layout_request *q = s->q;
    struct rooms r = {.q = q, .form = form};
    bool fixed = q->given[PE_OPTION_CAPACITY];
    int64_t width = 0;
    enum pe_error e = form == PE_OPTION_LENGTHS ? read_lengths(s, &r) : read_cu_seqlens(s, &r);
    if (e)
        return e;
    if (!r.plan &&
        (e = pe__entries(&q->past_lengths, PE_OPTION_PAST_LENGTHS, r.items, "documents", s->fault)))
        return e;
    int64_t capacity = fixed ? q->capacity : PE_SLOT_END;
    if (fixed && !pe__round_up(capacity, q->pad_to_multiple_of, &capacity))
        return pe__fault(s->fault, PE_RANGE, PE_OPTION_PAD_TO_MULTIPLE_OF,
                         "pad_to_multiple_of makes rows wider than 2^53 slots");
    if ((e = fullest(s, &r, capacity, &width)))
        return e;
    if (fixed)
        width = q->capacity;
    if ((e = pe__final_width(s, (int64_t)r.rows, &width, fixed ? PE_OPTION_CAPACITY : form)))
        return e;
    return build(s, &r, width);
}

/* ---------------------------------------------------------------- which form */

static enum pe_error check_planning(const struct pe__source *s, enum pe_option form)
{
    static const enum pe_option planning[] = {PE_OPTION_ALGORITHM, PE_OPTION_TOO_LONG,
                                              PE_OPTION_MAX_DOCUMENTS, PE_OPTION_CONTINUATION};
    const struct pe_layout_request *q = s->q;
    bool can =
        form == PE_OPTION_LENGTHS && q->lengths.rank == 1 && !q->given[PE_OPTION_CU_DOCUMENTS];
    for (unsigned i = 0; i < 4; i++) {
        if (!q->given[planning[i]])
            continue;
        if (!can)
            return pe__fault(s->fault, PE_UNUSED, planning[i],
                             "%s is for a flat list of lengths only",
                             pe_option_info(planning[i])->name);
        if (!q->given[PE_OPTION_ALGORITHM])
            return pe__fault(s->fault, PE_UNUSED, planning[i], "%s is not used without algorithm",
                             pe_option_info(planning[i])->name);
    }
    return PE_OK;
}

enum pe_error pe__from_packed(const struct pe__source *s)
{
    static const enum pe_option forms[] = {PE_OPTION_LENGTHS, PE_OPTION_CU_SEQLENS,
                                           PE_OPTION_SEGMENT_IDS, PE_OPTION_INPUT_IDS,
                                           PE_OPTION_SEGMENTS};
    static const enum pe_option tokens[] = {PE_OPTION_PAD_TOKEN_ID, PE_OPTION_EOS_TOKEN_ID,
                                            PE_OPTION_BOS_TOKEN_ID};
    static const enum pe_option rows[] = {PE_OPTION_CU_DOCUMENTS};
    const struct pe_layout_request *q = s->q;
    enum pe_option form;
    enum pe_error e = pe__one_form(s, forms, 5, &form);
    if (e)
        return e;
    if (form != PE_OPTION_INPUT_IDS && (e = pe__not_with(s, form, tokens, 3)))
        return e;
    if (form != PE_OPTION_LENGTHS && (e = pe__not_with(s, form, rows, 1)))
        return e;
    if ((e = check_planning(s, form)))
        return e;
    if (q->given[PE_OPTION_PAST_LENGTHS] && !q->restart)
        return pe__fault(s->fault, PE_CONFLICT, PE_OPTION_PAST_LENGTHS,
                         "past_lengths cannot stand beside restart=false");
    switch (form) {
    case PE_OPTION_SEGMENT_IDS:
        return pe__from_segment_ids(s);
    case PE_OPTION_INPUT_IDS:
        return pe__from_input_ids(s);
    case PE_OPTION_SEGMENTS:
        return pe__from_segments(s);
    default:
        return from_rooms(s, form);
    }
}
