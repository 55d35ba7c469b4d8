/* SPDX-License-Identifier: MIT
 *
 * spec_relative.c: what alibi, t5 and deberta demand of their parameters together.
 *
 * Queries stand at offset .. offset+queries-1, keys at 0 .. length-1; by default the queries are
 * the last of the keys.
 */
#include "spec.h"

#include <math.h>
#include <stdio.h>

/* Boundaries that a plan may hold (one int64 each). */
#define MAX_BOUNDARIES 65536

static enum pe_error query_rules(struct pe_spec *s, struct pe_fault *fault)
{
    if (!pe__given(s, PE_PARAM_QUERIES) && s->kind != PE_KIND_ALIBI)
        s->queries = s->length;
    if (!pe__given(s, PE_PARAM_OFFSET)) {
        if (s->queries > s->length)
            return pe__blame(s, fault, PE_RANGE, PE_PARAM_QUERIES,
                             "queries must be at most length unless offset is given (got %lld for "
                             "length %lld)",
                             (long long)s->queries, (long long)s->length);
        s->offset = s->length - s->queries;
    }
    if (s->offset > PE_POSITION_END - s->queries)
        return pe__blame(s, fault, PE_RANGE, PE_PARAM_OFFSET,
                         "offset + queries must be at most 2^53 (got offset=%lld, queries=%lld)",
                         (long long)s->offset, (long long)s->queries);
    return PE_OK;
}

static enum pe_error alibi_rules(struct pe_spec *s, struct pe_fault *fault)
{
    static const enum pe_param of_bias[] = {PE_PARAM_QUERIES, PE_PARAM_OFFSET, PE_PARAM_SYMMETRIC,
                                            PE_PARAM_MASKED};
    if (!pe__given(s, PE_PARAM_LENGTH)) {
        for (size_t i = 0; i < sizeof of_bias / sizeof *of_bias; i++)
            if (pe__given(s, of_bias[i]))
                return pe__blame(s, fault, PE_UNUSED, of_bias[i],
                                 "%s is not used by alibi without length",
                                 pe_param_info(of_bias[i])->name);
        s->queries = 0;
        return PE_OK;
    }
    if (s->symmetric && s->masked)
        return pe__blame(s, fault, PE_CONFLICT, PE_PARAM_SYMMETRIC,
                         "symmetric=true gives keys ahead a bias that masked=true takes away");
    return query_rules(s, fault);
}

static enum pe_error t5_rules(struct pe_spec *s, struct pe_fault *fault)
{
    int64_t half = s->num_buckets / (s->bidirectional ? 4 : 2);
    if (half < 1)
        return pe__blame(s, fault, PE_RANGE, PE_PARAM_NUM_BUCKETS,
                         "num_buckets must be at least 4 with bidirectional=true (got %lld)",
                         (long long)s->num_buckets);
    if (s->max_distance <= half)
        return pe__blame(s, fault, PE_RANGE, PE_PARAM_MAX_DISTANCE,
                         "max_distance must be above the %lld distances that have a bucket of "
                         "their own (got %lld)",
                         (long long)half, (long long)s->max_distance);
    return query_rules(s, fault);
}

static enum pe_error deberta_rules(struct pe_spec *s, struct pe_fault *fault)
{
    int64_t mid = s->position_buckets / 2, top = s->max_relative_positions - 1;
    enum pe_error error;
    if (top <= mid)
        return pe__blame(s, fault, PE_RANGE, PE_PARAM_MAX_RELATIVE_POSITIONS,
                         "max_relative_positions must be at least position_buckets/2 + 2 = %lld "
                         "(got %lld)",
                         (long long)(mid + 2), (long long)s->max_relative_positions);
    if ((error = query_rules(s, fault)))
        return error;
    /* buckets go on beyond the last distance, one for each factor of (top/mid)^(1/(mid-1)) */
    int64_t back = s->offset + s->queries - 1, ahead = s->length - 1 - s->offset;
    double far = (double)(back > ahead ? back : ahead);
    double step = log((double)top / (double)mid);
    if (far > (double)mid && log(far / (double)mid) / step * (double)(mid - 1) >= MAX_BOUNDARIES)
        return pe__blame(
            s, fault, PE_RANGE, PE_PARAM_MAX_RELATIVE_POSITIONS,
            "max_relative_positions is so near to position_buckets/2 that distances up "
            "to %.0f have more than %d buckets",
            far, MAX_BOUNDARIES);
    return PE_OK;
}

enum pe_error pe__relative_rules(struct pe_spec *s, struct pe_fault *fault)
{
    return s->kind == PE_KIND_ALIBI ? alibi_rules(s, fault)
           : s->kind == PE_KIND_T5  ? t5_rules(s, fault)
                                    : deberta_rules(s, fault);
}
