/* SPDX-License-Identifier: MIT
 *
 * boundaries.h: where logarithmic buckets begin, in integers.
 */
#ifndef PE_BOUNDARIES_H
#define PE_BOUNDARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* x_k = from * (to / from)^(k / steps), 1 <= from < to < 2^53, steps >= 1. The boundary of k is the
 * least integer that is not below x_k, or with `strict` the least that is above it. */
struct pe__logarithmic {
    int64_t from, to, steps;
    bool strict;
    int64_t limit; /* greater boundaries are not wanted; below 2^54 */
};

/* The boundaries of k = first .. first+count-1, exact, also where x_k is an integer. Stops before
 * the first x_k above the limit and returns how many were written. */
size_t pe__boundaries(const struct pe__logarithmic *, size_t first, size_t count, int64_t *out);

#endif
