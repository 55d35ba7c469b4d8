/* SPDX-License-Identifier: MIT
 *
 * cells.c: values as text. Reals go through the row functions of lib/decimal.h in blocks; a block
 * that holds anything not finite is written value by value.
 */
#include "cells.h"

#include "posenc_decimal.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 128 };

size_t api__cell_max(enum pe_dtype dtype)
{
    switch (dtype) {
    case PE_DTYPE_F64:
        return PE_DECIMAL_F64_MAX + 1;
    case PE_DTYPE_F32:
    case PE_DTYPE_F16:
    case PE_DTYPE_BF16:
    case PE_DTYPE_BF16_AS_F32:
        return PE_DECIMAL_F32_MAX + 1;
    case PE_DTYPE_I64:
        return 21; /* -9223372036854775808 */
    case PE_DTYPE_I32:
        return 12; /* -2147483648 */
    case PE_DTYPE_U8:
        return 4;
    default:
        return 6; /* false */
    }
}

size_t api__room(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t sum;
    if (__builtin_mul_overflow(a, b, &sum) || __builtin_add_overflow(sum, c, &sum) ||
        sum > SIZE_MAX)
        return SIZE_MAX;
    return (size_t)sum;
}

uint64_t api__line_length(const struct pe_tensor *tensor)
{
    return tensor->rank ? tensor->shape[tensor->rank - 1] : 1;
}

void api__next_line(struct api_writer *writer, const struct pe_tensor *tensor)
{
    writer->rolled = 0;
    for (unsigned a = tensor->rank ? tensor->rank - 1 : 0; a-- > 0; writer->rolled++) {
        if (++writer->index[a] < tensor->shape[a])
            return;
        writer->index[a] = 0;
    }
}

static char *put(char *out, const char *text)
{
    const size_t n = strlen(text);
    memcpy(out, text, n);
    return out + n;
}

static char *put_special(char *out, enum api__spelling spelling, double v)
{
    if (spelling == API__JSON)
        return put(out, "null");
    return put(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
}

/* All exponent bits set: infinite, or not a number. */
static bool any_special_f32(const float *values, size_t count)
{
    uint32_t bits[BLOCK], any = 0;
    memcpy(bits, values, count * sizeof *bits);
    for (size_t i = 0; i < count; i++)
        any |= (bits[i] & 0x7f800000) == 0x7f800000;
    return any;
}

static bool any_special_f64(const double *values, size_t count)
{
    uint64_t bits[BLOCK], any = 0;
    memcpy(bits, values, count * sizeof *bits);
    for (size_t i = 0; i < count; i++)
        any |= (bits[i] & UINT64_C(0x7ff0000000000000)) == UINT64_C(0x7ff0000000000000);
    return any;
}

static char *block_f32(char *out, enum api__spelling spelling, const float *values, size_t count)
{
    if (!any_special_f32(values, count))
        return out + pe_decimal_row_f32(values, count, out);
    for (size_t i = 0; i < count; i++) {
        if (i)
            *out++ = ',';
        if (isfinite(values[i]))
            out += pe_decimal_f32(values[i], out);
        else
            out = put_special(out, spelling, (double)values[i]);
    }
    return out;
}

static char *block_f64(char *out, enum api__spelling spelling, const double *values, size_t count)
{
    if (!any_special_f64(values, count))
        return out + pe_decimal_row_f64(values, count, out);
    for (size_t i = 0; i < count; i++) {
        if (i)
            *out++ = ',';
        if (isfinite(values[i]))
            out += pe_decimal_f64(values[i], out);
        else
            out = put_special(out, spelling, values[i]);
    }
    return out;
}

/* The f32 of the same value. The fraction moves up by 13 places; 2^112 makes up for the biases 127
 * and 15, exactly, for subnormal halves too. */
static void widen_f16(float *to, const uint16_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)(from[i] & 0x7fff) << 13;
        float v;
        memcpy(&v, &bits, sizeof v);
        v *= 0x1p112f;
        memcpy(&bits, &v, sizeof bits);
        if ((from[i] & 0x7c00) == 0x7c00)
            bits = 0x7f800000 | (uint32_t)(from[i] & 0x3ff) << 13;
        bits |= (uint32_t)(from[i] & 0x8000) << 16;
        memcpy(&to[i], &bits, sizeof bits);
    }
}

static void widen_bf16(float *to, const uint16_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t bits = (uint32_t)from[i] << 16;
        memcpy(&to[i], &bits, sizeof bits);
    }
}

static char *put_integer(char *out, int64_t value)
{
    char digits[20];
    size_t n = 0;
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do
        digits[sizeof digits - ++n] = (char)('0' + size % 10);
    while (size /= 10);
    *out = '-';
    out += value < 0;
    memcpy(out, digits + sizeof digits - n, n);
    return out + n;
}

static int64_t integer(enum pe_dtype dtype, const void *data, size_t i)
{
    switch (dtype) {
    case PE_DTYPE_I64:
        return ((const int64_t *)data)[i];
    case PE_DTYPE_I32:
        return ((const int32_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

static char *block(char *out, enum pe_dtype dtype, enum api__spelling spelling, const void *data,
                   size_t count)
{
    float wide[BLOCK];
    switch (dtype) {
    case PE_DTYPE_F64:
        return block_f64(out, spelling, data, count);
    case PE_DTYPE_F32:
    case PE_DTYPE_BF16_AS_F32:
        return block_f32(out, spelling, data, count);
    case PE_DTYPE_F16:
        widen_f16(wide, data, count);
        return block_f32(out, spelling, wide, count);
    case PE_DTYPE_BF16:
        widen_bf16(wide, data, count);
        return block_f32(out, spelling, wide, count);
    default:
        break;
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t v = integer(dtype, data, i);
        if (i)
            *out++ = ',';
        if (dtype == PE_DTYPE_BOOL && spelling == API__JSON)
            out = put(out, v ? "true" : "false");
        else
            out = put_integer(out, v);
    }
    return out;
}

char *api__cells(char *out, enum pe_dtype dtype, enum api__spelling spelling, const void *data,
                 size_t count)
{
    const char *from = data;
    const size_t step = BLOCK * pe_dtype_size(dtype);
    for (; count > BLOCK; count -= BLOCK, from += step) {
        out = block(out, dtype, spelling, from, BLOCK);
        *out++ = ',';
    }
    return count ? block(out, dtype, spelling, from, count) : out;
}
