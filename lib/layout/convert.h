/* SPDX-License-Identifier: MIT
 *
 * convert.h: arrays of a batch, in any convention, to documents; and these to a form again.
 */
#ifndef PE_LAYOUT_CONVERT_H
#define PE_LAYOUT_CONVERT_H

#include "layout/sources.h"

/* A document as it was found: its runs of tokens. */
struct pe__found {
    uint64_t first_run;
    int64_t first_token; /* its number among all tokens */
    int64_t past;
    uint32_t row;
};

/* What was sent. */
struct pe__batch {
    int64_t rows, width;
    struct pe__found *document; /* [documents + 1]: the last holds where things end */
    uint64_t documents;
    struct pe__origin *run;
    uint64_t runs;
    uint64_t room_documents, room_runs;
    bool may_end_in_pads; /* documents from ids alone, and a row of several ends in a one-token one
                           */
    int64_t *lengths, *pasts; /* [documents], where they are arranged anew */
};

/* Reads position_ids, attention_mask, segment_ids, attention_mask_in_length, lengths, cu_seqlens,
 * as made with from_start, from_segment_base, from_restart. Errors: MISSING, UNUSED, CONFLICT,
 * RANGE, NO_MEMORY. */
enum pe_error pe__batch_read(struct pe__batch *, const struct pe_layout_request *,
                             struct pe_layout_fault *);
void pe__batch_clear(struct pe__batch *);

/* Options that do not go with `arrange`. `given` of the request are the explicit ones: call it
 * before conventions are taken. */
enum pe_error pe__arrange_options(const struct pe_layout_request *, struct pe_layout_fault *);

/* Makes the form. `q` is changed to say what was arranged: its lengths and past_lengths are those
 * of the batch. The batch must outlive the form. */
enum pe_error pe__arrange(struct pe__batch *, const struct pe__source *,
                          struct pe_layout_request *q);

#endif
