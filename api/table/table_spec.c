/* SPDX-License-Identifier: MIT
 *
 * table_spec.c: see table_spec.h. rope_type is read before the others, since it decides which of
 * them are known. Ranges are left to pe_spec_check, which states them.
 */
#include "table_spec.h"
#include "request/nearest.h"

#include <string.h>

void api__set_positions(struct pe_spec *spec, const struct api__ints *ints)
{
    spec->positions = (struct pe_ints){ints->at, ints->count};
    spec->rank = ints->rank;
    memcpy(spec->shape, ints->shape, sizeof spec->shape);
    spec->given |= UINT64_C(1) << PE_PARAM_POSITIONS;
}

const char *const *api__allowed_words(struct api__arena *arena, enum pe_kind kind,
                                      enum pe_resource resource, enum pe_param param, size_t *count)
{
    const char *const *words = pe_param_info(param)->choices;
    size_t all = 0, kept = 0;
    while (words[all])
        all++;
    const char **out = api__arena_array(arena, all + 1, sizeof *out);
    for (size_t i = 0; i < all; i++)
        if (pe_choice_allowed(kind, resource, param,
                              pe_choice_find(param, words[i], strlen(words[i]))))
            out[kept++] = words[i];
    out[kept] = NULL;
    *count = kept;
    return out;
}

static bool is_other(struct api__names others, struct api_bytes name)
{
    for (size_t i = 0; i < others.count; i++)
        if (api__equal(name, others.at[i]))
            return true;
    return false;
}

static bool read_choice(struct api__call *call, const struct api__param *p,
                        const struct pe_spec *spec, enum pe_param param, int *out)
{
    struct api_bytes word;
    size_t count;
    if (!api__read_word(call, p, &word))
        return false;
    int value = pe_choice_find(param, word.at, word.len);
    if (value >= 0 && pe_choice_allowed(spec->kind, spec->resource, param, value)) {
        *out = value;
        return true;
    }
    const char *const *words =
        api__allowed_words(call->arena, spec->kind, spec->resource, param, &count);
    return api__read_choice(call, p, words, count, &value);
}

static bool read_rope_type(struct api__call *call, const struct api__params *params,
                           struct pe_spec *spec)
{
    const struct api__param *p = api__find_param(params, "rope_type");
    if (!p || !pe_use(spec->kind, spec->resource, spec->rope_type, PE_PARAM_ROPE_TYPE))
        return true;
    return read_choice(call, p, spec, PE_PARAM_ROPE_TYPE, &spec->rope_type);
}

static bool refuse_name(struct api__call *call, const struct api__param *p,
                        const struct pe_spec *spec, struct api__names others, bool elsewhere)
{
    const char **names = api__arena_array(call->arena, PE_PARAMS + others.count, sizeof *names);
    size_t count = 0;
    for (int i = 0; i < PE_PARAMS; i++)
        if (pe_use(spec->kind, spec->resource, spec->rope_type, (enum pe_param)i))
            names[count++] = pe_param_info((enum pe_param)i)->name;
    for (size_t i = 0; i < others.count; i++)
        names[count++] = others.at[i];
    const char *kind = pe_kind_name(spec->kind), *resource = pe_resource_name(spec->resource);
    const char *why =
        api__format_text(call->arena, "is not %s %s%s%s", elsewhere ? "used by" : "a parameter of",
                         kind, *resource ? "/" : "", resource);
    if (elsewhere && pe_use(spec->kind, spec->resource, spec->rope_type, PE_PARAM_ROPE_TYPE))
        why = api__format_text(call->arena, "%s with rope_type=%s", why,
                               pe_param_info(PE_PARAM_ROPE_TYPE)->choices[spec->rope_type]);
    return api__unknown_param(call, p, why, names, count);
}

/* What each item stands for: a parameter of the spec, or PE_PARAM_NONE for one of `others`. */
static bool resolve_names(struct api__call *call, const struct api__params *params,
                          struct api__names others, const struct pe_spec *spec, enum pe_param *ids)
{
    for (size_t i = 0; i < params->count; i++) {
        const struct api__param *p = &params->items[i];
        int id = pe_param_find(p->name.at, p->name.len);
        ids[i] = id < 0 ? PE_PARAM_NONE : (enum pe_param)id;
        if (id >= 0 && pe_use(spec->kind, spec->resource, spec->rope_type, ids[i]))
            continue;
        ids[i] = PE_PARAM_NONE;
        if (!is_other(others, p->name))
            return refuse_name(call, p, spec, others, id >= 0);
    }
    return api__check_repeats(call, params);
}

/* Only the k of a shift may be negative. */
static int64_t lowest(const struct pe_spec *spec, enum pe_param id)
{
    if (id == PE_PARAM_OFFSET && spec->resource != PE_RESOURCE_SHIFT)
        return 0;
    return (int64_t)pe_param_info(id)->lo;
}

static bool read_value(struct api__call *call, const struct api__param *p, enum pe_param id,
                       struct pe_spec *spec)
{
    const struct pe_param_info *info = pe_param_info(id);
    void *field = (char *)spec + info->offset;
    struct api__ints ints;
    switch (info->type) {
    case PE_TYPE_INT:
        return api__read_integer(call, p, lowest(spec, id), (int64_t)info->hi, field);
    case PE_TYPE_REAL:
        return api__read_real(call, p, info->lo, info->hi, field);
    case PE_TYPE_BOOL:
        return api__read_bool(call, p, field);
    case PE_TYPE_CHOICE:
        return read_choice(call, p, spec, id, field);
    case PE_TYPE_REALS:
        return api__read_reals(call, p, field);
    case PE_TYPE_INTS:
        break;
    }
    if (!api__read_integers(call, p, id == PE_PARAM_POSITIONS, &ints))
        return false;
    if (id == PE_PARAM_POSITIONS)
        api__set_positions(spec, &ints);
    else if (ints.rank != 1)
        return api__bad_value(call, API__BAD_VALUE, p, "%s must be a flat list", info->name);
    else
        *(struct pe_ints *)field = (struct pe_ints){ints.at, ints.count};
    return true;
}

static enum api__problem_id problem_of(enum pe_error error)
{
    switch (error) {
    case PE_MISSING:
        return API__MISSING_PARAMETER;
    case PE_UNUSED:
        return API__UNKNOWN_PARAMETER;
    case PE_RANGE:
        return API__OUT_OF_RANGE;
    case PE_TOO_LARGE:
        return API__TOO_LARGE;
    default:
        return API__CONFLICT;
    }
}

static bool refuse_fault(struct api__call *call, const struct api__params *params,
                         const struct pe_fault *fault)
{
    api__refuse(call, problem_of(fault->error), "%s", fault->text);
    if (fault->param == PE_PARAM_NONE)
        return false;
    const char *name = pe_param_info(fault->param)->name;
    const struct api__param *p = api__find_param(params, name);
    call->issue.parameter = api__bytes(name);
    if (fault->allowed[0])
        call->issue.allowed_text =
            api__arena_copy(call->arena, fault->allowed, strlen(fault->allowed));
    if (p) {
        call->issue.value = p->value;
        call->issue.value_is_json = p->json;
    }
    return false;
}

bool api__read_spec(struct api__call *call, const struct api__params *params,
                    struct api__names others, struct pe_spec *spec)
{
    enum pe_param ids[API__MAX_PARAMS];
    struct pe_fault fault;
    if (!read_rope_type(call, params, spec) || !resolve_names(call, params, others, spec, ids))
        return false;
    for (size_t i = 0; i < params->count; i++) {
        if (ids[i] == PE_PARAM_NONE)
            continue;
        if (ids[i] == PE_PARAM_POSITIONS && spec->given >> PE_PARAM_POSITIONS & 1)
            return api__bad_value(call, API__REPEATED_PARAMETER, &params->items[i],
                                  "positions are given twice: as a parameter and as the body");
        if (!read_value(call, &params->items[i], ids[i], spec))
            return false;
        spec->given |= UINT64_C(1) << ids[i];
    }
    if (pe_spec_check(spec, &fault) != PE_OK)
        return refuse_fault(call, params, &fault);
    return true;
}
