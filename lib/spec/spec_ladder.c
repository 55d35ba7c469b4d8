/* SPDX-License-Identifier: MIT
 *
 * spec_ladder.c: which specs have the same frequencies.
 *
 * What the frequencies of a spec follow from is put into one form: the shape of the ladder, then
 * every parameter that bears on the spec, but for those that are known to leave frequencies alone.
 * So a parameter that nobody thought of here keeps specs apart that could share, never the reverse.
 */
#include "must.h"
#include "spec.h"

#include <math.h>
#include <string.h>

/* Exponents -r num / den of the pairs, and the parameters beside them: their bits where shown has
 * their bit. At most one list bears on a ladder. */
struct facts {
    uint64_t pairs, num, den;
    uint64_t shown;
    uint64_t bits[PE_PARAMS];
    struct pe_reals list;
};

enum pe_choice_ARITHMETIC pe__spec_arithmetic(const struct pe_spec *s)
{
    return pe__use(s, PE_PARAM_ARITHMETIC) ? (enum pe_choice_ARITHMETIC)s->arithmetic
                                           : PE_ARITHMETIC_EXACT;
}

bool pe__spec_has_ladder(const struct pe_spec *s)
{
    return s->resource != PE_RESOURCE_FREQUENCIES &&
           (pe__is_rope(s->kind) || s->kind == PE_KIND_SINUSOIDAL || s->kind == PE_KIND_GRID);
}

void pe__ladder_exponents(const struct pe_spec *s, int64_t *num, int64_t *den)
{
    int64_t width = pe__ladder_width(s), half = width / 2;
    *num = 2;
    *den = width;
    if (s->kind != PE_KIND_SINUSOIDAL)
        return;
    if (s->ladder == PE_LADDER_CLOSED) {
        *num = 1;
        *den = half > 2 ? half - 1 : 1;
    } else if (width % 2 && s->odd == PE_ODD_ZERO && width > 1) {
        *den = width - 1;
    }
}

size_t pe__ladder_pairs(const struct pe_spec *s)
{
    bool lone_sine = s->kind == PE_KIND_SINUSOIDAL && s->width % 2 && s->odd == PE_ODD_SINE;
    return (size_t)pe__ladder_width(s) / 2 + lone_sine;
}

/* What says where numbers stand, which rows there are, or has its say in the shape. */
static bool leaves_alone(const struct pe_spec *s, enum pe_param p)
{
    switch (p) {
    case PE_PARAM_LENGTH:
    case PE_PARAM_OFFSET:
    case PE_PARAM_POSITIONS:
    case PE_PARAM_HEIGHT:
    case PE_PARAM_COLUMNS:
    case PE_PARAM_MAX_OFFSET:
    case PE_PARAM_PADDING_IDX:
    case PE_PARAM_CLS_TOKEN:
    case PE_PARAM_DTYPE:
    case PE_PARAM_LAYOUT:
    case PE_PARAM_ORDER:
    case PE_PARAM_INVERSE:
    case PE_PARAM_COMPACT:
    case PE_PARAM_MROPE_SECTION:
    case PE_PARAM_MROPE_INTERLEAVED:
    case PE_PARAM_SCALE_BASE:
    case PE_PARAM_CENTER:
        return true;
    case PE_PARAM_WIDTH:
    case PE_PARAM_HEAD_DIM:
    case PE_PARAM_LADDER:
    case PE_PARAM_ODD:
        return true;
    case PE_PARAM_SHORT_FACTOR:
    case PE_PARAM_LONG_FACTOR:
        return (p == PE_PARAM_LONG_FACTOR) !=
               (s->sequence_length > s->original_max_position_embeddings);
    case PE_PARAM_SEQUENCE_LENGTH: /* of longrope it chooses the list, no more */
        return s->rope_type == PE_ROPE_TYPE_LONGROPE;
    case PE_PARAM_ARITHMETIC:
        return s->arithmetic == PE_ARITHMETIC_EXACT;
    case PE_PARAM_ROPE_TYPE:
        return s->rope_type == PE_ROPE_TYPE_DEFAULT;
    case PE_PARAM_SCALE:
        return fabs(s->scale) == 1;
    default:
        return false;
    }
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static void add(struct facts *f, const struct pe_spec *s, enum pe_param p)
{
    const struct pe_param_info *info = pe_param_info(p);
    const void *at = (const char *)s + info->offset;
    f->shown |= UINT64_C(1) << p;
    if (info->type == PE_TYPE_INT)
        f->bits[p] = (uint64_t) * (const int64_t *)at;
    else if (info->type == PE_TYPE_REAL)
        f->bits[p] = bits_of(*(const double *)at);
    else if (info->type == PE_TYPE_BOOL)
        f->bits[p] = *(const bool *)at;
    else if (info->type == PE_TYPE_CHOICE)
        f->bits[p] = (uint64_t) * (const int *)at;
    else {
        must(f->list.count == 0);
        f->list = *(const struct pe_reals *)at;
    }
    if (p == PE_PARAM_SCALE)
        f->bits[p] = bits_of(fabs(s->scale));
    /* growth begins beyond the length that the model is made for */
    if (p == PE_PARAM_SEQUENCE_LENGTH && s->sequence_length < s->max_position_embeddings)
        f->bits[p] = (uint64_t)s->max_position_embeddings;
}

static void state_facts(const struct pe_spec *s, struct facts *f)
{
    int64_t num, den;
    *f = (struct facts){.pairs = pe__ladder_pairs(s)};
    pe__ladder_exponents(s, &num, &den);
    bool halves = num == 2 && den % 2 == 0;
    f->num = (uint64_t)(halves ? 1 : num);
    f->den = (uint64_t)(halves ? den / 2 : den);
    for (int p = 0; p < PE_PARAMS; p++)
        if (pe_spec_shows(s, (enum pe_param)p) && !leaves_alone(s, (enum pe_param)p))
            add(f, s, (enum pe_param)p);
}

bool pe__spec_same_ladder(const struct pe_spec *a, const struct pe_spec *b)
{
    struct facts f, g;
    if (!pe__spec_has_ladder(a) || !pe__spec_has_ladder(b))
        return false;
    state_facts(a, &f);
    state_facts(b, &g);
    return f.pairs == g.pairs && f.num == g.num && f.den == g.den && f.shown == g.shown &&
           memcmp(f.bits, g.bits, sizeof f.bits) == 0 && f.list.count == g.list.count &&
           (f.list.count == 0 ||
            memcmp(f.list.at, g.list.at, f.list.count * sizeof *f.list.at) == 0);
}

/* A step of a hash that spreads well and hides nothing: callers compare what they find. */
static uint64_t mix(uint64_t hash, uint64_t v)
{
    hash = (hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t pe_spec_ladder(const struct pe_spec *s)
{
    struct facts f;
    uint64_t hash = 1;
    if (!pe__spec_has_ladder(s))
        return 0;
    state_facts(s, &f);
    hash = mix(mix(mix(mix(hash, f.pairs), f.num), f.den), f.shown);
    for (int p = 0; p < PE_PARAMS; p++)
        if (f.shown >> p & 1)
            hash = mix(hash, f.bits[p]);
    for (size_t i = 0; i < f.list.count; i++)
        hash = mix(hash, bits_of(f.list.at[i]));
    return hash ? hash : 1;
}
