/* SPDX-License-Identifier: MIT
 *
 * planned.h: the tensors of `plan`, as in project.h; and whether rows of a form hold several
 * documents.
 */
#ifndef PE_LAYOUT_PLANNED_H
#define PE_LAYOUT_PLANNED_H

#include "layout/form.h"
#include "layout/plan.h"

unsigned pe__plan_shape(const struct pe__plan *, enum pe_out, uint64_t shape[4]);
void pe__plan_project(const struct pe__plan *, const struct pe_layout_request *, enum pe_out,
                      uint64_t first, uint64_t count, void *out);
enum pe_error pe__plan_allowed(const struct pe__plan *, const struct pe_layout_request *,
                               enum pe_out, struct pe_layout_fault *);

bool pe__several_documents(const struct pe__form *);

#endif
