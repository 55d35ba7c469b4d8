/* SPDX-License-Identifier: MIT
 *
 * staged.h: arithmetic=float32: the pipeline that model code runs, for models trained with its
 * error.
 *
 * Exponent, power, reciprocal, scaling of the rope_type, phase, cosine and sine, amplitude: each
 * step rounded once to float32, in the order of the reference implementation; then a cast to the
 * dtype. The steps of one value are
 *
 *     phase = RN(RN(RN(position) w) RN(scale)),  cos = RN(RN(cos phase) RN(A)),  sin likewise
 *
 * Rows come out of pe__staged_arithmetic (source.h).
 */
#ifndef PE_STAGED_H
#define PE_STAGED_H

#include "posenc.h"

/* What a spec's numbers must be for none of these steps to leave float32: a part of pe_spec_check,
 * for specs whose arithmetic is float32. Errors: RANGE. */
enum pe_error pe__staged_rules(const struct pe_spec *, struct pe_fault *);

#endif
