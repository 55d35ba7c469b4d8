/* SPDX-License-Identifier: MIT
 *
 * free_rows.h: two ways to find a row with room: the lowest-numbered of a tournament, and the
 * fullest of an ordered set. Rows are numbered from 0.
 */
#ifndef PE_LAYOUT_FREE_ROWS_H
#define PE_LAYOUT_FREE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tournament over the free slots of rows: -1 for one that takes no more. Begins zeroed. */
struct pe__tournament {
    int64_t *most; /* most[i] is the larger of most[2i] and most[2i+1]; leaves from `leaves` on */
    size_t leaves;
};

/* Sets a row's free slots; grows as rows appear. False where there is no memory. */
bool pe__tournament_set(struct pe__tournament *, uint32_t row, int64_t free_slots);
int64_t pe__tournament_most(const struct pe__tournament *);
/* The lowest row with at least so many; there is one. */
uint32_t pe__tournament_first(const struct pe__tournament *, int64_t need);
void pe__tournament_clear(struct pe__tournament *);

/* Rows by free slots, then by number: a tree of the different numbers of free slots, each with a
 * heap of its rows. Begins zeroed. */
struct pe__level {
    int64_t free_slots;
    uint64_t priority;
    uint32_t left, right; /* levels */
    uint32_t heap;        /* lowest row; in an unused level: the next unused one */
};

struct pe__by_room {
    struct pe__level *level;
    uint32_t levels, unused, root; /* level numbers are from 1, 0 is none */
    uint32_t room_levels;
    uint32_t *child, *sibling; /* of a row in its heap, row + 1; 0 is none */
    uint32_t room_rows;
    uint64_t state;
};

bool pe__by_room_add(struct pe__by_room *, uint32_t row, int64_t free_slots);
/* Takes out the row with the fewest free slots that are at least `need`, of equals the lowest;
 * false where there is none. */
bool pe__by_room_take(struct pe__by_room *, int64_t need, uint32_t *row, int64_t *free_slots);
void pe__by_room_clear(struct pe__by_room *);

#endif
