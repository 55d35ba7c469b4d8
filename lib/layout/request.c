/* SPDX-License-Identifier: MIT
 *
 * request.c: presets and conventions of a request.
 */
#include "posenc_layout.h"

#include <string.h>

#define NUMBER(id, v)     \
    {                     \
        PE_OPTION_##id, v \
    }
#define WORD(id, set, word)               \
    {                                     \
        PE_OPTION_##id, PE_##set##_##word \
    }
#define FILL_WORD(word)                            \
    {                                              \
        PE_OPTION_FILL, PE_A_WORD + PE_FILL_##word \
    }
#define OUTPUTS(set)                      \
    {                                     \
        PE_OPTION_OUTPUTS, (int64_t)(set) \
    }
#define T(id) (UINT64_C(1) << PE_OUT_##id)
#define SETTINGS(...)                         \
    (const struct pe_setting[]){__VA_ARGS__}, \
        sizeof((const struct pe_setting[]){__VA_ARGS__}) / sizeof(struct pe_setting)

static const struct pe_convention conventions[] = {
#define PE_CONVENTION(endpoint, name, ...) {PE_##endpoint, name, SETTINGS(__VA_ARGS__)},
#include "layout/conventions.def"
#undef PE_CONVENTION
};

#define COUNT (sizeof conventions / sizeof *conventions)

const struct pe_convention *pe_convention(unsigned row)
{
    return row < COUNT ? &conventions[row] : NULL;
}

int pe_convention_find(enum pe_endpoint endpoint, const char *name, size_t len)
{
    for (unsigned row = 0; row < COUNT; row++)
        if (conventions[row].endpoint == endpoint && strlen(conventions[row].name) == len &&
            memcmp(conventions[row].name, name, len) == 0)
            return (int)row;
    return -1;
}

static int64_t word_of(const struct pe_option_info *info, const char *name)
{
    for (int w = 0; info->words && info->words[w]; w++)
        if (strcmp(info->words[w], name) == 0)
            return w;
    return -1;
}

/* Presets are words or numbers of one digit. */
static int64_t preset_value(const struct pe_option_info *info)
{
    int64_t word = word_of(info, info->preset);
    if (info->type == PE_IS_BOOL)
        return strcmp(info->preset, "true") == 0;
    if (word >= 0)
        return info->type == PE_IS_NUMBER_OR_WORD ? PE_A_WORD + word : word;
    return info->preset[0] - '0';
}

static void set_option(struct pe_layout_request *q, enum pe_option o, int64_t value)
{
    const struct pe_option_info *info = pe_option_info(o);
    void *field = (char *)q + info->offset;
    switch (info->type) {
    case PE_IS_BOOL:
        *(bool *)field = value != 0;
        break;
    case PE_IS_WORD:
    case PE_IS_NAME:
        *(int *)field = (int)value;
        break;
    case PE_IS_TENSORS:
        *(uint64_t *)field = (uint64_t)value;
        break;
    default:
        *(int64_t *)field = value;
    }
}

/* Rows of a mask, each of one document. */
static bool is_padded(const struct pe_layout_request *q)
{
    return q->endpoint == PE_PADDED ||
           (q->endpoint == PE_SHARDED && q->given[PE_OPTION_ATTENTION_MASK]) ||
           (q->endpoint == PE_CONVERT && q->arrange == PE_ARRANGE_PADDED);
}

/* Slots stay where they were sent. */
static bool is_fixed(const struct pe_layout_request *q)
{
    if (q->endpoint == PE_CONVERT)
        return q->arrange == PE_ARRANGE_SAME;
    return !is_padded(q) && (q->given[PE_OPTION_SEGMENT_IDS] || q->given[PE_OPTION_INPUT_IDS]);
}

bool pe_option_bears(const struct pe_layout_request *q, enum pe_option o)
{
    bool planned = q->endpoint == PE_PLAN || q->given[PE_OPTION_ALGORITHM];
    bool concat = planned && q->algorithm == PE_ALGORITHM_CONCAT;
    switch (o) {
    case PE_OPTION_ALGORITHM:
    case PE_OPTION_CONTINUATION:
        return planned;
    case PE_OPTION_TOO_LONG:
    case PE_OPTION_MAX_DOCUMENTS:
        return planned && !concat;
    case PE_OPTION_PAD_EACH_TO_MULTIPLE_OF:
        return !concat && !is_fixed(q) && !is_padded(q) && !q->given[PE_OPTION_SEGMENTS];
    case PE_OPTION_PAD_TO_MULTIPLE_OF:
        return !is_fixed(q);
    case PE_OPTION_SIDE:
        return is_padded(q) || (q->endpoint == PE_CACHED && !q->flatten);
    case PE_OPTION_RESTART:
    case PE_OPTION_ATTENTION:
    case PE_OPTION_TAIL:
        return !is_padded(q) && !(o == PE_OPTION_RESTART && q->given[PE_OPTION_SEGMENTS]);
    case PE_OPTION_COUNT:
        return !q->given[PE_OPTION_SEGMENTS];
    case PE_OPTION_STRIPE:
        return q->split == PE_SPLIT_ROUND_ROBIN;
    default:
        return true;
    }
}

void pe_layout_request_init(struct pe_layout_request *q, enum pe_endpoint endpoint)
{
    *q = (struct pe_layout_request){.endpoint = endpoint, .most_pieces = UINT64_C(1) << 24};
    for (int o = 0; o < PE_OPTIONS; o++)
        if (pe_option_info((enum pe_option)o)->preset[0])
            set_option(q, (enum pe_option)o, preset_value(pe_option_info((enum pe_option)o)));
}

void pe_layout_request_prefer(struct pe_layout_request *q, unsigned convention)
{
    const struct pe_convention *c = &conventions[convention];
    for (unsigned i = 0; i < c->count; i++) {
        enum pe_option o = c->settings[i].option;
        bool moved = o != PE_OPTION_SIDE || q->endpoint != PE_CONVERT || c->endpoint == PE_PADDED;
        if (q->given[o] || !moved || !(pe_option_info(o)->endpoints >> q->endpoint & 1))
            continue;
        set_option(q, o, c->settings[i].value);
        q->given[o] = true;
    }
}
