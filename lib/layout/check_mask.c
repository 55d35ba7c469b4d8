/* SPDX-License-Identifier: MIT
 *
 * check_mask.c: the mask by itself, against segment numbers, and the numbers by themselves.
 */
#include "layout/check.h"
#include "layout/labels.h"

/* Where the pads behind the last token of a row begin, by the mask. */
static int64_t tail_of(const struct pe_check *c, int64_t row)
{
    int64_t end = (row + 1) * c->width;
    while (end > row * c->width && pe__at(c->mask, (uint64_t)end - 1) == 0)
        end--;
    return end;
}

static bool declared_token(const struct pe_check *c, int64_t flat)
{
    if (c->labels)
        return pe__at(c->labels, (uint64_t)flat) != c->q.segment_base - 1;
    uint32_t i = pe__segment_at(&c->declared, flat / c->width, flat);
    return i != PE__NONE && flat < c->declared.segment[i].slot + c->declared.segment[i].length;
}

static void check_row(struct pe_check *c, int64_t row)
{
    int64_t begin = row * c->width, end = begin + c->width, tail = tail_of(c, row), zero = 0;
    bool token = false, hole = false;
    bool compared = c->labels || c->declared.row;
    for (int64_t i = begin; i < end; i++) {
        int64_t v = pe__at(c->mask, (uint64_t)i);
        if (v != 0 && v != 1) {
            pe__report(
                c, PE__MASK_NUMBER,
                &(struct pe__said){.tensor = PE_OPTION_ATTENTION_MASK, .at = i, .found = &v});
            c->numbers_clean = false;
        }
        if (v == 0 && token && i < tail && !hole && c->q.holes == PE_HOLES_ERROR)
            pe__report(
                c, PE__MASK_HOLE,
                &(struct pe__said){.tensor = PE_OPTION_ATTENTION_MASK, .at = i, .found = &zero});
        hole = v == 0 && token;
        token |= v != 0;
        if (!compared)
            continue;
        bool own = declared_token(c, i);
        bool given_away = i >= tail && c->q.tail != PE_TAIL_PADS;
        if (v != 0 && !own)
            pe__report(
                c, PE__MASK_REAL,
                &(struct pe__said){
                    .tensor = PE_OPTION_ATTENTION_MASK, .at = i, .found = &v, .expected = &zero});
        else if (v == 0 && own && !given_away)
            pe__report(
                c, PE__MASK_HIDES,
                &(struct pe__said){.tensor = PE_OPTION_ATTENTION_MASK, .at = i, .found = &zero});
    }
}

static void check_numbers(struct pe_check *c)
{
    struct pe__labels l = {.array = c->labels, .pad = c->q.segment_base - 1};
    struct pe__label_run run;
    for (int64_t row = 0; row < c->rows; row++) {
        pe__labels_row(&l, (uint64_t)row);
        while (pe__labels_next(&l, &run))
            if (run.repeated)
                pe__report(c, PE__REPEATED,
                           &(struct pe__said){.tensor = PE_OPTION_SEGMENT_IDS,
                                              .at = row * c->width + run.slot,
                                              .found = &run.number});
    }
    c->no_memory |= l.no_memory;
    pe__labels_clear(&l);
}

void pe__check_mask(struct pe_check *c)
{
    c->numbers_clean = true;
    for (int64_t row = 0; c->mask && row < c->rows; row++)
        check_row(c, row);
    if (c->labels)
        check_numbers(c);
}
