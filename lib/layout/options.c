/* SPDX-License-Identifier: MIT
 *
 * options.c: see options.h. Explicit options win over those of a name, and all count as given.
 */
#include "layout/options.h"
#include "layout/convert.h"
#include "layout/fault.h"

#include <inttypes.h>

static enum pe_error check_value(const struct pe_layout_request *q, enum pe_option o,
                                 struct pe_layout_fault *fault)
{
    const struct pe_option_info *info = pe_option_info(o);
    const void *field = (const char *)q + info->offset;
    if (info->type == PE_IS_ARRAY)
        return pe__within(field, o, info->lo, info->hi, fault);
    if (info->type != PE_IS_INT && info->type != PE_IS_NUMBER_OR_WORD)
        return PE_OK;
    int64_t v = *(const int64_t *)field;
    if ((v < info->lo || v > info->hi) && !(info->type == PE_IS_NUMBER_OR_WORD && v >= PE_A_WORD))
        return pe__fault(fault, PE_RANGE, o, "%s %" PRId64 " is not within %" PRId64 " .. %" PRId64,
                         info->name, v, info->lo, info->hi);
    return PE_OK;
}

static enum pe_error check_outputs(const struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    uint64_t strange = q->outputs & ~pe_outs_offered(q->endpoint);
    for (int id = 0; id < PE_OUTS; id++)
        if (strange >> id & 1)
            return pe__fault(fault, PE_RANGE, PE_OPTION_OUTPUTS, "%s does not offer %s",
                             pe_endpoint_name(q->endpoint), pe_out_name((enum pe_out)id));
    return PE_OK;
}

/* What a sender of arrays did: three of the options of its name. */
static void take_sender(struct pe_layout_request *q)
{
    const struct pe_convention *c = pe_convention((unsigned)q->from);
    for (unsigned i = 0; i < c->count; i++) {
        const struct pe_setting *s = &c->settings[i];
        if (s->option == PE_OPTION_START && !q->given[PE_OPTION_FROM_START])
            q->from_start = s->value;
        if (s->option == PE_OPTION_SEGMENT_BASE && !q->given[PE_OPTION_FROM_SEGMENT_BASE])
            q->from_segment_base = s->value;
        if (s->option == PE_OPTION_RESTART && !q->given[PE_OPTION_FROM_RESTART])
            q->from_restart = s->value != 0;
    }
}

/* A column cut out of the rows, and options that one endpoint knows in part. */
static enum pe_error check_rest(const struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    bool padded = q->endpoint == PE_PADDED ||
                  (q->endpoint == PE_SHARDED && q->given[PE_OPTION_ATTENTION_MASK]);
    static const enum pe_option not_masked[] = {
        PE_OPTION_CAPACITY,     PE_OPTION_PAD_EACH_TO_MULTIPLE_OF,
        PE_OPTION_RESTART,      PE_OPTION_ATTENTION,
        PE_OPTION_TAIL,         PE_OPTION_ALGORITHM,
        PE_OPTION_TOO_LONG,     PE_OPTION_MAX_DOCUMENTS,
        PE_OPTION_CONTINUATION, PE_OPTION_CU_DOCUMENTS,
        PE_OPTION_EOS_TOKEN_ID, PE_OPTION_BOS_TOKEN_ID,
        PE_OPTION_CU_SEQLENS,   PE_OPTION_SEGMENT_IDS,
        PE_OPTION_SEGMENTS};
    static const enum pe_option masked_only[] = {PE_OPTION_SIDE, PE_OPTION_MAX_LENGTH};
    for (unsigned i = 0; padded && i < sizeof not_masked / sizeof *not_masked; i++)
        if (q->given[not_masked[i]])
            return pe__fault(fault, PE_UNUSED, not_masked[i], "%s is not used with attention_mask",
                             pe_option_info(not_masked[i])->name);
    for (unsigned i = 0; q->endpoint == PE_SHARDED && !padded && i < 2; i++)
        if (q->given[masked_only[i]])
            return pe__fault(fault, PE_UNUSED, masked_only[i],
                             "%s is not used without attention_mask",
                             pe_option_info(masked_only[i])->name);
    if (padded && q->loss_skip == PE_LOSS_EOS)
        return pe__fault(fault, PE_RANGE, PE_OPTION_LOSS_SKIP, "loss_skip=eos is for packed rows");
    if (q->given[PE_OPTION_SLICE] && q->slice.first >= q->slice.end)
        return pe__fault(fault, PE_RANGE, PE_OPTION_SLICE,
                         "slice %" PRId64 ",%" PRId64
                         " has no column; it ends before its second number",
                         q->slice.first, q->slice.end);
    if (q->endpoint == PE_PLAN && !q->given[PE_OPTION_LENGTHS])
        return pe__fault(fault, PE_MISSING, PE_OPTION_LENGTHS, "lengths is required");
    if (q->endpoint == PE_PLAN && q->given[PE_OPTION_CAPACITY] && q->capacity < 1)
        return pe__fault(fault, PE_RANGE, PE_OPTION_CAPACITY, "capacity must be at least 1");
    return PE_OK;
}

enum pe_error pe__check_options(struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    enum pe_error e = PE_OK;
    for (int o = 0; o < PE_OPTIONS; o++)
        if (q->given[o] && !(pe_option_info((enum pe_option)o)->endpoints >> q->endpoint & 1))
            return pe__fault(fault, PE_UNUSED, (enum pe_option)o, "%s is not a parameter of %s",
                             pe_option_info((enum pe_option)o)->name,
                             pe_endpoint_name(q->endpoint));
    for (int o = 0; !e && o < PE_OPTIONS; o++)
        if (q->given[o])
            e = check_value(q, (enum pe_option)o, fault);
    if (!e && q->endpoint == PE_CONVERT)
        e = pe__arrange_options(q, fault);
    if (e)
        return e;
    if (q->given[PE_OPTION_FROM])
        take_sender(q);
    if (q->given[PE_OPTION_CONVENTION])
        pe_layout_request_prefer(q, (unsigned)q->convention);
    if (q->given[PE_OPTION_TO])
        pe_layout_request_prefer(q, (unsigned)q->to);
    e = check_outputs(q, fault);
    return e ? e : check_rest(q, fault);
}
