/* SPDX-License-Identifier: MIT
 *
 * resolve_scaling.c: see resolve_scaling.h. Which parameters a rope_type has is not known here but
 * asked of lib; here stand only the rules of configs: what stands for what, and what cancels what.
 */
#include "resolve_scaling.h"
#include "request/nearest.h"

#include <string.h>

static const struct api__where anywhere;

/* ---------------------------------------------------------------- rope_type */

/* Types that have another name here: older words, and what GGUF calls no scaling. */
static int old_word(struct api__turn *turn, const struct api__fact *fact, const char *word)
{
    struct api__arena *arena = turn->config->call->arena;
    int type = -1;
    if (strcmp(word, "su") == 0)
        type = PE_ROPE_TYPE_LONGROPE;
    else if (strcmp(word, "mrope") == 0)
        type = PE_ROPE_TYPE_DEFAULT;
    else if (strcmp(word, "none") == 0 && turn->config->dialect == API__GGUF)
        return PE_ROPE_TYPE_DEFAULT;
    else
        return -1;
    turn->mrope |= strcmp(word, "mrope") == 0;
    api__note(arena, &turn->group->notes, fact->path, "deprecated", "%s: %s is an old word for %s",
              fact->path, word,
              type == PE_ROPE_TYPE_DEFAULT ? "default with mrope_section" : "longrope");
    return type;
}

static int unknown_word(struct api__turn *turn, const struct api__fact *fact, const char *word)
{
    const char *const *names = pe_param_info(PE_PARAM_ROPE_TYPE)->choices;
    size_t count = 0;
    while (names[count])
        count++;
    const char *near = api__nearest(api__bytes(word), names, count);
    api__unsupported(turn->config, turn->group, fact->path,
                     "%s: there is no rope_type \"%s\"%s%s%s", fact->path, word,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return -1;
}

static void note_old_key(struct api__turn *turn, const struct api__fact *fact)
{
    const struct api__config *config = turn->config;
    const char *present = api__spelling(config->dialect, API__MEANS_TYPE);
    if (config->dialect == API__HF && strcmp(api__key_row(fact->row)->spelling, present) != 0)
        api__note(config->call->arena, &turn->group->notes, fact->path, "deprecated",
                  "%s is an old spelling of rope_type", fact->path);
}

static int flags_type(struct api__turn *turn)
{
    struct api__config *config = turn->config;
    const struct api__fact *kind = api__find_fact(config, API__MEANS_EMBEDDING_TYPE, anywhere);
    const struct api__fact *use = api__find_fact(config, API__MEANS_USE_SCALING, anywhere);
    const struct api__fact *stretch = api__find_fact(config, API__MEANS_INTERPOLATION, anywhere);
    double factor = 1;
    bool scaled = false;
    api__fact_bool(config, use, &scaled);
    api__fact_real(config, stretch, pe_param_info(PE_PARAM_FACTOR)->lo,
                   pe_param_info(PE_PARAM_FACTOR)->hi, &factor);
    if (kind && api__equal(kind->value, "\"yarn\""))
        return PE_ROPE_TYPE_YARN;
    if (scaled && factor != 1)
        api__refuse_fact(config, stretch, API__CONFLICT, "%s and %s scale the frequencies twice",
                         use->path, stretch->path);
    return scaled ? PE_ROPE_TYPE_LLAMA3 : factor != 1 ? PE_ROPE_TYPE_LINEAR : PE_ROPE_TYPE_DEFAULT;
}

int api__scaling_type(struct api__turn *turn)
{
    struct api__config *config = turn->config;
    const char *word = "";
    if (config->dialect == API__MEGATRON)
        return flags_type(turn);
    const struct api__fact *fact = api__find_fact(config, API__MEANS_TYPE, turn->own);
    if (!fact) /* llama.cpp reads a factor without a type as linear */
        return config->dialect == API__GGUF && api__has_fact(config, API__MEANS_FACTOR)
                   ? PE_ROPE_TYPE_LINEAR
                   : PE_ROPE_TYPE_DEFAULT;
    if (!api__fact_text(config, fact, &word))
        return -1;
    note_old_key(turn, fact);
    int type = pe_choice_find(PE_PARAM_ROPE_TYPE, word, strlen(word));
    if (type < 0)
        type = old_word(turn, fact, word);
    if (type < 0 && !(turn->family->alpha && strcmp(word, "xdrope") == 0))
        return unknown_word(turn, fact, word);
    if (type == PE_ROPE_TYPE_YARN && turn->family->su &&
        api__find_fact(config, API__MEANS_SHORT_FACTOR, turn->own)) {
        api__note(config->call->arena, &turn->group->notes, fact->path, "deprecated",
                  "%s: %s reads yarn with short_factor as longrope", fact->path,
                  turn->family->name);
        return PE_ROPE_TYPE_LONGROPE;
    }
    if (turn->family->alpha && (type < 0 || type == PE_ROPE_TYPE_DYNAMIC))
        return api__find_fact(config, API__MEANS_ALPHA, turn->own) ? PE_ROPE_TYPE_NTK
                                                                   : PE_ROPE_TYPE_DYNAMIC;
    return type;
}

/* ---------------------------------------------------------------- parameters */

static void ignore(struct api__turn *turn, enum api__meaning meaning, const char *because)
{
    const struct api__fact *fact = api__find_fact(turn->config, meaning, turn->own);
    if (fact)
        api__note(turn->config->call->arena, &turn->group->notes, fact->path, "ignored",
                  "%s was not used: %s", fact->path, because);
}

/* The amplitude of yarn: an explicit one wins; mscale and mscale_all_dim count together, and 0 is
 * absent. */
static void take_mscale(struct api__turn *turn, struct pe_spec *spec)
{
    static const enum api__meaning pair[] = {API__MEANS_MSCALE, API__MEANS_MSCALE_ALL_DIM};
    double value[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        api__fact_real(turn->config, api__find_fact(turn->config, pair[i], turn->own), 0,
                       pe_param_info(PE_PARAM_MSCALE)->hi, &value[i]);
    if (value[0] > 0 && value[1] > 0 && !api__given(spec, PE_PARAM_ATTENTION_FACTOR)) {
        spec->mscale = value[0];
        spec->mscale_all_dim = value[1];
        api__give(spec, PE_PARAM_MSCALE);
        api__give(spec, PE_PARAM_MSCALE_ALL_DIM);
        return;
    }
    for (int i = 0; i < 2; i++)
        ignore(turn, pair[i],
               api__given(spec, PE_PARAM_ATTENTION_FACTOR)
                   ? "attention_factor is given, and it wins"
                   : "mscale and mscale_all_dim count only together, and not as 0");
}

static void take_yarn(struct api__turn *turn, struct pe_spec *spec)
{
    struct api__config *config = turn->config;
    bool flag = false;
    take_mscale(turn, spec);
    if (api__fact_bool(config, api__find_fact(config, API__MEANS_NO_ROUND, anywhere), &flag)) {
        spec->truncate = !flag;
        api__give(spec, PE_PARAM_TRUNCATE);
    }
    if (api__given(spec, PE_PARAM_ORIGINAL_MAX_POSITION_EMBEDDINGS) ||
        !api__find_fact(config, API__MEANS_MAX_POSITIONS, anywhere))
        return;
    spec->original_max_position_embeddings = spec->length;
    api__give(spec, PE_PARAM_ORIGINAL_MAX_POSITION_EMBEDDINGS);
    const char *name = api__spelling(config->dialect, API__MEANS_ORIGINAL);
    api__note(config->call->arena, &turn->group->notes, name, "assumed",
              "%s is absent: %s stands for it, as in transformers", name,
              api__spelling(config->dialect, API__MEANS_MAX_POSITIONS));
}

/* Megatron has llama3 with fixed numbers: --use-rope-scaling. */
static void take_fixed_llama3(struct api__turn *turn, struct pe_spec *spec)
{
    spec->low_freq_factor = 1;
    spec->high_freq_factor = 4;
    spec->original_max_position_embeddings = 8192;
    api__give(spec, PE_PARAM_LOW_FREQ_FACTOR);
    api__give(spec, PE_PARAM_HIGH_FREQ_FACTOR);
    api__give(spec, PE_PARAM_ORIGINAL_MAX_POSITION_EMBEDDINGS);
    if (api__given(spec, PE_PARAM_FACTOR))
        return;
    spec->factor = 8;
    api__give(spec, PE_PARAM_FACTOR);
    api__note(turn->config->call->arena, &turn->group->notes, "rope_scaling_factor", "assumed",
              "rope_scaling_factor is absent: 8, its default");
}

static void take_special(struct api__turn *turn, struct pe_spec *spec)
{
    struct api__config *config = turn->config;
    bool flags = config->dialect == API__MEGATRON;
    switch (spec->rope_type) {
    case PE_ROPE_TYPE_LINEAR:
        if (flags)
            api__take_param(config, API__MEANS_INTERPOLATION, anywhere, spec);
        if (api__given(spec, PE_PARAM_FACTOR) && spec->factor < 1)
            api__note(
                config->call->arena, &turn->group->notes, "factor", "note",
                "factor is below 1, which spreads positions instead of pressing them together");
        break;
    case PE_ROPE_TYPE_NTK:
        if (turn->family->alpha)
            api__take_param(config, API__MEANS_ALPHA, turn->own, spec);
        break;
    case PE_ROPE_TYPE_YARN:
        take_yarn(turn, spec);
        break;
    case PE_ROPE_TYPE_LONGROPE:
        if (!api__given(spec, PE_PARAM_FACTOR))
            api__take_param(config, API__MEANS_MAX_POSITIONS, anywhere, spec);
        break;
    case PE_ROPE_TYPE_DYNAMIC:
        api__take_param(config, API__MEANS_MAX_POSITIONS, anywhere, spec);
        break;
    case PE_ROPE_TYPE_LLAMA3:
        if (flags)
            take_fixed_llama3(turn, spec);
        break;
    default:
        break;
    }
}

/* Meanings that are a parameter of lib as they stand. */
static const enum api__meaning plain[] = {API__MEANS_FACTOR,
                                          API__MEANS_ORIGINAL,
                                          API__MEANS_BETA_FAST,
                                          API__MEANS_BETA_SLOW,
                                          API__MEANS_TRUNCATE,
                                          API__MEANS_ATTENTION_FACTOR,
                                          API__MEANS_EXTRAPOLATION_FACTOR,
                                          API__MEANS_SHORT_FACTOR,
                                          API__MEANS_LONG_FACTOR,
                                          API__MEANS_LOW_FREQ_FACTOR,
                                          API__MEANS_HIGH_FREQ_FACTOR,
                                          API__MEANS_MROPE_INTERLEAVED,
                                          API__MEANS_MAX_POSITIONS};

static void require(struct api__turn *turn, struct pe_spec *spec)
{
    const char *type = pe_param_info(PE_PARAM_ROPE_TYPE)->choices[spec->rope_type];
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        enum pe_param param = api__meaning_info(plain[i])->param;
        const struct pe_use *use = pe_use(spec->kind, spec->resource, spec->rope_type, param);
        if (!use || !use->required || api__given(spec, param) ||
            (use->unless != PE_PARAM_NONE && api__given(spec, use->unless)))
            continue;
        api__refuse_absent(
            turn->config, plain[i],
            api__format_text(turn->config->call->arena, "rope_type %s needs it", type));
    }
}

void api__scaling_params(struct api__turn *turn, struct pe_spec *spec)
{
    struct api__config *config = turn->config;
    bool alpha = turn->family->alpha && spec->rope_type == PE_ROPE_TYPE_NTK;
    bool stretch = config->dialect == API__MEGATRON && spec->rope_type == PE_ROPE_TYPE_LINEAR;
    if (config->dialect == API__GGUF && spec->rope_type == PE_ROPE_TYPE_LONGROPE) {
        api__unsupported(
            config, turn->group, NULL,
            "longrope of a GGUF file: its lists are tensors of the file and not among these keys");
        return;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        enum pe_param param = api__meaning_info(plain[i])->param;
        if (plain[i] == API__MEANS_MAX_POSITIONS ||
            (param == PE_PARAM_FACTOR && (alpha || stretch)))
            continue;
        if (pe_use(spec->kind, spec->resource, spec->rope_type, param))
            api__take_param(config, plain[i], turn->own, spec);
    }
    take_special(turn, spec);
    require(turn, spec);
}
