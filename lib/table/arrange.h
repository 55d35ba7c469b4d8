/* SPDX-License-Identifier: MIT
 *
 * arrange.h: where the hands are drawn: from planes of cosines and sines to the columns of a
 * layout.
 */
#ifndef PE_ARRANGE_H
#define PE_ARRANGE_H

#include "posenc.h"

/* What a column shows. */
enum pe__hand { PE__COS, PE__SIN, PE__MINUS_SIN, PE__SCALE, PE__HANDS };

/* Pair r of a ladder stands at element column + r * pitch of a row of out[tensor]. */
struct pe__place {
    enum pe__hand hand;
    unsigned tensor;
    size_t column;
    size_t pitch;
};

#define PE__MAX_PLACES 6

/* Where the pairs of one axis stand. Places that share a tensor and neighbour each other follow one
 * another. A phase takes the place of a cosine. */
struct pe__arrangement {
    unsigned count;
    struct pe__place at[PE__MAX_PLACES];
};

/* The arrangement of a checked spec of a table that has one; `axis` counts the halves of grid, else
 * 0. */
struct pe__arrangement pe__arrangement_of(const struct pe_spec *, unsigned axis);

/* Planes of elements of `size` bytes (2, 4, 8), packed: row i < rows of a plane begins at i * pairs
 * * size. Pair k of a plane is pair first + k * step of the row. */
struct pe__planes {
    const void *of[PE__HANDS]; /* PE__MINUS_SIN is not read */
    size_t size;
    size_t pairs;
    size_t rows;
    size_t first, step;
};

/* Writes the rows of all places whose tensor is wanted: row i of out[t] begins at i * stride[t]
 * bytes. */
void pe__arrange_rows(const struct pe__arrangement *, const struct pe__planes *, void *const out[],
                      const size_t stride[]);

#endif
