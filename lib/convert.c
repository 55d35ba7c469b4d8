/* SPDX-License-Identifier: MIT
 *
 * convert.c: values of one floating element type as another, each rounded once. Everything but f64
 * to f32 goes by way of f32, which holds every f16 and bf16 exactly; a double that is to become one
 * of these is first cut to f32 by rounding to odd, after which rounding to fewer bits gives what
 * one rounding would have given (Boldo and Melquiond, "When double rounding is odd", 2005: two more
 * bits than the target suffice, and there are thirteen). The processor rounds to nearest; nothing
 * here changes that.
 */
#include "dtype.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are stored as the processor holds them");

#define SIGN UINT32_C(0x80000000)
#define INFINITE UINT32_C(0x7f800000)

/* Values at a time: they stay in the first cache. */
#define BLOCK 512

static uint32_t bits_of(float v)
{
    uint32_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static float float_of(uint32_t b)
{
    float v;
    memcpy(&v, &b, sizeof v);
    return v;
}

/* The f32 towards zero of v, its last bit set where that is not v. */
static uint32_t cut_to_odd(double v)
{
    const float f = (float)v;
    const uint32_t b = bits_of(f), exact = (double)f == v || v != v;
    const uint32_t beyond = !exact && __builtin_fabs((double)f) > __builtin_fabs(v);
    return exact ? b : (b - beyond) | 1;
}

/* Half a unit of the last bit that is kept is 0x8000; a tie goes to even. */
static uint16_t to_bf16(uint32_t b)
{
    const uint32_t magnitude = b & ~SIGN;
    if (magnitude > INFINITE)
        return 0x7fc0;
    return (uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

static uint16_t to_f16(uint32_t b)
{
    const uint32_t magnitude = b & ~SIGN, sign = (b & SIGN) >> 16;
    if (magnitude >= bits_of(65536.0f))
        return magnitude > INFINITE ? 0x7e00 : (uint16_t)(sign | 0x7c00);
    /* Below 2^-14 the unit of f16 is 2^-24, which is that of an f32 from 0.5 to 1: an addition
     * rounds. */
    if (magnitude < bits_of(0x1p-14f))
        return (uint16_t)(sign | (bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f)));
    /* 13 bits fewer, and an exponent less by 127 - 15; a carry out of the significand is right, to
     * infinity too. */
    return (uint16_t)(sign |
                      ((magnitude - (UINT32_C(112) << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13));
}

/* The exponent of f16 is put right by a product, which does for subnormals as well. */
static uint32_t from_f16(uint16_t h)
{
    const uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    const uint32_t special = magnitude >= UINT32_C(0x7c00) << 13 ? magnitude | INFINITE : 0;
    return sign | (special ? special : bits_of(float_of(magnitude) * 0x1p112f));
}

/* ---------------------------------------------------------------- runs */

#define LOAD(type, v, at, i) \
    type v;                  \
    memcpy(&v, (at) + (i) * sizeof v, sizeof v)
#define STORE(type, at, i, value) \
    const type out_ = (value);    \
    memcpy((at) + (i) * sizeof out_, &out_, sizeof out_)

static void read_run(enum pe_dtype from, const unsigned char *in, uint32_t *out, size_t count)
{
    if (from == PE_DTYPE_F64) {
        for (size_t i = 0; i < count; i++) {
            LOAD(double, v, in, i);
            out[i] = cut_to_odd(v);
        }
    } else if (from == PE_DTYPE_F16 || from == PE_DTYPE_BF16) {
        const bool half = from == PE_DTYPE_F16;
        for (size_t i = 0; i < count; i++) {
            LOAD(uint16_t, v, in, i);
            out[i] = half ? from_f16(v) : (uint32_t)v << 16;
        }
    } else {
        memcpy(out, in, count * sizeof *out);
    }
}

static void write_run(enum pe_dtype to, const uint32_t *in, unsigned char *out, size_t count)
{
    if (to == PE_DTYPE_F64) {
        for (size_t i = 0; i < count; i++) {
            STORE(double, out, i, (double)float_of(in[i]));
        }
    } else if (to == PE_DTYPE_F16) {
        for (size_t i = 0; i < count; i++) {
            STORE(uint16_t, out, i, to_f16(in[i]));
        }
    } else if (to == PE_DTYPE_BF16) {
        for (size_t i = 0; i < count; i++) {
            STORE(uint16_t, out, i, to_bf16(in[i]));
        }
    } else if (to == PE_DTYPE_BF16_AS_F32) {
        for (size_t i = 0; i < count; i++) {
            STORE(uint32_t, out, i, (uint32_t)to_bf16(in[i]) << 16);
        }
    } else {
        memcpy(out, in, count * sizeof *in);
    }
}

static void narrow(const unsigned char *in, unsigned char *out, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        LOAD(double, v, in, i);
        STORE(float, out, i, (float)v);
    }
}

enum pe_error pe_convert(enum pe_dtype from, const void *in, enum pe_dtype to, void *out,
                         uint64_t count)
{
    uint32_t run[BLOCK];
    if (!pe__dtype_real(from) || !pe__dtype_real(to))
        return PE_INVALID;
    const unsigned char *source = in;
    unsigned char *target = out;
    const size_t step = pe_dtype_size(from), stride = pe_dtype_size(to);
    if (from == to) {
        memcpy(out, in, count * step);
        return PE_OK;
    }
    if (from == PE_DTYPE_F64 && to == PE_DTYPE_F32) {
        narrow(source, target, count);
        return PE_OK;
    }
    for (uint64_t done = 0; done < count;) {
        const size_t n = count - done < BLOCK ? (size_t)(count - done) : BLOCK;
        read_run(from, source + done * step, run, n);
        write_run(to, run, target + done * stride, n);
        done += n;
    }
    return PE_OK;
}
