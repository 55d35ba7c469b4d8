/* SPDX-License-Identifier: MIT
 *
 * slots.h: the projections of a form that have one value for each slot.
 */
#ifndef PE_LAYOUT_SLOTS_H
#define PE_LAYOUT_SLOTS_H

#include "layout/form.h"
#include "layout/sink.h"

/* Where the last walk ended, so that the next one need not search. Begins zeroed. */
struct pe__spot {
    bool valid;
    int64_t row;
    uint32_t segment; /* last that begins at or before the slot; NONE */
};

/* Appends the values of flat slots [flat, flat + count) of one of the [B,W] tensors: position_ids
 * .. predicted_by, gather, repad_indices, run_length. */
void pe__slots(const struct pe__form *, enum pe_out, int64_t flat, int64_t count, struct pe__sink *,
               struct pe__spot *);

/* The numbers that pads hold: `value`, then rising by `step` (0 or 1); after `cycle` of them (0:
 * never) they begin again at `again`. All of it is then kept inside the table. */
struct pe__pads {
    int64_t value;
    int64_t step;
    int64_t cycle;
    int64_t again;
    int64_t phase; /* how many of a cycle have gone by */
};

/* Of the pads of a row from a flat slot on, up to the next segment. `segment`: as in pe__spot. */
struct pe__pads pe__pads_at(const struct pe__form *, int64_t row, uint32_t segment, int64_t flat);

/* Appends n of them. */
void pe__put_pads(const struct pe__form *, struct pe__sink *, struct pe__pads, int64_t n);

/* A number of pads as the table allows it. */
int64_t pe__pad_inside(const struct pe__form *, int64_t value);

/* The smallest and largest of position_ids; false where there is no slot. */
bool pe__position_extent(const struct pe__form *, int64_t *least, int64_t *most);

#endif
