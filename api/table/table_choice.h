/* SPDX-License-Identifier: MIT
 *
 * table_choice.h: how a table is to be sent: format, tensor, carrier of bf16, revision; and whether
 * that can be done at all.
 */
#ifndef API_TABLE_CHOICE_H
#define API_TABLE_CHOICE_H

#include "format/format.h"
#include "request/param.h"
#include "table_spec.h"

/* The names of presentation.def. */
struct api__names api__option_names(void);

struct api__choice {
    const struct api_format *format;
    bool negotiated; /* by Accept, so that the answer varies with it */
    const struct api__param *tensor;
    const struct api__param *bf16; /* as given; `carrier` is what it says */
    enum api_bf16 carrier;
    bool has_rev;
};

/* Format by extension (404 where there is none of that name), else format=, else Accept (406); the
 * other options; 409 for a revision that this build does not make. */
bool api__choose(struct api__call *, const struct api__params *, struct api__choice *);

/* Tensors of table->spec as they will be sent: sets tensors, tensor, stacked, bf16 and format of a
 * table whose spec is checked. Refuses: a tensor that does not exist (400), tensors that one array
 * cannot hold (400 naming tensor), bf16 without a carrier (406), infinities in JSON (406), more
 * values in JSON than max_json_values (413 with a link to a binary form). */
bool api__select(struct api__call *, const struct api__choice *, struct api_table *);

/* The same where tensors and tensor_count are set already; the dtype of the spec says whether the
 * tensors are rounded to bf16. */
bool api__select_tensors(struct api__call *, const struct api__choice *, struct api_table *);

#endif
