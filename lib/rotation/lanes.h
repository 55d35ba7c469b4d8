/* SPDX-License-Identifier: MIT
 *
 * lanes.h: the vectors of kernel.c: 8 doubles with AVX-512, 4 with AVX2, 2 otherwise; arithmetic of
 * two doubles, the step from an interval to elements, and the list of those that are not certain.
 * Included by kernel.c alone, once for each instruction set, so everything is static.
 */
#ifndef PE_ROTATION_LANES_H
#define PE_ROTATION_LANES_H

#include "posenc.h"

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define LANES 8
#elif defined(__AVX2__)
#define LANES 4
#else
#define LANES 2
#endif

#define INLINE static inline __attribute__((always_inline))
#define VECTOR(bytes) __attribute__((vector_size(bytes)))

typedef double vdouble VECTOR(8 * LANES);
typedef uint64_t vbits VECTOR(8 * LANES);
typedef float vfloat VECTOR(4 * LANES);
typedef uint32_t vword VECTOR(4 * LANES);
typedef uint16_t vhalf VECTOR(2 * LANES);

/* a * b + c; fused or not makes no difference to what is promised. */
INLINE vdouble madd(vdouble a, vdouble b, vdouble c)
{
#if LANES == 8
    return (vdouble)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    return (vdouble)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

INLINE bool any_bits(vbits m)
{
#if LANES == 8
    return _mm512_test_epi64_mask((__m512i)m, (__m512i)m) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#else
    return (m[0] | m[1]) != 0;
#endif
}

INLINE bool any_words(vword m)
{
#if LANES == 8
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#elif defined(__AVX2__)
    return !_mm_testz_si128((__m128i)m, (__m128i)m);
#else
    return (m[0] | m[1]) != 0;
#endif
}

INLINE vdouble load(const double *at)
{
    vdouble v;
    memcpy(&v, at, sizeof v);
    return v;
}

INLINE void store(double *at, vdouble v)
{
    memcpy(at, &v, sizeof v);
}

/* The first n elements of a vector of elements of that size: all of them where n is known to be
 * LANES. */
INLINE void put(unsigned char *at, const void *v, const size_t size, const size_t n)
{
    if (__builtin_constant_p(n) && n == LANES) {
        memcpy(at, v, LANES * size);
        return;
    }
    const unsigned char *from = v;
    for (size_t some = LANES / 2; some > 0; some /= 2) {
        if (n & some) {
            memcpy(at, from, some * size);
            at += some * size;
            from += some * size;
        }
    }
}

/* Bytes of an element of a kernel's dtypes. */
INLINE size_t element_size(const enum pe_dtype dtype)
{
    return dtype == PE_DTYPE_F64                                    ? 8
           : dtype == PE_DTYPE_F32 || dtype == PE_DTYPE_BF16_AS_F32 ? 4
                                                                    : 2;
}

/* Indexes that zip i.. of one vector with i.. of another of w elements: i, w + i, i + 1, ... */
#define ZIP_2(i, w) (i), (w) + (i)
#define ZIP_4(i, w) ZIP_2(i, w), ZIP_2((i) + 1, w)
#define ZIP_8(i, w) ZIP_4(i, w), ZIP_4((i) + 2, w)
#define ZIP__(n, i) ZIP_##n(i, n)
#define ZIP_(n, i) ZIP__(n, i)

/* a0 b0 a1 b1 ..., n elements of that type from each of the vectors a and b. Whole halves are
 * stored one by one: a copy of both would wait for the stores of its parts. */
#define PUT_ZIPPED(type)                                              \
    do {                                                              \
        type x, y, low, high;                                         \
        memcpy(&x, a, sizeof x);                                      \
        memcpy(&y, b, sizeof y);                                      \
        low = __builtin_shufflevector(x, y, ZIP_(LANES, 0));          \
        high = __builtin_shufflevector(x, y, ZIP_(LANES, LANES / 2)); \
        if (__builtin_constant_p(n) && n == LANES) {                  \
            memcpy(at, &low, sizeof low);                             \
            memcpy(at + sizeof low, &high, sizeof high);              \
        } else {                                                      \
            type both[2] = {low, high};                               \
            memcpy(at, both, 2 * n * sizeof x / LANES);               \
        }                                                             \
    } while (0)

INLINE void put_zipped(unsigned char *at, const void *a, const void *b, const size_t size,
                       const size_t n)
{
    if (size == 8)
        PUT_ZIPPED(vbits);
    else if (size == 4)
        PUT_ZIPPED(vword);
    else
        PUT_ZIPPED(vhalf);
}

/* ---------------------------------------------------------------- numbers of two doubles */

struct two {
    vdouble h, l;
};

/* h + l = a b exactly, unless l underflows. */
INLINE struct two two_product(vdouble a, vdouble b)
{
    struct two r = {a * b, {0}};
#if defined(__FMA__)
    r.l = madd(a, b, -r.h);
#else
    /* Dekker, Numerische Mathematik 18, 1971: 2^27 + 1 splits 53 bits into two times 26. */
    vdouble ca = a * 0x1.0000002p27, cb = b * 0x1.0000002p27;
    vdouble ah = ca - (ca - a), bh = cb - (cb - b);
    vdouble al = a - ah, bl = b - bh;
    r.l = ((ah * bh - r.h) + ah * bl + al * bh) + al * bl;
#endif
    return r;
}

/* h + l = a + b exactly (Knuth). */
INLINE struct two two_sum(vdouble a, vdouble b)
{
    vdouble h = a + b;
    vdouble t = h - a;
    return (struct two){h, (a - (h - t)) + (b - t)};
}

INLINE struct two multiply(struct two a, struct two b)
{
    struct two p = two_product(a.h, b.h);
    p.l = madd(a.l, b.h, madd(a.h, b.l, p.l));
    return p;
}

/* a.h b.h + c.h d.h and their rests, the first double being the rounded sum. */
INLINE struct two add(struct two p, struct two q)
{
    struct two s = two_sum(p.h, q.h);
    vdouble l = s.l + (p.l + q.l);
    /* |l| may exceed |s.h| where the sum cancels, so the exact sum is needed once more. */
    return two_sum(s.h, l);
}

/* ---------------------------------------------------------------- from intervals to elements */

/* x rounded to an odd number of 24 bits: on the same side of every number of up to 22 bits, so
 * rounding that to 11 or 8 bits rounds x, unless x is itself a tie, which an interval then surely
 * straddles. Below 2^-126 a float has fewer bits: the caller's bound is 2^-147 or more there, while
 * the two steps are wrong by less than 2^-149. */
INLINE vfloat odd24(vdouble x)
{
    vbits b = ((vbits)x & ~UINT64_C(0x1fffffff)) | UINT64_C(0x20000000);
    return __builtin_convertvector((vdouble)b, vfloat);
}

INLINE vword bf16_of(vfloat x)
{
    vword b = (vword)x;
    return (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

#if defined(__F16C__)
INLINE vhalf f16_of(vfloat x)
{
    vhalf r;
#if LANES == 8
    __m128i h = _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT);
#else
    __m128i h = _mm_cvtps_ph((__m128)x, _MM_FROUND_TO_NEAREST_INT);
#endif
    memcpy(&r, &h, sizeof r);
    return r;
}
#else
INLINE vword choose(vword mask, vword a, vword b)
{
    return (a & mask) | (b & ~mask);
}

INLINE vhalf f16_of(vfloat x)
{
    vword sign = (vword)x & 0x80000000u;
    vword b = (vword)x ^ sign;
    vword normal = ((b + 0xfff + (b >> 13 & 1)) >> 13) - (112u << 10);
    normal = choose((vword)(normal < 0x7c00), normal, (vword){0} + 0x7c00);
    /* Below 2^-14 the least subnormal is the unit in the last place of 0.5f. */
    vword tiny = (vword)((vfloat)b + 0.5f) - 0x3f000000u;
    vword bits = choose((vword)(b < 0x38800000u), tiny, normal) | sign >> 16;
    return __builtin_convertvector(bits, vhalf);
}
#endif

INLINE vword word_of(vdouble x, const enum pe_dtype dtype)
{
    if (dtype == PE_DTYPE_F32)
        return (vword) __builtin_convertvector(x, vfloat);
    vword b = bf16_of(odd24(x));
    return dtype == PE_DTYPE_BF16_AS_F32 ? b << 16 : b;
}

/* Where the first n lanes of a vector go; n == LANES is known when this is compiled. */
struct place {
    unsigned char *at;
    size_t n;
};

/* Writes elements of the interval v - e .. v + e; lanes of the result that are not 0 are uncertain.
 */
INLINE vword emit(vdouble v, vdouble e, const enum pe_dtype dtype, struct place to)
{
    if (dtype == PE_DTYPE_F16) {
        vhalf low = f16_of(odd24(v - e)), high = f16_of(odd24(v + e));
        put(to.at, &low, 2, to.n);
        return __builtin_convertvector(low ^ high, vword);
    }
    vword low = word_of(v - e, dtype), high = word_of(v + e, dtype);
    if (dtype == PE_DTYPE_BF16) {
        vhalf half = __builtin_convertvector(low, vhalf);
        put(to.at, &half, 2, to.n);
    } else {
        put(to.at, &low, 4, to.n);
    }
    return low ^ high;
}

/* The same for h + l in F64. */
INLINE vbits emit_f64(vdouble h, vdouble l, vdouble e, struct place to)
{
    vdouble low = h + (l - e);
    vdouble high = h + (l + e);
    put(to.at, &low, 8, to.n);
    return (vbits)low ^ (vbits)high;
}

/* ---------------------------------------------------------------- what is not certain */

struct list {
    uint16_t *pending;
    size_t count;
};

/* Adds the lanes that are not 0, of the first n, to the list. */
static void note_bits(struct list *list, vbits miss, size_t n, unsigned code)
{
    for (unsigned i = 0; i < LANES && i < n; i++)
        if (miss[i])
            list->pending[list->count++] = (uint16_t)(code + i);
}

static void note_words(struct list *list, vword miss, size_t n, unsigned code)
{
    for (unsigned i = 0; i < LANES && i < n; i++)
        if (miss[i])
            list->pending[list->count++] = (uint16_t)(code + i);
}

#endif
