/* SPDX-License-Identifier: MIT
 *
 * decay_tables.h: what a decay holds, shared by the file that builds it and the file that uses it.
 */
#ifndef PE_DECAY_TABLES_H
#define PE_DECAY_TABLES_H

#include "decay.h"
#include "rotation/wide.h"

#include <stdatomic.h>

/* Rows are worked on in blocks of 32, pairs in groups of 16: a line of cache of the narrower types.
 */
#define PE__DECAY_BITS 5
#define PE__DECAY_ROWS (1 << PE__DECAY_BITS)
#define PE__DECAY_LANES 16

/* Numbers that decays of any dtype and center may own together. Immutable once made, but for the
 * count of owners. */
struct pe__zetas {
    atomic_uint owners;
    size_t pairs, bytes;
    double scale_base;
    unsigned up, down;       /* powers of each pair for positions above and below the center */
    struct pe__wide *powers; /* of each pair: zeta^(2^k / base), k < up, then zeta^(-2^k / base) */
    double *steps;           /* [group][row][2][lane]: zeta^(row / base) and the rest of it */
    bool cut; /* a power is so great or small that another stands for it: only powers of one side
                 may meet */
};

struct pe__decay {
    enum pe_dtype dtype;
    int64_t center;
    struct pe__zetas *zetas;
};

/* The lanes of a pair's group at a row. */
static inline double *pe__decay_steps(const struct pe__zetas *z, size_t pair, size_t row,
                                      size_t part)
{
    size_t group = pair / PE__DECAY_LANES;
    return z->steps + ((group * PE__DECAY_ROWS + row) * 2 + part) * PE__DECAY_LANES;
}

#endif
