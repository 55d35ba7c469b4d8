/* SPDX-License-Identifier: MIT
 *
 * decimal.c: shortest decimals, by one multiplication with a power of ten.
 *
 * The value is c * 2^q. Take k = floor(q * log10(2)), so that the gap 2^q between neighbours is at
 * least 10^k and less than 10^(k+1), and count everything in units of 10^k: V = value / 10^k, and
 * the numbers that read back are those within h = 2^q / 10^k / 2 of V (the ends count when c is
 * even, because ties go to even). As 1/2 <= h < 5, that interval holds an integer, and at most one
 * multiple of ten. If there is a multiple of ten it is the only shortest decimal (its zeros at the
 * end fall away); else the shortest are the integers, all equally long, and the nearest to V is
 * wanted.
 *
 * V = x * G / 2^128, where G is 10^-k scaled to [2^127, 2^128) and x is c shifted so that the
 * scales meet: the top word of the product is floor(V), the words below are its fraction. The fast
 * paths keep 64 bits of fraction and hand over to `wide`, which keeps 128, when a comparison is too
 * close to call; there a comparison that is still close is an equality, for the reason given beside
 * it.
 *
 * Invariant: text depends on the bits of the value only. Left out: infinities and NaN, other bases,
 * the rounding to a given number of digits.
 */
#include "posenc_decimal.h"
#include "decimal_powers.h"
#include "decimal_text.h"

#include <stdbool.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "digits are stored eight at a time, first one lowest");

__extension__ typedef unsigned __int128 wide_word; /* the one typedef: C11 has no name for it */

const struct pe__power pe__powers[PE__LAST_POWER - PE__FIRST_POWER + 1] = {
#define PE_POWER(e, high, low) {UINT64_C(high), UINT64_C(low)},
#include "decimal_powers.def"
#undef PE_POWER
};

/* Whether a distance is within a limit, both in units of 2^-124 and both wrong by less than 2^54: x
 * < 2^57 bounds the error of x * G, and the shift by 4 shrinks it. Exact distances and limits of a
 * binary64 that differ do so by more than 2^-60, those of a fraction from 1/2 by more than 2^-65
 * (the least values of |j * 2^(q-1) / 10^(k+1)| modulo 1 for j <= 2^54 + 1, and of |j * 2^(q+1) /
 * 10^k| for j < 2^53, from the continued fractions of all 2046 ratios). So what differs by less
 * than 2^57 is equal. */
#define CLOSE ((wide_word)1 << 57)

static bool within(wide_word distance, wide_word limit, bool or_equal)
{
    if (distance + CLOSE < limit)
        return true;
    return or_equal && distance < limit + CLOSE;
}

/* Any c * 2^q with 0 < c < 2^53. `power` tells a least significand of its exponent: the neighbour
 * below is half as far, so the interval is [V - h/2, V + h], and k follows its whole width:
 * log10(3/4) * 2^20 = -131008, for which -131072 gives the same floors over all q of a binary64. */
static struct pe__decimal wide(uint64_t c, int q, bool power)
{
    const int k = power ? (q * 315653 - 131072) >> 20 : pe__log10_of_power_of_2(q);
    const struct pe__power *g = &pe__powers[-k - PE__FIRST_POWER];
    const int shift = q + pe__log2_of_power_of_10(-k); /* 0 .. 3 */
    const uint64_t x = c << (shift + 1);
    const wide_word low = (wide_word)x * g->low;
    const wide_word high = (wide_word)x * g->high + (low >> 64);
    const uint64_t whole = (uint64_t)(high >> 64);
    const wide_word fraction = (wide_word)(uint64_t)high << 64 | (uint64_t)low;

    const uint64_t last = whole % 10;
    const wide_word below = (wide_word)last << 124 | fraction >> 4;
    const wide_word above = ((wide_word)10 << 124) - below;
    const wide_word up = ((wide_word)g->high << 64 | g->low) >> (4 - shift);
    const wide_word down = power ? up >> 1 : up;
    const bool even = (c & 1) == 0;
    if (within(below, down, even))
        return (struct pe__decimal){whole - last, k};
    if (within(above, up, even))
        return (struct pe__decimal){whole - last + 10, k};

    const wide_word half = (wide_word)1 << 127;
    bool next = fraction > half;
    if (fraction + (CLOSE << 4) > half && fraction < half + (CLOSE << 4))
        next = whole & 1;
    if (power && !within(fraction >> 4, down, even))
        next = true;
    return (struct pe__decimal){whole + next, k};
}

/* The same in 64 bits of fraction for c * 2^q that is no `power`. Distances are in units of 2^-60
 * and wrong by less than `error`; *close tells that a comparison is not sure. No branches: whether
 * a multiple of ten is near is as good as random. */
static inline struct pe__decimal pick(uint64_t whole, uint64_t fraction, uint64_t limit,
                                      uint64_t error, bool *close)
{
    const uint64_t tens = whole / 10 * 10;
    const uint64_t below = (whole - tens) << 60 | fraction >> 4;
    const uint64_t above = (UINT64_C(10) << 60) - below;
    uint64_t digits = whole + (fraction >> 63);
    digits = above < limit ? tens + 10 : digits;
    digits = below < limit ? tens : digits;
    *close = (below - limit + error <= 2 * error) | (above - limit + error <= 2 * error) |
             ((fraction >> 4) - (UINT64_C(1) << 59) + error <= 2 * error);
    return (struct pe__decimal){digits, 0};
}

/* Errors: below, above and limit are cut to 2^-60; G and the third word of the product add less. */
static inline struct pe__decimal shortest_f64(uint64_t c, int q)
{
    const int k = pe__log10_of_power_of_2(q);
    const struct pe__power *g = &pe__powers[-k - PE__FIRST_POWER];
    const int shift = q + pe__log2_of_power_of_10(-k);
    const uint64_t x = c << (shift + 1);
    const wide_word high = (wide_word)x * g->high + (((wide_word)x * g->low) >> 64);
    bool close;
    struct pe__decimal d =
        pick((uint64_t)(high >> 64), (uint64_t)high, g->high >> (4 - shift), 4, &close);
    d.exponent = k;
    if (__builtin_expect(close, 0))
        return wide(c, q, false);
    return d;
}

/* c < 2^24, so x < 2^28: the upper half of G will do, and its error is below 2^28 of 2^-64. */
static inline struct pe__decimal shortest_f32(uint64_t c, int q)
{
    const int k = pe__log10_of_power_of_2(q);
    const uint64_t g = pe__powers[-k - PE__FIRST_POWER].high;
    const int shift = q + pe__log2_of_power_of_10(-k);
    const wide_word product = (wide_word)(c << (shift + 1)) * g;
    bool close;
    struct pe__decimal d =
        pick((uint64_t)(product >> 64), (uint64_t)product, g >> (4 - shift), 1 << 25, &close);
    d.exponent = k;
    if (__builtin_expect(close, 0))
        return wide(c, q, false);
    return d;
}

/* The eight decimal digits of n < 10^8 in eight bytes, the first in the lowest: each step halves
 * all parts at once. 10486 / 2^20 and 103 / 2^10 are 1/100 and 1/10 from above, near enough below
 * 10^4 and 10^2. */
static inline uint64_t eight_digits(uint64_t n)
{
    const uint64_t high = n / 10000;
    const uint64_t fours = high | (n - high * 10000) << 32;
    const uint64_t hundreds = ((fours * 10486) >> 20) & UINT64_C(0x0000007f0000007f);
    const uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    const uint64_t tens = ((twos * 103) >> 10) & UINT64_C(0x000f000f000f000f);
    return tens | (twos - tens * 10) << 8;
}

/* The digits behind the point move up by one. */
char *pe__put_large(char *out, uint64_t first, const uint64_t rest[2], size_t count,
                    unsigned exponent)
{
    const unsigned word = exponent / 8, byte = exponent % 8;
    out[0] = (char)('0' + first);
    memcpy(out + 1, rest, 16);
    out += 1 + exponent;
    if (exponent + 1 >= count) {
        memcpy(out, ".0", 2);
        return out + 2;
    }
    const uint64_t tail = rest[word] >> (8 * byte);
    *out++ = '.';
    memcpy(out, &tail, 8);
    if (word == 0)
        memcpy(out + 8 - byte, &rest[1], 8);
    return out + count - 1 - exponent;
}

/* digits < 10^17, as 17 digits; 16 when it has only these. */
static inline char *put_f64(char *out, struct pe__decimal d)
{
    const bool few = d.digits < UINT64_C(10000000000000000);
    const uint64_t n = few ? d.digits * 10 : d.digits;
    const uint64_t first = n / UINT64_C(10000000000000000);
    const uint64_t rest = n - first * UINT64_C(10000000000000000);
    const uint64_t high = rest / 100000000;
    const uint64_t a = eight_digits(high), b = eight_digits(rest - high * 100000000);
    const struct pe__digits all = {first, a | PE__ZEROS, b | PE__ZEROS,
                                   b ? 9 + pe__used(b) : 1 + pe__used(a), d.exponent + 16 - few};
    return pe__put_digits(out, all, true);
}

/* 10^6 < digits < 10^9, as nine digits. */
static inline char *put_f32(char *out, struct pe__decimal d)
{
    static const uint32_t scale[] = {1, 10, 100};
    const int missing = (d.digits < 100000000) + (d.digits < 10000000);
    const uint64_t n = d.digits * scale[missing];
    const uint64_t first = n / 100000000;
    const uint64_t a = eight_digits(n - first * 100000000);
    const struct pe__digits all = {first, a | PE__ZEROS, PE__ZEROS, 1 + pe__used(a),
                                   d.exponent + 8 - missing};
    return pe__put_digits(out, all, false);
}

/* The same with as many digits as `least` has, or more. */
static struct pe__decimal lengthen(struct pe__decimal d, uint64_t least)
{
    for (; d.digits < least; d.digits *= 10)
        d.exponent--;
    return d;
}

/* Zero, powers of two, subnormal numbers. */
static __attribute__((noinline)) char *put_rare(char *out, uint64_t c, int q, bool power)
{
    if (c == 0) {
        memcpy(out, "0.0", 3);
        return out + 3;
    }
    return put_f64(out, lengthen(wide(c, q, power), UINT64_C(1000000000000000)));
}

static inline char *write_f64(char *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t low = bits & ((UINT64_C(1) << 52) - 1);
    const int field = (int)(bits >> 52 & 0x7ff);
    *out = '-';
    out += bits >> 63;
    if (__builtin_expect(low == 0 || field == 0, 0))
        return field == 0 ? put_rare(out, low, -1074, false)
                          : put_rare(out, UINT64_C(1) << 52, field - 1075, field > 1);
    return put_f64(out, shortest_f64(low | UINT64_C(1) << 52, field - 1075));
}

static inline char *write_f32(char *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t low = bits & ((UINT32_C(1) << 23) - 1);
    const int field = (int)(bits >> 23 & 0xff);
    *out = '-';
    out += bits >> 31;
    if (__builtin_expect(low == 0 || field == 0, 0))
        return field == 0 ? put_rare(out, low, -149, false)
                          : put_rare(out, UINT32_C(1) << 23, field - 150, field > 1);
    return put_f32(out, shortest_f32(low | UINT32_C(1) << 23, field - 150));
}

/* A format's bits of fraction, field - q of a normal number, and digits behind the first. */
struct format {
    int fraction, offset, digits;
    uint64_t least; /* 10^digits */
};

/* `bits` without the sign. One is a short way only: it is common. */
static struct pe__decimal all_digits(uint64_t bits, const struct format *f)
{
    const uint64_t one = (uint64_t)(f->offset - f->fraction) << f->fraction;
    const uint64_t implied = UINT64_C(1) << f->fraction, low = bits & (implied - 1);
    const int field = (int)(bits >> f->fraction);
    if (bits == 0 || bits == one)
        return (struct pe__decimal){bits ? f->least : 0, bits ? 0 : -1};
    const struct pe__decimal d = field ? wide(low | implied, field - f->offset, !low && field > 1)
                                       : wide(low, 1 - f->offset, false);
    const struct pe__decimal all = lengthen(d, f->least);
    return (struct pe__decimal){all.digits, all.exponent + f->digits};
}

struct pe__decimal pe__decimal_of_f64(double value)
{
    static const struct format format = {52, 1075, 16, UINT64_C(10000000000000000)};
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return all_digits(bits & INT64_MAX, &format);
}

struct pe__decimal pe__decimal_of_f32(float value)
{
    static const struct format format = {23, 150, 8, 100000000};
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return all_digits(bits & INT32_MAX, &format);
}

size_t pe_decimal_f64(double value, char out[PE_DECIMAL_ROOM])
{
    return (size_t)(write_f64(out, value) - out);
}

size_t pe_decimal_f32(float value, char out[PE_DECIMAL_ROOM])
{
    return (size_t)(write_f32(out, value) - out);
}
