/* SPDX-License-Identifier: MIT
 *
 * staged_rules.c: what arithmetic=float32 demands of a spec's numbers.
 *
 * A phase is at most 2^53 positions times a frequency. Frequencies are at most 1 before a rope_type
 * scales them, and the limits below keep every step under 2^127: nothing overflows, so nothing is
 * ever infinity minus or times something.
 */
#include "spec/spec.h"
#include "staged.h"

#include <math.h>
#include <stdio.h>

/* Inclusive limits of a number's size, of each item of a list; as powers of 2. 2^128 is for what is
 * only to be a float32: the greatest one is below. */
static const struct limit {
    enum pe_param param;
    int lo, hi;
} limits[] = {
    {PE_PARAM_BASE, -2000, 128},
    {PE_PARAM_SCALE, -2000, 64},
    {PE_PARAM_FACTOR, -32, 127},
    {PE_PARAM_SHORT_FACTOR, -64, 127},
    {PE_PARAM_LONG_FACTOR, -64, 127},
    {PE_PARAM_EXTRAPOLATION_FACTOR, -2000, 32},
    {PE_PARAM_ATTENTION_FACTOR, -2000, 100},
    {PE_PARAM_MSCALE, -2000, 100},
    {PE_PARAM_MSCALE_ALL_DIM, -2000, 100},
    {PE_PARAM_LOW_FREQ_FACTOR, -126, 127},
    {PE_PARAM_HIGH_FREQ_FACTOR, -126, 127},
};

static bool inside(const struct limit *l, double v)
{
    /* 2^128 - 2^103 rounds to 2^128 */
    double hi = l->hi == 128 ? 0x1.ffffffp+127 : ldexp(1, l->hi);
    return v == 0 || (fabs(v) >= ldexp(1, l->lo) && (l->hi == 128 ? fabs(v) < hi : fabs(v) <= hi));
}

static bool all_inside(const struct limit *l, const struct pe_spec *s)
{
    const void *at = (const char *)s + pe_param_info(l->param)->offset;
    if (pe_param_info(l->param)->type != PE_TYPE_REALS)
        return inside(l, *(const double *)at);
    const struct pe_reals *list = at;
    for (size_t i = 0; i < list->count; i++)
        if (!inside(l, list->at[i]))
            return false;
    return true;
}

enum pe_error pe__staged_rules(const struct pe_spec *s, struct pe_fault *fault)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const struct limit *l = &limits[i];
        if (!pe__given(s, l->param) || all_inside(l, s))
            continue;
        if (l->lo < -126)
            snprintf(fault->allowed, sizeof fault->allowed, "numbers up to 2^%d in size", l->hi);
        else
            snprintf(fault->allowed, sizeof fault->allowed, "numbers from 2^%d to 2^%d", l->lo,
                     l->hi);
        return pe__blame(s, fault, PE_RANGE, l->param,
                         "%s would leave float32 with arithmetic=float32: it must lie among %s",
                         pe_param_info(l->param)->name, fault->allowed);
    }
    return PE_OK;
}
