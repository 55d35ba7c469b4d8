/* SPDX-License-Identifier: MIT
 *
 * padded.c: one document a row, from lengths, from a mask, or from tokens and the one that pads.
 * Nothing is ever cut off.
 */
#include "layout/fault.h"
#include "layout/sources.h"

static bool is_token(const struct pe_layout_request *q, const struct pe_array *a, uint64_t i)
{
    int64_t v = pe__at(a, i);
    return a == &q->input_ids ? v != q->pad_token_id : v != 0;
}

static enum pe_error widths(const struct pe__source *s, enum pe_option form,
                            const struct pe_array *a, int64_t *rows, int64_t *width)
{
    const struct pe_layout_request *q = s->q;
    uint64_t r, w = 0;
    if (form == PE_OPTION_LENGTHS) {
        if (a->rank != 1)
            return pe__fault(s->fault, PE_RANGE, form,
                             "lengths must be a flat list: one document a row");
        if (a->count == 0)
            return pe__fault(s->fault, PE_RANGE, form, "lengths must have at least one entry");
        enum pe_error e = pe__sums(a, form, NULL, s->fault);
        if (e)
            return e;
        r = a->count;
        for (uint64_t i = 0; i < r; i++) {
            int64_t n = pe__at(a, i);
            if (q->given[PE_OPTION_MAX_LENGTH] && n > q->max_length)
                return pe__fault_at(s->fault, PE_RANGE, form, i,
                                    "the row is longer than max_length");
            w = n > (int64_t)w ? (uint64_t)n : w;
        }
    } else {
        enum pe_error e = pe__grid(a, form, &r, &w, s->fault);
        if (e)
            return e;
        if (r == 0)
            r = 1;
        if (q->given[PE_OPTION_MAX_LENGTH] && (int64_t)w > q->max_length)
            return pe__fault(s->fault, PE_RANGE, PE_OPTION_MAX_LENGTH,
                             "max_length is less than the width of %s", pe_option_info(form)->name);
    }
    *rows = (int64_t)r;
    *width = q->given[PE_OPTION_MAX_LENGTH] ? q->max_length : (int64_t)w;
    return PE_OK;
}

/* The runs of tokens of one row that was sent slot by slot. */
static void add_runs(const struct pe__source *s, struct pe__builder *b, const struct pe_array *a,
                     uint64_t row, int64_t shift)
{
    uint64_t first = pe__row_first(a, row), end = pe__row_end(a, row);
    for (uint64_t i = first; i < end;) {
        uint64_t from = i;
        bool token = is_token(s->q, a, i);
        while (i < end && is_token(s->q, a, i) == token)
            i++;
        if (token)
            pe__build_run(b, (int64_t)(from - first) + shift, (int64_t)(i - from), (int64_t)from);
    }
}

static enum pe_error build(const struct pe__source *s, enum pe_option form,
                           const struct pe_array *a, int64_t rows, int64_t width)
{
    const struct pe_layout_request *q = s->q;
    struct pe__builder b = {.fault = s->fault};
    bool left = q->side == PE_SIDE_LEFT;
    s->form->padded = true;
    pe__build_begin(&b, s->form, q, rows, width, (uint64_t)rows);
    for (int64_t r = 0; r < rows; r++) {
        int64_t tokens_before = s->form->tokens;
        struct pe__piece piece = {.document = (int32_t)r,
                                  .reason = PE_REASON_DOCUMENT,
                                  .past = pe__entry(&q->past_lengths, (uint64_t)r)};
        pe__build_row(&b);
        pe__build_piece(&b, &piece);
        if (form == PE_OPTION_LENGTHS) {
            int64_t n = pe__at(a, (uint64_t)r);
            pe__build_run(&b, left ? width - n : 0, n, -1);
        } else if (a->count) {
            int64_t own = (int64_t)(pe__row_end(a, (uint64_t)r) - pe__row_first(a, (uint64_t)r));
            add_runs(s, &b, a, (uint64_t)r, left ? width - own : 0);
        }
        if (!b.error && q->empty == PE_EMPTY_ERROR && s->form->tokens == tokens_before)
            b.error = pe__fault_at(s->fault, PE_RANGE, form, (uint64_t)r, "the document is empty");
        pe__build_piece_end(&b, width);
        pe__build_row_end(&b);
    }
    return pe__build_end(&b);
}

enum pe_error pe__from_padded(const struct pe__source *s)
{
    static const enum pe_option forms[] = {PE_OPTION_LENGTHS, PE_OPTION_ATTENTION_MASK,
                                           PE_OPTION_INPUT_IDS};
    static const enum pe_option tokens[] = {PE_OPTION_PAD_TOKEN_ID};
    const struct pe_layout_request *q = s->q;
    enum pe_option form;
    int64_t rows = 0, width = 0;
    enum pe_error e = pe__one_form(s, forms, 3, &form);
    if (e)
        return e;
    const struct pe_array *a = form == PE_OPTION_LENGTHS          ? &q->lengths
                               : form == PE_OPTION_ATTENTION_MASK ? &q->attention_mask
                                                                  : &q->input_ids;
    if (form == PE_OPTION_INPUT_IDS && !q->given[PE_OPTION_PAD_TOKEN_ID])
        return pe__fault(s->fault, PE_MISSING, PE_OPTION_PAD_TOKEN_ID,
                         "pad_token_id is required with input_ids");
    if (form != PE_OPTION_INPUT_IDS && (e = pe__not_with(s, form, tokens, 1)))
        return e;
    if ((e = widths(s, form, a, &rows, &width)))
        return e;
    if (form == PE_OPTION_ATTENTION_MASK && (e = pe__within(a, form, 0, 1, s->fault)))
        return e;
    if ((e = pe__entries(&q->past_lengths, PE_OPTION_PAST_LENGTHS, (uint64_t)rows, "rows",
                         s->fault)))
        return e;
    enum pe_option blame = q->given[PE_OPTION_MAX_LENGTH] ? PE_OPTION_MAX_LENGTH : form;
    if ((e = pe__final_width(s, rows, &width, blame)))
        return e;
    return build(s, form, a, rows, width);
}
