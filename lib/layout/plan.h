/* SPDX-License-Identifier: MIT
 *
 * plan.h: which document goes into which row.
 */
#ifndef PE_LAYOUT_PLAN_H
#define PE_LAYOUT_PLAN_H

#include "posenc_layout.h"

/* A document, or a piece of one, that stands in a row. */
struct pe__item {
    int64_t offset; /* of its first token in the document */
    int64_t length; /* tokens */
    uint32_t document;
    uint32_t row;
};

/* Rows of items in order of placing; row r ends before item row_ends[r]. */
struct pe__plan {
    struct pe__item *item;
    uint64_t items;
    uint64_t *row_ends;
    uint64_t rows;
    int64_t *dropped;
    uint64_t dropped_count;
    int64_t tokens;
    int64_t lost;
};

/* Plans lengths into rows of `capacity` by algorithm, too_long, empty, max_documents and
 * pad_each_to_multiple_of of the request. Deterministic, O(n log n). Errors: RANGE, UNUSED (an
 * option that concat does not know), TOO_LARGE, NO_MEMORY. */
enum pe_error pe__plan_make(struct pe__plan *, const struct pe_layout_request *,
                            struct pe_layout_fault *);
void pe__plan_clear(struct pe__plan *);
size_t pe__plan_bytes(const struct pe__plan *);

/* Whether an item is a later piece of its document, and the past that it has. */
bool pe__item_goes_on(const struct pe_layout_request *, const struct pe__item *);
int64_t pe__item_past(const struct pe_layout_request *, const struct pe__item *);

#endif
