/* SPDX-License-Identifier: MIT
 *
 * sources.h: forms of input to the form of form.h. Each function reads one family of requests. All
 * of them check what they read, in the order in which it stands, and blame the first entry that
 * does not fit.
 *
 * Errors of all: MISSING, UNUSED, RANGE, CONFLICT, TOO_LARGE, NO_MEMORY, with the fault filled in.
 * The form begins zeroed and must be cleared after a failure too.
 */
#ifndef PE_LAYOUT_SOURCES_H
#define PE_LAYOUT_SOURCES_H

#include "layout/form.h"
#include "layout/plan.h"

/* What makes a form, and what it borrows from. `plan` is filled where documents are planned first.
 */
struct pe__source {
    const struct pe_layout_request *q;
    struct pe_layout_fault *fault;
    struct pe__form *form;
    struct pe__plan *plan;
};

/* One document a row: lengths, attention_mask, or input_ids with pad_token_id. */
enum pe_error pe__from_padded(const struct pe__source *);

/* Several documents a row: lengths, cu_seqlens, planned lengths; and what has fixed slots. */
enum pe_error pe__from_packed(const struct pe__source *);

/* The three with fixed slots; for pe__from_packed. */
enum pe_error pe__from_segment_ids(const struct pe__source *);
enum pe_error pe__from_input_ids(const struct pe__source *);
enum pe_error pe__from_segments(const struct pe__source *);

/* Which of the forms of input is given: there must be exactly one. */
enum pe_error pe__one_form(const struct pe__source *, const enum pe_option *forms, unsigned count,
                           enum pe_option *form);

/* Refuses options that do not go with this form of input. */
enum pe_error pe__not_with(const struct pe__source *, enum pe_option form,
                           const enum pe_option *options, unsigned count);

/* width up to pad_to_multiple_of, and rows x width within 2^53; `blame` is at fault otherwise. */
enum pe_error pe__final_width(const struct pe__source *, int64_t rows, int64_t *width,
                              enum pe_option blame);

#endif
