/* SPDX-License-Identifier: MIT
 *
 * precision_exact.h: single values of tables, straight from their formulas, in MPFR: what errors
 * are measured against, and what kernels are tested against. Slow, and shares no code with the
 * kernels but the frequencies.
 */
#ifndef PE_PRECISION_EXACT_H
#define PE_PRECISION_EXACT_H

#include "posenc.h"

#include <mpfr.h>

struct pe__exact_table;

/* An element of a tensor: pe_spec_tensors says which tensors, and what a row is. */
struct pe__place {
    unsigned tensor;
    uint64_t row;
    uint64_t element;
};

/* For a checked spec of a table with real values; keeps the spec, whose lists have to live as long.
 * `arithmetic` and `dtype` do not matter. Freed by pe__exact_table_destroy, which takes the address
 * and nulls it. Errors: INVALID for another resource or for integers, NO_MEMORY. */
enum pe_error pe__exact_table_create(const struct pe_spec *, struct pe__exact_table **);
void pe__exact_table_destroy(struct pe__exact_table **);

/* The value rounded once to the precision of `out`, except that cosines and sines come with a
 * relative error of up to 2^(4 - precision), and amplitudes with another 2^-precision. Zeros may
 * have either sign; -inf stands where a bias is masked. Not for two threads at once. */
void pe__exact_value(struct pe__exact_table *, const struct pe__place *, mpfr_ptr out);

#endif
