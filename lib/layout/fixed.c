/* SPDX-License-Identifier: MIT
 *
 * fixed.c: rows whose slots stay where they are: segment numbers, and tokens with those that end,
 * open and pad documents. The number of documents is known only after the walk, so pasts are
 * checked behind it.
 */
#include "layout/fault.h"
#include "layout/labels.h"
#include "layout/sources.h"

static const enum pe_option widths[] = {PE_OPTION_CAPACITY, PE_OPTION_PAD_EACH_TO_MULTIPLE_OF,
                                        PE_OPTION_PAD_TO_MULTIPLE_OF};

/* The past of the next document: a number, or its entry as far as there are any. */
static int64_t past_of(const struct pe_layout_request *q, uint64_t document)
{
    const struct pe_array *a = &q->past_lengths;
    return a->rank && document >= a->count ? 0 : pe__entry(a, document);
}

static enum pe_error check_past(const struct pe__source *s, uint64_t documents)
{
    return pe__entries(&s->q->past_lengths, PE_OPTION_PAST_LENGTHS, documents, "documents",
                       s->fault);
}

static enum pe_error begin(const struct pe__source *s, enum pe_option form,
                           const struct pe_array *a, struct pe__builder *b, int64_t *rows)
{
    uint64_t r, w = 0;
    enum pe_error e = pe__not_with(s, form, widths, 3);
    if (e || (e = pe__grid(a, form, &r, &w, s->fault)))
        return e;
    *rows = (int64_t)r;
    *b = (struct pe__builder){.fault = s->fault};
    pe__build_begin(b, s->form, s->q, *rows, (int64_t)w, r);
    return b->error;
}

/* ---------------------------------------------------------------- segment numbers */

static void label_row(const struct pe__source *s, struct pe__builder *b, struct pe__labels *l,
                      uint64_t row, uint64_t *documents)
{
    struct pe__label_run run;
    bool open = false;
    int64_t end = 0;
    pe__labels_row(l, row);
    while (!b->error && pe__labels_next(l, &run)) {
        if (run.repeated) {
            b->error = pe__fault_in(s->fault, PE_RANGE, PE_OPTION_SEGMENT_IDS, row,
                                    (uint64_t)run.slot, "the number comes back after another one");
            if (s->fault)
                s->fault->rule = "segment_repeated";
            return;
        }
        if (run.opens) {
            if (open)
                pe__build_piece_end(b, end);
            struct pe__piece piece = {.document = (int32_t)*documents,
                                      .reason = PE_REASON_DOCUMENT,
                                      .first = run.slot,
                                      .past = past_of(s->q, *documents)};
            pe__build_piece(b, &piece);
            open = true;
            ++*documents;
        }
        pe__build_run(b, run.slot, run.length, -1);
        end = run.slot + run.length;
    }
    if (open)
        pe__build_piece_end(b, end);
}

enum pe_error pe__from_segment_ids(const struct pe__source *s)
{
    const struct pe_array *a = &s->q->segment_ids;
    struct pe__builder b;
    int64_t rows;
    uint64_t documents = 0;
    enum pe_error e = begin(s, PE_OPTION_SEGMENT_IDS, a, &b, &rows);
    if (e)
        return e;
    struct pe__labels l = {.array = a, .pad = s->q->segment_base - 1};
    for (int64_t row = 0; row < rows && !b.error; row++) {
        pe__build_row(&b);
        label_row(s, &b, &l, (uint64_t)row, &documents);
        pe__build_row_end(&b);
    }
    if (l.no_memory && !b.error)
        b.error = pe__fault(s->fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout");
    pe__labels_clear(&l);
    if (!b.error)
        b.error = check_past(s, documents);
    return pe__build_end(&b);
}

/* ---------------------------------------------------------------- tokens */

/* Whether a document begins at token i, which is not the first of its row. */
static bool opens(const struct pe_layout_request *q, int64_t before, int64_t now)
{
    bool ended = q->given[PE_OPTION_EOS_TOKEN_ID] && before == q->eos_token_id;
    bool begun = q->given[PE_OPTION_BOS_TOKEN_ID] && now == q->bos_token_id;
    if (q->given[PE_OPTION_EOS_TOKEN_ID] && q->given[PE_OPTION_BOS_TOKEN_ID])
        return ended && begun;
    return ended || begun;
}

static void token_row(const struct pe__source *s, struct pe__builder *b, uint64_t row,
                      uint64_t *documents)
{
    const struct pe_array *a = &s->q->input_ids;
    uint64_t first = pe__row_first(a, row), end = pe__row_end(a, row);
    if (s->q->given[PE_OPTION_PAD_TOKEN_ID])
        while (end > first && pe__at(a, end - 1) == s->q->pad_token_id)
            end--;
    for (uint64_t i = first; i < end && !b->error;) {
        uint64_t from = i++;
        while (i < end && !opens(s->q, pe__at(a, i - 1), pe__at(a, i)))
            i++;
        struct pe__piece piece = {.document = (int32_t)*documents,
                                  .reason = PE_REASON_DOCUMENT,
                                  .first = (int64_t)(from - first),
                                  .past = past_of(s->q, *documents)};
        pe__build_piece(b, &piece);
        pe__build_run(b, piece.first, (int64_t)(i - from), -1);
        pe__build_piece_end(b, (int64_t)(i - first));
        ++*documents;
    }
}

enum pe_error pe__from_input_ids(const struct pe__source *s)
{
    const struct pe_layout_request *q = s->q;
    bool eos = q->given[PE_OPTION_EOS_TOKEN_ID], bos = q->given[PE_OPTION_BOS_TOKEN_ID];
    struct pe__builder b;
    int64_t rows;
    uint64_t documents = 0;
    if (!eos && !bos)
        return pe__fault(s->fault, PE_MISSING, PE_OPTION_EOS_TOKEN_ID,
                         "eos_token_id or bos_token_id is required with input_ids");
    if (q->given[PE_OPTION_PAD_TOKEN_ID] && ((eos && q->pad_token_id == q->eos_token_id) ||
                                             (bos && q->pad_token_id == q->bos_token_id)))
        return pe__fault(s->fault, PE_CONFLICT, PE_OPTION_PAD_TOKEN_ID,
                         "pad_token_id also ends or opens a document, so the end cannot be known; "
                         "send lengths instead");
    enum pe_error e = begin(s, PE_OPTION_INPUT_IDS, &q->input_ids, &b, &rows);
    if (e)
        return e;
    s->form->tokens_in = &q->input_ids;
    for (int64_t row = 0; row < rows && !b.error; row++) {
        pe__build_row(&b);
        token_row(s, &b, (uint64_t)row, &documents);
        pe__build_row_end(&b);
    }
    if (!b.error)
        b.error = check_past(s, documents);
    return pe__build_end(&b);
}
