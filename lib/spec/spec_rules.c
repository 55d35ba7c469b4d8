/* SPDX-License-Identifier: MIT
 *
 * spec_rules.c: what the parameters of a spec say together: rows, widths, axes.
 *
 * Each rule names the parameter to blame and leaves the spec complete: positions or a window, never
 * both; a width even where values come in pairs. What rope_types demand is spec_scaling.c, what
 * biases and buckets demand is spec_relative.c.
 */
#include "spec.h"
#include "staged/staged.h"

#include <stdio.h>

/* ---------------------------------------------------------------- widths */

enum pe_error pe__width_rules(struct pe_spec *s, struct pe_fault *fault)
{
    bool width = pe__given(s, PE_PARAM_WIDTH), head = pe__given(s, PE_PARAM_HEAD_DIM);
    bool part = pe__given(s, PE_PARAM_PARTIAL_ROTARY_FACTOR);
    if (!pe__is_rope(s->kind) || s->rope_type == PE_ROPE_TYPE_PROPORTIONAL) {
        if (head)
            s->width = s->head_dim;
        return PE_OK;
    }
    if (width && (head || part))
        return pe__blame(s, fault, PE_CONFLICT,
                         head ? PE_PARAM_HEAD_DIM : PE_PARAM_PARTIAL_ROTARY_FACTOR,
                         "give width, or head_dim with partial_rotary_factor, not both");
    if (head && !part)
        return pe__blame(s, fault, PE_MISSING, PE_PARAM_PARTIAL_ROTARY_FACTOR,
                         "partial_rotary_factor is required with head_dim; or give width alone");
    if (part && !head)
        return pe__blame(s, fault, PE_MISSING, PE_PARAM_HEAD_DIM,
                         "head_dim is required with partial_rotary_factor");
    if (!head)
        return PE_OK;
    /* in binary64, truncated: what the models that use this key do */
    s->width = (int64_t)((double)s->head_dim * s->partial_rotary_factor);
    if (s->width < 2 || s->width % 2)
        return pe__blame(
            s, fault, PE_RANGE, PE_PARAM_PARTIAL_ROTARY_FACTOR,
            "partial_rotary_factor * head_dim, truncated, is the width: it must be even "
            "and at least 2 (got %lld)",
            (long long)s->width);
    return PE_OK;
}

static enum pe_error check_multiple(const struct pe_spec *s, struct pe_fault *fault, int64_t of)
{
    enum pe_param p = s->rope_type == PE_ROPE_TYPE_PROPORTIONAL ? PE_PARAM_HEAD_DIM
                      : pe__given(s, PE_PARAM_WIDTH)            ? PE_PARAM_WIDTH
                                                                : PE_PARAM_PARTIAL_ROTARY_FACTOR;
    if (s->width % of == 0)
        return PE_OK;
    if (p != PE_PARAM_PARTIAL_ROTARY_FACTOR)
        snprintf(fault->allowed, sizeof fault->allowed, "a multiple of %lld from %lld to %.0f",
                 (long long)of, (long long)of, pe_param_info(p)->hi);
    return pe__blame(s, fault, PE_RANGE, p, "%s must be %s for %s (got %lld)",
                     p == PE_PARAM_HEAD_DIM ? "head_dim" : "width",
                     of == 2 ? "even" : "a multiple of 4", pe_kind_name(s->kind),
                     (long long)s->width);
}

static enum pe_error sinusoidal_width(const struct pe_spec *s, struct pe_fault *fault)
{
    if (s->width % 2 == 0)
        return PE_OK;
    if (s->resource == PE_RESOURCE_SHIFT || s->resource == PE_RESOURCE_SIMILARITY)
        return check_multiple(s, fault, 2);
    snprintf(fault->allowed, sizeof fault->allowed,
             "an even integer; any with odd=zero or odd=sine");
    if (s->odd == PE_ODD_ERROR)
        return pe__blame(s, fault, PE_RANGE, PE_PARAM_WIDTH,
                         "width must be even unless odd is zero or sine (got %lld)",
                         (long long)s->width);
    if (s->resource == PE_RESOURCE_FREQUENCIES && s->width == 1 && s->odd == PE_ODD_ZERO)
        return pe__blame(s, fault, PE_RANGE, PE_PARAM_WIDTH,
                         "width must be at least 2 with odd=zero: there is no frequency");
    *fault->allowed = 0;
    return PE_OK;
}

/* ---------------------------------------------------------------- rows */

static enum pe_error window_rules(const struct pe_spec *s, struct pe_fault *fault)
{
    if (s->offset <= PE_POSITION_END - s->length)
        return PE_OK;
    return pe__blame(s, fault, PE_RANGE, PE_PARAM_OFFSET,
                     "offset + length must be at most 2^53 (got offset=%lld, length=%lld)",
                     (long long)s->offset, (long long)s->length);
}

static enum pe_error shape_rules(struct pe_spec *s, struct pe_fault *fault)
{
    uint64_t count = 1;
    bool good = s->rank <= PE_MAX_RANK;
    if (s->rank == 0) {
        s->rank = 1;
        s->shape[0] = s->positions.count;
    }
    for (unsigned i = 0; good && i < s->rank; i++)
        good = !__builtin_mul_overflow(count, s->shape[i], &count);
    if (!good || count != s->positions.count)
        return pe__blame(s, fault, PE_RANGE, PE_PARAM_POSITIONS,
                         "positions must have at most %d axes and as many entries as their product",
                         PE_MAX_RANK);
    return PE_OK;
}

static enum pe_error positions_rules(struct pe_spec *s, struct pe_fault *fault)
{
    static const enum pe_param rivals[] = {PE_PARAM_LENGTH, PE_PARAM_OFFSET, PE_PARAM_HEIGHT,
                                           PE_PARAM_COLUMNS};
    uint64_t axes = s->kind == PE_KIND_MROPE ? 3 : s->kind == PE_KIND_AXIAL_ROPE ? 2 : 0;
    enum pe_error error;
    for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++)
        if (pe__given(s, rivals[i]))
            return pe__blame(s, fault, PE_CONFLICT, rivals[i], "%s cannot stand beside positions",
                             pe_param_info(rivals[i])->name);
    if ((error = shape_rules(s, fault)))
        return error;
    if (axes && s->shape[0] != axes)
        return pe__blame(s, fault, PE_RANGE, PE_PARAM_POSITIONS,
                         "positions of %s must have a first axis of %llu (%s), not of %llu",
                         pe_kind_name(s->kind), (unsigned long long)axes,
                         axes == 3 ? "t, h, w" : "height, columns",
                         (unsigned long long)s->shape[0]);
    /* a default of the window that the list replaces */
    s->offset = s->length = 0;
    return PE_OK;
}

static int64_t greatest(const struct pe_ints *list)
{
    int64_t top = list->at[0];
    for (size_t i = 1; i < list->count; i++)
        top = list->at[i] > top ? list->at[i] : top;
    return top;
}

int64_t pe__spec_end(const struct pe_spec *s)
{
    if (pe__given(s, PE_PARAM_POSITIONS))
        return greatest(&s->positions) + 1;
    if (s->kind == PE_KIND_AXIAL_ROPE)
        return s->height > s->columns ? s->height : s->columns;
    return s->offset + s->length;
}

static enum pe_error row_rules(struct pe_spec *s, struct pe_fault *fault)
{
    if (pe__given(s, PE_PARAM_POSITIONS))
        return positions_rules(s, fault);
    return s->kind == PE_KIND_AXIAL_ROPE ? PE_OK : window_rules(s, fault);
}

/* ---------------------------------------------------------------- mrope */

unsigned pe__mrope_axis(const struct pe_spec *s, uint64_t pair)
{
    const int64_t *section = s->mrope_section.at;
    int64_t r = (int64_t)pair;
    if (!s->mrope_interleaved)
        return r < section[0] ? 0 : r < section[0] + section[1] ? 1 : 2;
    /* h on pairs 1, 4, 7.., w on 2, 5, 8.., as many as their sections say; t on all others */
    unsigned axis = (unsigned)(r % 3);
    return axis && r / 3 < section[axis] ? axis : 0;
}

static enum pe_error mrope_rules(const struct pe_spec *s, struct pe_fault *fault)
{
    const struct pe_ints *section = &s->mrope_section;
    int64_t pairs = s->width / 2, rest = pairs;
    snprintf(fault->allowed, sizeof fault->allowed, "three integers whose sum is width/2 = %lld",
             (long long)pairs);
    for (size_t i = 0; i < section->count && rest >= 0; i++)
        rest = section->at[i] > rest ? -1 : rest - section->at[i];
    if (section->count != 3 || rest != 0)
        return pe__blame(s, fault, PE_RANGE, PE_PARAM_MROPE_SECTION,
                         "mrope_section must be %s (got %zu numbers)", fault->allowed,
                         section->count);
    for (int axis = 1; s->mrope_interleaved && axis < 3; axis++)
        /* the last of them, pair axis + 3 * (n - 1), must be a pair of the table */
        if (axis + 3 * (section->at[axis] - 1) >= pairs)
            return pe__blame(s, fault, PE_CONFLICT, PE_PARAM_MROPE_SECTION,
                             "mrope_section cannot be interleaved: every third pair holds fewer "
                             "than %lld of %lld pairs",
                             (long long)section->at[axis], (long long)pairs);
    *fault->allowed = 0;
    return PE_OK;
}

/* ---------------------------------------------------------------- by kind */

static enum pe_error sinusoidal_rules(const struct pe_spec *s, struct pe_fault *fault)
{
    static const enum pe_param dense[] = {PE_PARAM_LAYOUT, PE_PARAM_ORDER};
    for (size_t i = 0; s->compact && i < 2; i++)
        if (pe__given(s, dense[i]))
            return pe__blame(s, fault, PE_UNUSED, dense[i], "%s is not used with compact=true",
                             pe_param_info(dense[i])->name);
    return sinusoidal_width(s, fault);
}

static enum pe_error rope_rules(struct pe_spec *s, struct pe_fault *fault)
{
    enum pe_error error = check_multiple(s, fault, s->kind == PE_KIND_AXIAL_ROPE ? 4 : 2);
    if (error)
        return error;
    if (s->inverse && s->layout == PE_LAYOUT_PHASE)
        return pe__blame(s, fault, PE_CONFLICT, PE_PARAM_INVERSE,
                         "inverse=true negates sines, and layout=phase has none");
    if (s->kind == PE_KIND_MROPE && s->resource == PE_RESOURCE_TABLE &&
        (error = mrope_rules(s, fault)))
        return error;
    if (s->resource == PE_RESOURCE_TABLE && !pe__given(s, PE_PARAM_SEQUENCE_LENGTH) &&
        pe__use(s, PE_PARAM_SEQUENCE_LENGTH)) {
        int64_t end = pe__spec_end(s);
        s->sequence_length = end < 1 ? 1 : end;
    }
    if (s->kind == PE_KIND_XPOS && !pe__given(s, PE_PARAM_CENTER)) {
        int64_t end = pe__spec_end(s);
        s->center = (end - (end & 1)) / 2; /* rounded down, also below zero */
    }
    return pe__scaling_rules(s, fault);
}

enum pe_error pe__spec_rules(struct pe_spec *s, struct pe_fault *fault)
{
    enum pe_error error = PE_OK;
    bool relative = s->kind == PE_KIND_ALIBI || s->kind == PE_KIND_T5 || s->kind == PE_KIND_DEBERTA;
    if (relative)
        return pe__relative_rules(s, fault);
    if (s->resource == PE_RESOURCE_TABLE && s->kind != PE_KIND_GRID)
        error = row_rules(s, fault);
    if (error)
        return error;
    if (s->kind == PE_KIND_GRID)
        return check_multiple(s, fault, 4);
    error = s->kind == PE_KIND_SINUSOIDAL ? sinusoidal_rules(s, fault) : rope_rules(s, fault);
    return error || s->arithmetic != PE_ARITHMETIC_FLOAT32 ? error : pe__staged_rules(s, fault);
}
