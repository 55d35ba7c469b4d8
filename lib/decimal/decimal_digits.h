/* SPDX-License-Identifier: MIT
 *
 * decimal_digits.h: the method of decimal.c on blocks of numbers, in lanes. Included once for each
 * instruction set, by decimal_rows.h.
 *
 * Products are made of 32-bit pieces and keep 32 bits of fraction: enough to decide all but some 2
 * of 10^8 numbers. Those, and zero, powers of two and subnormal numbers, are marked and left to
 * decimal.c. Each step is a loop of its own over a block: a number's steps wait for one another,
 * and in a short loop the processor sees many numbers at once.
 *
 * Invariant: same decimals as number by number. Left out: any decision of its own on a close case.
 */
#ifndef PE_DECIMAL_DIGITS_H
#define PE_DECIMAL_DIGITS_H

#include "decimal_lanes.h"
#include "decimal_powers.h"
#include "decimal_text.h"

#include <stdbool.h>

enum { BLOCK = 64 };

/* Decimals without sign: 17 digits (f64) or 9 (f32) as a number, then as the first digit, and the
 * others in a and b (f64) or in a (f32), the first of them in the lowest byte; the exponent of the
 * first digit. `negative` is 0 or 1. */
struct block {
    uint64_t number[BLOCK], first[BLOCK], a[BLOCK], b[BLOCK], exponent[BLOCK], negative[BLOCK];
};

/* What the exponent tells. Fields are those of a binary64, so q = field - 1075, and the offsets
 * keep all numbers positive: k + 324 is (q * 315653 >> 20) + 324 with both terms under the shift,
 * and so for the other logarithm with -k = index - 292 and 971. */
struct scale {
    lanes index; /* into pe__powers */
    lanes k;     /* + 324 */
    lanes shift; /* of the significand: 1 .. 4 */
    lanes high;  /* of G */
};

/* Powers 10^-k from these on, sixteen, serve 2^-37 to 2^13: most of what is in tables. */
enum { NEAR_F32 = 4 - PE__FIRST_POWER, NEAR_F64 = 12 - PE__FIRST_POWER };

INLINE lanes power(lanes index, size_t column, const size_t near)
{
    _Static_assert(sizeof *pe__powers == 2 * sizeof(uint64_t), "columns: high and low");
    return look_up((const uint64_t(*)[2])(const void *)pe__powers, index, column, near);
}

INLINE struct scale scale_of(lanes field, const size_t near)
{
    struct scale s;
    s.k = (times(field, 315653) + (324 * 1048576 - 1075 * 315653)) >> 20;
    s.index = 324 - PE__FIRST_POWER - s.k;
    const lanes log2 = (times(s.index, 1741647) + (971 * 524288 + PE__FIRST_POWER * 1741647)) >> 19;
    s.shift = field + log2 - (1075 + 971 - 1);
    s.high = power(s.index, 0, near);
    return s;
}

/* V = whole + fraction / 2^32, short by less than 5 / 2^32; `last` is whole % 10. */
struct value {
    lanes whole, fraction, last;
};

/* The decimal in units of 10^k; see `pick` of decimal.c. Marks what is within 16 of a limit. */
INLINE lanes pick(const struct value *v, const struct scale *s, mask *marked)
{
    const lanes limit = s->high >> (33 - s->shift), bound = limit - 16;
    const lanes below = v->last << 32 | v->fraction;
    const lanes rest = (UINT64_C(10) << 32) - below;
    const lanes tens = v->whole - v->last;
    lanes digits = v->whole + (v->fraction >> 31);
    digits = choose(digits, tens + 10, above(limit, rest));
    digits = choose(digits, tens, above(limit, below));
    *marked |= any_below_32(below - bound, rest - bound, v->fraction - (0x80000000 - 16));
    return digits;
}

/* Both return a bit for each number that is marked. */
INLINE uint64_t numbers_f32(struct block *b, const float *values, size_t count)
{
    uint64_t left_out = 0;
    for (size_t i = 0; i < count; i += LANES) {
        const lanes bits = read_f32(values + i, count - i);
        const lanes field = bits >> 23 & 0xff, part = bits & 0x7fffff;
        mask marked = equal(part, all(0)) | equal(field, all(0));

        /* q = field - 150, as a field of a binary64: + 925 */
        const struct scale s = scale_of(field + 925, NEAR_F32);
        const lanes x = (part | 0x800000) << s.shift;
        const lanes v = mul(x, s.high >> 32) + (mul(x, s.high) >> 32), whole = v >> 32;
        const lanes tenth = times(whole, UINT64_C(3435973837)) >> 35; /* ceil(2^35 / 10) */
        const struct value parted = {whole, low_half(v), whole - times(tenth, 10)};
        const lanes digits = pick(&parted, &s, &marked);

        const mask eight = above(all(100000000), digits), seven = above(all(10000000), digits);
        const lanes scale = choose(choose(all(1), all(10), eight), all(100), seven);
        const lanes down = choose(choose(all(324 - 8), all(324 - 7), eight), all(324 - 6), seven);
        store(&b->number[i], mul(digits, scale));
        store(&b->exponent[i], s.k - down);
        store(&b->negative[i], bits >> 31);
        left_out |= bits_of(marked) << i;
    }
    return left_out;
}

INLINE uint64_t numbers_f64(struct block *b, const double *values, size_t count)
{
    uint64_t left_out = 0;
    for (size_t i = 0; i < count; i += LANES) {
        const lanes bits = read_f64(values + i, count - i);
        const lanes field = bits >> 52 & 0x7ff, part = bits & UINT64_C(0xfffffffffffff);
        mask marked = equal(part, all(0)) | equal(field, all(0));

        /* x = x1:x0, G = g2:g1:g0 and the rest left out; pieces below 2^-32 of V are dropped */
        const struct scale s = scale_of(field, NEAR_F64);
        const lanes g2 = s.high >> 32, g0 = power(s.index, 1, NEAR_F64) >> 32;
        const lanes x = (part | UINT64_C(1) << 52) << s.shift, x1 = x >> 32;
        const lanes middle = mul(x, g2) + (mul(x, s.high) >> 32) + (mul(x1, g0) >> 32);
        const lanes other = mul(x1, s.high) + low_half(middle);
        const lanes whole = mul(x1, g2) + (middle >> 32) + (other >> 32);

        /* 2^32 % 10 = 6; half of the sum is below 2^32, and 3435973837 = ceil(2^34 / 5) */
        const lanes sum = times(whole >> 32, 6) + low_half(whole);
        const lanes tenth = times(sum >> 1, UINT64_C(3435973837)) >> 34;
        const struct value parted = {whole, low_half(other), sum - times(tenth, 10)};
        const lanes digits = pick(&parted, &s, &marked);

        const mask few = above(all(UINT64_C(10000000000000000)), digits);
        store(&b->number[i], choose(digits, (digits << 3) + (digits << 1), few));
        store(&b->exponent[i], s.k - choose(all(324 - 16), all(324 - 15), few));
        store(&b->negative[i], bits >> 63);
        left_out |= bits_of(marked) << i;
    }
    return left_out;
}

static void settle(struct block *b, const void *values, uint64_t marked, bool wide)
{
    for (; marked; marked &= marked - 1) {
        const int i = __builtin_ctzll(marked);
        const struct pe__decimal d = wide ? pe__decimal_of_f64(((const double *)values)[i])
                                          : pe__decimal_of_f32(((const float *)values)[i]);
        b->number[i] = d.digits;
        b->exponent[i] = (uint64_t)(int64_t)d.exponent;
    }
}

/* n / 10^4 for n < 2^32: 3518437209 = ceil(2^45 / 10^4). The other steps as in decimal.c, on 16-bit
 * parts: 5243 / 2^19 and 6554 / 2^16 are 1/100 and 1/10 from above. */
INLINE lanes eight_digits(lanes n)
{
    const lanes high = times(n, UINT64_C(3518437209)) >> 45;
    const words fours = (words)(high | (n - times(high, 10000)) << 32);
    const words hundreds = high_words(fours, 5243) >> 3;
    const words units = fours - byte_words(hundreds, 100);
    const words twos = (words)((lanes)hundreds | (lanes)units << 16);
    const words tens = high_words(twos, 6554);
    return (lanes)tens | (lanes)(twos - byte_words(tens, 10)) << 8;
}

/* n / 10^8 for n < 2^32: 1441151881 = ceil(2^57 / 10^8), right below 10^9 and beyond. */
INLINE lanes hundred_millions(lanes n)
{
    return times(n, 1441151881) >> 57;
}

/* n / 10^8 for n < 10^17, where n >> 25 < 2^32. 2882303761 = floor(2^58 / 10^8), so the quotient
 * exceeds what is cut to the guess by less than 2^25 / 10^8 + 2^32 / 2^33 < 1: the guess is right
 * or 1 short. */
INLINE lanes divide(lanes n, lanes *rest)
{
    const uint64_t e8 = 100000000;
    const lanes guess = times(n >> 25, UINT64_C(2882303761)) >> 33;
    const lanes left = n - times(guess, e8);
    const mask enough = above(left, all(e8 - 1));
    *rest = choose(left, left - e8, enough);
    return choose(guess, guess + 1, enough);
}

INLINE void split(struct block *b, size_t count, const bool wide)
{
    for (size_t i = 0; i < count; i += LANES) {
        lanes n = load(&b->number[i]), rest;
        if (wide) {
            n = divide(n, &rest);
            store(&b->b[i], eight_digits(rest));
        }
        const lanes first = hundred_millions(n);
        store(&b->first[i], first);
        store(&b->a[i], eight_digits(n - times(first, 100000000)));
    }
}

/* 0 < count <= BLOCK; binary64 if `wide`, else binary32. */
INLINE void digits_of(struct block *b, const void *values, size_t count, const bool wide)
{
    const uint64_t marked = wide ? numbers_f64(b, values, count) : numbers_f32(b, values, count);
    settle(b, values, marked & (UINT64_MAX >> (64 - count)), wide);
    split(b, count, wide);
}

#endif
