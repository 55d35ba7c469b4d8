/* SPDX-License-Identifier: MIT
 *
 * convert.c: see convert.h: documents where they are, each in a row of its own, or packed anew.
 */
#include "layout/convert.h"
#include "layout/fault.h"

#include <stdlib.h>

enum {
    SAME = 1 << PE_ARRANGE_SAME,
    PADDED = 1 << PE_ARRANGE_PADDED,
    PACKED = 1 << PE_ARRANGE_PACKED
};

/* Options that go with some arrangements only. */
static const struct {
    enum pe_option option;
    unsigned with;
} tied[] = {
    {PE_OPTION_SIDE, PADDED},
    {PE_OPTION_MAX_LENGTH, PADDED},
    {PE_OPTION_PAD_TO_MULTIPLE_OF, PADDED | PACKED},
    {PE_OPTION_CAPACITY, PACKED},
    {PE_OPTION_PAD_EACH_TO_MULTIPLE_OF, PACKED},
    {PE_OPTION_ALGORITHM, PACKED},
    {PE_OPTION_TOO_LONG, PACKED},
    {PE_OPTION_MAX_DOCUMENTS, PACKED},
    {PE_OPTION_CONTINUATION, PACKED},
    {PE_OPTION_RESTART, SAME | PACKED},
    {PE_OPTION_ATTENTION, SAME | PACKED},
    {PE_OPTION_TAIL, SAME | PACKED},
};

enum pe_error pe__arrange_options(const struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    for (size_t i = 0; i < sizeof tied / sizeof *tied; i++)
        if (q->given[tied[i].option] && !(tied[i].with >> q->arrange & 1))
            return pe__fault(fault, PE_UNUSED, tied[i].option, "%s is not used with arrange=%s",
                             pe_option_info(tied[i].option)->name,
                             pe_option_info(PE_OPTION_ARRANGE)->words[q->arrange]);
    return PE_OK;
}

static enum pe_error stay(const struct pe__batch *b, const struct pe__source *s)
{
    struct pe__builder build = {.fault = s->fault, .with_source = true};
    pe__build_begin(&build, s->form, s->q, b->rows, b->width, b->runs);
    uint64_t d = 0;
    for (int64_t row = 0; row < b->rows && !build.error; row++) {
        int64_t end = 0;
        pe__build_row(&build);
        for (; d < b->documents && b->document[d].row == row; d++) {
            const struct pe__found *f = &b->document[d];
            bool empty = f[0].first_run == f[1].first_run;
            if (empty && s->q->empty == PE_EMPTY_ERROR) {
                build.error =
                    pe__fault_at(s->fault, PE_RANGE, PE_OPTION_EMPTY, d, "the document is empty");
                break;
            }
            struct pe__piece piece = {.document = (int32_t)d,
                                      .reason = PE_REASON_DOCUMENT,
                                      .first =
                                          empty ? end : b->run[f->first_run].slot - row * b->width,
                                      .past = s->q->restart ? f->past : 0};
            pe__build_piece(&build, &piece);
            for (uint64_t i = f[0].first_run; i < f[1].first_run; i++) {
                end = b->run[i].slot - row * b->width + b->run[i].length;
                pe__build_run(&build, b->run[i].slot - row * b->width, b->run[i].length,
                              b->run[i].before);
            }
            pe__build_piece_end(&build, end);
        }
        pe__build_row_end(&build);
    }
    return pe__build_end(&build);
}

/* The lengths and pasts of the batch become those of the request. */
static enum pe_error as_lengths(struct pe__batch *b, struct pe_layout_request *q,
                                struct pe_layout_fault *fault)
{
    size_t room = b->documents + 1;
    b->lengths = malloc(room * sizeof *b->lengths);
    b->pasts = malloc(room * sizeof *b->pasts);
    if (!b->lengths || !b->pasts)
        return pe__fault(fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout");
    for (uint64_t d = 0; d < b->documents; d++) {
        b->lengths[d] = b->document[d + 1].first_token - b->document[d].first_token;
        b->pasts[d] = b->document[d].past;
    }
    struct pe_array a = {.size = 8, .rank = 1, .shape = {b->documents}, .count = b->documents};
    static const enum pe_option sent[] = {
        PE_OPTION_POSITION_IDS, PE_OPTION_ATTENTION_MASK,
        PE_OPTION_SEGMENT_IDS,  PE_OPTION_ATTENTION_MASK_IN_LENGTH,
        PE_OPTION_LENGTHS,      PE_OPTION_CU_SEQLENS};
    for (unsigned i = 0; i < sizeof sent / sizeof *sent; i++)
        q->given[sent[i]] = false;
    a.at = b->lengths;
    q->lengths = a;
    q->given[PE_OPTION_LENGTHS] = true;
    if (q->restart) {
        a.at = b->pasts;
        q->past_lengths = a;
        q->given[PE_OPTION_PAST_LENGTHS] = true;
    }
    return PE_OK;
}

/* Which token stands at the head of each segment. Every piece is one segment here, in the order of
 * the plan. */
static enum pe_error number_tokens(const struct pe__batch *b, const struct pe__source *s)
{
    struct pe__form *f = s->form;
    f->source = malloc(((size_t)f->room_segments + 1) * sizeof *f->source);
    if (!f->source)
        return pe__fault(s->fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout");
    for (uint32_t i = 0; i < f->segments; i++) {
        const struct pe__segment *g = &f->segment[i];
        f->source[i] = -1;
        if (g->length)
            f->source[i] = b->document[g->document].first_token +
                           (s->plan->item ? s->plan->item[i].offset : 0);
    }
    return PE_OK;
}

enum pe_error pe__arrange(struct pe__batch *b, const struct pe__source *s,
                          struct pe_layout_request *q)
{
    enum pe_error e;
    s->form->origin = b->run;
    s->form->origins = b->runs;
    if (q->arrange == PE_ARRANGE_SAME)
        return stay(b, s);
    if ((e = as_lengths(b, q, s->fault)))
        return e;
    e = q->arrange == PE_ARRANGE_PADDED ? pe__from_padded(s) : pe__from_packed(s);
    return e ? e : number_tokens(b, s);
}
