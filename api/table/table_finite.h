/* SPDX-License-Identifier: MIT
 *
 * table_finite.h: whether a table has values that JSON cannot say.
 */
#ifndef API_TABLE_FINITE_H
#define API_TABLE_FINITE_H

#include "api.h"

/* Whether a value of the tensors that are sent exceeds its dtype and so is infinite (phases in f16,
 * say). Makes the table where its kind allows that, a piece at a time: for tables of a size that
 * JSON may have. False also where there is no memory to find out. */
bool api__table_overflows(const struct api_table *);

#endif
