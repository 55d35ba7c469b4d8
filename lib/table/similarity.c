/* SPDX-License-Identifier: MIT
 *
 * similarity.c: PE(p).PE(p+k), the sum over pairs of cos(k w_r), correctly rounded.
 *
 * Cosines rounded to binary64 add up closely enough to round the sum to a narrower type, but for
 * the few sums that come to lie near a boundary; those, and all of binary64, are added in fixed
 * point from cosines of 240 bits. A sum so small that their error 2^-224 could matter has not been
 * seen and would be off by less than 2^-224 itself.
 */
#include "dtype.h"
#include "producer.h"
#include "rotation/clocks.h"
#include "rotation/rotor.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_ROWS 64
#define GROUP_PAIRS 64

struct similarity {
    enum pe_dtype dtype;
    size_t size, pairs, groups;
    const struct pe__clocks *clocks;
    struct pe__rotor **rotors; /* [groups], binary64; none where the dtype is binary64 */
};

/* ---------------------------------------------------------------- life */

static void destroy(void **state)
{
    struct similarity *s = *state;
    if (!s)
        return;
    for (size_t g = 0; s->rotors && g < s->groups; g++)
        pe__rotor_destroy(&s->rotors[g]);
    free(s->rotors);
    free(s);
    *state = NULL;
}

/* Rotors that another similarity has are shared table by table. */
static enum pe_error make_rotors(struct similarity *s, const struct similarity *like, uint64_t span)
{
    enum pe_error error = PE_OK;
    s->groups = (s->pairs + GROUP_PAIRS - 1) / GROUP_PAIRS;
    s->rotors = calloc(s->groups, sizeof(struct pe__rotor *));
    if (!s->rotors)
        return PE_NO_MEMORY;
    for (size_t g = 0; g < s->groups && !error; g++) {
        size_t first = g * GROUP_PAIRS, rest = s->pairs - first;
        error = pe__rotor_create(
            &(struct pe__rotor_spec){.clocks = s->clocks,
                                     .first_pair = first,
                                     .step = 1,
                                     .pairs = rest < GROUP_PAIRS ? rest : GROUP_PAIRS,
                                     .dtype = PE_DTYPE_F64,
                                     .span = span,
                                     .like = like && like->rotors ? like->rotors[g] : NULL},
            &s->rotors[g]);
    }
    return error;
}

static enum pe_error create(const struct pe__making *m, void **state)
{
    struct similarity *s = calloc(1, sizeof *s);
    enum pe_error error = PE_OK;
    *state = s;
    if (!s)
        return PE_NO_MEMORY;
    s->dtype = (enum pe_dtype)m->spec->dtype;
    s->size = pe_dtype_size(s->dtype);
    s->clocks = m->ladder;
    s->pairs = s->clocks->pairs;
    if (s->dtype != PE_DTYPE_F64)
        error = make_rotors(s, m->like, (uint64_t)m->spec->max_offset + 1);
    if (error)
        destroy(state);
    return error;
}

static size_t bytes(const void *state)
{
    const struct similarity *s = state;
    size_t sum = sizeof *s + s->groups * sizeof(struct pe__rotor *);
    for (size_t g = 0; g < s->groups; g++)
        sum += pe__rotor_bytes(s->rotors[g]);
    return sum;
}

/* ---------------------------------------------------------------- exact sums */

#define SUM_LIMBS (PE__LIMBS + 1)

/* sum += x 2^256, in two's complement; |x| <= 1. */
static void add(uint64_t sum[SUM_LIMBS], const struct pe__wide *x)
{
    uint64_t term[SUM_LIMBS] = {0};
    int64_t down = 64 - x->exp; /* from a number with 64 bits in front of the point */
    unsigned limbs = down / 64 < SUM_LIMBS ? (unsigned)(down / 64) : SUM_LIMBS;
    unsigned bits = (unsigned)(down % 64);
    unsigned char carry = x->negative;
    for (unsigned i = limbs; i < SUM_LIMBS; i++) {
        /* limb i of the number is limb i - 1 of the mantissa */
        uint64_t own = i ? x->m[i - 1] : 0, above = i < PE__LIMBS ? x->m[i] : 0;
        term[i - limbs] = bits ? own >> bits | above << (64 - bits) : own;
    }
    for (unsigned i = 0; i < SUM_LIMBS; i++) {
        uint64_t t = x->negative ? ~term[i] : term[i];
        unsigned char over = __builtin_add_overflow(sum[i], t, &sum[i]);
        over |= __builtin_add_overflow(sum[i], (uint64_t)carry, &sum[i]);
        carry = over;
    }
}

static void store_sum(uint64_t sum[SUM_LIMBS], enum pe_dtype dtype, void *out)
{
    struct pe__wide x;
    bool negative = sum[SUM_LIMBS - 1] >> 63;
    uint64_t carry = 1;
    for (unsigned i = 0; negative && i < SUM_LIMBS; i++)
        carry = __builtin_add_overflow(~sum[i], carry, &sum[i]);
    pe__wide_from_limbs(&x, sum, SUM_LIMBS, 64);
    x.negative = negative;
    pe__wide_store(&x, false, dtype, out);
}

static void store_exact(const struct similarity *s, int64_t k, void *out)
{
    uint64_t sum[SUM_LIMBS] = {0};
    for (size_t r = 0; r < s->pairs; r++) {
        struct pe__wide cos;
        pe__exact_cos_sin(&s->clocks->freq[r], k, PE__LIMBS, &cos, NULL);
        if (!pe__wide_is_zero(&cos))
            add(sum, &cos);
    }
    store_sum(sum, s->dtype, out);
}

/* ---------------------------------------------------------------- rows */

/* Sums of binary64 cosines at rows <= GROUP_ROWS offsets, without the errors of adding. */
static void add_rotors(const struct similarity *s, int64_t first, size_t rows,
                       double sums[GROUP_ROWS])
{
    double cos[GROUP_ROWS][GROUP_PAIRS], rest[GROUP_ROWS] = {0};
    memset(sums, 0, rows * sizeof *sums);
    for (size_t g = 0; g < s->groups; g++) {
        size_t n = s->pairs - g * GROUP_PAIRS;
        pe__rotor_rows(s->rotors[g], first, rows, cos, NULL, sizeof cos[0]);
        for (size_t i = 0; i < rows; i++) {
            for (size_t r = 0; r < (n < GROUP_PAIRS ? n : GROUP_PAIRS); r++) {
                double before = sums[i], after = before + cos[i][r], part = after - before;
                rest[i] += (before - (after - part)) + (cos[i][r] - part);
                sums[i] = after;
            }
        }
    }
    for (size_t i = 0; i < rows; i++)
        sums[i] += rest[i];
}

/* Where everything between the bounds rounds alike. Each cosine is off by 2^-54, the sum of the
 * small parts and the last addition by less than as much again. */
static bool store_certain(const struct similarity *s, double sum, void *out)
{
    char other[sizeof(double)];
    double error = (double)s->pairs * 0x1p-52;
    pe__store_f64(sum - error, s->dtype, out);
    pe__store_f64(sum + error, s->dtype, other);
    return memcmp(out, other, s->size) == 0;
}

static void fill(const void *state, uint64_t first, uint64_t rows, void *const out[])
{
    const struct similarity *s = state;
    char *to = out[0];
    for (uint64_t n; rows; rows -= n, first += n) {
        double sums[GROUP_ROWS];
        n = rows < GROUP_ROWS ? rows : GROUP_ROWS;
        if (s->rotors)
            add_rotors(s, (int64_t)first, n, sums);
        for (uint64_t i = 0; i < n; i++, to += s->size)
            if (!s->rotors || !store_certain(s, sums[i], to))
                store_exact(s, (int64_t)(first + i), to);
    }
}

const struct pe__producer pe__similarity_producer = {create, destroy, bytes, fill};
