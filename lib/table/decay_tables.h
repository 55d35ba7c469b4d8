/* SPDX-License-Identifier: MIT
 *
 * decay_tables.h: what a decay holds, shared by the file that builds it and the file that uses it.
 */
#ifndef PE_DECAY_TABLES_H
#define PE_DECAY_TABLES_H

#include "decay.h"
#include "rotation/wide.h"

/* Rows are worked on in blocks of 32, pairs in groups of 16: a line of cache of the narrower types.
 */
#define PE__DECAY_BITS 5
#define PE__DECAY_ROWS (1 << PE__DECAY_BITS)
#define PE__DECAY_LANES 16

struct pe__decay {
    enum pe_dtype dtype;
    int64_t center;
    size_t pairs;
    unsigned up, down;       /* powers of each pair for positions above and below the center */
    struct pe__wide *powers; /* of each pair: zeta^(2^k / base), k < up, then zeta^(-2^k / base) */
    double *steps;           /* [group][row][2][lane]: zeta^(row / base) and the rest of it */
    size_t power_bytes, step_bytes;
    bool cut; /* a power is so great or small that another stands for it: only powers of one side
                 may meet */
};

/* The lanes of a pair's group at a row. */
static inline double *pe__decay_steps(const struct pe__decay *d, size_t pair, size_t row,
                                      size_t part)
{
    size_t group = pair / PE__DECAY_LANES;
    return d->steps + ((group * PE__DECAY_ROWS + row) * 2 + part) * PE__DECAY_LANES;
}

#endif
