/* SPDX-License-Identifier: MIT
 *
 * kernel.h: what is compiled once for each instruction set, and the choice among them. A kernel
 * computes in double arithmetic with proved error bounds, rounds what is certain, and reports the
 * rest; so kernels may differ in their last hidden bits, but not in a byte that they vouch for.
 */
#ifndef PE_ROTATION_KERNEL_H
#define PE_ROTATION_KERNEL_H

#include "posenc.h"

/* Pairs are worked on in groups of 64; arrays over pairs are padded to a multiple of 8. */
#define PE__GROUP 64

/* Rows of one block lie at offsets -16 .. 15 from its anchor (-15 .. 16 for inverse rotors). */
#define PE__REACH 16
#define PE__BLOCK (2 * PE__REACH)

/* Complex numbers c + i s over an array of pairs, each part as the unevaluated sum of two doubles,
 * the first being their rounded sum: c is at[i] + at[part + i], s is at[2 part + i] + at[3 part +
 * i]. */
struct pe__turns {
    double *at;
    size_t part;
};

/* Rows lo <= j < hi of a block: for each pair the real and the imaginary part of anchor * row[j],
 * where row[-j] is the conjugate of row[j]. */
struct pe__block {
    enum pe_dtype dtype;
    bool conjugate; /* negate the anchor's s first */
    int lo, hi;     /* within -16 .. 17 */
    size_t pairs;   /* at most PE__GROUP */

    /* Entry j, 0 .. 16, starts at row + j * row_step and has parts of row_part doubles: for F64
     * four, c in 27 bits and its rest, s likewise; for the other dtypes two, c and s. */
    const double *row;
    size_t row_step, row_part;

    struct pe__turns anchor;
    const double *error[2];   /* bounds for c and for s, see E in kernel.c; infinity: uncertain */
    unsigned char *cos, *sin; /* row lo, or NULL */

    /* Both planes are wanted, in one row: cos and sin of a pair are neighbours, and `cos` and `sin`
     * both the address of the first of them. */
    bool woven, cos_first;
    ptrdiff_t stride; /* bytes from row to row, of either sign */
};

/* A value that is still to be written: its offset j, its plane (0 cos, 1 sin), its pair in the
 * group. */
#define PE__PENDING(offset, plane, pair) \
    ((uint16_t)((unsigned)((offset) + PE__REACH) << 7 | (unsigned)(plane) << 6 | (unsigned)(pair)))
#define PE__PENDING_OFFSET(x) ((int)((x) >> 7) - PE__REACH)
#define PE__PENDING_PLANE(x) ((x) >> 6 & 1)
#define PE__PENDING_PAIR(x) ((x)&63u)
#define PE__PENDING_MAX (PE__BLOCK * 2 * PE__GROUP)

/* One row of phases p * w: w is high[i] (26 bits) + low[i], unsure[i] is added to each error bound.
 */
struct pe__phase_row {
    enum pe_dtype dtype;
    int64_t position; /* |position| <= 2^53 */
    size_t pairs;
    const double *high, *low, *unsure;
    unsigned char *out;
};

struct pe__kernel {
    const char *name;

    /* out = a * b for n pairs, n a multiple of 8. out may be a or b. Error of each part below
     * 2^-100 of the sum of the absolute values of its two terms, where these are above 2^-960. */
    void (*compose)(struct pe__turns a, struct pe__turns b, struct pe__turns out, size_t n);

    /* Both write all values, return how many are not certain, and list these in `pending`, which
     * has room for PE__PENDING_MAX (for PE__GROUP in a row of phases: pair indexes). */
    size_t (*block)(const struct pe__block *, uint16_t *pending);
    size_t (*phases)(const struct pe__phase_row *, uint16_t *pending);
};

extern const struct pe__kernel pe__kernel_portable;
#ifdef __x86_64__
extern const struct pe__kernel pe__kernel_avx2;
extern const struct pe__kernel pe__kernel_avx512;
#endif

/* The best kernel that this processor runs and that is not above `most` ("portable", "avx2",
 * "avx512"; NULL or any other word: no limit). */
const struct pe__kernel *pe__isa_limited(const char *most);

/* The kernel of this process: pe__isa_limited of POSENC_ISA in the environment, at the first call.
 * From several threads at once: all find the same. */
const struct pe__kernel *pe__isa_kernel(void);

#endif
