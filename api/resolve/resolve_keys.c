/* SPDX-License-Identifier: MIT
 *
 * resolve_keys.c: see resolve_keys.h.
 */
#include "resolve_keys.h"
#include "request/nearest.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct api__meaning_info meanings[] = {
#define NONE NONE
#define INNER false
#define OUTER true
#define API_MEANING(id, param, winner, weight, text) \
    {PE_PARAM_##param, winner, API__##weight, text},
#include "resolve_meanings.def"
#undef API_MEANING
#undef NONE
#undef INNER
#undef OUTER
};

const struct api__meaning_info *api__meaning_info(enum api__meaning m)
{
    return &meanings[m];
}

static const struct api__key keys[] = {
#define HF API__HF
#define GGUF API__GGUF
#define MEGATRON API__MEGATRON
#define DIFFUSERS API__DIFFUSERS
#define TOP API__OUTSIDE
#define IN API__INSIDE
#define API_KEY(dialects, places, spelling, meaning) \
    {dialects, places, spelling, API__MEANS_##meaning},
#include "resolve_dialects.def"
#undef API_KEY
#undef HF
#undef GGUF
#undef MEGATRON
#undef DIFFUSERS
#undef TOP
#undef IN
};

unsigned api__side(enum api__place place)
{
    return place == API__IN_ENTRY || place == API__IN_BLOCK || place == API__IN_ROOT_BLOCK
               ? API__INSIDE
               : API__OUTSIDE;
}

static bool fits(const struct api__key *key, enum api__dialect dialect, unsigned places)
{
    return key->dialects & dialect && key->places & places;
}

const struct api__key *api__find_key(enum api__dialect dialect, unsigned places,
                                     struct api_bytes name)
{
    for (size_t i = 0; i < COUNT(keys); i++)
        if (fits(&keys[i], dialect, places) && api__equal(name, keys[i].spelling))
            return &keys[i];
    return NULL;
}

/* What a name looks like: one slip in a short name, two in a long one. */
const struct api__key *api__near_key(enum api__dialect dialect, unsigned places,
                                     struct api_bytes name)
{
    const struct api__key *best = NULL;
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < COUNT(keys); i++) {
        struct api_bytes known = api__bytes(keys[i].spelling);
        size_t limit = known.len < 8 ? 1 : 2;
        if (!fits(&keys[i], dialect, places) || keys[i].meaning == API__MEANS_NOTHING)
            continue;
        size_t slips = api__slips(name, known, limit);
        if (slips <= limit && slips < fewest) {
            fewest = slips;
            best = &keys[i];
        }
    }
    return best;
}

const struct api__key *api__key_row(unsigned row)
{
    return &keys[row];
}

unsigned api__row_of(const struct api__key *key)
{
    return (unsigned)(key - keys);
}

const char *api__spelling(enum api__dialect dialect, enum api__meaning meaning)
{
    for (size_t i = 0; i < COUNT(keys); i++)
        if (keys[i].meaning == meaning && keys[i].dialects & dialect)
            return keys[i].spelling;
    return "";
}

/* A name that has a word of positions in it. */
bool api__sounds_positional(struct api_bytes name)
{
    static const char *const words[] = {"rope",      "rotary",     "yarn",    "ntk", "alibi",
                                        "theta",     "mrope",      "xdrope",  "pos", "position",
                                        "positions", "positional", "relative"};
    for (size_t at = 0; at < name.len;) {
        size_t end = at;
        while (end < name.len && !strchr("_.-", name.at[end]))
            end++;
        for (size_t i = 0; i < COUNT(words); i++)
            if (api__equal_case((struct api_bytes){name.at + at, end - at}, words[i]))
                return true;
        at = end + 1;
    }
    return false;
}
