/* SPDX-License-Identifier: MIT
 *
 * resolve.c: see resolve.h: from the family to its groups, and the answer.
 */
#include "resolve.h"
#include "request/param.h"
#include "http/reply.h"
#include "resolve_fixed.h"
#include "resolve_print.h"
#include "resolve_rope.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The largest configs list a name for each of some ten thousand classes. */
#define MOST_BYTES ((size_t)4 << 20)

static const struct api__where anywhere;

/* ---------------------------------------------------------------- schemes */

/* Words of position_embedding_type. */
static const struct {
    const char *word;
    enum api__scheme scheme;
} words[] = {{"rope", API__SCHEME_ROPE},
             {"rotary", API__SCHEME_ROPE},
             {"mrope", API__SCHEME_ROPE},
             {"yarn", API__SCHEME_ROPE},
             {"none", API__SCHEME_NONE},
             {"nope", API__SCHEME_NONE},
             {"absolute", API__SCHEME_LEARNED},
             {"learned", API__SCHEME_LEARNED},
             {"learned_absolute", API__SCHEME_LEARNED},
             {"alibi", API__SCHEME_ALIBI},
             {"relative", API__SCHEME_T5}};

/* Adds the one group of a model that has no table here. */
static void unsupported(struct api__config *config, struct api__groups *groups, const char *key,
                        const char *text)
{
    groups->total = api__count_layers(config, API__MEANS_LAYERS);
    struct api__group *group =
        api__add_group(groups, "all", api__all_layers(config, groups->total));
    api__unsupported(config, group, key, "%s", text);
}

static enum api__scheme by_word(struct api__config *config, struct api__family *family,
                                struct api__groups *groups)
{
    const struct api__fact *fact = api__find_fact(config, API__MEANS_EMBEDDING_TYPE, anywhere);
    const char *word = "";
    if (!api__fact_text(config, fact, &word))
        return family->scheme;
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(words[i].word, word) != 0)
            continue;
        family->mrope |= strcmp(word, "mrope") == 0;
        return words[i].scheme;
    }
    unsupported(config, groups, fact->path,
                api__format_text(config->call->arena,
                                 "%s \"%s\" is none of the kinds of this service", fact->path,
                                 word));
    return API__SCHEME_UNSUPPORTED;
}

static enum api__scheme by_flag(struct api__config *config, const struct api__family *family)
{
    bool on = family->scheme == API__SCHEME_ALIBI;
    if (family->choice == API__CHOICE_ALIBI_FLAG) {
        api__fact_bool(config, api__find_fact(config, API__MEANS_ALIBI, anywhere), &on);
        return on                                    ? API__SCHEME_ALIBI
               : family->scheme == API__SCHEME_ALIBI ? API__SCHEME_LEARNED
                                                     : family->scheme;
    }
    api__fact_bool(config, api__find_fact(config, API__MEANS_SINUSOIDAL, anywhere), &on);
    return on ? API__SCHEME_SINUSOIDAL : family->scheme;
}

/* Classes of models with learned tables read position_embedding_type, and so does Megatron; configs
 * of others often have it as a remnant. */
static enum api__scheme scheme_of(struct api__config *config, struct api__family *family,
                                  struct api__groups *groups)
{
    if (family->choice)
        return by_flag(config, family);
    return family->scheme == API__SCHEME_LEARNED ? by_word(config, family, groups) : family->scheme;
}

/* A family that is not in the table is read as rope where its config speaks of nothing else, and of
 * no rule that families differ in. */
static bool rope_by_its_keys(struct api__config *config, struct api__family *family)
{
    static const enum api__meaning rules[] = {API__MEANS_NO_ROPE_LAYERS,
                                              API__MEANS_NO_ROPE_INTERVAL,
                                              API__MEANS_LOCAL_BASE,
                                              API__MEANS_COMPRESS_BASE,
                                              API__MEANS_GLOBAL_HEAD_DIM,
                                              API__MEANS_ALPHA,
                                              API__MEANS_AXES,
                                              API__MEANS_ALIBI};
    const char *key = api__spelling(config->dialect, API__MEANS_FAMILY);
    if (!api__has_fact(config, API__MEANS_BASE) && !api__has_fact(config, API__MEANS_TYPE))
        return false;
    for (size_t i = 0; i < COUNT(rules); i++)
        if (api__has_fact(config, rules[i]))
            return false;
    family->scheme = API__SCHEME_ROPE;
    if (*family->name)
        api__note(config->call->arena, &config->notes, key, "assumed",
                  "%s %s is not known here: its keys are read as those of other rotary models, and "
                  "a rule of its own would be missed",
                  key, family->name);
    else
        api__note(config->call->arena, &config->notes, key, "assumed",
                  "%s is absent: the keys are read as those of any rotary model", key);
    return true;
}

static void resolve_rotary(struct api__config *config, const struct api__family *family,
                           struct api__groups *groups)
{
    struct api__layer_set set;
    api__split_layers(config, family, &set);
    groups->total = set.total;
    for (size_t i = 0; i < set.count && !config->refused; i++) {
        struct api__group *group = api__add_group(groups, set.at[i].name, set.at[i].mask);
        if (set.at[i].how == API__NOT_KNOWN)
            api__unsupported(config, group, api__spelling(config->dialect, API__MEANS_LAYER_TYPES),
                             "layers of type %s are not known here", group->name);
        else if (set.at[i].how != API__STANDS_STILL)
            api__resolve_rope(config, family, &set.at[i], group);
    }
}

static void resolve_none(struct api__config *config, struct api__groups *groups)
{
    groups->total = api__count_layers(config, API__MEANS_LAYERS);
    api__add_group(groups, "all", api__all_layers(config, groups->total));
}

static void resolve_unknown(struct api__config *config, const struct api__family *family,
                            struct api__groups *groups)
{
    const char *key = api__spelling(config->dialect, API__MEANS_FAMILY);
    if (*family->name)
        unsupported(config, groups, key,
                    api__format_text(
                        config->call->arena,
                        "%s %s is not known here, and its keys do not say what its positions are",
                        key, family->name));
    else
        unsupported(config, groups, key,
                    api__format_text(config->call->arena,
                                     "%s is absent, and the keys do not say what the positions are",
                                     key));
}

static void resolve_model(struct api__config *config, struct api__groups *groups)
{
    struct api__family family;
    bool known = api__find_family(config, &family);
    if (known && family.scheme == API__SCHEME_UNSUPPORTED) {
        unsupported(config, groups, NULL,
                    api__format_text(config->call->arena, "%s %s", family.name, family.why));
        return;
    }
    if (!known && !rope_by_its_keys(config, &family)) {
        resolve_unknown(config, &family, groups);
        return;
    }
    bool encoder = family.scheme == API__SCHEME_LEARNED;
    switch (scheme_of(config, &family, groups)) {
    case API__SCHEME_ROPE:
        resolve_rotary(config, &family, groups);
        break;
    case API__SCHEME_ALIBI:
        api__resolve_alibi(config, groups, encoder);
        break;
    case API__SCHEME_LEARNED:
        api__resolve_learned(config, &family, groups);
        break;
    case API__SCHEME_SINUSOIDAL:
        api__resolve_sinusoidal(config, &family, groups);
        break;
    case API__SCHEME_SIDES:
        api__resolve_sides(config, &family, groups);
        break;
    case API__SCHEME_T5:
        api__resolve_t5(config, groups);
        break;
    case API__SCHEME_DEBERTA:
        api__resolve_deberta(config, &family, groups);
        break;
    case API__SCHEME_NONE:
        resolve_none(config, groups);
        break;
    case API__SCHEME_UNSUPPORTED:
        break;
    }
}

/* ---------------------------------------------------------------- reports */

/* A misspelt block is a whole set of values lost. */
static void refuse_lost_block(struct api__config *config)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct api__fact *f = &config->facts[i];
        if (f->meaning == API__MEANS_UNKNOWN && f->near_meaning == API__MEANS_BLOCK) {
            api__refuse_fact(config, f, API__UNKNOWN_PARAMETER, "%s is not known; did you mean %s?",
                             f->path, f->near);
            config->call->issue.did_you_mean = f->near;
        }
        if (f->meaning == API__MEANS_BLOCK)
            api__refuse_fact(config, f, API__BAD_VALUE, "%s must be an object of settings, or null",
                             f->path);
    }
}

/* Why keys were left over. */
static const char *reason(struct api__config *config, const struct api__groups *groups)
{
    const char *type = NULL;
    bool rotates = false;
    for (size_t i = 0; i < groups->count; i++) {
        const struct api__group *g = &groups->at[i];
        if (g->kind == API__GROUP_UNSUPPORTED)
            return "the positions of these layers are not supported";
        if (g->kind != API__GROUP_TABLE ||
            (g->spec.kind != PE_KIND_ROPE && g->spec.kind != PE_KIND_MROPE))
            continue;
        rotates = true;
        const char *mine = pe_param_info(PE_PARAM_ROPE_TYPE)->choices[g->spec.rope_type];
        type = type && strcmp(type, mine) != 0 ? "" : mine;
    }
    if (!rotates)
        return "the positions of this model do not depend on it";
    return *type
               ? api__format_text(config->call->arena, "rope_type %s has no use for it here", type)
               : "no layers have a use for it";
}

/* ---------------------------------------------------------------- the answer */

static bool redirect(struct api__call *call, const struct api__groups *groups,
                     const struct api__param *wanted)
{
    const char **names = api__arena_array(call->arena, groups->count, sizeof *names);
    const struct api__group *found = NULL;
    struct api__text list;
    api__text_init(&list, call->arena, 64);
    for (size_t i = 0; i < groups->count; i++) {
        names[i] = groups->at[i].name;
        api__text_print(&list, "%s%s", i ? ", " : "", names[i]);
        if (api__equal(wanted->value, names[i]))
            found = &groups->at[i];
    }
    const char *href = found ? api__group_href(call->arena, found) : NULL;
    if (!href) {
        const struct api__note *why = found ? found->notes.first : NULL;
        const char *shown = api__shown(call->arena, wanted->value);
        if (!found)
            api__bad_value(call, API__NOT_FOUND, wanted,
                           "there is no group %s; the groups of this config are %s", shown,
                           api__text_done(&list).at);
        else
            api__bad_value(call, API__NOT_FOUND, wanted, "the group %s has no table%s%s", shown,
                           why ? ": " : "", why ? why->text : "");
        call->issue.allowed = names;
        call->issue.allowed_count = groups->count;
        return false;
    }
    api__reply_begin(call, 303);
    api__header(call, "Location", href);
    api__header(call, "Cache-Control", "no-store");
    return true;
}

bool api__resolve(struct api__call *call)
{
    static const char *const names[] = {"redirect"};
    struct api__params params = {.count = 0};
    struct api__config config;
    struct api__groups groups = {.total = -1};
    if (!api__read_query(call, &params) || !api__check_names(call, &params, names, 1))
        return false;
    const struct api__param *wanted = api__find_param(&params, "redirect");
    if (wanted && !wanted->value.len)
        return api__bad_value(call, API__BAD_VALUE, wanted, "redirect must be the name of a group");
    if (call->request->body.len > MOST_BYTES)
        return api__refuse(call, API__TOO_LARGE, "a config may have %zu bytes (4 MiB) at most",
                           MOST_BYTES);
    if (!api__config_read(call, &config))
        return false;
    refuse_lost_block(&config);
    if (!config.refused)
        resolve_model(&config, &groups);
    api__report_rest(&config, reason(&config, &groups));
    if (config.refused) {
        call->issue.members = api__print_warnings(&config, &groups);
        return false;
    }
    if (wanted)
        return redirect(call, &groups, wanted);
    api__reply_begin(call, 200);
    api__header(call, "Cache-Control", "no-store");
    api__reply_text(call, "application/json", api__print_groups(&config, &groups));
    return true;
}
