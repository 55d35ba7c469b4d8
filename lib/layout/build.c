/* SPDX-License-Identifier: MIT
 *
 * build.c: rows of pieces to the form of form.h.
 *
 * A piece is a run of one document; pads inside it cut it into several segments. Positions,
 * sequences and chains are decided here and nowhere else. What a client wrote never sizes an
 * allocation: lists grow with the pieces that come.
 */
#include "layout/fault.h"
#include "layout/form.h"
#include "layout/list.h"

#include <inttypes.h>
#include <stdlib.h>

static bool by_row(const struct pe__builder *b)
{
    return b->form->q->attention == PE_ATTENTION_ROW;
}

static void fail(struct pe__builder *b, enum pe_error e)
{
    if (b->error == PE_OK)
        b->error = e;
}

static void out_of_memory(struct pe__builder *b)
{
    fail(b, pe__fault(b->fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout"));
}

static bool more_segments(struct pe__builder *b)
{
    struct pe__form *f = b->form;
    if (f->segments < f->room_segments)
        return true;
    size_t room = f->room_segments < 16 ? 16 : f->room_segments + f->room_segments / 2;
    if (room >= PE__NONE || !pe__list_resize(&f->segment, room, sizeof *f->segment) ||
        (b->with_lanes && !pe__list_resize(&f->lane, room, sizeof *f->lane)) ||
        (b->with_source && !pe__list_resize(&f->source, room, sizeof *f->source))) {
        out_of_memory(b);
        return false;
    }
    f->room_segments = (uint32_t)room;
    return true;
}

static bool more_sequences(struct pe__builder *b)
{
    struct pe__form *f = b->form;
    if (f->sequences < f->room_sequences)
        return true;
    size_t room = f->room_sequences < 16 ? 16 : f->room_sequences + f->room_sequences / 2;
    if (room >= PE__NONE || !pe__list_resize(&f->sequence, room, sizeof *f->sequence) ||
        (f->past_before && !pe__list_resize(&f->past_before, room + 1, sizeof *f->past_before)) ||
        (b->with_offset && !pe__list_resize(&f->offset, room, sizeof *f->offset))) {
        out_of_memory(b);
        return false;
    }
    f->room_sequences = (uint32_t)room;
    return true;
}

/* The first past that is not 0 makes the list. */
static bool note_past(struct pe__builder *b, int64_t past)
{
    struct pe__form *f = b->form;
    if (!f->past_before && past) {
        f->past_before = calloc((size_t)f->room_sequences + 1, sizeof *f->past_before);
        if (!f->past_before) {
            out_of_memory(b);
            return false;
        }
    }
    if (f->past_before) {
        int64_t sum = f->past_before[f->sequences] + past;
        if (sum > PE_SLOT_END) {
            fail(b, pe__fault(b->fault, PE_RANGE, PE_OPTION_PAST_LENGTHS,
                              "the sum of past_lengths is beyond 2^53"));
            return false;
        }
        f->past_before[f->sequences + 1] = sum;
    }
    return true;
}

static bool add_sequence(struct pe__builder *b, uint32_t segment, int64_t past, int64_t offset)
{
    struct pe__form *f = b->form;
    if (!more_sequences(b) || !note_past(b, past))
        return false;
    f->sequence[f->sequences] = (struct pe__sequence){
        segment, segment != PE__NONE ? b->open_tokens : PE__NONE, (uint32_t)f->rows};
    if (b->with_offset)
        f->offset[f->sequences] = offset;
    f->sequences++;
    return true;
}

/* Ends the sequence under way: gives it a number, or drops it where it is empty and that is wished.
 */
static void close_sequence(struct pe__builder *b)
{
    struct pe__form *f = b->form;
    if (b->open == PE__NONE)
        return;
    bool dropped = f->q->empty == PE_EMPTY_DROP && b->open_tokens == PE__NONE;
    uint32_t number = dropped ? PE__NONE : f->sequences;
    if (!dropped && !add_sequence(b, b->open, b->open_past, b->open_offset))
        return;
    for (uint32_t i = b->open; i < f->segments; i++)
        f->segment[i].sequence = number;
    b->open = b->open_tokens = PE__NONE;
}

static void push(struct pe__builder *b, int64_t slot, int64_t length, int64_t position, int reason)
{
    struct pe__form *f = b->form;
    if (!more_segments(b))
        return;
    uint32_t i = f->segments;
    struct pe__segment *s = &f->segment[i];
    struct pe__row *row = &f->row[f->rows];
    *s = (struct pe__segment){
        .slot = b->row_at + slot,
        .length = length,
        .position = position,
        .cover = f->covered,
        .document = reason == PE_REASON_PAD ? -1 : b->piece.document,
        .anchor = length             ? i
                  : i > row->segment ? s[-1].anchor
                                     : PE__NONE,
        .sequence = PE__NONE,
        .before = PE__NONE,
        .after = PE__NONE,
        .reason = (uint8_t)reason,
    };
    if (b->with_lanes)
        f->lane[i] = b->lane;
    if (length) {
        s->before = b->previous;
        if (b->previous != PE__NONE && f->segment[b->previous].after == PE__NONE)
            f->segment[b->previous].after = i;
        b->previous = i;
        if (row->first_tokens == PE__NONE)
            row->first_tokens = i;
        if (b->open_tokens == PE__NONE)
            b->open_tokens = i;
    }
    f->segments++;
    f->covered += length;
    f->tokens += length;
}

void pe__build_begin(struct pe__builder *b, struct pe__form *f, const struct pe_layout_request *q,
                     int64_t rows, int64_t width, uint64_t segments)
{
    f->q = q;
    f->width = width;
    b->form = f;
    if (q->given[PE_OPTION_TABLE_LENGTH] && q->table_length <= q->start)
        fail(b, pe__fault(b->fault, PE_RANGE, PE_OPTION_TABLE_LENGTH,
                          "table_length %" PRId64 " must be greater than start %" PRId64,
                          q->table_length, q->start));
    f->room_segments = segments < 16 ? 16 : (uint32_t)segments;
    f->room_sequences = f->room_segments;
    if (rows >= PE__NONE || segments >= PE__NONE ||
        !pe__list_resize(&f->row, (size_t)rows + 1, sizeof *f->row) ||
        !pe__list_resize(&f->segment, f->room_segments, sizeof *f->segment) ||
        !pe__list_resize(&f->sequence, f->room_sequences, sizeof *f->sequence) ||
        (b->with_lanes && !pe__list_resize(&f->lane, f->room_segments, sizeof *f->lane)) ||
        (b->with_source && !pe__list_resize(&f->source, f->room_segments, sizeof *f->source)) ||
        (b->with_offset && !pe__list_resize(&f->offset, f->room_sequences, sizeof *f->offset)))
        out_of_memory(b);
}

void pe__build_row(struct pe__builder *b)
{
    struct pe__form *f = b->form;
    if (b->error)
        return;
    f->row[f->rows] =
        (struct pe__row){f->segments, f->sequences, PE__NONE, 0, f->width, f->covered};
    b->row_at = f->rows * f->width;
    b->row_tokens = b->row_room = 0;
    b->open = b->open_tokens = b->previous = b->trunk = PE__NONE;
    b->lane = 0;
}

void pe__build_piece(struct pe__builder *b, const struct pe__piece *piece)
{
    if (b->error)
        return;
    b->piece = *piece;
    b->piece_segment = PE__NONE;
    b->piece_tokens = 0;
    if (piece->reason == PE_REASON_DOCUMENT || piece->reason == PE_REASON_CHUNK) {
        b->trunk = PE__NONE;
        b->lane = 0;
        if (by_row(b))
            return;
        close_sequence(b);
        b->previous = PE__NONE;
    } else if (piece->reason == PE_REASON_COPY) {
        b->previous = PE__NONE;
    } else if (piece->reason == PE_REASON_BRANCH) {
        if (b->trunk == PE__NONE)
            b->trunk = b->previous;
        b->previous = b->trunk;
        b->lane++;
    }
}

/* The position of a token of the piece at this slot of the row; `empty`: of the one that it would
 * have. */
static int64_t position_at(const struct pe__builder *b, int64_t slot, bool empty)
{
    const struct pe_layout_request *q = b->form->q;
    const struct pe__piece *p = &b->piece;
    bool tokens = q->count == PE_COUNT_TOKENS;
    if (p->has_position)
        return p->position + b->piece_tokens;
    if (!q->restart)
        return q->start + (tokens ? b->row_tokens : slot);
    if (tokens || empty)
        return q->start + p->past + b->piece_tokens;
    return q->start + p->past + slot - (b->form->padded ? 0 : p->first);
}

/* Ids lie within +-2^53, and those of tokens inside the table. */
static void check_positions(struct pe__builder *b, int64_t slot, int64_t length, int64_t position)
{
    const struct pe_layout_request *q = b->form->q;
    if (position < -PE_SLOT_END || position > PE_SLOT_END - length) {
        fail(b,
             pe__fault(b->fault, PE_RANGE,
                       q->given[PE_OPTION_PAST_LENGTHS] ? PE_OPTION_PAST_LENGTHS : PE_OPTION_START,
                       "row %" PRId64 " needs a position beyond 2^53", b->form->rows));
        return;
    }
    if (!q->given[PE_OPTION_TABLE_LENGTH] || length == 0 ||
        (position >= 0 && position + length <= q->table_length))
        return;
    int64_t skip = position < 0 ? 0 : pe__max(0, q->table_length - position);
    fail(b, pe__fault(b->fault, PE_RANGE, PE_OPTION_TABLE_LENGTH,
                      "row %" PRId64 " needs position %" PRId64 "; a table of %" PRId64
                      " rows from %" PRId64 " holds %" PRId64 " tokens",
                      b->form->rows, position + skip, q->table_length, q->start,
                      q->table_length - q->start));
    if (b->fault) {
        b->fault->rank = 2;
        b->fault->index[0] = (uint64_t)b->form->rows;
        b->fault->index[1] = (uint64_t)(slot + skip);
    }
}

static void add_segment(struct pe__builder *b, int64_t slot, int64_t length, int64_t source)
{
    struct pe__form *f = b->form;
    int64_t position = position_at(b, slot, length == 0);
    check_positions(b, slot, length, position);
    if (!b->error && f->segments == f->row[f->rows].segment && slot > 0)
        push(b, 0, 0, position, PE_REASON_PAD);
    if (b->error)
        return;
    bool first = b->piece_segment == PE__NONE;
    if (first)
        b->piece_segment = f->segments;
    if (b->open == PE__NONE) {
        b->open = f->segments;
        b->open_past = b->piece.past;
        b->open_offset = b->piece.offset;
    }
    push(b, slot, length, position, first ? b->piece.reason : PE_REASON_HOLE);
    if (b->with_source && !b->error)
        f->source[f->segments - 1] = source;
    b->piece_tokens += length;
    b->row_tokens += length;
}

void pe__build_run(struct pe__builder *b, int64_t slot, int64_t length, int64_t source)
{
    if (!b->error && length)
        add_segment(b, slot, length, source);
}

void pe__build_piece_end(struct pe__builder *b, int64_t room_end)
{
    if (!b->error && b->piece_segment == PE__NONE)
        add_segment(b, b->form->padded ? 0 : b->piece.first, 0, -1);
    b->row_room = pe__max(b->row_room, room_end);
}

/* Whose the tail of the row is. */
static void close_tail(struct pe__builder *b, struct pe__row *row)
{
    struct pe__form *f = b->form;
    if (f->q->tail == PE_TAIL_DOCUMENT && row->tail < f->width) {
        if (!add_sequence(b, PE__NONE, 0, 0))
            return;
        row->cover = row->tail;
    } else if (f->q->tail == PE_TAIL_MERGE && f->sequences > row->sequence) {
        uint32_t last = f->sequences - 1, first = f->sequence[last].segment;
        uint32_t anchor = f->segment[f->segments - 1].anchor;
        int64_t end = 0;
        if (anchor != PE__NONE)
            end = f->segment[anchor].slot + f->segment[anchor].length - b->row_at;
        if (last > row->sequence && f->sequence[last].first_tokens == PE__NONE)
            end = pe__max(end, f->segment[first].slot - b->row_at);
        row->cover = end;
    }
    f->covered += f->width - row->cover;
}

void pe__build_row_end(struct pe__builder *b)
{
    struct pe__form *f = b->form;
    if (b->error)
        return;
    close_sequence(b);
    struct pe__row *row = &f->row[f->rows];
    row->tail = f->padded ? f->width : b->row_room;
    if (!b->error)
        close_tail(b, row);
    f->rows++;
}

enum pe_error pe__build_end(struct pe__builder *b)
{
    struct pe__form *f = b->form;
    const struct pe_layout_request *q = f->q;
    if (b->error)
        return b->error;
    f->row[f->rows] =
        (struct pe__row){f->segments, f->sequences, PE__NONE, 0, f->width, f->covered};
    if (q->given[PE_OPTION_TABLE_LENGTH] && q->fill < PE_A_WORD &&
        (q->fill < 0 || q->fill >= q->table_length))
        return pe__fault(b->fault, PE_RANGE, PE_OPTION_FILL,
                         "fill %" PRId64 " lies outside of a table of %" PRId64 " rows", q->fill,
                         q->table_length);
    if (q->given[PE_OPTION_CU_SEQLENS_SIZE] && q->cu_seqlens_size < (int64_t)f->sequences + 1)
        return pe__fault(b->fault, PE_RANGE, PE_OPTION_CU_SEQLENS_SIZE,
                         "cu_seqlens_size %" PRId64 " is less than the %" PRIu32 " entries needed",
                         q->cu_seqlens_size, f->sequences + 1);
    return PE_OK;
}
