/* SPDX-License-Identifier: MIT
 *
 * options.h: which options an endpoint knows, before any array is read.
 */
#ifndef PE_LAYOUT_OPTIONS_H
#define PE_LAYOUT_OPTIONS_H

#include "posenc_layout.h"

/* Refuses options that the endpoint does not know, numbers and items of arrays outside of their
 * limits, and tensors that are not offered; then takes `from`, `convention` and `to`. Errors:
 * UNUSED, RANGE. */
enum pe_error pe__check_options(struct pe_layout_request *, struct pe_layout_fault *);

#endif
