/* SPDX-License-Identifier: MIT
 *
 * trig.h: the strips that a table of sines and cosines is cut into.
 */
#ifndef PE_TRIG_H
#define PE_TRIG_H

#include "arrange.h"
#include "decay.h"
#include "source.h"

/* What does not go straight where it belongs goes through a block on the stack: 32 rows of at most
 * 64 pairs, 16 KiB for a plane of the widest type. */
#define PE__BLOCK_ROWS 32
#define PE__BLOCK_PAIRS 64

/* Pairs that read the same axis and stand in even steps. */
struct pe__strip {
    void *band;
    struct pe__band of; /* pairs of the ladder; the hints are forgotten once there is a band */
    size_t first;       /* the pair of the row that the first of them is */
    unsigned axis;
    bool direct; /* all places are planes */
    bool woven;  /* the places are cosines and sines of a pair, side by side, and the source can */
    struct pe__arrangement to;
};

struct pe__trig {
    const struct pe_spec *spec;
    const struct pe__arithmetic *how;
    struct pe__decay *decay; /* xpos, else NULL */
    size_t size;             /* of an element */
    size_t stride[PE_MAX_TENSORS];
    unsigned tensors;
    bool whole; /* all is written where it belongs, and once */
    unsigned count, room;
    struct pe__strip *strips;
};

/* Makes a source and a place for every pair of the table; on an error what is there can be
 * destroyed. `like` is another table of the same ladder, or NULL. */
enum pe_error pe__trig_cut(struct pe__trig *, const void *ladder, const struct pe__trig *like);
void pe__trig_uncut(struct pe__trig *);

#endif
