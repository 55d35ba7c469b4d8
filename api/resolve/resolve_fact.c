/* SPDX-License-Identifier: MIT
 *
 * resolve_fact.c: see resolve_fact.h: precedence and reports.
 */
#include "resolve_fact.h"

#include <string.h>

/* ---------------------------------------------------------------- precedence */

static bool applies(const struct api__fact *f, struct api__where where)
{
    bool entry = f->place == API__IN_ENTRY;
    bool block = f->place == API__IN_BLOCK || f->place == API__IN_ROOT_BLOCK;
    if (entry)
        return where.scope && strcmp(f->scope, where.scope) == 0;
    return !where.entry_only && !(where.plain && block);
}

static unsigned rank(const struct api__fact *f)
{
    static const unsigned char inner[] = {[API__IN_ENTRY] = 0,
                                          [API__IN_BLOCK] = 1,
                                          [API__AT_TOP] = 2,
                                          [API__IN_ROOT_BLOCK] = 3,
                                          [API__AT_ROOT] = 4};
    static const unsigned char outer[] = {[API__AT_TOP] = 0,
                                          [API__AT_ROOT] = 1,
                                          [API__IN_ENTRY] = 2,
                                          [API__IN_BLOCK] = 3,
                                          [API__IN_ROOT_BLOCK] = 4};
    bool top_wins = api__meaning_info(f->meaning)->outer;
    return (top_wins ? outer : inner)[f->place] * 10000u + f->row;
}

/* Numbers by value, all else by spelling. */
static bool says_the_same(struct api__config *config, const struct api__fact *a,
                          const struct api__fact *b)
{
    double x, y;
    const char *type, *other;
    if (api__fact_number(a, &x) && api__fact_number(b, &y))
        return x == y;
    if (a->meaning == API__MEANS_TYPE && a->value.at[0] == '"' && b->value.at[0] == '"' &&
        api__fact_text(config, a, &type) && api__fact_text(config, b, &other))
        return strcmp(type, other) == 0;
    return a->value.len == b->value.len && memcmp(a->value.at, b->value.at, a->value.len) == 0;
}

static void refuse_misspelt(struct api__config *config, enum api__meaning meaning,
                            struct api__where where)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct api__fact *f = &config->facts[i];
        if (f->meaning != API__MEANS_UNKNOWN || f->near_meaning != meaning || !applies(f, where))
            continue;
        api__refuse_fact(config, f, API__UNKNOWN_PARAMETER, "%s is not known; did you mean %s?",
                         f->path, f->near);
        config->call->issue.did_you_mean = f->near;
        return;
    }
}

/* Whether two facts stand in different objects. */
static bool apart(const struct api__fact *a, const struct api__fact *b)
{
    const char *x = strrchr(a->path, '.'), *y = strrchr(b->path, '.');
    size_t len = x ? (size_t)(x - a->path) : 0;
    return len != (y ? (size_t)(y - b->path) : 0) || memcmp(a->path, b->path, len) != 0;
}

/* What a fact that has won means for another of its meaning. */
static void settle(struct api__config *config, const struct api__fact *won, struct api__fact *lost)
{
    bool same = says_the_same(config, won, lost);
    if (!same && won->place == API__IN_BLOCK && lost->place == API__IN_BLOCK && apart(won, lost)) {
        api__refuse_fact(config, lost, API__CONFLICT,
                         "%s and %s contradict each other; keep one block", won->path, lost->path);
    } else if (!same && !lost->told && api__meaning_info(won->meaning)->weight != API__PLAIN) {
        api__note(config->call->arena, &config->notes, lost->path, "conflicting",
                  "%s is not used: %s says otherwise", lost->path, won->path);
    }
    lost->told = true;
}

const struct api__fact *api__find_fact(struct api__config *config, enum api__meaning meaning,
                                       struct api__where where)
{
    struct api__fact *won = NULL;
    for (size_t i = 0; i < config->count; i++) {
        struct api__fact *f = &config->facts[i];
        if (f->meaning == meaning && applies(f, where) && (!won || rank(f) < rank(won)))
            won = f;
    }
    if (!won) {
        refuse_misspelt(config, meaning, where);
        return NULL;
    }
    for (size_t i = 0; i < config->count; i++) {
        struct api__fact *f = &config->facts[i];
        if (f != won && f->meaning == meaning && applies(f, where))
            settle(config, won, f);
    }
    won->told = true;
    return won;
}

bool api__has_fact(const struct api__config *config, enum api__meaning meaning)
{
    for (size_t i = 0; i < config->count; i++)
        if (config->facts[i].meaning == meaning)
            return true;
    return false;
}

bool api__take_param(struct api__config *config, enum api__meaning meaning, struct api__where where,
                     struct pe_spec *spec)
{
    const struct api__fact *fact = api__find_fact(config, meaning, where);
    enum pe_param param = api__meaning_info(meaning)->param;
    const struct pe_param_info *info = pe_param_info(param);
    void *field = (char *)spec + info->offset;
    bool taken = false;
    if (info->type == PE_TYPE_INT)
        taken = api__fact_integer(config, fact, (int64_t)info->lo, (int64_t)info->hi, field);
    else if (info->type == PE_TYPE_REAL)
        taken = api__fact_real(config, fact, info->lo, info->hi, field);
    else if (info->type == PE_TYPE_BOOL)
        taken = api__fact_bool(config, fact, field);
    else if (info->type == PE_TYPE_REALS)
        taken = api__fact_reals(config, fact, info->lo, info->hi, field);
    if (taken)
        spec->given |= UINT64_C(1) << param;
    return taken;
}

/* ---------------------------------------------------------------- what is left */

static void report(struct api__config *config, struct api__fact *f, const char *because)
{
    struct api__arena *arena = config->call->arena;
    const struct api__meaning_info *info = api__meaning_info(f->meaning);
    f->told = true;
    if (f->meaning == API__MEANS_UNKNOWN && f->near &&
        api__meaning_info(f->near_meaning)->weight != API__PLAIN)
        api__note(arena, &config->notes, f->path, "unknown",
                  "%s is not known and was not used; did you mean %s?", f->path, f->near);
    else if (f->meaning == API__MEANS_UNKNOWN && !f->near)
        api__note(arena, &config->notes, f->path, "unknown", "%s is not known and was not used",
                  f->path);
    else if (info->weight == API__BESIDE)
        api__note(arena, &config->notes, f->path, "beside", "%s %s", f->path, info->text);
    else if (f->meaning != API__MEANS_UNKNOWN && info->weight != API__PLAIN)
        api__note(arena, &config->notes, f->path, "ignored", "%s was not used: %s", f->path,
                  because ? because : "nothing here depends on it");
}

void api__report_rest(struct api__config *config, const char *because)
{
    for (size_t i = 0; i < config->count; i++)
        if (!config->facts[i].told)
            report(config, &config->facts[i], because);
    for (size_t i = 0; i < config->scope_count; i++) {
        struct api__scope *scope = &config->scopes[i];
        if (!scope->told)
            api__note(config->call->arena, &config->notes, scope->path, "unknown",
                      "%s was not used: no layers are of a type %s", scope->path, scope->name);
        scope->told = true;
    }
}
