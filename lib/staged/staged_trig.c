/* SPDX-License-Identifier: MIT
 *
 * staged_trig.c: sine and cosine of float32 arguments, correctly rounded to float32.
 *
 * Double arithmetic gives each value to 2^-50; where that leaves the rounding to 24 bits open,
 * fixed point decides. No float32 has a sine or cosine nearer than 2^-56 of its size to a rounding
 * boundary (all 2^32 were tried), so 120 bits are enough. Every instruction set computes the same
 * operations in the same order.
 */
#include "staged_trig.h"
#include "posenc.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* 64 zero bits, then the first 320 bits of 2/pi. The exponent of a float32 reaches 104, and a
 * window is 192 bits long. */
static const uint64_t two_over_pi[6] = {0,
                                        0xa2f9836e4e441529,
                                        0xfc2757d1f534ddc0,
                                        0xdb6295993c439041,
                                        0xfe5163abdebbc561,
                                        0xb7246e3a424dd2e0};

/* pi/2 * 2^127, rounded down. */
#define HALF_PI_127 ((u128)0xc90fdaa22168c234 << 64 | 0xc4c6628b80dc1cd1)

/* pi/2 in 33 + 33 + 53 bits: a multiple below 2^20 of either of the first two is exact in a double.
 */
#define HALF_PI_1 0x1.921fb544p+0
#define HALF_PI_2 0x1.0b4611a6p-34
#define HALF_PI_3 0x1.3198a2e037073p-69
#define HALF_PI 0x1.921fb54442d18p+0
#define TWO_OVER_PI 0x1.45f306dc9c883p-1

/* Up to here the three parts above reduce an argument: the quotient is below 2^20. */
#define EASY_LIMIT 1048576.0f

/* Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits. */
#define TO_INTEGER 0x1.8p52

/* ---------------------------------------------------------------- fixed point */

static u128 high_product(u128 a, u128 b)
{
    uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
    u128 low = (u128)a0 * b0, m1 = (u128)a1 * b0, m2 = (u128)a0 * b1;
    u128 carry = (low >> 64) + (uint64_t)m1 + (uint64_t)m2;
    return (u128)a1 * b1 + (m1 >> 64) + (m2 >> 64) + (carry >> 64);
}

static uint32_t float_bits(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static uint64_t stream_word(unsigned bit)
{
    unsigned at = bit / 64, shift = bit % 64;
    uint64_t next = at + 1 < 6 ? two_over_pi[at + 1] : 0;
    return shift ? two_over_pi[at] << shift | next >> (64 - shift) : two_over_pi[at];
}

/* |x| * 2/pi = quadrant + fraction modulo 4, -1/2 <= fraction < 1/2. The window starts at the bit
 * of weight 2; what it cuts off is below 2^-190 and is multiplied by less than 2^24, so the
 * fraction is good to 2^-166 before it is cut to the 128 bits that are returned, with its sign
 * aside. Payne and Hanek, 1983. */
static unsigned reduce(float x, u128 *fraction, bool *negative)
{
    uint32_t b = float_bits(x) & 0x7fffffff;
    unsigned start = 64 - 2 + (b >> 23) - 150;
    uint64_t m = (b & 0x7fffff) | 0x800000;
    uint64_t w0 = stream_word(start), w1 = stream_word(start + 64), w2 = stream_word(start + 128);
    u128 p2 = (u128)w2 * m, p1 = (u128)w1 * m + (p2 >> 64);
    uint64_t top = w0 * m + (uint64_t)(p1 >> 64);
    u128 f = (u128)top << 64 | (uint64_t)p1;
    unsigned quadrant = (unsigned)(f >> 126);
    f = f << 2 | (uint64_t)p2 >> 62;
    *negative = f >> 127;
    *fraction = *negative ? -f : f;
    return quadrant + *negative;
}

/* v / 2^127, v > 0, rounded to float32; normal, and never a tie. */
static float to_float(u128 v)
{
    int zeros = v >> 64 ? __builtin_clzll((uint64_t)(v >> 64)) : 64 + __builtin_clzll((uint64_t)v);
    uint64_t top = (uint64_t)(v << zeros >> 64);
    uint32_t m = (uint32_t)(top >> 40) + (uint32_t)(top >> 39 & 1);
    return ldexpf((float)m, -23 - zeros);
}

/* Sine and cosine of u / 2^128 <= pi/4, times 2^127: Horner on the Taylor series, whose terms
 * beyond 2k = 34 are below 2^-150. Each step cuts less than 2^-126. */
static void taylor(u128 u, u128 *sine, u128 *cosine)
{
    const u128 one = (u128)1 << 127;
    u128 z = high_product(u, u), s = one, c = one;
    for (unsigned k = 17; k >= 1; k--) {
        s = one - high_product(z, s) / (2 * k * (2 * k + 1));
        c = one - high_product(z, c) / (2 * k * (2 * k - 1));
    }
    *sine = high_product(u, s);
    *cosine = c;
}

static void set_quadrant(unsigned quadrant, float *sin, float *cos)
{
    if (quadrant & 1) {
        float t = *sin;
        *sin = *cos;
        *cos = t;
    }
    if (quadrant & 2)
        *sin = -*sin;
    if ((quadrant + 1) & 2)
        *cos = -*cos;
}

void pe__sincos32_wide(float x, float *sin, float *cos)
{
    u128 fraction, s, c;
    bool negative;
    if (x == 0) {
        *sin = x;
        *cos = 1;
        return;
    }
    unsigned quadrant = reduce(x, &fraction, &negative);
    taylor(high_product(fraction, HALF_PI_127) << 1, &s, &c);
    *sin = negative ? -to_float(s) : to_float(s);
    *cos = to_float(c);
    set_quadrant(quadrant, sin, cos);
    if (x < 0)
        *sin = -*sin;
}

/* ---------------------------------------------------------------- doubles */

/* Four lanes, which the compiler cuts into what the instruction set has, and as many of those as
 * make the work between two passes cheap. */
#define LANES 4
#define GROUPS 16
typedef double doubles __attribute__((vector_size(8 * LANES)));
typedef uint64_t words __attribute__((vector_size(8 * LANES)));
typedef float floats __attribute__((vector_size(4 * LANES)));

/* Arguments, |r| <= pi/4 and quadrants, results; and which lanes are beyond EASY_LIMIT, then which
 * of them fixed point has to decide. */
struct lanes {
    floats x[GROUPS], sin[GROUPS], cos[GROUPS];
    doubles r[GROUPS];
    words quadrant[GROUPS], open[GROUPS];
};

static inline __attribute__((always_inline)) bool any(const words *w)
{
    return ((*w)[0] | (*w)[1] | (*w)[2] | (*w)[3]) != 0;
}

/* The reduction's error is 2^-52 of r: x minus the first multiple is exact, each of the other two
 * subtractions rounds once. Open lanes get nonsense. */
static inline __attribute__((always_inline)) bool reduce_groups(struct lanes *l, size_t groups)
{
    words found = {0};
    for (size_t g = 0; g < groups; g++) {
        doubles v = __builtin_convertvector(l->x[g], doubles);
        doubles k = v * TWO_OVER_PI + TO_INTEGER, n = k - TO_INTEGER;
        l->quadrant[g] = (words)k;
        l->r[g] = ((v - n * HALF_PI_1) - n * HALF_PI_2) - n * HALF_PI_3;
        l->open[g] = (words)(v > EASY_LIMIT) | (words)(v < -EASY_LIMIT);
        found |= l->open[g];
    }
    return any(&found);
}

/* Horner with reciprocals of factorials. The first terms left out, r^19/19! and r^18/18!, are below
 * 2^-58 of the result for |r| <= pi/4 (1 + 2^-20); roundings add 2^-51.5. `open` is set where a
 * double known to 2^-47 may lie on either side of a midpoint of float32: those have 2^28 in their
 * low 29 bits. */
static inline __attribute__((always_inline)) bool finish_groups(struct lanes *l, size_t groups)
{
    words found = {0};
    for (size_t g = 0; g < groups; g++) {
        doubles r = l->r[g], z = r * r, s, c;
        s = z * (1.0 / 355687428096000) - 1.0 / 1307674368000;
        s = s * z + 1.0 / 6227020800;
        s = s * z - 1.0 / 39916800;
        s = s * z + 1.0 / 362880;
        s = s * z - 1.0 / 5040;
        s = s * z + 1.0 / 120;
        s = s * z - 1.0 / 6;
        s = r + r * (z * s);
        c = z * (1.0 / 20922789888000) - 1.0 / 87178291200;
        c = c * z + 1.0 / 479001600;
        c = c * z - 1.0 / 3628800;
        c = c * z + 1.0 / 40320;
        c = c * z - 1.0 / 720;
        c = c * z + 1.0 / 24;
        c = (1 - 0.5 * z) + z * z * c;
        words q = l->quadrant[g], odd = -(q & 1), bs = (words)s, bc = (words)c, d = (bs ^ bc) & odd;
        bs ^= d ^ (q & 2) << 62;
        bc ^= d ^ ((q + 1) & 2) << 62;
        l->sin[g] = __builtin_convertvector((doubles)bs, floats);
        l->cos[g] = __builtin_convertvector((doubles)bc, floats);
        bs = (bs & 0x1fffffff) - (0x10000000 - 64);
        bc = (bc & 0x1fffffff) - (0x10000000 - 64);
        l->open[g] = ((bs >> 7) - 1) >> 63 | ((bc >> 7) - 1) >> 63;
        found |= l->open[g];
    }
    return any(&found);
}

/* One copy of both for each instruction set. */
#define PASSES(isa, attribute)                                         \
    attribute static bool reduce_##isa(struct lanes *l, size_t groups) \
    {                                                                  \
        return reduce_groups(l, groups);                               \
    }                                                                  \
    attribute static bool finish_##isa(struct lanes *l, size_t groups) \
    {                                                                  \
        return finish_groups(l, groups);                               \
    }                                                                  \
    static const struct passes passes_##isa = {reduce_##isa, finish_##isa};

struct passes {
    bool (*reduce)(struct lanes *, size_t groups);
    bool (*finish)(struct lanes *, size_t groups);
};

PASSES(portable, )
#if defined(__x86_64__)
PASSES(avx2, __attribute__((target("avx2"))))
#endif

static const struct passes *choose(void)
{
#if defined(__x86_64__)
    if (strcmp(pe_instruction_set(), "portable") != 0)
        return &passes_avx2;
#endif
    return &passes_portable;
}

/* A great argument: an exact reduction instead. */
static void reduce_far(float x, double *r, uint64_t *quadrant)
{
    u128 fraction;
    bool negative, back = x < 0;
    uint64_t q = reduce(x, &fraction, &negative);
    int zeros = fraction >> 64 ? __builtin_clzll((uint64_t)(fraction >> 64)) : 64;
    *r = ldexp((double)(uint64_t)(fraction << zeros >> 64), -64 - zeros) * HALF_PI;
    *r = negative != back ? -*r : *r;
    *quadrant = back ? -q : q;
}

void pe__sincos32(const float *x, size_t n, float *sin, float *cos)
{
    const struct passes *passes = choose();
    for (size_t at = 0; at < n; at += LANES * GROUPS) {
        struct lanes l;
        size_t count = n - at < LANES * GROUPS ? n - at : LANES * GROUPS;
        size_t groups = (count + LANES - 1) / LANES;
        memset(&l.x[groups - 1], 0, sizeof l.x[0]);
        memcpy(l.x, x + at, count * sizeof *x);
        if (passes->reduce(&l, groups))
            for (size_t i = 0; i < count; i++)
                if (l.open[i / LANES][i % LANES])
                    reduce_far(x[at + i], (double *)l.r + i, (uint64_t *)l.quadrant + i);
        bool undecided = passes->finish(&l, groups);
        memcpy(sin + at, l.sin, count * sizeof *sin);
        memcpy(cos + at, l.cos, count * sizeof *cos);
        for (size_t i = 0; undecided && i < count; i++)
            if (l.open[i / LANES][i % LANES])
                pe__sincos32_wide(x[at + i], sin + at + i, cos + at + i);
    }
}
