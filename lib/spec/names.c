/* SPDX-License-Identifier: MIT
 *
 * names.c: the words of the contract and what stands behind them.
 *
 * Static tables made from the .def files, and look-ups in them. Which kind takes which parameter is
 * the table of uses.def, the first row that fits. Nothing here looks at a value: that is spec.c.
 */
#include "posenc.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- the tables */

#define PE_CHOICE_BEGIN(SET) static const char *const names_##SET[] = {
#define PE_CHOICE(SET, id, name) name,
#define PE_CHOICE_END(SET) \
    NULL                   \
    }                      \
    ;
#include "choices.def"
#undef PE_CHOICE_BEGIN
#undef PE_CHOICE
#undef PE_CHOICE_END
#define names_NONE NULL

static const struct pe_param_info params[] = {
#define PE_PARAM(id, field, name, type, set, lo, hi, prose) \
    {name, PE_TYPE_##type, names_##set, lo, hi, offsetof(struct pe_spec, field), prose},
#include "params.def"
#undef PE_PARAM
};

#define L(x) (1u << PE_LAYOUT_##x)
#define L_SINUSOIDAL (L(INTERLEAVED) | L(SPLIT))
#define L_PLANES (L(PAIRS) | L(SPLIT) | L(INTERLEAVED))
#define L_ROPE (L_PLANES | L(COS_SIN) | L(COMPLEX) | L(MATRIX) | L(PHASE))

static const struct {
    const char *name;
    unsigned layouts;
    const char *formula;
} kinds[] = {
#define PE_KIND(id, name, layouts, formula) {name, layouts, formula},
#include "kinds.def"
#undef PE_KIND
};

static const struct {
    const char *name;
    const char *alias;
    size_t size;
} dtypes[] = {
#define PE_DTYPE(id, name, alias, size, npy, safetensors) {name, alias, size},
#include "dtypes.def"
#undef PE_DTYPE
};

static const enum pe_dtype floats[] = {PE_DTYPE_F64, PE_DTYPE_F32, PE_DTYPE_F16, PE_DTYPE_BF16};
_Static_assert(sizeof floats / sizeof *floats == PE_FLOAT_COUNT, "one dtype for each word");

static const char *const errors[] = {
#define PE_ERROR(id, prose) prose,
#include "errors.def"
#undef PE_ERROR
};

static const char *const resources[] = {"", "frequencies", "shift", "similarity"};
_Static_assert(sizeof resources / sizeof *resources == PE_RESOURCES, "one name for each resource");

#define K(x) (1u << PE_KIND_##x)
#define K_ROPES (K(ROPE) | K(AXIAL_ROPE) | K(MROPE) | K(XPOS))
#define K_TRIG (K_ROPES | K(SINUSOIDAL) | K(GRID))
#define K_ROWS (K(SINUSOIDAL) | K(ROPE) | K(MROPE) | K(XPOS))
#define K_QUERIES (K(ALIBI) | K(T5) | K(DEBERTA))
#define R(x) (1u << PE_RESOURCE_##x)
#define R_TABLE R(TABLE)
#define R_FREQUENCIES R(FREQUENCIES)
#define R_SHIFT R(SHIFT)
#define R_SIMILARITY R(SIMILARITY)
#define R_ANY (R_TABLE | R_FREQUENCIES | R_SHIFT | R_SIMILARITY)
#define T(x) (1u << PE_ROPE_TYPE_##x)
#define T_ANY ((1u << PE_ROPE_TYPE_COUNT) - 1)
#define REQUIRED true
#define OPTIONAL false
#define NONE NULL
#define DERIVED ""

static const struct {
    unsigned kinds;
    unsigned resources;
    unsigned rope_types;
    struct pe_use use;
} uses[] = {
#define PE_USE(kinds, resources, ropes, id, need, unless, preset) \
    {kinds, resources, ropes, {PE_PARAM_##id, need, PE_PARAM_##unless, preset}},
#include "uses.def"
#undef PE_USE
};

/* The parameter of each use, apart: a request looks up some hundred uses. */
static const unsigned char use_params[] = {
#define PE_USE(kinds, resources, ropes, id, need, unless, preset) PE_PARAM_##id,
#include "uses.def"
#undef PE_USE
};

/* ---------------------------------------------------------------- by value */

const char *pe_error_text(enum pe_error e)
{
    return errors[e];
}
const char *pe_kind_name(enum pe_kind k)
{
    return kinds[k].name;
}
const char *pe_kind_formula(enum pe_kind k)
{
    return kinds[k].formula;
}
const char *pe_resource_name(enum pe_resource r)
{
    return resources[r];
}
const char *pe_dtype_name(enum pe_dtype d)
{
    return dtypes[d].name;
}
size_t pe_dtype_size(enum pe_dtype d)
{
    return dtypes[d].size;
}
const struct pe_param_info *pe_param_info(enum pe_param p)
{
    return &params[p];
}

/* ---------------------------------------------------------------- by name */

static bool same(const char *word, const char *name, size_t len)
{
    return strlen(word) == len && memcmp(word, name, len) == 0;
}

int pe_kind_find(const char *name, size_t len)
{
    for (int k = 0; k < PE_KINDS; k++)
        if (same(kinds[k].name, name, len))
            return k;
    return -1;
}

int pe_resource_find(const char *name, size_t len)
{
    for (int r = 0; r < PE_RESOURCES; r++)
        if (same(resources[r], name, len))
            return r;
    return -1;
}

int pe_dtype_find(const char *name, size_t len)
{
    for (int d = 0; d < PE_DTYPES; d++)
        if (same(dtypes[d].name, name, len) || (len && same(dtypes[d].alias, name, len)))
            return d;
    return -1;
}

int pe_param_find(const char *name, size_t len)
{
    for (int p = 0; p < PE_PARAMS; p++)
        if (same(params[p].name, name, len))
            return p;
    return -1;
}

static bool is_float(int dtype)
{
    for (size_t i = 0; i < PE_FLOAT_COUNT; i++)
        if ((int)floats[i] == dtype)
            return true;
    return false;
}

int pe_choice_find(enum pe_param p, const char *name, size_t len)
{
    if (p == PE_PARAM_DTYPE) {
        int d = pe_dtype_find(name, len);
        return is_float(d) ? d : -1;
    }
    const char *const *words = params[p].choices;
    for (int i = 0; words && words[i]; i++)
        if (same(words[i], name, len))
            return i;
    return -1;
}

/* ---------------------------------------------------------------- who takes what */

bool pe_resource_exists(enum pe_kind k, enum pe_resource r)
{
    if (r == PE_RESOURCE_TABLE)
        return true;
    return (r == PE_RESOURCE_FREQUENCIES ? K_TRIG : K(SINUSOIDAL)) >> k & 1;
}

const struct pe_use *pe_use(enum pe_kind k, enum pe_resource r, int rope_type, enum pe_param p)
{
    unsigned t = K_ROPES >> k & 1 ? 1u << rope_type : T_ANY;
    if (!pe_resource_exists(k, r))
        return NULL;
    const unsigned char *at = use_params, *end = use_params + sizeof use_params;
    for (; (at = memchr(at, (int)p, (size_t)(end - at))); at++) {
        size_t i = (size_t)(at - use_params);
        if (uses[i].kinds >> k & 1 && uses[i].resources >> r & 1 && uses[i].rope_types & t)
            return &uses[i].use;
    }
    return NULL;
}

bool pe_choice_allowed(enum pe_kind k, enum pe_resource r, enum pe_param p, int value)
{
    (void)r; /* no resource narrows a choice so far */
    if (value < 0)
        return false;
    switch (p) {
    case PE_PARAM_DTYPE: /* no word finds the carrier of bf16 in f32, but a caller may put it there
                          */
        return is_float(value) || value == PE_DTYPE_BF16_AS_F32;
    case PE_PARAM_LAYOUT:
        return value < PE_LAYOUT_COUNT && (kinds[k].layouts >> value & 1);
    case PE_PARAM_ORDER:
        return value < PE_ORDER_COUNT &&
               (k == PE_KIND_GRID) == (value == PE_ORDER_HW || value == PE_ORDER_WH);
    case PE_PARAM_ROPE_TYPE:
        /* proportional speaks of the whole width of a head, which two axes would have to share */
        return value < PE_ROPE_TYPE_COUNT &&
               !(k == PE_KIND_AXIAL_ROPE && value == PE_ROPE_TYPE_PROPORTIONAL);
    default:
        for (int i = 0; params[p].choices && params[p].choices[i]; i++)
            if (i == value)
                return true;
        return false;
    }
}

/* ---------------------------------------------------------------- what is allowed */

static size_t words_allowed(enum pe_kind k, enum pe_resource r, enum pe_param p, char *out,
                            size_t size)
{
    size_t len = 0;
    for (int i = 0; params[p].choices[i]; i++) {
        const char *word = params[p].choices[i];
        int value = p == PE_PARAM_DTYPE ? (int)floats[i] : i;
        if (!pe_choice_allowed(k, r, p, value))
            continue;
        len += (size_t)snprintf(len < size ? out + len : NULL, len < size ? size - len : 0, "%s%s",
                                len ? ", " : "", word);
    }
    return len;
}

static const char *reals_allowed(const struct pe_param_info *info)
{
    if (info->hi == 1)
        return "above 0, at most 1";
    if (info->lo > 1)
        return "above 1";
    if (info->lo == DBL_MIN)
        return "from 2^-1022";
    return info->lo > 0 ? "above 0" : info->lo == 0 ? "from 0" : "of binary64";
}

size_t pe_param_allowed(enum pe_kind k, enum pe_resource r, enum pe_param p, char *out, size_t size)
{
    const struct pe_param_info *info = &params[p];
    double lo = info->lo;
    if (size)
        *out = 0;
    if (p == PE_PARAM_OFFSET && r != PE_RESOURCE_SHIFT)
        lo = 0;
    switch (info->type) {
    case PE_TYPE_CHOICE:
        return words_allowed(k, r, p, out, size);
    case PE_TYPE_BOOL:
        return (size_t)snprintf(out, size, "true, false");
    case PE_TYPE_INT:
        return (size_t)snprintf(out, size, "an integer from %.0f to %.0f", lo, info->hi);
    case PE_TYPE_INTS:
        return (size_t)snprintf(out, size, "integers from %.0f to %.0f", lo, info->hi);
    case PE_TYPE_REAL:
        return (size_t)snprintf(out, size, "a finite number %s", reals_allowed(info));
    case PE_TYPE_REALS:
        return (size_t)snprintf(out, size, "finite numbers %s", reals_allowed(info));
    }
    return 0;
}
