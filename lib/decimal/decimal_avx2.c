/* SPDX-License-Identifier: MIT
 *
 * decimal_avx2.c: the method of decimal.c on four numbers at once, in 64-bit lanes.
 *
 * Products are made of 32-bit pieces and keep 32 bits of fraction: enough to decide all but some 2
 * of 10^8 numbers. Those, and zero, powers of two and subnormal numbers, are marked and written by
 * pe_decimal_f64 and pe_decimal_f32. Numbers of a block become digits first and text after, so that
 * what differs from number to number (where the digits go) is all that is left to do one by one.
 *
 * Invariant: same bytes as number by number. Left out: any decision of its own on a close case.
 */
#if defined(__x86_64__)

#pragma GCC target("avx2,bmi,bmi2,lzcnt")

#include "decimal_avx2.h"

#include "posenc_decimal.h"
#include "decimal_powers.h"
#include "decimal_text.h"

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef __m256i lanes;

enum { BLOCK = 32, MARKED = 1000 };

/* Decimals of a block: first digit, then the digits of a and b (f64) or of a (f32), the first of
 * them in the lowest byte; `exponent` is that of the first digit, or MARKED. */
struct block {
    uint64_t first[BLOCK];
    uint64_t a[BLOCK];
    uint64_t b[BLOCK];
    int64_t exponent[BLOCK];
};

static inline lanes all(uint64_t x)
{
    return _mm256_set1_epi64x((long long)x);
}

static inline lanes add(lanes a, lanes b)
{
    return _mm256_add_epi64(a, b);
}

static inline lanes sub(lanes a, lanes b)
{
    return _mm256_sub_epi64(a, b);
}

/* The low halves' product; `times` has a constant. */
static inline lanes mul(lanes a, lanes b)
{
    return _mm256_mul_epu32(a, b);
}

static inline lanes times(lanes a, uint64_t b)
{
    return _mm256_mul_epu32(a, all(b));
}

#define right(a, n) _mm256_srli_epi64(a, n)
#define left(a, n) _mm256_slli_epi64(a, n)

static inline lanes low_half(lanes a)
{
    return _mm256_and_si256(a, all(0xffffffff));
}

static inline lanes choose(lanes otherwise, lanes then, lanes mask)
{
    return _mm256_blendv_epi8(otherwise, then, mask);
}

/* A mask of the lanes with distance - limit in [-16, 16). */
static inline lanes close_to(lanes distance, lanes limit)
{
    return _mm256_cmpeq_epi64(right(add(sub(distance, limit), all(16)), 5), all(0));
}

/* What the exponent tells. Fields are those of a binary64, so q = field - 1075, and the offsets
 * keep all numbers positive: k + 324 is (q * 315653 >> 20) + 324 with both terms under the shift,
 * and so for the other logarithm with -k = index - 292 and 971. */
struct scale {
    lanes index; /* into pe__powers */
    lanes k;     /* + 324 */
    lanes shift; /* of the significand: 1 .. 4 */
    lanes high;  /* of G */
};

static inline struct scale scale_of(lanes field)
{
    struct scale s;
    s.k = right(add(times(field, 315653), all(324 * 1048576 - 1075 * 315653)), 20);
    s.index = sub(all(324 - PE__FIRST_POWER), s.k);
    const lanes log2 =
        right(add(times(s.index, 1741647), all(971 * 524288 + PE__FIRST_POWER * 1741647)), 19);
    s.shift = sub(add(field, log2), all(1075 + 971 - 1));
    s.high = _mm256_i64gather_epi64((const long long *)&pe__powers[0].high, left(s.index, 1), 8);
    return s;
}

/* The decimal in units of 10^k, from V = whole + fraction / 2^32, which is short by less than 5 /
 * 2^32; see `pick` of decimal.c. `last` is whole % 10. Marks go to *marked. */
static inline lanes pick(lanes whole, lanes fraction, lanes last, const struct scale *s,
                         lanes *marked)
{
    const lanes limit = _mm256_srlv_epi64(s->high, sub(all(33), s->shift));
    const lanes below = _mm256_or_si256(left(last, 32), fraction);
    const lanes above = sub(all(UINT64_C(10) << 32), below);
    const lanes tens = sub(whole, last);
    lanes digits = add(whole, right(fraction, 31));
    digits = choose(digits, add(tens, all(10)), _mm256_cmpgt_epi64(limit, above));
    digits = choose(digits, tens, _mm256_cmpgt_epi64(limit, below));
    *marked = _mm256_or_si256(*marked, close_to(below, limit));
    *marked = _mm256_or_si256(*marked, close_to(above, limit));
    *marked = _mm256_or_si256(*marked, close_to(fraction, all(UINT64_C(1) << 31)));
    return digits;
}

/* n / 10^4 for n < 2^32: 3518437209 = ceil(2^45 / 10^4). The other steps as in decimal.c, on 16-bit
 * parts: 5243 / 2^19 and 6554 / 2^16 are 1/100 and 1/10 from above. */
static inline lanes eight_digits(lanes n)
{
    const lanes high = right(times(n, UINT64_C(3518437209)), 45);
    const lanes fours = _mm256_or_si256(high, left(sub(n, times(high, 10000)), 32));
    const lanes hundreds = _mm256_srli_epi16(_mm256_mulhi_epu16(fours, _mm256_set1_epi16(5243)), 3);
    const lanes units =
        _mm256_sub_epi16(fours, _mm256_mullo_epi16(hundreds, _mm256_set1_epi16(100)));
    const lanes twos = _mm256_or_si256(hundreds, left(units, 16));
    const lanes tens = _mm256_mulhi_epu16(twos, _mm256_set1_epi16(6554));
    const lanes ones = _mm256_sub_epi16(twos, _mm256_mullo_epi16(tens, _mm256_set1_epi16(10)));
    return _mm256_or_si256(tens, left(ones, 8));
}

/* n / 10^8 for n < 2^32: 1441151881 = ceil(2^57 / 10^8), right below 10^9 and beyond. */
static inline lanes hundred_millions(lanes n)
{
    return right(times(n, 1441151881), 57);
}

static inline void store(uint64_t *to, lanes a)
{
    _mm256_storeu_si256((__m256i *)(void *)to, a);
}

static inline void store_exponent(struct block *b, size_t i, lanes exponent, lanes marked)
{
    _mm256_storeu_si256((__m256i *)(void *)&b->exponent[i], choose(exponent, all(MARKED), marked));
}

static void digits_f32(struct block *b, const float values[BLOCK], size_t count)
{
    for (size_t i = 0; i < count; i += 4) {
        const lanes bits =
            _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(const void *)&values[i]));
        const lanes field = _mm256_and_si256(right(bits, 23), all(0xff));
        const lanes part = _mm256_and_si256(bits, all(0x7fffff));
        lanes marked =
            _mm256_or_si256(_mm256_cmpeq_epi64(part, all(0)), _mm256_cmpeq_epi64(field, all(0)));

        /* q = field - 150, as a field of a binary64: + 925 */
        const struct scale s = scale_of(add(field, all(925)));
        const lanes x = _mm256_sllv_epi64(_mm256_or_si256(part, all(0x800000)), s.shift);
        const lanes v = add(mul(x, right(s.high, 32)), right(mul(x, s.high), 32));
        const lanes whole = right(v, 32);
        const lanes tenth = right(times(whole, UINT64_C(3435973837)), 35); /* ceil(2^35 / 10) */
        const lanes last = sub(whole, times(tenth, 10));
        const lanes digits = pick(whole, low_half(v), last, &s, &marked);

        const lanes eight = _mm256_cmpgt_epi64(all(100000000), digits);
        const lanes seven = _mm256_cmpgt_epi64(all(10000000), digits);
        const lanes n = mul(digits, choose(choose(all(1), all(10), eight), all(100), seven));
        const lanes first = hundred_millions(n);
        store(&b->first[i], first);
        store(&b->a[i], eight_digits(sub(n, times(first, 100000000))));
        store_exponent(b, i, add(add(eight, seven), add(s.k, all((uint64_t)(8 - 324)))), marked);
    }
}

/* n / 10^8 for n < 10^17. 2882303761 = floor(2^58 / 10^8), so the first guess is short by at most
 * (2^26 + 1) / 10^8 + 2^31 / 2^32 + 1, that is by 0, 1 or 2. */
static inline lanes divide(lanes n, lanes *rest)
{
    const lanes e8 = all(100000000);
    lanes guess = right(times(right(n, 26), UINT64_C(2882303761)), 32);
    lanes left_over = sub(n, mul(guess, e8));
    for (int i = 0; i < 2; i++) {
        const lanes enough = _mm256_cmpgt_epi64(left_over, all(99999999));
        guess = sub(guess, enough);
        left_over = sub(left_over, _mm256_and_si256(enough, e8));
    }
    *rest = left_over;
    return guess;
}

static void digits_f64(struct block *b, const double values[BLOCK], size_t count)
{
    for (size_t i = 0; i < count; i += 4) {
        const lanes bits = _mm256_loadu_si256((const __m256i *)(const void *)&values[i]);
        const lanes field = _mm256_and_si256(right(bits, 52), all(0x7ff));
        const lanes part = _mm256_and_si256(bits, all(UINT64_C(0xfffffffffffff)));
        lanes marked =
            _mm256_or_si256(_mm256_cmpeq_epi64(part, all(0)), _mm256_cmpeq_epi64(field, all(0)));

        /* x = x1:x0, G = g2:g1:g0 and the rest left out; pieces below 2^-32 of V are dropped */
        const struct scale s = scale_of(field);
        const lanes low =
            _mm256_i64gather_epi64((const long long *)&pe__powers[0].low, left(s.index, 1), 8);
        const lanes x = _mm256_sllv_epi64(_mm256_or_si256(part, all(UINT64_C(1) << 52)), s.shift);
        const lanes x1 = right(x, 32), g2 = right(s.high, 32), g0 = right(low, 32);
        const lanes carry = add(right(mul(x, s.high), 32), right(mul(x1, g0), 32));
        const lanes middle = add(mul(x, g2), carry);
        const lanes other = add(mul(x1, s.high), low_half(middle));
        const lanes whole = add(mul(x1, g2), add(right(middle, 32), right(other, 32)));

        /* 2^32 % 10 = 6; half of the sum is below 2^32, and 3435973837 = ceil(2^34 / 5) */
        const lanes sum = add(times(right(whole, 32), 6), low_half(whole));
        const lanes tenth = right(times(right(sum, 1), UINT64_C(3435973837)), 34);
        const lanes last = sub(sum, times(tenth, 10));
        const lanes digits = pick(whole, low_half(other), last, &s, &marked);

        const lanes few = _mm256_cmpgt_epi64(all(UINT64_C(10000000000000000)), digits);
        const lanes n = choose(digits, add(left(digits, 3), left(digits, 1)), few);
        lanes rest;
        const lanes head = divide(n, &rest);
        const lanes first = hundred_millions(head);
        store(&b->first[i], first);
        store(&b->a[i], eight_digits(sub(head, times(first, 100000000))));
        store(&b->b[i], eight_digits(rest));
        store_exponent(b, i, add(few, add(s.k, all((uint64_t)(16 - 324)))), marked);
    }
}

static char *text_f32(const struct block *b, const float *values, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t a = b->a[i];
        const struct pe__digits d = {b->first[i], a | PE__ZEROS, PE__ZEROS, 1 + pe__used(a),
                                     (int)b->exponent[i]};
        uint32_t bits;
        memcpy(&bits, &values[i], 4);
        if (__builtin_expect(d.exponent == MARKED, 0)) {
            out += pe_decimal_f32(values[i], out);
        } else {
            *out = '-';
            out = pe__put_digits(out + (bits >> 31), d, 0);
        }
        *out++ = ',';
    }
    return out;
}

static char *text_f64(const struct block *b, const double *values, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t low = b->b[i], high = b->a[i];
        const struct pe__digits d = {b->first[i], high | PE__ZEROS, low | PE__ZEROS,
                                     low ? 9 + pe__used(low) : 1 + pe__used(high),
                                     (int)b->exponent[i]};
        uint64_t bits;
        memcpy(&bits, &values[i], 8);
        if (__builtin_expect(d.exponent == MARKED, 0)) {
            out += pe_decimal_f64(values[i], out);
        } else {
            *out = '-';
            out = pe__put_digits(out + (bits >> 63), d, 1);
        }
        *out++ = ',';
    }
    return out;
}

size_t pe__decimal_row_f32_avx2(const float *values, size_t count, char *out)
{
    struct block b;
    char *at = out;
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = count - i < BLOCK ? count - i : BLOCK;
        float last[BLOCK] = {0};
        const float *from = values + i;
        if (n % 4)
            from = memcpy(last, from, n * sizeof *from);
        digits_f32(&b, from, n);
        at = text_f32(&b, from, n, at);
    }
    return count ? (size_t)(at - out) - 1 : 0;
}

size_t pe__decimal_row_f64_avx2(const double *values, size_t count, char *out)
{
    struct block b;
    char *at = out;
    for (size_t i = 0; i < count; i += BLOCK) {
        const size_t n = count - i < BLOCK ? count - i : BLOCK;
        double last[BLOCK] = {0};
        const double *from = values + i;
        if (n % 4)
            from = memcpy(last, from, n * sizeof *from);
        digits_f64(&b, from, n);
        at = text_f64(&b, from, n, at);
    }
    return count ? (size_t)(at - out) - 1 : 0;
}

#else

/* No other processor has this form: decimal_row.c does not ask for it. */
typedef int pe__decimal_avx2_is_empty;

#endif
