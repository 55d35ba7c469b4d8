/* SPDX-License-Identifier: MIT
 *
 * resolve_keys.h: the tables of spellings and meanings (resolve_dialects.def,
 * resolve_meanings.def), and what an unknown key may have been meant to be.
 */
#ifndef API_RESOLVE_KEYS_H
#define API_RESOLVE_KEYS_H

#include "text.h"

enum api__meaning {
#define API_MEANING(id, param, winner, weight, text) API__MEANS_##id,
#include "resolve_meanings.def"
#undef API_MEANING
    API__MEANINGS
};

enum api__weight { API__PLAIN, API__BEARS, API__BESIDE, API__BREAKS };

struct api__meaning_info {
    enum pe_param param;
    bool outer;
    enum api__weight weight;
    const char *text;
};

const struct api__meaning_info *api__meaning_info(enum api__meaning);

enum api__dialect { API__HF = 1, API__GGUF = 2, API__MEGATRON = 4, API__DIFFUSERS = 8 };

/* From the layers outwards: the entry of one layer type in a block, the block, the config of the
 * language model, and both of these in what is wrapped around a text_config. */
enum api__place { API__IN_ENTRY, API__IN_BLOCK, API__AT_TOP, API__IN_ROOT_BLOCK, API__AT_ROOT };

/* Which of the two sets of spellings holds in a place. */
enum api__side { API__OUTSIDE = 1, API__INSIDE = 2 };
unsigned api__side(enum api__place);

struct api__key {
    unsigned dialects, places;
    const char *spelling;
    enum api__meaning meaning;
};

/* By spelling, or NULL; `places` are bits of api__side. The second is for names that are not known:
 * the nearest one, where few slips lead to it. */
const struct api__key *api__find_key(enum api__dialect, unsigned places, struct api_bytes name);
const struct api__key *api__near_key(enum api__dialect, unsigned places, struct api_bytes name);

/* Rows are numbered; of two spellings of one meaning the lower row is the present one. */
const struct api__key *api__key_row(unsigned row);
unsigned api__row_of(const struct api__key *);

/* The present spelling of a meaning in a dialect, or "". */
const char *api__spelling(enum api__dialect, enum api__meaning);

/* Whether a name has a word of positions in it. */
bool api__sounds_positional(struct api_bytes name);

#endif
