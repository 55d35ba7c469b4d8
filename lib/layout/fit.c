/* SPDX-License-Identifier: MIT
 *
 * fit.c: see fit.h. next_fit looks at one row, first_fit and worst_fit ask a tournament, best_fit
 * an ordered set: O(log rows) an item.
 */
#include "layout/fit.h"
#include "layout/free_rows.h"

#include <stdlib.h>

struct placing {
    const struct pe__bins *bins;
    uint32_t *count; /* items of each row; only where max_documents counts */
    uint32_t room;
    uint32_t rows;
    int64_t newest; /* free slots of the newest row */
    struct pe__tournament tournament;
    struct pe__by_room by_room;
};

/* Whether the row takes no more after one item more; counts it. */
static bool filled_up(struct placing *p, uint32_t row)
{
    return p->bins->max_documents && ++p->count[row] >= p->bins->max_documents;
}

static bool count_row(struct placing *p)
{
    if (p->bins->max_documents && p->rows >= p->room) {
        size_t room = p->room ? (size_t)p->room * 2 : 1024;
        uint32_t *grown = realloc(p->count, room * sizeof *grown);
        if (!grown)
            return false;
        p->count = grown;
        p->room = (uint32_t)room;
    }
    if (p->bins->max_documents)
        p->count[p->rows] = 0;
    p->rows++;
    return true;
}

static bool place_next(struct placing *p, int64_t need, uint32_t *row)
{
    if ((p->rows == 0 || p->newest < need)) {
        if (!count_row(p))
            return false;
        p->newest = p->bins->capacity;
    }
    *row = p->rows - 1;
    p->newest -= need;
    if (filled_up(p, *row))
        p->newest = -1;
    return true;
}

static bool place_first(struct placing *p, int64_t need, uint32_t *row)
{
    int64_t most = pe__tournament_most(&p->tournament), left = p->bins->capacity;
    if (most < need) {
        *row = p->rows;
        if (!count_row(p))
            return false;
    } else {
        *row = pe__tournament_first(&p->tournament, p->bins->fit == PE__WORST ? most : need);
        left = p->tournament.most[p->tournament.leaves + *row];
    }
    return pe__tournament_set(&p->tournament, *row, filled_up(p, *row) ? -1 : left - need);
}

static bool place_best(struct placing *p, int64_t need, uint32_t *row)
{
    int64_t left = p->bins->capacity;
    if (!pe__by_room_take(&p->by_room, need, row, &left)) {
        *row = p->rows;
        if (!count_row(p))
            return false;
    }
    return filled_up(p, *row) || pe__by_room_add(&p->by_room, *row, left - need);
}

enum pe_error pe__place(const struct pe__bins *bins, struct pe__item *item, uint64_t items,
                        uint32_t *rows)
{
    struct placing p = {.bins = bins};
    bool fine = true;
    for (uint64_t i = 0; fine && i < items; i++) {
        int64_t rest = item[i].length % bins->multiple;
        int64_t need = item[i].length + (rest ? bins->multiple - rest : 0);
        if (bins->fit == PE__NEXT)
            fine = place_next(&p, need, &item[i].row);
        else if (bins->fit == PE__BEST)
            fine = place_best(&p, need, &item[i].row);
        else
            fine = place_first(&p, need, &item[i].row);
    }
    *rows = p.rows;
    free(p.count);
    pe__tournament_clear(&p.tournament);
    pe__by_room_clear(&p.by_room);
    return fine ? PE_OK : PE_NO_MEMORY;
}
