/* SPDX-License-Identifier: MIT
 *
 * check_readings.c: where readers of the ids alone see documents begin, and whether they are right.
 */
#include "layout/check.h"

const char *pe_reading_name(enum pe_reading r)
{
    static const char *const names[] = {"zero_opens", "minimum_opens", "step_opens"};
    return names[r];
}

static bool opens(const struct pe_check *c, enum pe_reading r, int64_t flat, int64_t slot)
{
    switch (r) {
    case PE_ZERO_OPENS:
        return pe__id(c, flat) == 0;
    case PE_MINIMUM_OPENS:
        return pe__id(c, flat) == c->least_id;
    default:
        return slot == 0 || pe__id(c, flat) != pe__id(c, flat - 1) + 1;
    }
}

/* The first slot of the next document that has one; documents are looked at from *d on. */
static int64_t next_start(const struct pe_check *c, uint64_t *d)
{
    const struct pe__batch *b = &c->batch;
    while (*d < b->documents && b->document[*d].first_run == b->document[*d + 1].first_run)
        ++*d;
    return *d < b->documents ? b->run[b->document[(*d)++].first_run].slot : -1;
}

void pe__check_readings(struct pe_check *c)
{
    int64_t slots = c->rows * c->width, slot = 0;
    uint64_t d = 0;
    for (int64_t i = 0; i < slots; i++)
        c->least_id = i ? pe__min(c->least_id, pe__id(c, i)) : pe__id(c, i);
    int64_t start = next_start(c, &d);
    for (int r = 0; r < PE_READINGS; r++)
        c->agrees[r] = c->known ? 1 : -1;
    for (int64_t i = 0; i < slots; i++) {
        bool real = i == start;
        for (int r = 0; r < PE_READINGS; r++) {
            bool open = opens(c, (enum pe_reading)r, i, slot);
            c->opens[r] += open;
            if (c->known && open != real)
                c->agrees[r] = 0;
        }
        if (real)
            start = next_start(c, &d);
        slot = slot + 1 == c->width ? 0 : slot + 1;
    }
}

bool pe_check_reading(const struct pe_check *c, enum pe_reading r, uint64_t *count, int *agrees)
{
    if (!c->ids || c->axes || !c->batch.document)
        return false;
    *count = c->opens[r] + 1;
    *agrees = c->agrees[r];
    return true;
}

size_t pe_check_starts(const struct pe_check *c, enum pe_reading r, uint64_t *at, int64_t *out,
                       size_t room)
{
    int64_t slots = c->rows * c->width, i = (int64_t)*at;
    size_t n = 0;
    for (int64_t slot = i < slots ? i % c->width : 0; i < slots && n < room; i++) {
        if (opens(c, r, i, slot))
            out[n++] = i;
        slot = slot + 1 == c->width ? 0 : slot + 1;
    }
    if (i == slots && n < room) {
        out[n++] = slots;
        i++;
    }
    *at = (uint64_t)i;
    return n;
}
