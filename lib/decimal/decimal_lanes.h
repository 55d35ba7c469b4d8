/* SPDX-License-Identifier: MIT
 *
 * decimal_lanes.h: 64-bit lanes for rows of decimals: eight with AVX-512, four with AVX2. The file
 * that includes it has set the target and says by DECIMAL_LANES which. Arithmetic is by operators;
 * here is what they do not say. Everything is static.
 */
#ifndef PE_DECIMAL_LANES_H
#define PE_DECIMAL_LANES_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

enum { LANES = DECIMAL_LANES };

#define VECTOR(bytes) __attribute__((vector_size(bytes)))
#define INLINE static inline __attribute__((always_inline))

typedef uint64_t lanes VECTOR(8 * DECIMAL_LANES);
typedef uint16_t words VECTOR(8 * DECIMAL_LANES);

INLINE lanes all(uint64_t x)
{
    return (lanes){0} + x;
}

/* `above` compares signed numbers; masks join by |. */
#if DECIMAL_LANES == 8

typedef __mmask8 mask;

#define OF(operation, a, b) (lanes) _mm512_##operation((__m512i)(a), (__m512i)(b))

INLINE mask first_of(size_t left)
{
    return (mask)_bzhi_u32(0xff, (unsigned)left);
}

INLINE mask above(lanes a, lanes b)
{
    return _mm512_cmpgt_epi64_mask((__m512i)a, (__m512i)b);
}

INLINE mask equal(lanes a, lanes b)
{
    return _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b);
}

INLINE mask any_below_32(lanes a, lanes b, lanes c)
{
    const lanes least = OF(min_epu64, OF(min_epu64, a, b), c);
    return _mm512_cmplt_epu64_mask((__m512i)least, (__m512i)all(32));
}

INLINE lanes choose(lanes otherwise, lanes then, mask m)
{
    return (lanes)_mm512_mask_mov_epi64((__m512i)otherwise, m, (__m512i)then);
}

INLINE uint64_t bits_of(mask m)
{
    return m;
}

/* The bits of a number in each lane; where none is left, those of one half and more. */
INLINE lanes read_f64(const double *from, size_t left)
{
    const __m512i others = (__m512i)all(UINT64_C(0x3fe8000000000000));
    return (lanes)_mm512_mask_loadu_epi64(others, first_of(left), from);
}

INLINE lanes read_f32(const float *from, size_t left)
{
    const __m256i others = _mm256_set1_epi32(0x3f400000);
    const __m256i bits = _mm256_mask_loadu_epi32(others, first_of(left), from);
    return (lanes)_mm512_cvtepu32_epi64(bits);
}

INLINE lanes pick_lanes(lanes a, lanes b, lanes index)
{
    return (lanes)_mm512_permutex2var_epi64((__m512i)a, (__m512i)index, (__m512i)b);
}

INLINE lanes eight_of(const uint64_t (*from)[2], size_t column)
{
    lanes a, b;
    memcpy(&a, from, sizeof a);
    memcpy(&b, from + 4, sizeof b);
    return pick_lanes(a, b, (lanes){0, 2, 4, 6, 8, 10, 12, 14} + column);
}

/* from[index][column]. Sixteen rows from `near` on come from registers, without a gather. */
INLINE lanes look_up(const uint64_t (*from)[2], lanes index, size_t column, const size_t near)
{
    const lanes i = index - near;
    if (__builtin_expect(_mm512_cmpgt_epu64_mask((__m512i)i, (__m512i)all(15)), 0))
        return (lanes)_mm512_i64gather_epi64((__m512i)(index << 1), &from[0][column], 8);
    return pick_lanes(eight_of(from + near, column), eight_of(from + near + 8, column), i);
}

#else

typedef lanes mask;

#define OF(operation, a, b) (lanes) _mm256_##operation((__m256i)(a), (__m256i)(b))

INLINE mask above(lanes a, lanes b)
{
    return OF(cmpgt_epi64, a, b);
}

INLINE mask equal(lanes a, lanes b)
{
    return OF(cmpeq_epi64, a, b);
}

INLINE mask any_below_32(lanes a, lanes b, lanes c)
{
    return equal(a >> 5, all(0)) | equal(b >> 5, all(0)) | equal(c >> 5, all(0));
}

INLINE lanes choose(lanes otherwise, lanes then, mask m)
{
    return (lanes)_mm256_blendv_epi8((__m256i)otherwise, (__m256i)then, (__m256i)m);
}

INLINE uint64_t bits_of(mask m)
{
    return (uint64_t)_mm256_movemask_pd((__m256d)m);
}

/* The bits of a number in each lane; where none is left, zero. */
INLINE lanes read_f64(const double *from, size_t left)
{
    const lanes some = above(all(left), (lanes){0, 1, 2, 3});
    return (lanes)_mm256_maskload_epi64((const long long *)(const void *)from, (__m256i)some);
}

INLINE lanes read_f32(const float *from, size_t left)
{
    const __m128i some = _mm_cmpgt_epi32(_mm_set1_epi32((int)left), _mm_set_epi32(3, 2, 1, 0));
    const __m128i bits = _mm_maskload_epi32((const int *)(const void *)from, some);
    return (lanes)_mm256_cvtepu32_epi64(bits);
}

/* from[index][column]; `near` is for others. */
INLINE lanes look_up(const uint64_t (*from)[2], lanes index, size_t column, const size_t near)
{
    (void)near;
    const long long *at = (const void *)&from[0][column];
    return (lanes)_mm256_i64gather_epi64(at, (__m256i)(index << 1), 8);
}

#endif

/* The low halves' product; `times` has a constant. */
INLINE lanes mul(lanes a, lanes b)
{
    return OF(mul_epu32, a, b);
}

INLINE lanes times(lanes a, uint64_t b)
{
    return mul(a, all(b));
}

/* The upper halves of 16-bit products. */
INLINE words high_words(words a, uint16_t b)
{
    return (words)OF(mulhi_epu16, a, (words){0} + b);
}

/* Products for a < 256 and b < 128. Of * with a constant compilers make a chain of shifts. */
INLINE words byte_words(words a, uint16_t b)
{
    return (words)OF(maddubs_epi16, a, (words){0} + b);
}

INLINE lanes low_half(lanes a)
{
    return a & 0xffffffff;
}

INLINE lanes load(const uint64_t *from)
{
    lanes a;
    memcpy(&a, from, sizeof a);
    return a;
}

INLINE void store(uint64_t *to, lanes a)
{
    memcpy(to, &a, sizeof a);
}

#endif
