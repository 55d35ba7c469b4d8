/* SPDX-License-Identifier: MIT
 *
 * list.h: readers of parameters that are lists: `0,7,4096-4099` in a query, nested arrays in JSON,
 * one integer array in a body of type application/x-npy. Memory is taken in proportion to the bytes
 * that came, apart from ranges, whose expansion is limited.
 */
#ifndef API_LIST_H
#define API_LIST_H

#include "param.h"

/* Integers that a range in a query may stand for, all ranges of a list together: half a megabyte.
 */
#define API__MAX_EXPANDED 65536

struct api__ints {
    int64_t *at;
    size_t count;
    unsigned rank;
    uint64_t shape[PE_MAX_RANK];
};

/* Integers within 64 bits. From a query: rank 1, separated by commas, with `ranges` also FIRST-LAST
 * (both included, FIRST <= LAST). From JSON: a rectangular array of any rank up to PE_MAX_RANK.
 * Never empty. An item that is to blame is named by "index" in the problem document. */
bool api__read_integers(struct api__call *, const struct api__param *, bool ranges,
                        struct api__ints *);

/* Finite reals, rank 1, never empty. */
bool api__read_reals(struct api__call *, const struct api__param *, struct pe_reals *);

/* An .npy file (versions 1 to 3) that holds integers of 1 to 8 bytes, little-endian, C order, rank
 * 1 to PE_MAX_RANK, and nothing behind them. Refusals blame `name`. At most `max` integers. */
bool api__read_npy(struct api__call *, const char *name, struct api_bytes file, uint64_t max,
                   struct api__ints *);

#endif
