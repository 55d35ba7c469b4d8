/* SPDX-License-Identifier: MIT
 *
 * resolve_group.c: see resolve_group.h.
 */
#include "resolve_group.h"
#include "must.h"

#include <stdarg.h>
#include <stdio.h>

struct api__group *api__add_group(struct api__groups *groups, const char *name, const bool *mask)
{
    must(groups->count < API__MAX_GROUPS);
    struct api__group *g = &groups->at[groups->count++];
    *g = (struct api__group){.name = name, .mask = mask, .kind = API__GROUP_NONE};
    return g;
}

void api__unsupported(struct api__config *config, struct api__group *group, const char *key,
                      const char *format, ...)
{
    char text[768];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    group->kind = API__GROUP_UNSUPPORTED;
    api__note(config->call->arena, &group->notes, key, "unsupported", "%s", text);
}

bool api__given(const struct pe_spec *spec, enum pe_param param)
{
    return spec->given >> param & 1;
}

void api__give(struct pe_spec *spec, enum pe_param param)
{
    spec->given |= UINT64_C(1) << param;
}

static enum api__problem_id problem_of(enum pe_error error)
{
    switch (error) {
    case PE_MISSING:
        return API__MISSING_PARAMETER;
    case PE_RANGE:
        return API__OUT_OF_RANGE;
    case PE_TOO_LARGE:
        return API__TOO_LARGE;
    default:
        return API__CONFLICT;
    }
}

/* A used fact whose meaning is that parameter. */
static const struct api__fact *source(const struct api__config *config, enum pe_param param)
{
    for (size_t i = 0; i < config->count && param != PE_PARAM_NONE; i++)
        if (config->facts[i].told && api__meaning_info(config->facts[i].meaning)->param == param)
            return &config->facts[i];
    for (size_t i = 0; i < config->count && param == PE_PARAM_MROPE_SECTION; i++)
        if (config->facts[i].meaning == API__MEANS_MROPE_SECTION)
            return &config->facts[i];
    return NULL;
}

void api__check_group(struct api__config *config, struct api__group *group)
{
    struct pe_fault fault;
    enum pe_error error = config->refused ? PE_OK : pe_spec_check(&group->spec, &fault);
    group->kind = API__GROUP_TABLE;
    if (error == PE_OK)
        return;
    const struct api__fact *fact = source(config, fault.param);
    const char *name = fact ? fact->path : group->name;
    api__refuse_fact(config, fact, problem_of(error), "%s: %s", name, fault.text);
    if (*fault.allowed)
        config->call->issue.allowed_text =
            api__format_text(config->call->arena, "%s", fault.allowed);
}

int64_t api__table_length(struct api__config *config, struct api__group *group, int64_t rows)
{
    const struct pe_param_info *info = pe_param_info(PE_PARAM_LENGTH);
    const struct api__fact *fact =
        api__find_fact(config, API__MEANS_MAX_POSITIONS, (struct api__where){0});
    int64_t length = rows ? rows : 2048;
    if (!api__fact_integer(config, fact, (int64_t)info->lo, (int64_t)info->hi, &length)) {
        const char *name = api__spelling(config->dialect, API__MEANS_MAX_POSITIONS);
        api__note(config->call->arena, &group->notes, name, "assumed",
                  "%s is absent: href asks for %lld rows%s", name, (long long)length,
                  rows ? ", the default of this family" : "; any other length is as good");
    }
    return length;
}
