/* SPDX-License-Identifier: MIT
 *
 * resolve_rope.c: see resolve_rope.h. The columns of the table are those that the model rotates:
 * `split` where a pair joins channel c with c + width/2, `interleaved` where it joins neighbours.
 */
#include "resolve_rope.h"
#include "resolve_scaling.h"
#include "resolve_width.h"

#include <string.h>

static const struct api__where anywhere;

static bool in_scope(const struct api__fact *f, const char *scope)
{
    return !f->scope || (scope && strcmp(f->scope, scope) == 0);
}

/* Keys that no table can honour. */
static bool broken(struct api__turn *turn)
{
    struct api__config *config = turn->config;
    for (size_t i = 0; i < config->count; i++) {
        struct api__fact *f = &config->facts[i];
        const struct api__meaning_info *info = api__meaning_info(f->meaning);
        double v;
        bool number = api__fact_number(f, &v);
        bool neutral = api__equal(f->value, "false") || api__equal(f->value, "[]") ||
                       (number && (v == 0 || v == 1));
        if (info->weight != API__BREAKS || !in_scope(f, turn->layers->scope))
            continue;
        f->told = true;
        if (!neutral)
            api__unsupported(config, turn->group, f->path, "%s %s", f->path, info->text);
    }
    return turn->group->kind == API__GROUP_UNSUPPORTED;
}

/* mrope_section, without the unused fourth axis of GGUF. False where there is none. */
static bool take_sections(struct api__turn *turn, struct pe_spec *spec)
{
    const struct pe_param_info *info = pe_param_info(PE_PARAM_MROPE_SECTION);
    const struct api__fact *fact =
        api__find_fact(turn->config, API__MEANS_MROPE_SECTION, turn->any);
    struct pe_ints list;
    if (!fact && turn->mrope)
        api__refuse_absent(turn->config, API__MEANS_MROPE_SECTION,
                           "positions of this model have three axes");
    if (!api__fact_integers(turn->config, fact, (int64_t)info->lo, (int64_t)info->hi, &list))
        return false;
    if (turn->config->dialect == API__GGUF && list.count == 4 && list.at[3] == 0)
        list.count = 3;
    spec->mrope_section = list;
    return true;
}

static const char *type_default(struct api__turn *turn)
{
    return *turn->family->name ? turn->family->name : "rope";
}

static void take_base(struct api__turn *turn, struct pe_spec *spec)
{
    struct api__config *config = turn->config;
    enum api__treatment how = turn->layers->how;
    struct api__where entry = {.scope = turn->any.scope, .entry_only = true};
    enum api__meaning meaning = API__MEANS_BASE;
    double base = turn->family->base > 0 ? turn->family->base : 10000;
    if (how == API__ROTATES_COMPRESS)
        meaning = API__MEANS_COMPRESS_BASE;
    if (how == API__ROTATES_LOCAL) {
        if (api__take_param(config, API__MEANS_BASE, entry, spec))
            return;
        meaning = API__MEANS_LOCAL_BASE;
        base = turn->family->local_base > 0 ? turn->family->local_base : 10000;
    }
    if (api__take_param(config, meaning, turn->any, spec))
        return;
    const char *name = api__spelling(config->dialect, meaning);
    if (how == API__ROTATES_COMPRESS) {
        api__refuse_absent(config, meaning, "the compressed layers have a base of their own");
        return;
    }
    spec->base = base;
    api__give(spec, PE_PARAM_BASE);
    api__note(config->call->arena, &turn->group->notes, name, "assumed",
              "%s is absent: %.17g, the default of %s", name, base, type_default(turn));
}

static void take_layout(struct api__turn *turn, struct pe_spec *spec)
{
    struct api__config *config = turn->config;
    enum api__pairs pairs = turn->family->pairs;
    bool neighbours = false;
    if (api__fact_bool(config, api__find_fact(config, API__MEANS_INTERLEAVED, anywhere),
                       &neighbours))
        pairs = neighbours ? API__PAIRS_NEIGHBOURS : API__PAIRS_SPLIT;
    if (pairs == API__PAIRS_UNKNOWN)
        return;
    spec->layout = pairs == API__PAIRS_SPLIT ? PE_LAYOUT_SPLIT : PE_LAYOUT_INTERLEAVED;
    api__give(spec, PE_PARAM_LAYOUT);
}

/* What the table is right for, and what cannot be seen from here. */
static void remark(struct api__turn *turn, const struct pe_spec *spec)
{
    struct api__config *config = turn->config;
    if (config->dialect == API__GGUF && spec->rope_type == PE_ROPE_TYPE_DEFAULT)
        api__note(config->call->arena, &turn->group->notes, NULL, "note",
                  "a tensor rope_freqs of the file would bend these frequencies; it does not show "
                  "among its keys");
    if (turn->family->pairs == API__PAIRS_UNKNOWN)
        api__note(
            config->call->arena, &turn->group->notes, NULL, "note",
            "which channels a pair joins is not known: layout=pairs has one column for each pair");
}

void api__resolve_rope(struct api__config *config, const struct api__family *family,
                       const struct api__layers *layers, struct api__group *group)
{
    bool plain = layers->how == API__ROTATES_LOCAL || layers->how == API__ROTATES_PLAIN;
    struct api__turn turn = {.config = config,
                             .family = family,
                             .layers = layers,
                             .group = group,
                             .own = {.scope = layers->scope, .plain = plain},
                             .any = {.scope = layers->scope},
                             .mrope = family->mrope};
    struct pe_spec found = {0}, *spec = &group->spec;
    if (broken(&turn))
        return;
    int type = api__scaling_type(&turn);
    if (type < 0)
        return;
    bool sections = take_sections(&turn, &found);
    pe_spec_init(spec, sections ? PE_KIND_MROPE : PE_KIND_ROPE, PE_RESOURCE_TABLE);
    spec->rope_type = type;
    spec->length = api__table_length(config, group, family->rows);
    api__give(spec, PE_PARAM_LENGTH);
    if (type != PE_ROPE_TYPE_DEFAULT)
        api__give(spec, PE_PARAM_ROPE_TYPE);
    if (sections) {
        spec->mrope_section = found.mrope_section;
        api__give(spec, PE_PARAM_MROPE_SECTION);
    }
    take_base(&turn, spec);
    api__rotary_width(config, family, turn.any, layers->how == API__ROTATES_GLOBAL, spec);
    api__scaling_params(&turn, spec);
    if (group->kind == API__GROUP_UNSUPPORTED)
        return;
    take_layout(&turn, spec);
    remark(&turn, spec);
    api__check_group(config, group);
}
