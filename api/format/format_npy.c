/* SPDX-License-Identifier: MIT
 *
 * format_npy.c: NumPy's .npy, version 1.0 (NEP 1, and numpy.lib.format for the padding).
 *
 * Header: magic, version, length, a Python dict with sorted keys, spaces that let the first axis
 * grow to 21 digits in place, spaces up to a multiple of 64, a newline. numpy pads by a whole 64
 * where nothing is missing; so does this. Left out: versions 2 and 3, which our headers never need,
 * and object types.
 */
#include "format.h"

#include "must.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY\x01\x00" /* and two bytes of length, little-endian */
#define MAGIC_SIZE 10
#define GROWTH_DIGITS 21 /* of the first axis: GROWTH_AXIS_MAX_DIGITS of numpy.lib.format */
#define ALIGNMENT 64

static const char *descr(enum pe_dtype dtype, enum api_bf16 bf16)
{
    static const char *const names[] = {
#define PE_DTYPE(id, name, alias, size, npy, safetensors) [PE_DTYPE_##id] = npy,
#include "dtypes.def"
#undef PE_DTYPE
    };
    return dtype == PE_DTYPE_BF16 && bf16 == API_BF16_U16 ? "<u2" : names[dtype];
}

size_t api__npy_header(char out[API__NPY_MAX], const struct pe_tensor *tensor, uint64_t copies,
                       enum api_bf16 bf16)
{
    const unsigned rank = tensor->rank + (copies > 0);
    char shape[(PE_MAX_RANK + 5) * 22 + 1] = "", grown[32];
    size_t at = 0;
    int spaces = 0;
    must(tensor->rank <= PE_MAX_RANK + 4);
    for (unsigned a = 0; a < rank; a++) {
        const uint64_t size = a || !copies ? tensor->shape[copies ? a - 1 : a] : copies;
        const int digits = snprintf(grown, sizeof grown, "%" PRIu64, size);
        if (a == 0)
            spaces = GROWTH_DIGITS - digits;
        must(at + (size_t)digits + 3 < sizeof shape);
        at += (size_t)snprintf(shape + at, sizeof shape - at, "%s%s", a ? ", " : "", grown);
    }
    const int text = snprintf(out + MAGIC_SIZE, API__NPY_MAX - MAGIC_SIZE,
                              "{'descr': '%s', 'fortran_order': False, 'shape': (%s%s), }%*s",
                              descr(tensor->dtype, bf16), shape, rank == 1 ? "," : "", spaces, "");
    const size_t used = MAGIC_SIZE + (size_t)text + 1;
    const size_t total = used + ALIGNMENT - used % ALIGNMENT;
    must(text > 0 && total <= API__NPY_MAX);
    memset(out + used - 1, ' ', total - used);
    out[total - 1] = '\n';
    memcpy(out, MAGIC, MAGIC_SIZE - 2);
    out[8] = (char)((total - MAGIC_SIZE) & 0xff);
    out[9] = (char)((total - MAGIC_SIZE) >> 8);
    return total;
}

static void prefix(struct api_table *table, struct api__arena *arena)
{
    char *out = api__arena_take(arena, API__NPY_MAX);
    const unsigned first = table->tensor < 0 ? 0 : (unsigned)table->tensor;
    const uint64_t copies = table->stacked && table->tensor < 0 ? table->tensor_count : 0;
    must(first < table->tensor_count && (table->tensor >= 0 || copies || table->tensor_count == 1));
    table->prefix =
        (struct api_bytes){out, api__npy_header(out, &table->tensors[first], copies, table->bf16)};
}

const struct api_format api__format_npy = {
    .name = "npy",
    .content_type = "application/x-npy",
    .media = {"application/x-npy", "application/x-numpy", "application/x-binary"},
    .single = true,
    .prefix = prefix,
};
