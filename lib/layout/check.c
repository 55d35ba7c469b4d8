/* SPDX-License-Identifier: MIT
 *
 * check.c: do these arrays agree? The order of the examinations, and what is read off them
 * afterwards.
 */
#include "layout/check.h"
#include "layout/options.h"

#include <stdlib.h>

static enum pe_error check_declared(const struct pe_layout_request *q,
                                    struct pe_layout_fault *fault)
{
    bool shards = q->given[PE_OPTION_SHARDS], split = q->given[PE_OPTION_SPLIT];
    if (shards != split)
        return pe__fault(fault, PE_MISSING, shards ? PE_OPTION_SPLIT : PE_OPTION_SHARDS,
                         "shards and split go together");
    if (q->given[PE_OPTION_STRIPE] && (!split || q->split != PE_SPLIT_ROUND_ROBIN))
        return pe__fault(fault, PE_UNUSED, PE_OPTION_STRIPE,
                         "stripe is for split=round_robin only");
    if (q->given[PE_OPTION_TABLE_LENGTH] && q->table_length <= q->start)
        return pe__fault(fault, PE_RANGE, PE_OPTION_TABLE_LENGTH,
                         "table_length must be greater than start");
    if (q->given[PE_OPTION_PAST_LENGTHS] && !q->restart)
        return pe__fault(fault, PE_CONFLICT, PE_OPTION_PAST_LENGTHS,
                         "past_lengths cannot stand beside restart=false");
    return PE_OK;
}

static enum pe_error examine(struct pe_check *c, struct pe_layout_fault *fault)
{
    bool comparable;
    enum pe_error e = pe__check_options(&c->q, fault);
    if (e || (e = check_declared(&c->q, fault)) || (e = pe__check_read(c, fault, &comparable)))
        return e;
    if (!comparable)
        return PE_OK;
    if ((e = pe__check_documents(c, fault)))
        return e;
    pe__check_lists(c);
    pe__check_mask(c);
    if (c->ids && c->axes) {
        pe__check_axes(c);
    } else if (c->ids) {
        pe__check_walk(c);
        pe__check_pads(c);
        pe__check_readings(c);
        pe__check_names(c);
    }
    pe__check_marks(c);
    return c->no_memory ? pe__fault(fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the check")
                        : PE_OK;
}

enum pe_error pe_check_create(const struct pe_layout_request *q, struct pe_check **out,
                              struct pe_layout_fault *fault)
{
    struct pe_check *c = calloc(1, sizeof *c);
    *out = c;
    if (!c)
        return pe__fault(fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the check");
    c->q = *q;
    enum pe_error e = examine(c, fault);
    if (e)
        pe_check_destroy(out);
    return e;
}

void pe_check_destroy(struct pe_check **check)
{
    struct pe_check *c = *check;
    if (!c)
        return;
    free(c->errors.at);
    free(c->warnings.at);
    free(c->conventions);
    pe__form_clear(&c->declared);
    pe__batch_clear(&c->batch);
    free(c);
    *check = NULL;
}

const struct pe_finding *pe_check_findings(const struct pe_check *c, bool warnings,
                                           unsigned *listed, uint64_t *total)
{
    const struct pe__findings *f = warnings ? &c->warnings : &c->errors;
    *listed = f->listed;
    *total = f->total;
    return f->at;
}

unsigned pe_check_known_faults(const struct pe_check *c,
                               struct pe_known_fault out[PE_MAX_KNOWN_FAULTS])
{
    static const struct pe_known_fault all[] = {
#define PE_KNOWN_FAULT(id, name, seen_in) {name, seen_in},
#include "layout/faults.def"
#undef PE_KNOWN_FAULT
    };
    _Static_assert(sizeof all / sizeof *all == PE_MAX_KNOWN_FAULTS, "one row for each");
    unsigned n = 0;
    for (unsigned i = 0; i < PE_MAX_KNOWN_FAULTS; i++)
        if (c->known_faults >> i & 1)
            out[n++] = all[i];
    return n;
}

unsigned pe_check_conventions(const struct pe_check *c, unsigned *out, unsigned room)
{
    for (unsigned i = 0; i < c->convention_count && i < room; i++)
        out[i] = c->conventions[i];
    return c->convention_count;
}
