/* SPDX-License-Identifier: MIT
 *
 * spec_check.c: a spec from its defaults to its verdict.
 *
 * One parameter at a time: is it known here, is it in its own range, is it there. What parameters
 * say together is spec_rules.c. An unused parameter is blamed before a missing one, because it is
 * more often the misunderstanding.
 */
#include "spec.h"
#include "staged/staged.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- fields */

static void *field(struct pe_spec *s, enum pe_param p)
{
    return (char *)s + pe_param_info(p)->offset;
}

static void clear_field(struct pe_spec *s, enum pe_param p)
{
    void *at = field(s, p);
    switch (pe_param_info(p)->type) {
    case PE_TYPE_INT:
        *(int64_t *)at = 0;
        break;
    case PE_TYPE_REAL:
        *(double *)at = 0;
        break;
    case PE_TYPE_BOOL:
        *(bool *)at = false;
        break;
    case PE_TYPE_CHOICE:
        *(int *)at = 0;
        break;
    case PE_TYPE_INTS:
        *(struct pe_ints *)at = (struct pe_ints){0};
        break;
    case PE_TYPE_REALS:
        *(struct pe_reals *)at = (struct pe_reals){0};
        break;
    }
}

/* Defaults of numbers are whole: digits only. */
static int64_t whole(const char *text)
{
    int64_t n = 0;
    for (; *text; text++)
        n = n * 10 + (*text - '0');
    return n;
}

static void preset_field(struct pe_spec *s, enum pe_param p, const char *text)
{
    void *at = field(s, p);
    switch (pe_param_info(p)->type) {
    case PE_TYPE_INT:
        *(int64_t *)at = whole(text);
        break;
    case PE_TYPE_REAL:
        *(double *)at = (double)whole(text);
        break;
    case PE_TYPE_BOOL:
        *(bool *)at = *text == 't';
        break;
    case PE_TYPE_CHOICE:
        *(int *)at = pe_choice_find(p, text, strlen(text));
        break;
    case PE_TYPE_INTS:
    case PE_TYPE_REALS:
        break;
    }
}

static void fill_defaults(struct pe_spec *s)
{
    for (int p = 0; p < PE_PARAMS; p++) {
        const struct pe_use *use = pe__use(s, p);
        if (use && pe__given(s, p))
            continue;
        clear_field(s, p);
        if (use && use->preset && *use->preset)
            preset_field(s, p, use->preset);
    }
    if (!pe__given(s, PE_PARAM_POSITIONS))
        s->rank = 0;
}

void pe_spec_init(struct pe_spec *s, enum pe_kind kind, enum pe_resource resource)
{
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->resource = resource;
    fill_defaults(s);
}

/* ---------------------------------------------------------------- one parameter at a time */

static enum pe_error blame_unused(const struct pe_spec *s, struct pe_fault *fault, enum pe_param p)
{
    const char *kind = pe_kind_name(s->kind);
    const char *resource = pe_resource_name(s->resource);
    const char *name = pe_param_info(p)->name;
    if (s->resource != PE_RESOURCE_TABLE)
        return pe__blame(s, fault, PE_UNUSED, p, "%s is not used by the %s of %s", name, resource,
                         kind);
    if (pe__is_rope(s->kind))
        return pe__blame(s, fault, PE_UNUSED, p, "%s is not used by %s with rope_type=%s", name,
                         kind, pe_param_info(PE_PARAM_ROPE_TYPE)->choices[s->rope_type]);
    return pe__blame(s, fault, PE_UNUSED, p, "%s is not used by %s", name, kind);
}

static bool int_in_range(const struct pe_spec *s, enum pe_param p, int64_t v)
{
    const struct pe_param_info *info = pe_param_info(p);
    double lo = p == PE_PARAM_OFFSET && s->resource != PE_RESOURCE_SHIFT ? 0 : info->lo;
    return v >= (int64_t)lo && v <= (int64_t)info->hi;
}

static bool real_in_range(enum pe_param p, double v)
{
    const struct pe_param_info *info = pe_param_info(p);
    return isfinite(v) && v >= info->lo && v <= info->hi;
}

/* How many entries are in range before the first that is not. */
static size_t ints_in_range(const struct pe_spec *s, enum pe_param p, const struct pe_ints *list)
{
    size_t i = 0;
    while (i < list->count && int_in_range(s, p, list->at[i]))
        i++;
    return i;
}

static size_t reals_in_range(enum pe_param p, const struct pe_reals *list)
{
    size_t i = 0;
    while (i < list->count && real_in_range(p, list->at[i]))
        i++;
    return i;
}

static enum pe_error check_list(const struct pe_spec *s, struct pe_fault *fault, enum pe_param p,
                                const void *at)
{
    const struct pe_param_info *info = pe_param_info(p);
    bool ints = info->type == PE_TYPE_INTS;
    size_t count =
        ints ? ((const struct pe_ints *)at)->count : ((const struct pe_reals *)at)->count;
    size_t good = ints ? ints_in_range(s, p, at) : reals_in_range(p, at);
    if (count == 0)
        return pe__blame(s, fault, PE_RANGE, p, "%s is empty", info->name);
    if (good == count)
        return PE_OK;
    pe_param_allowed(s->kind, s->resource, p, fault->allowed, sizeof fault->allowed);
    return pe__blame(s, fault, PE_RANGE, p, "entry %zu of %s is out of range: it must be one of %s",
                     good, info->name, fault->allowed);
}

static enum pe_error check_range(const struct pe_spec *s, struct pe_fault *fault, enum pe_param p)
{
    const struct pe_param_info *info = pe_param_info(p);
    const void *at = (const char *)s + info->offset;
    char value[64];
    bool good = true;
    switch (info->type) {
    case PE_TYPE_INT:
        good = int_in_range(s, p, *(const int64_t *)at);
        break;
    case PE_TYPE_REAL:
        good = real_in_range(p, *(const double *)at);
        break;
    case PE_TYPE_CHOICE:
        good = pe_choice_allowed(s->kind, s->resource, p, *(const int *)at);
        break;
    case PE_TYPE_BOOL:
        break;
    case PE_TYPE_INTS:
    case PE_TYPE_REALS:
        return check_list(s, fault, p, at);
    }
    if (good)
        return PE_OK;
    pe_spec_value(s, p, value, sizeof value);
    pe_param_allowed(s->kind, s->resource, p, fault->allowed, sizeof fault->allowed);
    return pe__blame(s, fault, PE_RANGE, p, "%s must be %s%s (got %s)", info->name,
                     info->type == PE_TYPE_CHOICE ? "one of " : "", fault->allowed, value);
}

static enum pe_error check_present(const struct pe_spec *s, struct pe_fault *fault, enum pe_param p)
{
    const struct pe_use *use = pe__use(s, p);
    const char *name = pe_param_info(p)->name;
    if (!use || !use->required || pe__given(s, p))
        return PE_OK;
    if (use->unless == PE_PARAM_NONE)
        return pe__blame(s, fault, PE_MISSING, p, "%s is required", name);
    if (pe__given(s, use->unless))
        return PE_OK;
    return pe__blame(s, fault, PE_MISSING, p, "%s is required unless %s is given", name,
                     pe_param_info(use->unless)->name);
}

typedef enum pe_error check_one(const struct pe_spec *, struct pe_fault *, enum pe_param);

static enum pe_error check_used(const struct pe_spec *s, struct pe_fault *fault, enum pe_param p)
{
    return pe__given(s, p) && !pe__use(s, p) ? blame_unused(s, fault, p) : PE_OK;
}

static enum pe_error check_given_range(const struct pe_spec *s, struct pe_fault *fault,
                                       enum pe_param p)
{
    return pe__given(s, p) ? check_range(s, fault, p) : PE_OK;
}

static enum pe_error check_each(const struct pe_spec *s, struct pe_fault *fault, check_one *check)
{
    enum pe_error error = PE_OK;
    for (int p = 0; p < PE_PARAMS && !error; p++)
        error = check(s, fault, p);
    return error;
}

/* ---------------------------------------------------------------- the whole */

static enum pe_error check_rope_type(struct pe_spec *s, struct pe_fault *fault)
{
    bool rope = pe__is_rope(s->kind);
    if (rope && pe__given(s, PE_PARAM_ROPE_TYPE))
        return check_range(s, fault, PE_PARAM_ROPE_TYPE);
    s->rope_type = PE_ROPE_TYPE_DEFAULT;
    return PE_OK;
}

static enum pe_error check_sizes(const struct pe_spec *s, struct pe_fault *fault)
{
    struct pe_tensor tensors[PE_MAX_TENSORS];
    unsigned count;
    uint64_t total = 0;
    bool fits = pe__spec_shapes(s, tensors, &count);
    for (unsigned i = 0; fits && i < count; i++)
        fits = !__builtin_add_overflow(total, tensors[i].bytes, &total) && total <= INT64_MAX;
    if (fits)
        return PE_OK;
    return pe__blame(s, fault, PE_TOO_LARGE, PE_PARAM_NONE,
                     "the table has more than 2^63-1 bytes, which nothing can address");
}

enum pe_error pe_spec_check(struct pe_spec *s, struct pe_fault *fault)
{
    struct pe_fault unwanted;
    enum pe_error error;
    if (!fault)
        fault = &unwanted;
    *fault = (struct pe_fault){.error = PE_OK, .param = PE_PARAM_NONE};
    if (!pe_resource_exists(s->kind, s->resource))
        return pe__blame(s, fault, PE_CONFLICT, PE_PARAM_NONE, "%s has no %s",
                         pe_kind_name(s->kind), pe_resource_name(s->resource));
    if ((error = check_rope_type(s, fault)) || (error = check_each(s, fault, check_used)) ||
        (error = check_each(s, fault, check_given_range)))
        return error;
    fill_defaults(s);
    if ((error = pe__width_rules(s, fault)) || (error = check_each(s, fault, check_present)) ||
        (error = pe__spec_rules(s, fault)))
        return error;
    if (s->arithmetic == PE_ARITHMETIC_FLOAT32 && (error = pe__staged_rules(s, fault)))
        return error;
    return check_sizes(s, fault);
}
