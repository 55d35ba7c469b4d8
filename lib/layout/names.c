/* SPDX-License-Identifier: MIT
 *
 * names.c: the words of layouts and what stands behind them: static tables made from the .def
 * files, and look-ups in them.
 */
#include "posenc_layout.h"

#include <string.h>

#define PE_WORDS_BEGIN(SET) static const char *const words_##SET[] = {
#define PE_WORD(SET, id, name) name,
#define PE_WORDS_END(SET) \
    NULL                  \
    }                     \
    ;
#include "layout_words.def"
#undef PE_WORDS_BEGIN
#undef PE_WORD
#undef PE_WORDS_END
#define words_NONE NULL

#define E(x) (1u << PE_##x)
#define E_GRID (E(PADDED) | E(PACKED) | E(CONVERT))
#define E_ROOMS (E(PACKED) | E(CONVERT))
#define E_ALL_SLOTS (E_GRID | E(SHARDED))
#define E_ROWS (E(PADDED) | E(PACKED) | E(SHARDED))
#define E_ROWS_BUT_SHARDED (E(PADDED) | E(PACKED))
#define E_ALL_BUT_CHECK (((1u << PE_ENDPOINTS) - 1) & ~E(CHECK))

static const struct pe_option_info options[] = {
#define PE_OPTION(id, field, type, set, lo, hi, endpoints, preset, prose) \
    {#field,                                                              \
     PE_IS_##type,                                                        \
     words_##set,                                                         \
     lo,                                                                  \
     hi,                                                                  \
     endpoints,                                                           \
     offsetof(struct pe_layout_request, field),                           \
     preset,                                                              \
     prose},
#include "layout_options.def"
#undef PE_OPTION
};

static const struct {
    const char *name;
    unsigned offered, presented;
} outs[] = {
#define PE_TENSOR(id, name, class, offered, presented) {name, offered, presented},
#include "layout_tensors.def"
#undef PE_TENSOR
};

static const char *const endpoints[] = {"cached", "check",  "convert", "multimodal",
                                        "packed", "padded", "plan",    "sharded"};
_Static_assert(sizeof endpoints / sizeof *endpoints == PE_ENDPOINTS, "one name for each endpoint");
_Static_assert(PE_OUTS <= 64, "a set of tensors is a word of 64 bits");

static bool same(const char *word, const char *name, size_t len)
{
    return strlen(word) == len && memcmp(word, name, len) == 0;
}

const char *pe_endpoint_name(enum pe_endpoint e)
{
    return endpoints[e];
}

int pe_endpoint_find(const char *name, size_t len)
{
    for (int e = 0; e < PE_ENDPOINTS; e++)
        if (same(endpoints[e], name, len))
            return e;
    return -1;
}

const struct pe_option_info *pe_option_info(enum pe_option o)
{
    return &options[o];
}

int pe_option_find(const char *name, size_t len)
{
    for (int o = 0; o < PE_OPTIONS; o++)
        if (same(options[o].name, name, len))
            return o;
    return -1;
}

bool pe_option_lasts(enum pe_option o)
{
    return o == PE_OPTION_INPUT_IDS || o == PE_OPTION_PAST_LENGTHS || o == PE_OPTION_PARENTS ||
           o == PE_OPTION_IMAGE_GRID_THW || o == PE_OPTION_VIDEO_GRID_THW;
}

const char *pe_out_name(enum pe_out o)
{
    return outs[o].name;
}

int pe_out_find(const char *name, size_t len)
{
    for (int o = 0; o < PE_OUTS; o++)
        if (same(outs[o].name, name, len))
            return o;
    return -1;
}

uint64_t pe_outs_offered(enum pe_endpoint e)
{
    uint64_t set = 0;
    for (int o = 0; o < PE_OUTS; o++)
        set |= (uint64_t)(outs[o].offered >> e & 1) << o;
    return set;
}

uint64_t pe_outs_presented(enum pe_endpoint e)
{
    uint64_t set = 0;
    for (int o = 0; o < PE_OUTS; o++)
        set |= (uint64_t)(outs[o].presented >> e & 1) << o;
    return set;
}

const char *pe_reason_name(int reason)
{
    return words_REASON[reason];
}
