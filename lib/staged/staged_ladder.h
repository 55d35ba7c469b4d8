/* SPDX-License-Identifier: MIT
 *
 * staged_ladder.h: the frequencies that model code computes in float32, step by step.
 */
#ifndef PE_STAGED_LADDER_H
#define PE_STAGED_LADDER_H

#include "posenc.h"

struct pe__staged_ladder {
    size_t pairs;
    float *w;        /* radians per position */
    float amplitude; /* attention_factor, rounded */
};

/* The frequencies of a checked spec whose arithmetic is float32: exponent, power, reciprocal, then
 * the scaling of its rope_type, each step rounded once, in the order of the function that loads
 * such a model in HF transformers (modeling_rope_utils); sinusoids likewise. `scale` is left out.
 * Errors: NO_MEMORY. Freed by pe__staged_ladder_clear, also after an error. */
enum pe_error pe__staged_ladder_init(struct pe__staged_ladder *, const struct pe_spec *);
void pe__staged_ladder_clear(struct pe__staged_ladder *);

#endif
