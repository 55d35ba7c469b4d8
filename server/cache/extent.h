/* SPDX-License-Identifier: MIT
 *
 * extent.h: where the rows of a table's tensors stand in its payload, and in what order they are
 * made. Tensors with equal row counts are made together, row by row (cos and sin cost one angle).
 * Progress counts rows made: row r of tensor t is there when it is above base[t] + r.
 */
#ifndef SERVER_EXTENT_H
#define SERVER_EXTENT_H

#include "api.h"

struct extent {
    unsigned count;
    uint64_t offset[API_MAX_TENSORS]; /* bytes in the payload */
    uint64_t row_bytes[API_MAX_TENSORS];
    uint64_t rows[API_MAX_TENSORS];
    uint64_t base[API_MAX_TENSORS];
    uint64_t bytes; /* of the whole payload */
    uint64_t goal;  /* progress of the whole */
};

/* False where the sizes overflow. */
bool extent_of(const struct api_table *, struct extent *);

/* Makes rows of the table from `progress` on into the payload at `at`, about `bytes` of them and at
 * least one, and returns the progress then; 0 on an error of the library. `plan` as api_table_fill
 * wants it. */
uint64_t extent_fill(const struct extent *, const struct api_table *, const struct pe_plan *plan,
                     uint64_t progress, uint64_t bytes, unsigned char *at);

/* Where that call would end. */
uint64_t extent_next(const struct extent *, uint64_t progress, uint64_t bytes);

/* Where it must begin to end at `progress`, with about *bytes of rows and no row before `least`;
 * *bytes is then what makes it end there. */
uint64_t extent_back(const struct extent *, uint64_t progress, uint64_t least, uint64_t *bytes);

/* The tensor that holds byte `at` of the payload. */
unsigned extent_tensor(const struct extent *, uint64_t at);

#endif
