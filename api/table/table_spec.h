/* SPDX-License-Identifier: MIT
 *
 * table_spec.h: parameters -> pe_spec. What a parameter is, whether it is used and what it may be
 * comes from the tables of lib; here stands only how it is spelled.
 */
#ifndef API_TABLE_SPEC_H
#define API_TABLE_SPEC_H

#include "request/list.h"
#include "request/param.h"

/* Names that a path takes besides those of the spec. */
struct api__names {
    const char *const *at;
    size_t count;
};

/* Reads and checks a spec. `others` are names to leave alone. Names that are unknown or repeated
 * are blamed before values, values before what is missing. `positions` may already be in the spec
 * (from an .npy body): then it counts as given. Lists lie in the arena. */
bool api__read_spec(struct api__call *, const struct api__params *, struct api__names others,
                    struct pe_spec *);

/* Puts a list into spec->positions. */
void api__set_positions(struct pe_spec *, const struct api__ints *);

/* The words of a choice that (kind, resource) allows, ended by NULL. */
const char *const *api__allowed_words(struct api__arena *, enum pe_kind, enum pe_resource,
                                      enum pe_param, size_t *count);

#endif
