/* SPDX-License-Identifier: MIT
 *
 * clocks.c: makes the exact numbers of a ladder. Integer arithmetic only: MPFR numbers
 * are read, never made.
 */
#include "rotation/clocks.h"

#include "rotation/seed.h"

#include <stdlib.h>

static bool is_one(const struct pe__wide *a)
{
    return a->exp == 1 && a->m[3] == UINT64_C(1) << 63 && a->m[2] == 0 && a->m[1] == 0 &&
           a->m[0] == 0;
}

static void set_step(struct pe__clocks *c, size_t pair)
{
    c->step[pair][0] = 1;
    if (!pe__wide_is_zero(&c->freq[pair].w) && pe__clocks_carry(c, pair))
        pe__seed(&c->freq[pair], 1, c->step[pair]);
}

enum pe_error pe__clocks_create(const mpfr_t *w, size_t pairs, mpfr_srcptr amplitude,
                                struct pe__clocks **out)
{
    size_t bytes;
    struct pe__clocks *c;
    *out = NULL;
    if (!mpfr_regular_p(amplitude) || mpfr_sgn(amplitude) < 0)
        return PE_INVALID;
    if (__builtin_mul_overflow(pairs, sizeof c->freq[0] + sizeof c->step[0], &bytes) ||
        __builtin_add_overflow(bytes, sizeof *c, &bytes) || !(c = calloc(1, bytes)))
        return PE_NO_MEMORY;
    *c = (struct pe__clocks){.pairs = pairs, .bytes = bytes, .step = (void *)(c->freq + pairs)};
    pe__wide_from_mpfr(&c->amplitude, amplitude);
    c->unit = is_one(&c->amplitude);
    for (size_t i = 0; i < pairs; i++) {
        if (!pe__freq_init(&c->freq[i], w[i])) {
            free(c);
            return PE_INVALID;
        }
        set_step(c, i);
    }
    *out = c;
    return PE_OK;
}

void pe__clocks_destroy(struct pe__clocks **clocks)
{
    free(*clocks);
    *clocks = NULL;
}
