/* SPDX-License-Identifier: MIT
 *
 * resolve_family.h: what is known about families of models (resolve_families.def).
 */
#ifndef API_RESOLVE_FAMILY_H
#define API_RESOLVE_FAMILY_H

#include "resolve_config.h"

enum api__scheme {
    API__SCHEME_ROPE,
    API__SCHEME_ALIBI,
    API__SCHEME_LEARNED,
    API__SCHEME_SINUSOIDAL, /* of one side of SIDES, or behind a flag */
    API__SCHEME_SIDES,
    API__SCHEME_T5,
    API__SCHEME_DEBERTA,
    API__SCHEME_NONE,
    API__SCHEME_UNSUPPORTED
};

/* Which elements a rotated pair joins; UNKNOWN where nobody says. */
enum api__pairs { API__PAIRS_UNKNOWN, API__PAIRS_SPLIT, API__PAIRS_NEIGHBOURS };

enum api__rule {
    API__RULE_ALIKE,
    API__RULE_LOCAL,
    API__RULE_SCALED,
    API__RULE_SLIDING,
    API__RULE_WINDOW,
    API__RULE_LISTED,
    API__RULE_TWO,
    API__RULE_HYBRID
};

enum api__choice_by { API__CHOICE_NONE, API__CHOICE_ALIBI_FLAG, API__CHOICE_SINUSOIDAL_FLAG };

/* Zero means: not said. Members as in resolve_families.def. */
struct api__family {
    const char *name;
    enum api__scheme scheme;
    enum api__pairs pairs;
    enum api__rule rule;
    int period;
    bool first, mrope, su, alpha, padded;
    double base, local_base, partial;
    int head_dim, rotary_dim, rows, extra;
    enum api__scheme encoder, decoder;
    int ladder; /* enum pe_choice_LADDER */
    enum api__choice_by choice;
    const char *why;
};

/* The family of a config, as its own model_type says, else the one around it. Names that end in
 * _text are those of the language part. False where neither is known; *out is then all zero but for
 * the name. */
bool api__find_family(const struct api__config *, struct api__family *out);

#endif
