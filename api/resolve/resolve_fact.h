/* SPDX-License-Identifier: MIT
 *
 * resolve_fact.h: which of several facts holds, and what it says.
 *
 * Precedence is that of transformers: the value nearest to the layers wins, but for the two
 * meanings that the top level overwrites; a present spelling beats an old one. Whoever loses with
 * another value is reported as conflicting, and two blocks that contradict each other are refused.
 * A meaning that is absent while an unknown key looks like it is refused as well: a default in
 * place of a misspelt value would be a wrong table.
 */
#ifndef API_RESOLVE_FACT_H
#define API_RESOLVE_FACT_H

#include "resolve_value.h"

/* For which layers: facts of one layer type's entry count, and those outside of entries. `plain`
 * leaves out the block that all layers share; `entry_only` leaves out all but the entry. All zero:
 * any layer. */
struct api__where {
    const char *scope;
    bool plain;
    bool entry_only;
};

/* The fact that holds, or NULL. It counts as used then, and so do those that agree with it. */
const struct api__fact *api__find_fact(struct api__config *, enum api__meaning, struct api__where);

/* Whether a fact of that meaning is there at all; nothing counts as used. */
bool api__has_fact(const struct api__config *, enum api__meaning);

/* The parameter of lib that a meaning stands for, into its field of the spec. False where it is
 * absent. */
bool api__take_param(struct api__config *, enum api__meaning, struct api__where, struct pe_spec *);

/* Reports every fact and layer entry that was neither used nor reported. `because`, where it is not
 * NULL, says why none could be used. */
void api__report_rest(struct api__config *, const char *because);

#endif
