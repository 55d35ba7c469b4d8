/* SPDX-License-Identifier: MIT
 *
 * convert.c: values of one floating element type as another, each rounded once. A value passes
 * through a double, which holds every value of every type exactly, so there is no second rounding.
 * The pair that processors convert themselves (f64, f32) is left to them; nothing here changes
 * their rounding mode.
 */
#include "dtype.h"

#include <string.h>

static void narrow(const unsigned char *in, unsigned char *out, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        double wide;
        memcpy(&wide, in + 8 * i, 8);
        const float v = (float)wide;
        memcpy(out + 4 * i, &v, 4);
    }
}

static void widen(const unsigned char *in, unsigned char *out, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        float v;
        memcpy(&v, in + 4 * i, 4);
        const double wide = v;
        memcpy(out + 8 * i, &wide, 8);
    }
}

enum pe_error pe_convert(enum pe_dtype from, const void *in, enum pe_dtype to, void *out,
                         uint64_t count)
{
    if (!pe__dtype_real(from) || !pe__dtype_real(to))
        return PE_INVALID;
    const unsigned char *source = in;
    unsigned char *target = out;
    size_t step = pe_dtype_size(from), stride = pe_dtype_size(to);
    if (from == to)
        memcpy(out, in, count * step);
    else if (from == PE_DTYPE_F64 && to == PE_DTYPE_F32)
        narrow(source, target, count);
    else if (from == PE_DTYPE_F32 && to == PE_DTYPE_F64)
        widen(source, target, count);
    else
        for (uint64_t i = 0; i < count; i++)
            pe__store_f64(pe__load_f64(source + i * step, from), to, target + i * stride);
    return PE_OK;
}
