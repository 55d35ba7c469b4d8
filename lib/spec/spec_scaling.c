/* SPDX-License-Identifier: MIT
 *
 * spec_scaling.c: what each rope_type demands of its parameters together.
 *
 * A new rope_type adds a function here only if its parameters can contradict each other.
 */
#include "spec.h"

#include <math.h>

/* The effective base is told to clients as a binary64, so it has to be one. log2 is good to far
 * less than the bit that is kept free. */
static enum pe_error check_base(const struct pe_spec *s, struct pe_fault *fault, long double growth)
{
    int64_t d = pe__ladder_width(s);
    long double bits = log2l((long double)s->base);
    if (d > 2)
        bits += log2l(growth) * (long double)d / (long double)(d - 2);
    if (bits < 1023 && bits > -1021)
        return PE_OK;
    return pe__blame(s, fault, PE_RANGE, PE_PARAM_FACTOR,
                     "factor makes the effective base leave binary64 (about 2^%.0Lf)", bits);
}

/* base * factor^(width / (width - 2)); a single pair turns once a radian whatever the base. */
static enum pe_error ntk_rules(const struct pe_spec *s, struct pe_fault *fault)
{
    return check_base(s, fault, s->factor);
}

static enum pe_error dynamic_rules(const struct pe_spec *s, struct pe_fault *fault)
{
    long double top = (long double)s->max_position_embeddings;
    long double seq = (long double)s->sequence_length;
    long double grown = seq > top ? seq / top : 1;
    return check_base(s, fault, 1 + s->factor * (grown - 1));
}

static enum pe_error yarn_rules(const struct pe_spec *s, struct pe_fault *fault)
{
    if (s->beta_fast >= s->beta_slow)
        return PE_OK;
    return pe__blame(s, fault, PE_CONFLICT,
                     pe__given(s, PE_PARAM_BETA_FAST) ? PE_PARAM_BETA_FAST : PE_PARAM_BETA_SLOW,
                     "beta_fast must not be below beta_slow (got %g and %g)", s->beta_fast,
                     s->beta_slow);
}

static enum pe_error longrope_rules(const struct pe_spec *s, struct pe_fault *fault)
{
    static const enum pe_param lists[] = {PE_PARAM_SHORT_FACTOR, PE_PARAM_LONG_FACTOR};
    size_t pairs = (size_t)pe__ladder_width(s) / 2;
    size_t counts[] = {s->short_factor.count, s->long_factor.count};
    double length = (double)s->original_max_position_embeddings;
    double ratio = (double)s->max_position_embeddings / length;
    bool factor = pe__given(s, PE_PARAM_FACTOR);
    bool ratio_given = pe__given(s, PE_PARAM_MAX_POSITION_EMBEDDINGS);
    for (int i = 0; i < 2; i++)
        if (counts[i] != pairs)
            return pe__blame(s, fault, PE_RANGE, lists[i],
                             "%s must have %zu numbers, one for each pair (got %zu)",
                             pe_param_info(lists[i])->name, pairs, counts[i]);
    if (factor && ratio_given && s->factor != ratio)
        return pe__blame(s, fault, PE_CONFLICT, PE_PARAM_FACTOR,
                         "factor (%g) is not max_position_embeddings / "
                         "original_max_position_embeddings (%g): give one of them",
                         s->factor, ratio);
    /* sqrt(1 + ln factor / ln original): ln 1 divides by zero */
    if (length < 2 && !pe__given(s, PE_PARAM_ATTENTION_FACTOR) && (factor ? s->factor : ratio) > 1)
        return pe__blame(s, fault, PE_RANGE, PE_PARAM_ORIGINAL_MAX_POSITION_EMBEDDINGS,
                         "original_max_position_embeddings must be at least 2 unless "
                         "attention_factor is given (got 1)");
    return PE_OK;
}

static enum pe_error llama3_rules(const struct pe_spec *s, struct pe_fault *fault)
{
    if (s->high_freq_factor >= s->low_freq_factor)
        return PE_OK;
    return pe__blame(s, fault, PE_CONFLICT, PE_PARAM_HIGH_FREQ_FACTOR,
                     "high_freq_factor must not be below low_freq_factor (got %g and %g)",
                     s->high_freq_factor, s->low_freq_factor);
}

enum pe_error pe__scaling_rules(struct pe_spec *s, struct pe_fault *fault)
{
    switch (s->rope_type) {
    case PE_ROPE_TYPE_NTK:
        return ntk_rules(s, fault);
    case PE_ROPE_TYPE_DYNAMIC:
        return dynamic_rules(s, fault);
    case PE_ROPE_TYPE_YARN:
        return yarn_rules(s, fault);
    case PE_ROPE_TYPE_LONGROPE:
        return longrope_rules(s, fault);
    case PE_ROPE_TYPE_LLAMA3:
        return llama3_rules(s, fault);
    default:
        return PE_OK;
    }
}
