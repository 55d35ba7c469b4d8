/* SPDX-License-Identifier: MIT
 *
 * precision.h: the handler of /v1/tables/{kind}/precision[.json]: how far the values of a table are
 * from the exact ones, and where they are farthest.
 */
#ifndef API_PRECISION_H
#define API_PRECISION_H

#include "request/call.h"

/* captures: kind. */
bool api__precision(struct api__call *);

/* A plan holds something for each column and takes time to make, which is spent while the client is
 * waited for: wider tables are neither studied nor compared. */
#define API__STUDIED_WIDTH 8192

/* An element of a tensor, and where it stands. */
struct api__place {
    const struct pe_spec *spec;
    const struct pe_tensor *tensor;
    uint64_t row;
    uint64_t channel;
};

/* Appends an object: `tensor`, `position` where rows have one (a list where there are several
 * axes), `channel` (which element of the row) and `index` (into the tensor). */
void api__put_place(struct api__text *, const struct api__place *);

/* Appends a finite double as a JSON number. */
void api__put_real(struct api__text *, double);

#endif
