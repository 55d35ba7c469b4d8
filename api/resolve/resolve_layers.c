/* SPDX-License-Identifier: MIT
 *
 * resolve_layers.c: see resolve_layers.h. Names of layer types are those of transformers; a model
 * without them has one group, `all`, or `rope` and `none`.
 */
#include "resolve_layers.h"
#include "request/nearest.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char full[] = "full_attention", sliding[] = "sliding_attention",
                  linear[] = "linear_attention";
static const struct api__where anywhere;

int64_t api__count_layers(struct api__config *config, enum api__meaning meaning)
{
    int64_t total = -1;
    api__fact_integer(config, api__find_fact(config, meaning, anywhere), 1, API__MAX_LAYERS,
                      &total);
    return total;
}

const bool *api__all_layers(struct api__config *config, int64_t total)
{
    if (total < 0)
        return NULL;
    bool *mask = api__arena_take(config->call->arena, (size_t)total);
    memset(mask, 1, (size_t)total);
    return mask;
}

/* ---------------------------------------------------------------- layer types */

/* Full layers once in each period; `text` instead of a number is a period of L and G (EXAONE). */
static const char *const *by_period(struct api__config *config, const struct api__family *family,
                                    int64_t total)
{
    const struct api__fact *fact = api__find_fact(config, API__MEANS_PERIOD, anywhere);
    const char *other = family->rule == API__RULE_HYBRID ? linear : sliding, *letters = "";
    int64_t period = family->period;
    if (fact && fact->value.at[0] == '"') {
        api__fact_text(config, fact, &letters);
        period = (int64_t)strlen(letters);
        if (!period || strspn(letters, "LG") != (size_t)period)
            api__refuse_fact(config, fact, API__BAD_VALUE,
                             "%s must be an integer, or letters L and G", fact->path);
    } else {
        api__fact_integer(config, fact, 1, API__MAX_LAYERS, &period);
    }
    if (!period || config->refused || total < 0)
        return NULL;
    const char **types = api__arena_array(config->call->arena, (size_t)total, sizeof *types);
    for (int64_t i = 0; i < total; i++) {
        bool is_full = *letters        ? letters[i % period] == 'G' || i + 1 == total
                       : family->first ? i % period == 0
                                       : i % period == period - 1;
        types[i] = is_full ? full : other;
    }
    return types;
}

/* One name for each layer, or NULL. Sets the total where the list alone says it. */
static const char *const *layer_types(struct api__config *config, const struct api__family *family,
                                      int64_t *total)
{
    const struct api__fact *fact = api__find_fact(config, API__MEANS_LAYER_TYPES, anywhere);
    const char *const *types;
    size_t count;
    bool window = api__find_fact(config, API__MEANS_WINDOW, anywhere) != NULL;
    if (api__fact_texts(config, fact, &types, &count)) {
        if (count == 0 || count > API__MAX_LAYERS || (*total >= 0 && count != (size_t)*total)) {
            api__refuse_fact(config, fact, API__CONFLICT,
                             "%s has %zu items, but there are %lld layers", fact->path, count,
                             (long long)*total);
            return NULL;
        }
        *total = (int64_t)count;
        return types;
    }
    switch (family->rule) {
    case API__RULE_WINDOW:
        return window ? by_period(config, family, *total) : NULL;
    case API__RULE_LOCAL:
    case API__RULE_SCALED:
    case API__RULE_SLIDING:
    case API__RULE_HYBRID:
        return by_period(config, family, *total);
    default:
        return NULL;
    }
}

static struct api__scope *find_scope(struct api__config *config, const char *name)
{
    for (size_t i = 0; i < config->scope_count; i++)
        if (strcmp(config->scopes[i].name, name) == 0)
            return &config->scopes[i];
    return NULL;
}

static void refuse_without_entry(struct api__config *config, const char *type)
{
    const char *block = api__spelling(config->dialect, API__MEANS_BLOCK), *near = NULL;
    for (size_t i = 0; i < config->scope_count && !near; i++)
        if (api__slips(api__bytes(config->scopes[i].name), api__bytes(type), 2) <= 2)
            near = config->scopes[i].path;
    if (near)
        api__refuse_fact(
            config, NULL, API__MISSING_PARAMETER,
            "there is no entry of %s for layers of type %s, but one that is not known: %s", block,
            type, near);
    else
        api__refuse_fact(config, NULL, API__MISSING_PARAMETER,
                         "there is no entry of %s for layers of type %s", block, type);
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* What the layers of one type do. */
static void treat(struct api__config *config, const struct api__family *family,
                  struct api__layers *l)
{
    static const char *const still[] = {linear, "mamba",     "mamba2",
                                        "conv", "recurrent", "lightning_attention"};
    static const char *const known[] = {full, sliding, "chunked_attention", "attention"};
    struct api__scope *scope = find_scope(config, l->name);
    bool is_full = strcmp(l->name, full) == 0, is_sliding = strcmp(l->name, sliding) == 0;
    bool window =
        family->rule == API__RULE_WINDOW && api__find_fact(config, API__MEANS_WINDOW, anywhere);
    if (scope)
        scope->told = true;
    l->scope = scope ? l->name : NULL;
    if (is_one_of(l->name, still, COUNT(still)) || (scope && scope->none) ||
        (is_full && (window || family->rule == API__RULE_SLIDING)))
        l->how = API__STANDS_STILL;
    else if (!scope && !is_one_of(l->name, known, COUNT(known)))
        l->how = API__NOT_KNOWN;
    else if (!scope && config->scope_count)
        refuse_without_entry(config, l->name);
    else if (is_sliding && family->rule == API__RULE_LOCAL)
        l->how = API__ROTATES_LOCAL;
    else if (is_sliding && family->rule == API__RULE_SCALED)
        l->how = API__ROTATES_PLAIN;
    else
        l->how = is_full ? API__ROTATES_GLOBAL : API__ROTATES;
}

/* ---------------------------------------------------------------- groups */

static struct api__layers *add(struct api__config *config, struct api__layer_set *set,
                               const char *name, const bool *mask)
{
    if (set->count == API__MAX_GROUPS) {
        api__refuse_fact(config, NULL, API__OUT_OF_RANGE, "there are more than %d groups of layers",
                         API__MAX_GROUPS / 2);
        return &set->at[0];
    }
    set->at[set->count] = (struct api__layers){.name = name, .mask = mask, .how = API__ROTATES};
    return &set->at[set->count++];
}

static void split_by_type(struct api__config *config, const struct api__family *family,
                          const char *const *types, struct api__layer_set *set)
{
    size_t total = (size_t)set->total;
    for (size_t i = 0; i < total && !config->refused; i++) {
        size_t k = 0;
        while (k < set->count && strcmp(set->at[k].name, types[i]) != 0)
            k++;
        if (k < set->count)
            continue;
        bool *mask = api__arena_take(config->call->arena, total);
        for (size_t j = 0; j < total; j++)
            mask[j] = strcmp(types[j], types[i]) == 0;
        treat(config, family, add(config, set, types[i], mask));
    }
}

/* Without a list of layers: the sets that the block has entries for, or that the class makes. */
static void split_by_set(struct api__config *config, const struct api__family *family,
                         struct api__layer_set *set)
{
    bool pattern = family->rule == API__RULE_LOCAL || family->rule == API__RULE_SCALED ||
                   family->rule == API__RULE_SLIDING;
    for (size_t i = 0; i < config->scope_count; i++) {
        struct api__layers *l = add(config, set, config->scopes[i].name, NULL);
        config->scopes[i].told = true;
        l->scope = l->name;
        l->how = config->scopes[i].none  ? API__STANDS_STILL
                 : strcmp(l->name, full) ? API__ROTATES
                                         : API__ROTATES_GLOBAL;
    }
    if (set->count)
        return;
    if (family->rule == API__RULE_TWO) {
        add(config, set, "main", NULL)->how = API__ROTATES_PLAIN;
        add(config, set, "compress", NULL)->how = API__ROTATES_COMPRESS;
    } else if (pattern && set->total < 0 && family->period) {
        treat(config, family, add(config, set, sliding, NULL));
        treat(config, family, add(config, set, full, NULL));
    } else if (pattern && family->rule == API__RULE_LOCAL) {
        api__refuse_absent(config, API__MEANS_LAYER_TYPES,
                           "layers of this model differ, and nothing says which is which");
    } else {
        add(config, set, "all", api__all_layers(config, set->total));
    }
}

/* ---------------------------------------------------------------- layers that do not rotate */

/* Of a list of 0 and 1, one for each layer, or a period whose last layer differs: true where a
 * layer stands still. `still` is the number that says so: 0 in transformers (1 = use), 1 in
 * Megatron (1 = skip). */
static bool *standing(struct api__config *config, const struct api__fact *fact, int64_t still,
                      int64_t total)
{
    struct pe_ints flags;
    int64_t period = 0;
    bool *mask = api__arena_take(config->call->arena, total < 0 ? 0 : (size_t)total);
    if (fact->value.at[0] != '[') {
        if (!api__fact_integer(config, fact, 1, API__MAX_LAYERS, &period))
            return NULL;
        for (int64_t i = 0; i < total; i++)
            mask[i] = i % period == period - 1;
    } else {
        if (!api__fact_integers(config, fact, 0, 1, &flags))
            return NULL;
        if (total >= 0 && flags.count != (size_t)total)
            api__refuse_fact(config, fact, API__CONFLICT,
                             "%s has %zu items, but there are %lld layers", fact->path, flags.count,
                             (long long)total);
        for (int64_t i = 0; i < total && !config->refused; i++)
            mask[i] = flags.at[i] == still;
    }
    return total < 0 || config->refused ? NULL : mask;
}

static const bool *find_standing(struct api__config *config, const struct api__family *family,
                                 int64_t total)
{
    const struct api__fact *list = NULL, *every = NULL;
    if (config->dialect == API__MEGATRON) {
        list = api__find_fact(config, API__MEANS_SKIP_LAYERS, anywhere);
        return list ? standing(config, list, 1, total) : NULL;
    }
    if (family->rule != API__RULE_LISTED)
        return NULL;
    list = api__find_fact(config, API__MEANS_NO_ROPE_LAYERS, anywhere);
    if (list && api__equal(list->value, "[]"))
        list = NULL;
    if (total < 0) {
        api__refuse_absent(config, API__MEANS_LAYERS,
                           "some layers of this model do not rotate, counted from the first");
        return NULL;
    }
    every = api__find_fact(config, API__MEANS_NO_ROPE_INTERVAL, anywhere);
    if (list && every)
        api__note(config->call->arena, &config->notes, every->path, "ignored",
                  "%s was not used: %s says which layers rotate", every->path, list->path);
    if (list || every)
        return standing(config, list ? list : every, 0, total);
    bool *mask = api__arena_take(config->call->arena, (size_t)total);
    for (int64_t i = 0; i < total; i++)
        mask[i] = i % family->period == family->period - 1;
    return mask;
}

/* Cuts the standing layers out of a group. */
static void cut(struct api__config *config, struct api__layer_set *set, size_t at,
                const bool *still)
{
    struct api__layers *l = &set->at[at];
    size_t total = (size_t)set->total, moved = 0, all = 0;
    bool *left = api__arena_take(config->call->arena, total),
         *out = api__arena_take(config->call->arena, total);
    for (size_t i = 0; i < total; i++) {
        bool mine = !l->mask || l->mask[i];
        out[i] = mine && still[i];
        left[i] = mine && !still[i];
        moved += out[i];
        all += mine;
    }
    bool whole = strcmp(l->name, "all") == 0;
    if (moved == all) {
        l->how = API__STANDS_STILL;
        if (whole)
            l->name = "none";
    } else if (moved) {
        l->mask = left;
        const char *name =
            whole ? "none" : api__format_text(config->call->arena, "%s_none", l->name);
        if (whole)
            l->name = "rope";
        add(config, set, name, out)->how = API__STANDS_STILL;
    }
}

void api__split_layers(struct api__config *config, const struct api__family *family,
                       struct api__layer_set *set)
{
    *set = (struct api__layer_set){.total = api__count_layers(config, API__MEANS_LAYERS)};
    const char *const *types = layer_types(config, family, &set->total);
    if (types && family->rule == API__RULE_TWO)
        api__note(config->call->arena, &config->notes, "layer_types", "ignored",
                  "layer_types was not used: both sets are told, but not which layers read which");
    if (types && family->rule != API__RULE_TWO)
        split_by_type(config, family, types, set);
    else if (!config->refused)
        split_by_set(config, family, set);
    const bool *still = config->refused ? NULL : find_standing(config, family, set->total);
    size_t count = set->count;
    for (size_t i = 0; still && i < count; i++)
        if (set->at[i].how != API__STANDS_STILL)
            cut(config, set, i, still);
}
