/* SPDX-License-Identifier: MIT
 *
 * labels.h: documents in a row of segment numbers: runs of a number, with pads inside them as
 * holes.
 */
#ifndef PE_LAYOUT_LABELS_H
#define PE_LAYOUT_LABELS_H

#include "posenc_layout.h"

struct pe__labels {
    const struct pe_array *array;
    const struct pe_array *mask; /* where it is 0 there is no token, whatever the number; or NULL */
    int64_t pad;                 /* the number of pads */
    bool no_memory;
    /* the row under way */
    uint64_t at, end, first; /* elements */
    int64_t number;          /* of the run before */
    bool any;
    /* where numbers come back in it: `next` of `repeats`, which rise */
    struct pe__opening *opening;
    uint64_t openings, room;
    uint64_t repeats, next;
};

struct pe__label_run {
    int64_t slot; /* of the row */
    int64_t length;
    int64_t number;
    bool opens;    /* a document begins; else it goes on behind a hole */
    bool repeated; /* the number comes back after another one */
};

/* Begins a row. Costs O(runs log runs), or one look at the row where its numbers rise. */
void pe__labels_row(struct pe__labels *, uint64_t row);

/* The next run; false at the end of the row, or without memory. */
bool pe__labels_next(struct pe__labels *, struct pe__label_run *);
void pe__labels_clear(struct pe__labels *);

#endif
