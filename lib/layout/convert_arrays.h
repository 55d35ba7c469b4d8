/* SPDX-License-Identifier: MIT
 *
 * convert_arrays.h: the arrays of a batch that is to be converted, as far as they are one shape,
 * and which of their slots are tokens.
 */
#ifndef PE_LAYOUT_CONVERT_ARRAYS_H
#define PE_LAYOUT_CONVERT_ARRAYS_H

#include "posenc_layout.h"

/* NULL where not sent. `heads` is attention_mask_in_length. */
struct pe__arrays {
    const struct pe_layout_request *q;
    struct pe_layout_fault *fault;
    int64_t rows, width;
    const struct pe_array *ids, *mask, *labels, *heads, *lengths, *cu;
    /* the run that was found last, so that taking a long one bit by bit costs no more than once */
    bool found;
    uint64_t row;
    int64_t from, to;
};

/* Errors: MISSING, UNUSED, CONFLICT, RANGE. */
enum pe_error pe__arrays_read(struct pe__arrays *, const struct pe_layout_request *,
                              struct pe_layout_fault *);

/* The run of tokens of a row at or behind slot *from: [*from, *to); false where there is none. Pads
 * are known from the mask, else from segment numbers, else from lengths; else every slot is a
 * token. */
bool pe__next_tokens(struct pe__arrays *, uint64_t row, int64_t *from, int64_t *to);

#endif
