/* SPDX-License-Identifier: MIT
 *
 * table_finite.c: looks for infinities before a table is sent as JSON, which has none (RFC 8259,
 * section 6). Sines, cosines and buckets are bounded; only what can grow is looked at.
 */
#include "table/table_finite.h"

#include "format/format.h"

#include <math.h>
#include <stdlib.h>

#define PIECE (64 << 10)

/* Phases, biases and decays grow with the position, and an amplitude with whoever chose it: it is
 * attention_factor, or at most 0.1 mscale ln(1.8e308) + 1 < 71 mscale + 1. An f16 ends at 65504. */
static bool can_grow(const struct pe_spec *s)
{
    bool amplified = s->attention_factor > 60000 || s->mscale > 800;
    switch (s->kind) {
    case PE_KIND_ALIBI:
    case PE_KIND_XPOS:
        return true;
    case PE_KIND_ROPE:
    case PE_KIND_MROPE:
    case PE_KIND_AXIAL_ROPE:
        return s->layout == PE_LAYOUT_PHASE || amplified;
    default:
        return false;
    }
}

static bool tensor_overflows(const struct pe_plan *plan, const struct pe_tensor *t, unsigned index)
{
    size_t size = pe_dtype_size(t->dtype), row_bytes = t->row_elements * size;
    uint64_t most = row_bytes < PIECE ? PIECE / row_bytes : 1;
    unsigned char *piece = malloc(most * row_bytes);
    bool found = false;
    for (uint64_t row = 0, some; piece && !found && row < t->rows; row += some) {
        void *out[PE_MAX_TENSORS] = {NULL};
        some = t->rows - row < most ? t->rows - row : most;
        out[index] = piece;
        if (pe_fill(plan, row, some, out) != PE_OK)
            break;
        for (size_t i = 0; i < some * t->row_elements && !found; i++)
            found = !isfinite(pe_value(piece + i * size, t->dtype));
    }
    free(piece);
    return found;
}

bool api__table_overflows(const struct api_table *table)
{
    struct pe_plan *plan;
    bool found = false;
    if (table->spec.resource != PE_RESOURCE_TABLE || !can_grow(&table->spec) ||
        pe_plan_create(&table->spec, &plan) != PE_OK)
        return false;
    for (unsigned i = 0; i < table->tensor_count && !found; i++)
        found = api_sends(table, i) && tensor_overflows(plan, &table->tensors[i], i);
    pe_plan_destroy(&plan);
    return found;
}
