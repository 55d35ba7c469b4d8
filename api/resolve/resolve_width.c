/* SPDX-License-Identifier: MIT
 *
 * resolve_width.c: how many channels rotate. The rotated share of a head is cut to an integer, as
 * all code does: int(head_dim * partial_rotary_factor) in binary64. An odd number of channels has
 * no pairs and is refused rather than rounded.
 */
#include "resolve_width.h"

#include <string.h>

static const struct api__where anywhere;

static int64_t largest_width(void)
{
    return (int64_t)pe_param_info(PE_PARAM_WIDTH)->hi;
}

static const struct pe_param_info *share_info(void)
{
    return pe_param_info(PE_PARAM_PARTIAL_ROTARY_FACTOR);
}

static int64_t required(struct api__config *config, enum api__meaning meaning, int64_t hi,
                        const char *because)
{
    int64_t v = 0;
    const struct api__fact *fact = api__find_fact(config, meaning, anywhere);
    if (!fact)
        api__refuse_absent(config, meaning, because);
    api__fact_integer(config, fact, 1, hi, &v);
    return v;
}

int64_t api__head_count(struct api__config *config)
{
    return required(config, API__MEANS_HEADS, largest_width(),
                    "the table depends on the number of heads");
}

int64_t api__hidden_width(struct api__config *config)
{
    return required(config, API__MEANS_HIDDEN, 1 << 30, "the table is as wide as the model");
}

int64_t api__head_width(struct api__config *config, const struct api__family *family, bool global)
{
    int64_t width = 0;
    const struct api__fact *fact =
        global ? api__find_fact(config, API__MEANS_GLOBAL_HEAD_DIM, anywhere) : NULL;
    if (!fact)
        fact = api__find_fact(config, API__MEANS_HEAD_DIM, anywhere);
    if (fact) {
        api__fact_integer(config, fact, 1, largest_width(), &width);
        return width;
    }
    if (family->head_dim)
        return family->head_dim;
    const struct api__fact *hidden = api__find_fact(config, API__MEANS_HIDDEN, anywhere);
    if (!hidden)
        api__refuse_absent(config, API__MEANS_HEAD_DIM,
                           "and so is hidden_size, so the width of a head is not known");
    int64_t heads = required(config, API__MEANS_HEADS, largest_width(),
                             "without head_dim, a head is hidden_size / num_attention_heads wide");
    if (!api__fact_integer(config, hidden, 1, 1 << 30, &width) || !heads)
        return 0;
    if (width % heads != 0 || width / heads > largest_width())
        api__refuse_fact(config, hidden, API__CONFLICT,
                         "%s is no multiple of the number of heads (%lld / %lld): give head_dim",
                         hidden->path, (long long)width, (long long)heads);
    return width / heads;
}

/* Latent attention: the part of a head that rotates has a key of its own, and
 * partial_rotary_factor, where it stands too, says the same of the whole head. */
static int64_t latent_width(struct api__config *config, const struct api__fact *fact,
                            const struct api__fact *partial)
{
    const struct api__fact *head = api__find_fact(config, API__MEANS_HEAD_DIM, anywhere);
    int64_t width = 0, whole = 0;
    double share = 1;
    if (!api__fact_integer(config, fact, 1, largest_width(), &width))
        return 0;
    api__fact_integer(config, head, 1, largest_width(), &whole);
    if (api__fact_real(config, partial, share_info()->lo, 1, &share) && share < 1 &&
        (int64_t)((double)whole * share) != width)
        api__refuse_fact(config, partial, API__CONFLICT,
                         "%s (of head_dim %lld) and %s contradict each other", partial->path,
                         (long long)whole, fact->path);
    return width;
}

static int64_t shared_width(struct api__config *config, const struct api__family *family,
                            const struct api__fact *partial, bool global)
{
    double share = family->partial > 0 ? family->partial : 1;
    int64_t head = api__head_width(config, family, global);
    if (partial && !api__fact_real(config, partial, share_info()->lo, 1, &share))
        return 0;
    int64_t width = (int64_t)((double)head * share);
    if (!config->refused && (width < 2 || width % 2)) {
        const char *key =
            api__spelling(config->dialect, partial ? API__MEANS_PARTIAL : API__MEANS_HEAD_DIM);
        const struct api__fact *blamed =
            partial ? partial : api__find_fact(config, API__MEANS_HEAD_DIM, anywhere);
        api__refuse_fact(
            config, blamed, API__OUT_OF_RANGE,
            "%s: %lld of head_dim %lld channels would rotate, but pairs need an even number",
            blamed ? blamed->path : key, (long long)width, (long long)head);
    }
    return width;
}

/* rotary_dim counts the channels themselves. */
static int64_t counted_width(struct api__config *config, const struct api__family *family,
                             const struct api__fact *fact, const struct api__fact *partial)
{
    int64_t width = 0, head = 0;
    double share = 1;
    bool head_known =
        api__has_fact(config, API__MEANS_HEAD_DIM) ||
        (api__has_fact(config, API__MEANS_HIDDEN) && api__has_fact(config, API__MEANS_HEADS));
    if (!api__fact_integer(config, fact, 1, largest_width(), &width))
        return 0;
    if (width % 2)
        api__refuse_fact(config, fact, API__OUT_OF_RANGE,
                         "%s must be even: channels rotate in pairs", fact->path);
    if (head_known || partial)
        head = api__head_width(config, family, false);
    if (head && width > head && config->dialect != API__GGUF)
        api__refuse_fact(config, fact, API__CONFLICT, "%s is %lld, but a head has %lld channels",
                         fact->path, (long long)width, (long long)head);
    if (api__fact_real(config, partial, share_info()->lo, 1, &share) &&
        (int64_t)((double)head * share) != width)
        api__refuse_fact(config, fact, API__CONFLICT,
                         "%s (%lld) and %s (%lld of %lld) contradict each other", fact->path,
                         (long long)width, partial->path, (long long)((double)head * share),
                         (long long)head);
    return width;
}

void api__rotary_width(struct api__config *config, const struct api__family *family,
                       struct api__where where, bool global, struct pe_spec *spec)
{
    const struct api__fact *partial = api__find_fact(config, API__MEANS_PARTIAL, where);
    if (spec->rope_type == PE_ROPE_TYPE_PROPORTIONAL) {
        spec->head_dim = api__head_width(config, family, global);
        spec->partial_rotary_factor = 1;
        api__fact_real(config, partial, share_info()->lo, 1, &spec->partial_rotary_factor);
        api__give(spec, PE_PARAM_HEAD_DIM);
        api__give(spec, PE_PARAM_PARTIAL_ROTARY_FACTOR);
        return;
    }
    const struct api__fact *latent = api__find_fact(config, API__MEANS_ROPE_HEAD_DIM, anywhere);
    const struct api__fact *counted =
        latent ? NULL : api__find_fact(config, API__MEANS_ROTARY_DIM, where);
    if (latent)
        spec->width = latent_width(config, latent, partial);
    else if (counted)
        spec->width = counted_width(config, family, counted, partial);
    else if (family->rotary_dim && !partial)
        spec->width = family->rotary_dim;
    else
        spec->width = shared_width(config, family, partial, global);
    api__give(spec, PE_PARAM_WIDTH);
}
