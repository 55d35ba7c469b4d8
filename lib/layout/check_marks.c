/* SPDX-License-Identifier: MIT
 *
 * check_marks.c: the marks that known bugs of peers leave. A mark is looked for only when something
 * was found to be wrong, so a sound batch bears none.
 */
#include "layout/check.h"

#include <string.h>

enum mark {
#define PE_KNOWN_FAULT(id, name, seen_in) id,
#include "layout/faults.def"
#undef PE_KNOWN_FAULT
    MARKS
};

/* ---------------------------------------------------------------- ids against slots */

/* Every token's id is start + its slot, and a pad precedes a token. */
static bool pads_counted(const struct pe_check *c)
{
    bool moved = false;
    for (int64_t row = 0; row < c->rows; row++) {
        bool pad = false;
        for (int64_t s = 0; s < c->width; s++) {
            int64_t flat = row * c->width + s;
            if (!pe__check_token(c, flat)) {
                pad = true;
                continue;
            }
            moved |= pad;
            if (pe__id(c, flat) != c->q.start + s)
                return false;
        }
    }
    return moved;
}

/* Ids are the running sum of the segment numbers, or of a mask that holds such, minus 1. */
static bool numbers_summed(const struct pe_check *c)
{
    const struct pe_array *a = c->labels ? c->labels : c->mask;
    bool several = false;
    for (int64_t row = 0; a && row < c->rows; row++) {
        int64_t sum = 0;
        for (int64_t i = row * c->width; i < (row + 1) * c->width; i++) {
            int64_t n = pe__at(a, (uint64_t)i);
            sum += n;
            several |= n > 1;
            if (n != 0 && pe__id(c, i) != sum - 1)
                return false;
        }
    }
    return several;
}

static bool several_documents(const struct pe_check *c)
{
    for (uint64_t d = 1; c->known && d < c->batch.documents; d++)
        if (c->batch.document[d].row == c->batch.document[d - 1].row)
            return true;
    return false;
}

/* Ids count every token of a row, though some row has several documents. */
static bool documents_run_on(const struct pe_check *c)
{
    if (!c->q.restart || !several_documents(c))
        return false;
    for (int64_t row = 0; row < c->rows; row++) {
        int64_t n = c->q.start;
        for (int64_t i = row * c->width; i < (row + 1) * c->width; i++)
            if (pe__check_token(c, i) && pe__id(c, i) != n++)
                return false;
    }
    return true;
}

/* ---------------------------------------------------------------- offsets against ids */

/* Whether the offsets are exactly the slots at which `opens` says yes, and then the number of
 * slots. */
static bool offsets_are(const struct pe_check *c, bool (*opens)(const struct pe_check *, int64_t))
{
    uint64_t i = 0, n = c->cu->count;
    int64_t slots = c->rows * c->width;
    for (int64_t flat = 0; flat < slots; flat++)
        if (opens(c, flat) && (i >= n || pe__at(c->cu, i++) != flat))
            return false;
    return i + 1 == n && pe__at(c->cu, i) == slots;
}

static bool is_zero(const struct pe_check *c, int64_t flat)
{
    return pe__id(c, flat) == 0;
}

static bool is_step(const struct pe_check *c, int64_t flat)
{
    return flat % c->width == 0 || pe__id(c, flat) != pe__id(c, flat - 1) + 1;
}

static bool pads_as_documents(const struct pe_check *c)
{
    bool pads = false;
    for (int64_t i = 0; i < c->rows * c->width; i++) {
        if (pe__check_token(c, i))
            continue;
        pads = true;
        if (pe__id(c, i) != 0)
            return false;
    }
    return pads && offsets_are(c, is_step);
}

/* ---------------------------------------------------------------- first ids against pasts */

/* Whether every document begins at start + times * past + more. */
static bool firsts_are(const struct pe_check *c, int64_t times, int64_t more)
{
    const struct pe__batch *b = &c->batch;
    bool any = false, some_past = false;
    for (uint64_t d = 0; d < b->documents; d++) {
        const struct pe__found *f = &b->document[d];
        if (f[0].first_run == f[1].first_run)
            continue;
        any = true;
        some_past |= f->past > 0;
        if (pe__id(c, b->run[f->first_run].slot) != c->q.start + times * f->past + more)
            return false;
    }
    return any && (more || some_past);
}

/* Offsets that are the sum of lengths in 32-bit floats, where that is another. */
static bool summed_in_float(const struct pe_check *c)
{
    float sum = 0;
    int64_t exact = 0;
    bool differs = false;
    if (!c->cu || !c->lengths || c->cu->count != c->lengths->count + 1)
        return false;
    for (uint64_t i = 0; i < c->cu->count; i++) {
        if (pe__at(c->cu, i) != (int64_t)sum)
            return false;
        differs |= (int64_t)sum != exact;
        if (i < c->lengths->count) {
            exact += pe__at(c->lengths, i);
            sum = sum + (float)pe__at(c->lengths, i);
        }
    }
    return differs;
}

static void mark(struct pe_check *c, enum mark m, bool borne)
{
    if (borne)
        c->known_faults |= 1u << m;
}

static bool warned_of_text(const struct pe_check *c)
{
    for (unsigned i = 0; i < c->warnings.listed; i++)
        if (strcmp(c->warnings.at[i].rule, "text_after_vision_overlaps_earlier_axis") == 0)
            return true;
    return false;
}

void pe__check_marks(struct pe_check *c)
{
    mark(c, TEXT_INSIDE, warned_of_text(c));
    if (c->errors.total == 0)
        return;
    mark(c, FLOAT_SUM, summed_in_float(c));
    if (!c->ids || c->axes || c->rows * c->width == 0)
        return;
    mark(c, PADS_COUNTED, pads_counted(c));
    mark(c, NUMBERS_SUMMED, numbers_summed(c));
    mark(c, RUN_ON, documents_run_on(c));
    if (c->q.given[PE_OPTION_PAST_LENGTHS]) {
        mark(c, NEW_AS_PAST, firsts_are(c, 1, 1));
        mark(c, CACHE_IGNORED, firsts_are(c, 0, 0));
        mark(c, PAST_TWICE, firsts_are(c, 2, 0));
    }
    if (!c->cu)
        return;
    int64_t first = pe__at(c->cu, 0);
    mark(c, ZEROS_ONLY, first > 0 && offsets_are(c, is_zero));
    mark(c, ID_AS_OFFSET, first > 0 && first == pe__id(c, 0));
    mark(c, PADS_AS_DOCUMENTS, pads_as_documents(c));
}
