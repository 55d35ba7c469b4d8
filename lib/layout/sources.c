/* SPDX-License-Identifier: MIT
 *
 * sources.c: what all forms of input share.
 */
#include "layout/sources.h"
#include "layout/fault.h"

#include <inttypes.h>

enum pe_error pe__one_form(const struct pe__source *s, const enum pe_option *forms, unsigned count,
                           enum pe_option *form)
{
    *form = PE_OPTION_NONE;
    for (unsigned i = 0; i < count; i++) {
        if (!s->q->given[forms[i]])
            continue;
        if (*form != PE_OPTION_NONE)
            return pe__fault(s->fault, PE_CONFLICT, forms[i], "%s cannot stand beside %s",
                             pe_option_info(forms[i])->name, pe_option_info(*form)->name);
        *form = forms[i];
    }
    if (*form == PE_OPTION_NONE)
        return pe__fault(s->fault, PE_MISSING, PE_OPTION_LENGTHS,
                         "lengths, or another form of input, is required");
    return PE_OK;
}

enum pe_error pe__not_with(const struct pe__source *s, enum pe_option form,
                           const enum pe_option *options, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (s->q->given[options[i]])
            return pe__fault(s->fault, PE_UNUSED, options[i], "%s is not used with %s",
                             pe_option_info(options[i])->name, pe_option_info(form)->name);
    return PE_OK;
}

enum pe_error pe__final_width(const struct pe__source *s, int64_t rows, int64_t *width,
                              enum pe_option blame)
{
    if (!pe__round_up(*width, s->q->pad_to_multiple_of, width))
        return pe__fault(s->fault, PE_RANGE, PE_OPTION_PAD_TO_MULTIPLE_OF,
                         "rows rounded up to a multiple of %" PRId64 " are wider than 2^53 slots",
                         s->q->pad_to_multiple_of);
    if (*width && rows > PE_SLOT_END / *width)
        return pe__fault(s->fault, PE_RANGE, blame,
                         "%" PRId64 " rows of %" PRId64 " slots are more than 2^53 slots", rows,
                         *width);
    return PE_OK;
}
