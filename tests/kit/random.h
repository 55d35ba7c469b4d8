/* SPDX-License-Identifier: MIT
 *
 * random.h: lines for kit_spec that stand for random tables of every kind.
 */
#ifndef KIT_RANDOM_H
#define KIT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct kit_line {
    char text[8192];
    size_t len;
};

/* The sequence of this thread begins anew. */
void kit_seed(uint64_t seed);

/* A number below n > 0, evenly but for 2^-40. */
uint64_t kit_below(uint64_t n);

/* The line of a round: its kind by turns, the rest by chance. */
void kit_random_line(size_t round, struct kit_line *);

#endif
