/* SPDX-License-Identifier: MIT
 *
 * labels.c: see labels.h. Where the numbers of a row rise from document to document none can come
 * back; else its documents are sorted by number, which no choice of numbers makes slow.
 */
#include "layout/labels.h"
#include "layout/fault.h"
#include "layout/list.h"

#include <stdlib.h>

/* Where a document begins, as an element. */
struct pe__opening {
    int64_t number;
    uint64_t at;
};

static int64_t number_at(const struct pe__labels *l, uint64_t i)
{
    return l->mask && pe__at(l->mask, i) == 0 ? l->pad : pe__at(l->array, i);
}

/* Steps to the next run of a number: its begin in *from. */
static bool step(struct pe__labels *l, uint64_t *from, int64_t *number)
{
    while (l->at < l->end && number_at(l, l->at) == l->pad)
        l->at++;
    if (l->at == l->end)
        return false;
    *from = l->at;
    *number = number_at(l, l->at);
    while (l->at < l->end && number_at(l, l->at) == *number)
        l->at++;
    return true;
}

static int by_number(const void *a, const void *b)
{
    const struct pe__opening *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int by_place(const void *a, const void *b)
{
    const struct pe__opening *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Lists the documents of the row; false where their numbers rise, or without memory. */
static bool list_openings(struct pe__labels *l)
{
    bool rises = true, any = false;
    int64_t before = 0, number;
    uint64_t from;
    l->openings = 0;
    while (step(l, &from, &number)) {
        if (any && number == before)
            continue;
        rises &= !any || number > before;
        any = true;
        before = number;
        if (!pe__list_more(&l->opening, l->openings, &l->room, sizeof *l->opening)) {
            l->no_memory = true;
            return false;
        }
        l->opening[l->openings++] = (struct pe__opening){number, from};
    }
    return !rises;
}

void pe__labels_row(struct pe__labels *l, uint64_t row)
{
    l->first = l->at = pe__row_first(l->array, row);
    l->end = pe__row_end(l->array, row);
    l->any = false;
    l->repeats = l->next = 0;
    if (list_openings(l)) {
        qsort(l->opening, l->openings, sizeof *l->opening, by_number);
        for (uint64_t i = 1; i < l->openings; i++)
            if (l->opening[i].number == l->opening[i - 1].number)
                l->opening[l->repeats++] = l->opening[i];
        qsort(l->opening, l->repeats, sizeof *l->opening, by_place);
    }
    l->at = l->first;
}

bool pe__labels_next(struct pe__labels *l, struct pe__label_run *run)
{
    uint64_t from;
    int64_t number;
    if (l->no_memory || !step(l, &from, &number))
        return false;
    *run = (struct pe__label_run){.slot = (int64_t)(from - l->first),
                                  .length = (int64_t)(l->at - from),
                                  .number = number,
                                  .opens = !l->any || number != l->number};
    run->repeated = l->next < l->repeats && l->opening[l->next].at == from;
    l->next += run->repeated;
    l->any = true;
    l->number = number;
    return true;
}

void pe__labels_clear(struct pe__labels *l)
{
    free(l->opening);
    l->opening = NULL;
    l->openings = l->room = 0;
}
