/* SPDX-License-Identifier: MIT
 *
 * labels.c: see labels.h. The set is a hash table with open addressing; an entry belongs to the row
 * that stamped it.
 */
#include "layout/labels.h"
#include "layout/fault.h"

#include <stdlib.h>

struct pe__number {
    int64_t number;
    uint32_t row; /* 0: never used */
};

static uint32_t place_of(const struct pe__numbers *s, int64_t number)
{
    uint64_t h = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    uint32_t i = (uint32_t)(h >> 32) & (s->room - 1);
    while (s->slot[i].row == s->row && s->slot[i].number != number)
        i = (i + 1) & (s->room - 1);
    return i;
}

static bool grow(struct pe__numbers *s)
{
    struct pe__numbers next = {.room = s->room ? s->room * 4 : 64, .used = s->used, .row = s->row};
    next.slot = calloc(next.room, sizeof *next.slot);
    if (!next.slot)
        return false;
    for (uint32_t i = 0; i < s->room; i++)
        if (s->slot[i].row == s->row)
            next.slot[place_of(&next, s->slot[i].number)] = s->slot[i];
    free(s->slot);
    *s = next;
    return true;
}

/* Adds a number; *was says whether it was there. False without memory. */
static bool add(struct pe__numbers *s, int64_t number, bool *was)
{
    if (s->used * 2 >= s->room && !grow(s))
        return false;
    uint32_t i = place_of(s, number);
    *was = s->slot[i].row == s->row;
    if (!*was) {
        s->slot[i] = (struct pe__number){number, s->row};
        s->used++;
    }
    return true;
}

void pe__labels_row(struct pe__labels *l, uint64_t row)
{
    l->first = l->at = pe__row_first(l->array, row);
    l->end = pe__row_end(l->array, row);
    l->any = false;
    l->seen.row++;
    l->seen.used = 0;
}

static int64_t number_at(const struct pe__labels *l, uint64_t i)
{
    return l->mask && pe__at(l->mask, i) == 0 ? l->pad : pe__at(l->array, i);
}

bool pe__labels_next(struct pe__labels *l, struct pe__label_run *run)
{
    while (l->at < l->end && number_at(l, l->at) == l->pad)
        l->at++;
    if (l->at == l->end)
        return false;
    uint64_t from = l->at;
    int64_t number = number_at(l, from);
    while (l->at < l->end && number_at(l, l->at) == number)
        l->at++;
    *run = (struct pe__label_run){.slot = (int64_t)(from - l->first),
                                  .length = (int64_t)(l->at - from),
                                  .number = number,
                                  .opens = !l->any || number != l->number};
    l->any = true;
    l->number = number;
    if (run->opens && !add(&l->seen, number, &run->repeated)) {
        l->no_memory = true;
        return false;
    }
    return true;
}

void pe__labels_clear(struct pe__labels *l)
{
    free(l->seen.slot);
    l->seen = (struct pe__numbers){0};
}
