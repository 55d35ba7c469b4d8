/* SPDX-License-Identifier: MIT
 *
 * check_axes.c: ids of several axes: text has one id on all of them, rises by one, and lies above
 * what it follows. What grids hold depends on sizes that are not sent, and pads are not looked at.
 */
#include "layout/check.h"

struct walk {
    struct pe_check *c;
    unsigned first;    /* the axis t: 1 where a text axis stands in front */
    int64_t top;       /* largest id of the document so far */
    int64_t last;      /* id of the token before, where it was text */
    int64_t last_text; /* id on the text axis of the token before */
    bool any, after_text, after_vision;
};

static int64_t id_on(const struct pe_check *c, unsigned axis, int64_t flat)
{
    return pe__at(c->ids, (uint64_t)(axis * c->rows * c->width + flat));
}

static void report(struct walk *w, bool warning, enum pe__rule rule, int64_t flat, int64_t found,
                   int64_t expected)
{
    pe__report(w->c, rule,
               &(struct pe__said){.tensor = PE_OPTION_POSITION_IDS,
                                  .at = flat,
                                  .found = &found,
                                  .expected = &expected,
                                  .warning = warning});
}

static void see_text(struct walk *w, int64_t flat)
{
    const struct pe_check *c = w->c;
    int64_t t = id_on(c, w->first, flat);
    for (unsigned a = w->first + 1; a < c->axes; a++) {
        if (id_on(c, a, flat) != t) {
            report(w, false, PE__AXES_DIFFER, flat, id_on(c, a, flat), t);
            break;
        }
    }
    if (w->after_text && t != w->last + 1)
        report(w, false, t <= w->last ? PE__RESTART_INSIDE : PE__SKIP_INSIDE, flat, t, w->last + 1);
    if (w->after_vision && t <= w->top)
        report(w, true, PE__TEXT_OVERLAPS, flat, t, w->top + 1);
    w->last = t;
}

static void see(struct walk *w, int64_t flat)
{
    const struct pe_check *c = w->c;
    int64_t type = pe__at(c->types, (uint64_t)flat);
    bool text = type != 1 && type != 2;
    for (unsigned a = 0; a < c->axes; a++) {
        int64_t id = id_on(c, a, flat), zero = 0, last = c->q.table_length - 1;
        if (id < 0)
            pe__report(
                w->c, PE__NEGATIVE,
                &(struct pe__said){
                    .tensor = PE_OPTION_POSITION_IDS, .at = flat, .found = &id, .expected = &zero});
        else if (c->q.given[PE_OPTION_TABLE_LENGTH] && id > last)
            pe__report(
                w->c, PE__OUT_OF_TABLE,
                &(struct pe__said){
                    .tensor = PE_OPTION_POSITION_IDS, .at = flat, .found = &id, .expected = &last});
        else
            continue;
        break;
    }
    if (w->first) {
        int64_t place = id_on(c, 0, flat);
        if (w->any && place != w->last_text + 1)
            report(w, false, place <= w->last_text ? PE__RESTART_INSIDE : PE__SKIP_INSIDE, flat,
                   place, w->last_text + 1);
        w->last_text = place;
    }
    if (text)
        see_text(w, flat);
    for (unsigned a = w->first; a < c->axes; a++)
        w->top = w->any || a > w->first ? pe__max(w->top, id_on(c, a, flat)) : id_on(c, a, flat);
    w->any = true;
    w->after_text = text;
    w->after_vision = !text;
}

void pe__check_axes(struct pe_check *c)
{
    const struct pe__batch *b = &c->batch;
    for (uint64_t d = 0; d < b->documents; d++) {
        struct walk w = {.c = c, .first = c->axes == 4};
        for (uint64_t i = b->document[d].first_run; i < b->document[d + 1].first_run; i++)
            for (int64_t k = 0; k < b->run[i].length; k++)
                see(&w, b->run[i].slot + k);
    }
}
