/* SPDX-License-Identifier: MIT
 *
 * learned_file.c: uploads, from bytes to what they hold. Headers are read by strict grammars, sizes
 * are multiplied with checks, and the file is exactly as long as its header says. Finiteness is
 * looked at on the bits, where it costs a comparison.
 */
#include "learned_file.h"
#include "request/npy_head.h"

#include <string.h>

/* The widest table: that of the formulas, so that a row stays a small thing everywhere. */
#define WIDTH_LIMIT 65536

static const char *read_npy(struct api_bytes head, struct api_learned_file *out)
{
    struct api__npy_head h;
    const char *fault = api__npy_read_head(head, &h);
    if (fault)
        return fault;
    if (h.type != 'f' || (h.size != 2 && h.size != 4 && h.size != 8))
        return "its values are not f2, f4 or f8 (bf16 is sent as .safetensors)";
    if (h.order != '<')
        return "its values are not little-endian";
    if (h.rank != 2)
        return "its shape is not one of two axes";
    out->dtype = h.size == 2 ? PE_DTYPE_F16 : h.size == 4 ? PE_DTYPE_F32 : PE_DTYPE_F64;
    out->rows = h.shape[0];
    out->width = h.shape[1];
    out->data = h.data;
    return NULL;
}

static const char *read_safetensors(struct api_bytes head, uint64_t size,
                                    struct api_learned_file *out)
{
    struct api__arena *arena = api__arena_new();
    if (!arena)
        return "there is no memory to read it";
    if (setjmp(*api__arena_exit(arena))) {
        api__arena_free(&arena);
        return "there is no memory to read it";
    }
    const char *fault = api__learned_safetensors(arena, head, size, out);
    api__arena_free(&arena);
    return fault;
}

const char *api_learned_read(enum api_learned_form form, struct api_bytes head, uint64_t size,
                             struct api_learned_file *out)
{
    uint64_t bytes;
    memset(out, 0, sizeof *out);
    if (form == API_LEARNED_ANY)
        form = head.len >= 6 && memcmp(head.at, "\x93NUMPY", 6) == 0 ? API_LEARNED_NPY
                                                                     : API_LEARNED_SAFETENSORS;
    const char *fault =
        form == API_LEARNED_NPY ? read_npy(head, out) : read_safetensors(head, size, out);
    if (fault)
        return fault;
    if (!out->rows || !out->width)
        return "it has no values";
    if (out->width > WIDTH_LIMIT)
        return "it has more than 65536 columns";
    if (out->rows > (uint64_t)PE_POSITION_END ||
        __builtin_mul_overflow(out->rows, out->width, &bytes) ||
        __builtin_mul_overflow(bytes, pe_dtype_size(out->dtype), &bytes) ||
        bytes != size - out->data)
        return "its length is not what its shape says";
    return NULL;
}

/* The largest magnitude as bits: the order of finite magnitudes is that of their bits. `infinity`
 * is the pattern from which on a value is not finite. */
#define SCAN(bits, infinity)                                         \
    do {                                                             \
        const bits sign = (bits)((bits)1 << (8 * sizeof(bits) - 1)); \
        bits most = 0;                                               \
        for (uint64_t i = 0; i < count; i++) {                       \
            bits v;                                                  \
            memcpy(&v, at + i * sizeof v, sizeof v);                 \
            v = (bits)(v & (bits)~sign);                             \
            most = v > most ? v : most;                              \
        }                                                            \
        memcpy(out, &most, sizeof most);                             \
        return most < (bits)(infinity);                              \
    } while (0)

static bool scan64(const unsigned char *at, uint64_t count, void *out)
{
    SCAN(uint64_t, UINT64_C(0x7ff) << 52);
}

static bool scan32(const unsigned char *at, uint64_t count, void *out)
{
    SCAN(uint32_t, UINT32_C(0xff) << 23);
}

static bool scan16(const unsigned char *at, uint64_t count, unsigned infinity, void *out)
{
    SCAN(uint16_t, infinity);
}

bool api_learned_scan(enum pe_dtype dtype, const void *values, uint64_t count, double *largest)
{
    unsigned char most[8];
    double magnitude;
    bool finite = dtype == PE_DTYPE_F64   ? scan64(values, count, most)
                  : dtype == PE_DTYPE_F32 ? scan32(values, count, most)
                  : dtype == PE_DTYPE_F16 ? scan16(values, count, 0x7c00, most)
                                          : scan16(values, count, 0x7f80, most);
    if (!finite || pe_convert(dtype, most, PE_DTYPE_F64, &magnitude, 1) != PE_OK)
        return false;
    *largest = magnitude > *largest ? magnitude : *largest;
    return true;
}
