/* SPDX-License-Identifier: MIT
 *
 * fit.h: placing items into rows of equal capacity, one after the other.
 */
#ifndef PE_LAYOUT_FIT_H
#define PE_LAYOUT_FIT_H

#include "layout/plan.h"

enum pe__fit { PE__NEXT, PE__FIRST, PE__BEST, PE__WORST };

struct pe__bins {
    enum pe__fit fit;
    int64_t capacity;
    int64_t multiple;      /* an item takes its length rounded up to a multiple */
    int64_t max_documents; /* in a row; 0: any number */
};

/* Gives each item its row. A row can take an item if its free slots suffice and it has fewer than
 * max_documents; rows are numbered as they open. Every item fits an empty row. Errors: NO_MEMORY.
 */
enum pe_error pe__place(const struct pe__bins *, struct pe__item *, uint64_t items, uint32_t *rows);

#endif
