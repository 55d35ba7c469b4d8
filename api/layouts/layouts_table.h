/* SPDX-License-Identifier: MIT
 *
 * layouts_table.h: what stands behind struct api_layout.
 */
#ifndef API_LAYOUTS_TABLE_H
#define API_LAYOUTS_TABLE_H

#include "api.h"

/* Which array each tensor of a table is: an array of the layout, or tensor `spec` of the rows. */
struct api_layout {
    const struct pe_layout *layout;
    bool has_rows;
    int64_t first; /* the id whose row is row 0 of the spec */
    struct {
        bool is_rows;
        enum pe_out out;
        unsigned spec;
    } source[API_MAX_TENSORS];
};

#endif
