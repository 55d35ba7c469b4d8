/* SPDX-License-Identifier: MIT
 *
 * decimal_text.h: where the digits of a number go: inline parts that the decimal files share. A
 * value of exponent -4 .. 15 is written with a point, any other with an exponent; both always as
 * reals.
 */
#ifndef PE_DECIMAL_TEXT_H
#define PE_DECIMAL_TEXT_H

#include "decimal_powers.h"

#include <stddef.h>
#include <string.h>

/* digits * 10^exponent. */
struct pe__decimal {
    uint64_t digits;
    int exponent;
};

/* The decimal of a finite number's size, with 17 digits (f32: 9) in any case, and its exponent that
 * of the first digit; of zero 0 and -1. Rather slow: for what the fast ways leave. */
struct pe__decimal pe__decimal_of_f64(double value);
struct pe__decimal pe__decimal_of_f32(float value);

#define PE__ZEROS UINT64_C(0x3030303030303030)

/* A number without its sign: the first digit, the others as characters (the second digit in the
 * lowest byte of a, '0' behind the last), the count of all digits without zeros at the end, and the
 * power of ten of the first. */
struct pe__digits {
    uint64_t first, a, b;
    size_t count;
    int exponent;
};

/* 0 <= exponent < 16. */
char *pe__put_large(char *out, uint64_t first, const uint64_t rest[2], size_t count,
                    unsigned exponent);

static inline char *pe__put_exponent(char *out, int exponent)
{
    const unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    if (size >= 100)
        *out++ = (char)('0' + size / 100);
    *out++ = (char)('0' + size / 10 % 10);
    *out++ = (char)('0' + size % 10);
    return out;
}

/* Digits up to the last that is not zero. */
static inline size_t pe__used(uint64_t digits)
{
    return digits ? 8 - ((size_t)__builtin_clzll(digits) >> 3) : 0;
}

/* `wide`: b holds digits. Touches no more than 24 bytes. */
static inline char *pe__put_digits(char *out, struct pe__digits d, int wide)
{
    if (__builtin_expect(d.exponent < 0 && d.exponent >= -4, 1)) {
        memcpy(out, "0.000000", 8);
        out += 1 - d.exponent;
        *out = (char)('0' + d.first);
        memcpy(out + 1, &d.a, 8);
        if (wide)
            memcpy(out + 9, &d.b, 8);
        return out + d.count;
    }
    if (d.exponent >= 0 && d.exponent < 16)
        return pe__put_large(out, d.first, (const uint64_t[2]){d.a, d.b}, d.count,
                             (unsigned)d.exponent);
    out[0] = (char)('0' + d.first);
    out[1] = '.';
    memcpy(out + 2, &d.a, 8);
    if (wide)
        memcpy(out + 10, &d.b, 8);
    return pe__put_exponent(out + (d.count == 1 ? 1 : d.count + 1), d.exponent);
}

#endif
