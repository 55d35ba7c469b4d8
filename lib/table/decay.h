/* SPDX-License-Identifier: MIT
 *
 * decay.h: the scale of xpos: zeta_r^((p - center) / scale_base), zeta_r = (2r/width + 0.4) / 1.4
 * (Sun et al. 2022, "A Length-Extrapolatable Transformer", with gamma = 0.4).
 */
#ifndef PE_DECAY_H
#define PE_DECAY_H

#include "posenc.h"

struct pe__decay;

/* For a checked spec of an xpos table. `like` is another one or NULL: numbers that serve both are
 * shared, and count in full in the bytes of each. Errors: NO_MEMORY. destroy nulls the pointer and
 * accepts NULL; bytes of NULL are 0. */
enum pe_error pe__decay_create(const struct pe_spec *, const struct pe__decay *like,
                               struct pe__decay **);
void pe__decay_destroy(struct pe__decay **);
size_t pe__decay_bytes(const struct pe__decay *);

/* Positions first .. first+rows-1 of pairs pair .. pair+pairs-1; `pair` is a multiple of 16. */
struct pe__decay_window {
    size_t pair, pairs;
    int64_t first;
    size_t rows;
};

/* Row i: pair `pair` + k at out + i * stride + k * element size, correctly rounded to the dtype of
 * the spec. Pure, no allocation. */
void pe__decay_rows(const struct pe__decay *, const struct pe__decay_window *, void *out,
                    size_t stride);

#endif
