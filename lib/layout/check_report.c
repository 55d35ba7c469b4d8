/* SPDX-License-Identifier: MIT
 *
 * check_report.c: findings: the first of them are listed, all are counted.
 */
#include "layout/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {
#define PE_RULE(id, name) name,
#include "layout/rules.def"
#undef PE_RULE
};

static struct pe_finding *add(struct pe_check *c, enum pe__rule rule, const struct pe__said *said)
{
    struct pe__findings *f = said->warning ? &c->warnings : &c->errors;
    f->total++;
    if (f->listed == PE_MAX_FINDINGS)
        return NULL;
    if (f->listed == f->room) {
        unsigned room = f->room ? f->room * 4 : 8;
        struct pe_finding *grown = realloc(f->at, room * sizeof *grown);
        if (!grown) {
            c->no_memory = true;
            return NULL;
        }
        f->at = grown;
        f->room = room;
    }
    struct pe_finding *out = &f->at[f->listed++];
    *out = (struct pe_finding){.rule = names[rule], .tensor = said->tensor};
    return out;
}

static void fill_in(struct pe_finding *f, const int64_t *found, const int64_t *expected)
{
    const char *name = pe_option_info(f->tensor)->name;
    char place[64] = "", values[80] = "";
    if (f->rank == 2)
        snprintf(place, sizeof place, "[%" PRIu64 ", %" PRIu64 "]", f->index[0], f->index[1]);
    else if (f->rank == 1)
        snprintf(place, sizeof place, "[%" PRIu64 "]", f->index[0]);
    if (found && expected)
        snprintf(values, sizeof values, ": found %" PRId64 ", expected %" PRId64, *found,
                 *expected);
    else if (found)
        snprintf(values, sizeof values, ": found %" PRId64, *found);
    snprintf(f->detail, sizeof f->detail, "%s%s breaks %s%s", name, place, f->rule, values);
    f->has_found = found != NULL;
    f->has_expected = expected != NULL;
    f->found = found ? *found : 0;
    f->expected = expected ? *expected : 0;
}

/* The rank in which a slot of this array is named: axes in front of ids do not count. */
static unsigned rank_of(const struct pe_check *c, enum pe_option tensor)
{
    switch (tensor) {
    case PE_OPTION_POSITION_IDS:
        return c->ids->rank - (c->axes ? 1 : 0);
    case PE_OPTION_ATTENTION_MASK:
        return c->mask->rank;
    case PE_OPTION_SEGMENT_IDS:
        return c->labels->rank;
    default:
        return 1;
    }
}

void pe__report(struct pe_check *c, enum pe__rule rule, const struct pe__said *said)
{
    struct pe_finding *f = add(c, rule, said);
    if (!f)
        return;
    f->rank = said->at < 0 ? 0 : rank_of(c, said->tensor);
    f->index[0] = (uint64_t)said->at;
    if (f->rank == 2) {
        f->index[0] = (uint64_t)(said->at / c->width);
        f->index[1] = (uint64_t)(said->at % c->width);
    }
    fill_in(f, said->found, said->expected);
}
