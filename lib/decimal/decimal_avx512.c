/* SPDX-License-Identifier: MIT
 *
 * decimal_avx512.c: rows of decimals with digits and text of eight numbers at once.
 *
 * Each number is laid out in a field of fixed places that holds all that any text may need: sign,
 * integer, point, zeros, digits and comma. Text is what a mask keeps of the fields, moved together.
 * That serves exponents -4 to 0; eight numbers with any other among them are written one by one.
 *
 * Invariant: same bytes as number by number.
 */
#if defined(__x86_64__)

#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx512cd,avx512vbmi,avx512vbmi2")
#pragma GCC target("bmi,bmi2,lzcnt,popcnt")

#define DECIMAL_LANES 8
#include "decimal_rows.h"
#include "decimal_vector.h"

/* Eight numbers; `some` has a bit for each that is to be written. */
struct eight {
    lanes first, a, b, exponent, negative;
    mask some;
};

INLINE lanes leading_zeros(lanes a)
{
    return (lanes)_mm512_lzcnt_epi64((__m512i)a);
}

/* The first eight bytes of a field, "-0.000" and two digits. With exponent 0 the first digit is the
 * integer instead, and its place behind the zeros is not kept. */
INLINE lanes head_of(const struct eight *e)
{
    const mask units = equal(e->exponent, all(0));
    const lanes first = choose(e->first << 48, e->first << 8, units);
    return UINT64_C(0x30303030302e302d) | first | e->a << 56;
}

/* A bit for each byte to keep of a head and the sign, by the exponent modulo 8, which is -4 to 0. A
 * point is not the last: with exponent 0 the second digit is kept whatever it is. */
INLINE lanes kept_of_head(const struct eight *e)
{
    const lanes by_exponent = {0x86, 0, 0, 0, 0x7e, 0x5e, 0x4e, 0x46};
    const __m512i kept = _mm512_permutexvar_epi64((__m512i)e->exponent, (__m512i)by_exponent);
    return (lanes)kept | e->negative;
}

/* Whole vectors are stored where a full eight has the room (2 * 64 bytes of f32, of 20 for each
 * number; 3 * 64 of f64, of 25); `exactly` for the last of a row. */
INLINE char *squeeze(char *out, lanes fields, uint64_t kept, const bool exactly)
{
    const __m512i text = _mm512_maskz_compress_epi8(kept, (__m512i)fields);
    const unsigned length = (unsigned)_mm_popcnt_u64(kept);
    if (exactly)
        _mm512_mask_storeu_epi8(out, _bzhi_u64(~UINT64_C(0), length), text);
    else
        memcpy(out, &text, sizeof text);
    return out + length;
}

/* Fields of 16 bytes: a head, seven digits, a comma. */
INLINE char *put_f32(char *out, const struct eight *e, const bool exactly)
{
    const lanes head = head_of(e), tail = e->a >> 8 | UINT64_C(0x2c30303030303030);
    const lanes digits = all(0x7f80) >> (leading_zeros(e->a) >> 3) & 0x7f80;
    const lanes kept = choose(all(0), kept_of_head(e) | digits | 0x8000, e->some);
    const __m128i masks = _mm512_cvtepi64_epi16((__m512i)kept);
    const lanes low = pick_lanes(head, tail, (lanes){0, 8, 1, 9, 2, 10, 3, 11});
    const lanes high = pick_lanes(head, tail, (lanes){4, 12, 5, 13, 6, 14, 7, 15});
    out = squeeze(out, low, (uint64_t)_mm_cvtsi128_si64(masks), exactly);
    return squeeze(out, high, (uint64_t)_mm_extract_epi64(masks, 1), exactly);
}

/* Eight fields of three words: in, word i of all in word[i]; out, one field behind the other. */
INLINE void weave(lanes out[3], const lanes word[3])
{
    const lanes a = pick_lanes(word[0], word[1], (lanes){0, 8, 0, 1, 9, 0, 2, 10});
    const lanes b = pick_lanes(word[0], word[1], (lanes){0, 3, 11, 0, 4, 12, 0, 5});
    const lanes c = pick_lanes(word[0], word[1], (lanes){13, 0, 6, 14, 0, 7, 15, 0});
    out[0] = pick_lanes(a, word[2], (lanes){0, 1, 8, 3, 4, 9, 6, 7});
    out[1] = pick_lanes(b, word[2], (lanes){10, 1, 2, 11, 4, 5, 12, 7});
    out[2] = pick_lanes(c, word[2], (lanes){0, 13, 2, 3, 14, 5, 6, 15});
}

/* The lowest three bytes of each lane, without a gap. */
INLINE void three_bytes(uint64_t out[LANES], lanes a)
{
    static const uint8_t from[64] = {0,  1,  2,  8,  9,  10, 16, 17, 18, 24, 25, 26,
                                     32, 33, 34, 40, 41, 42, 48, 49, 50, 56, 57, 58};
    store(out, (lanes)_mm512_permutexvar_epi8(_mm512_loadu_si512(from), (__m512i)a));
}

/* Fields of 24 bytes: a head, fifteen digits, a comma. */
INLINE char *put_f64(char *out, const struct eight *e, const bool exactly)
{
    const mask no_b = equal(e->b, all(0));
    const lanes unused = choose(leading_zeros(e->b), leading_zeros(e->a) + 64, no_b) >> 3;
    const lanes digits = all(0x7fff80) >> unused & 0x7fff80;
    uint64_t masks[LANES];
    three_bytes(masks, choose(all(0), kept_of_head(e) | digits | 0x800000, e->some));

    lanes fields[3];
    weave(fields, (const lanes[3]){head_of(e), e->a >> 8 | e->b << 56 | PE__ZEROS,
                                   e->b >> 8 | UINT64_C(0x2c30303030303030)});
    for (size_t i = 0; i < 3; i++)
        out = squeeze(out, fields[i], masks[i], exactly);
    return out;
}

INLINE char *put_eight(char *out, const struct block *b, struct range r, const bool wide)
{
    const struct eight e = {.first = load(&b->first[r.from]),
                            .a = load(&b->a[r.from]),
                            .b = wide ? load(&b->b[r.from]) : all(0),
                            .exponent = load(&b->exponent[r.from]),
                            .negative = load(&b->negative[r.from]),
                            .some = first_of(r.count)};
    const __m512i above_least = (__m512i)(e.exponent + 4);
    if (__builtin_expect(_mm512_mask_cmpgt_epu64_mask(e.some, above_least, (__m512i)all(4)), 0))
        return put_each(out, b, r, wide);
    if (__builtin_expect(r.count == LANES, 1))
        return wide ? put_f64(out, &e, false) : put_f32(out, &e, false);
    return wide ? put_f64(out, &e, true) : put_f32(out, &e, true);
}

INLINE char *put_eights(char *out, const struct block *b, struct range r, const bool wide)
{
    for (; r.count > LANES; r.count -= LANES, r.from += LANES)
        out = put_eight(out, b, (struct range){r.from, LANES}, wide);
    return put_eight(out, b, r, wide);
}

size_t pe__decimal_row_f32_avx512(const float *values, size_t count, char *out)
{
    return put_row((struct row){values, count, false}, out, put_eights);
}

size_t pe__decimal_row_f64_avx512(const double *values, size_t count, char *out)
{
    return put_row((struct row){values, count, true}, out, put_eights);
}

#else

/* No other processor has this form: decimal_row.c does not ask for it. */
typedef int pe__decimal_avx512_is_empty;

#endif
