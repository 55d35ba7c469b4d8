/* SPDX-License-Identifier: MIT
 *
 * layouts.h: the handlers of /v1/layouts/{endpoint}[.ext] and of /v1/conventions, and what their
 * files share. A request is read by the tables of lib: what an option is, who knows it and what it
 * may be stands there; here stands how it is spelled.
 */
#ifndef API_LAYOUTS_H
#define API_LAYOUTS_H

#include "format/format.h"
#include "request/param.h"

bool api__layout(struct api__call *);
bool api__conventions_page(struct api__call *);

/* What was asked of /v1/layouts/: the request of lib; the parameters that were given; the kind that
 * rows= names, or -1, and whether it is a stored table. */
struct api__layout_ask {
    struct pe_layout_request q;
    struct api__params params;
    uint64_t entries; /* of all arrays so far */
    int rows;         /* the kind; of a stored table that which lends the words of dtype */
    const struct api__param *rows_param;
    struct api_learned *stored; /* the table that rows=learned/NAME wants, or NULL */
};

/* Reads query and body into the request, names before values. Arrays lie in the arena or, of a
 * binary body that is read once, where they came. */
bool api__read_layout(struct api__call *, struct api__layout_ask *);

/* One parameter into the field of its option. The names of conventions come last: what they may be
 * depends on the others. */
bool api__read_option(struct api__call *, struct api__layout_ask *, const struct api__param *,
                      enum pe_option);
bool api__read_convention(struct api__call *, struct api__layout_ask *, const struct api__param *,
                          enum pe_option);

/* An array: `;` between the rows of a query, nested arrays of JSON. Blames an item by "index". */
bool api__read_array(struct api__call *, struct api__layout_ask *, const struct api__param *,
                     struct pe_array *);

/* Rows of segments, from JSON alone. */
bool api__read_segments(struct api__call *, struct api__layout_ask *, const struct api__param *,
                        struct pe_declared_rows *);

/* A body of type application/x-npy, which is the array that body=NAME says, or
 * application/x-safetensors. */
bool api__read_layout_file(struct api__call *, struct api__layout_ask *);

/* Counts entries of lists against the limit. */
bool api__count_entries(struct api__call *, struct api__layout_ask *, struct api_bytes name,
                        uint64_t);

/* Makes an issue of a fault of lib. Always false. */
bool api__layout_fault(struct api__call *, const struct api__layout_ask *,
                       const struct pe_layout_fault *);

/* Checks what rows= names; then, once there are ids, its parameters, and sets the spec of the rows
 * of ids least .. most. A stored table must have all of these rows. */
bool api__read_rows(struct api__call *, struct api__layout_ask *);
bool api__rows_spec(struct api__call *, const struct api__layout_ask *, int64_t least, int64_t most,
                    struct pe_spec *);

/* Whether the kind of rows= uses a parameter of this name. */
bool api__rows_know(const struct api__layout_ask *, struct api_bytes name);

/* The arrays of a layout, and by rows= those of a spec, as tensors of a table. `layout` must
 * outlive it. */
void api__layout_tensors(struct api__call *, const struct pe_layout *, const struct pe_spec *rows,
                         struct api_table *);

/* The options that have a value, presets filled in: as a JSON object sorted by name, or as pairs.
 * `rows` is the spec of rows=, or NULL. */
const char *api__layout_parameters(struct api__call *, const struct api__layout_ask *,
                                   const struct pe_layout_request *, const struct pe_spec *rows);
const struct api_pair *api__layout_metadata(struct api__call *, const struct api__layout_ask *,
                                            const struct pe_layout_request *,
                                            const struct pe_spec *rows, unsigned *count);

/* The answer of /v1/layouts/check. */
bool api__layout_check(struct api__call *, struct api__layout_ask *);

#endif
