/* SPDX-License-Identifier: MIT
 *
 * labels.h: documents in a row of segment numbers: runs of a number, with pads inside them as
 * holes.
 */
#ifndef PE_LAYOUT_LABELS_H
#define PE_LAYOUT_LABELS_H

#include "posenc_layout.h"

/* A set of numbers, emptied for every row. Begins zeroed. */
struct pe__numbers {
    struct pe__number *slot;
    uint32_t room; /* a power of two */
    uint32_t used;
    uint32_t row;
};

struct pe__labels {
    const struct pe_array *array;
    const struct pe_array *mask; /* where it is 0 there is no token, whatever the number; or NULL */
    int64_t pad;                 /* the number of pads */
    uint64_t at, end, first;     /* elements of the row under way */
    int64_t number;              /* of the run before */
    bool any;
    bool no_memory;
    struct pe__numbers seen;
};

struct pe__label_run {
    int64_t slot; /* of the row */
    int64_t length;
    int64_t number;
    bool opens;    /* a document begins; else it goes on behind a hole */
    bool repeated; /* the number comes back after another one */
};

void pe__labels_row(struct pe__labels *, uint64_t row);

/* The next run; false at the end of the row, or without memory. */
bool pe__labels_next(struct pe__labels *, struct pe__label_run *);
void pe__labels_clear(struct pe__labels *);

#endif
