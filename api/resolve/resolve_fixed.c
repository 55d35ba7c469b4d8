/* SPDX-License-Identifier: MIT
 *
 * resolve_fixed.c: see resolve_fixed.h. A learned table is weights: only its size and the row of
 * the first token can be told. Rows of tables that number their tokens from padding_idx + 1 count
 * padding as well.
 */
#include "resolve_fixed.h"
#include "resolve_width.h"

static const struct api__where anywhere;

/* Both sides of a model, or one of them. */
struct part {
    struct api__config *config;
    const struct api__family *family;
    enum api__meaning positions; /* the key of its length, before MAX_POSITIONS */
};

static int64_t most_rows(void)
{
    return (int64_t)pe_param_info(PE_PARAM_LENGTH)->hi / 2;
}

/* The length that the config states for a part; 0 where refused. */
static int64_t stated_length(const struct part *part, struct api__group *group)
{
    struct api__config *config = part->config;
    int64_t length = 0;
    const struct api__fact *fact = api__find_fact(config, part->positions, anywhere);
    if (!fact)
        fact = api__find_fact(config, API__MEANS_MAX_POSITIONS, anywhere);
    if (fact) {
        api__fact_integer(config, fact, 1, most_rows(), &length);
        return length;
    }
    const char *name = api__spelling(config->dialect, API__MEANS_MAX_POSITIONS);
    if (!part->family->rows) {
        api__refuse_absent(config, API__MEANS_MAX_POSITIONS, "the table has that many rows");
        return 0;
    }
    api__note(config->call->arena, &group->notes, name, "assumed",
              "%s is absent: %d, the default of %s", name, part->family->rows, part->family->name);
    return part->family->rows;
}

/* padding_idx of families whose first token stands behind it. */
static int64_t padding(const struct part *part)
{
    int64_t pad = 1;
    api__fact_integer(part->config, api__find_fact(part->config, API__MEANS_PAD, anywhere), 0,
                      1 << 30, &pad);
    return pad;
}

static void note_start(const struct part *part, struct api__group *group, int64_t start)
{
    if (start)
        api__note(
            part->config->call->arena, &group->notes, NULL, "note",
            part->family->padded
                ? "the first token reads row %lld, which is padding_idx + 1; padding reads the row "
                  "of padding_idx"
                : "the first token reads row %lld",
            (long long)start);
}

static void learned(const struct part *part, struct api__group *group)
{
    group->kind = API__GROUP_LEARNED;
    group->rows = stated_length(part, group) + part->family->extra;
    group->width = api__hidden_width(part->config);
    group->start = part->family->padded ? padding(part) + 1 : part->family->extra;
    note_start(part, group, group->start);
}

static void sinusoidal(const struct part *part, struct api__group *group,
                       enum pe_choice_LAYOUT layout)
{
    struct pe_spec *spec = &group->spec;
    pe_spec_init(spec, PE_KIND_SINUSOIDAL, PE_RESOURCE_TABLE);
    spec->length = stated_length(part, group) + part->family->extra;
    spec->width = api__hidden_width(part->config);
    spec->layout = (int)layout;
    spec->ladder = part->family->ladder;
    api__give(spec, PE_PARAM_LENGTH);
    api__give(spec, PE_PARAM_WIDTH);
    api__give(spec, PE_PARAM_LAYOUT);
    api__give(spec, PE_PARAM_LADDER);
    if (part->family->padded) {
        spec->padding_idx = padding(part);
        api__give(spec, PE_PARAM_PADDING_IDX);
        note_start(part, group, spec->padding_idx + 1);
    }
    api__check_group(part->config, group);
}

static struct api__group *only_group(struct api__config *config, struct api__groups *groups,
                                     const char *name)
{
    groups->total = api__count_layers(config, API__MEANS_LAYERS);
    return api__add_group(groups, name, api__all_layers(config, groups->total));
}

void api__resolve_learned(struct api__config *config, const struct api__family *family,
                          struct api__groups *groups)
{
    struct part part = {config, family, API__MEANS_MAX_POSITIONS};
    learned(&part, only_group(config, groups, "all"));
}

void api__resolve_sinusoidal(struct api__config *config, const struct api__family *family,
                             struct api__groups *groups)
{
    struct part part = {config, family, API__MEANS_MAX_POSITIONS};
    sinusoidal(&part, only_group(config, groups, "all"), PE_LAYOUT_INTERLEAVED);
}

void api__resolve_sides(struct api__config *config, const struct api__family *family,
                        struct api__groups *groups)
{
    static const struct {
        const char *name;
        enum api__meaning layers, positions;
    } sides[] = {{"encoder", API__MEANS_ENCODER_LAYERS, API__MEANS_SOURCE_POSITIONS},
                 {"decoder", API__MEANS_DECODER_LAYERS, API__MEANS_TARGET_POSITIONS}};
    for (int i = 0; i < 2; i++) {
        struct part part = {config, family, sides[i].positions};
        int64_t layers = api__count_layers(config, sides[i].layers);
        struct api__group *group =
            api__add_group(groups, sides[i].name, api__all_layers(config, layers));
        group->layers = layers;
        if ((i ? family->decoder : family->encoder) == API__SCHEME_LEARNED)
            learned(&part, group);
        else
            sinusoidal(&part, group, PE_LAYOUT_SPLIT);
    }
}

/* ---------------------------------------------------------------- relative */

void api__resolve_alibi(struct api__config *config, struct api__groups *groups, bool both_ways)
{
    struct api__group *group = only_group(config, groups, "all");
    struct pe_spec *spec = &group->spec;
    const struct api__fact *length = api__find_fact(config, API__MEANS_MAX_POSITIONS, anywhere);
    pe_spec_init(spec, PE_KIND_ALIBI, PE_RESOURCE_TABLE);
    spec->width = api__head_count(config);
    api__give(spec, PE_PARAM_WIDTH);
    api__take_param(config, API__MEANS_ALIBI_BIAS_MAX, anywhere, spec);
    if (api__fact_integer(config, length, 1, most_rows(), &spec->length))
        api__give(spec, PE_PARAM_LENGTH);
    if (both_ways) {
        spec->symmetric = true;
        api__give(spec, PE_PARAM_SYMMETRIC);
        if (api__given(spec, PE_PARAM_LENGTH)) {
            spec->queries = spec->length;
            api__give(spec, PE_PARAM_QUERIES);
        }
    }
    api__check_group(config, group);
}

static void bucket_spec(struct api__config *config, struct api__group *group, enum pe_kind kind)
{
    pe_spec_init(&group->spec, kind, PE_RESOURCE_TABLE);
    group->spec.length = api__table_length(config, group, 512);
    api__give(&group->spec, PE_PARAM_LENGTH);
}

void api__resolve_t5(struct api__config *config, struct api__groups *groups)
{
    int64_t encoder = api__count_layers(config, API__MEANS_LAYERS);
    int64_t decoder = api__count_layers(config, API__MEANS_DECODER_LAYERS);
    for (int i = 0; i < 2; i++) {
        int64_t layers = i && decoder >= 0 ? decoder : encoder;
        struct api__group *group =
            api__add_group(groups, i ? "decoder" : "encoder", api__all_layers(config, layers));
        group->layers = layers;
        bucket_spec(config, group, PE_KIND_T5);
        api__take_param(config, API__MEANS_NUM_BUCKETS, anywhere, &group->spec);
        api__take_param(config, API__MEANS_MAX_DISTANCE, anywhere, &group->spec);
        group->spec.bidirectional = i == 0;
        api__give(&group->spec, PE_PARAM_BIDIRECTIONAL);
        api__give(&group->spec, PE_PARAM_NUM_BUCKETS); /* the class has lib's defaults */
        api__give(&group->spec, PE_PARAM_MAX_DISTANCE);
        api__check_group(config, group);
    }
}

static void deberta(struct api__config *config, struct api__group *group)
{
    struct pe_spec *spec = &group->spec;
    const struct api__fact *buckets = api__find_fact(config, API__MEANS_POSITION_BUCKETS, anywhere);
    int64_t reach = -1;
    double number = 0;
    if (!buckets || (api__fact_number(buckets, &number) && number < 1)) {
        api__unsupported(
            config, group, "position_buckets",
            "without position_buckets, relative positions are clipped instead of put into buckets");
        return;
    }
    bucket_spec(config, group, PE_KIND_DEBERTA);
    api__take_param(config, API__MEANS_POSITION_BUCKETS, anywhere, spec);
    api__fact_integer(config, api__find_fact(config, API__MEANS_MAX_RELATIVE, anywhere), -1,
                      most_rows(), &reach);
    spec->max_relative_positions = reach < 1 ? spec->length : reach;
    api__give(spec, PE_PARAM_MAX_RELATIVE_POSITIONS);
    api__check_group(config, group);
}

/* Relative buckets inside attention, and a learned table in front of it unless
 * position_biased_input is false. Both by default. */
void api__resolve_deberta(struct api__config *config, const struct api__family *family,
                          struct api__groups *groups)
{
    struct part part = {config, family, API__MEANS_MAX_POSITIONS};
    bool relative = true, biased = true;
    api__fact_bool(config, api__find_fact(config, API__MEANS_RELATIVE, anywhere), &relative);
    api__fact_bool(config, api__find_fact(config, API__MEANS_BIASED_INPUT, anywhere), &biased);
    if (relative)
        deberta(config, only_group(config, groups, biased ? "relative" : "all"));
    if (biased)
        learned(&part, only_group(config, groups, relative ? "absolute" : "all"));
    if (!relative && !biased)
        only_group(config, groups, "all");
}
