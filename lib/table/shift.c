/* SPDX-License-Identifier: MIT
 *
 * shift.c: the matrix M_k with PE(p+k) = M_k PE(p), for sinusoidal tables.
 *
 * M_k turns every pair by k w_r and leaves all else alone: 2 x 2 blocks of a cosine and a sine,
 * which stand where the layout puts the pair. A negative k gives the transpose.
 */
#include "producer.h"
#include "source.h"

#include <stdlib.h>
#include <string.h>

struct shift {
    const struct pe_spec *spec;
    size_t size, pairs;
    char hands[]; /* pairs cosines, then as many sines, of k w_r */
};

static enum pe_error create(const struct pe__making *making, void **state)
{
    const struct pe_spec *s = making->spec;
    const struct pe__arithmetic *how = making->how;
    size_t size = pe_dtype_size((enum pe_dtype)s->dtype), pairs = (size_t)s->width / 2;
    struct shift *m = malloc(sizeof *m + 2 * pairs * size);
    void *band = NULL;
    enum pe_error error = PE_NO_MEMORY;
    *state = m;
    if (!m)
        return error;
    *m = (struct shift){s, size, pairs};
    struct pe__band of = {.step = 1, .pairs = pairs, .low = s->offset, .span = 1};
    error = how->band_create(making->ladder, s, &of, &band);
    if (!error)
        how->rows(band, s->offset, 1, m->hands, m->hands + pairs * size, 0);
    how->band_destroy(&band);
    if (error) {
        free(m);
        *state = NULL;
    }
    return error;
}

static void destroy(void **state)
{
    free(*state);
    *state = NULL;
}

static size_t bytes(const void *state)
{
    const struct shift *m = state;
    return sizeof *m + 2 * m->pairs * m->size;
}

static const char *cosine(const struct shift *m, size_t pair)
{
    return m->hands + pair * m->size;
}

static const char *sine(const struct shift *m, size_t pair)
{
    return m->hands + (m->pairs + pair) * m->size;
}

static void put_negative(const struct shift *m, const char *from, char *to)
{
    memcpy(to, from, m->size);
    to[m->size - 1] =
        (char)(to[m->size - 1] ^ 0x80); /* little-endian: the sign is in the last byte */
}

/* With sines first: rows (cos, sin) and (-sin, cos); with cosines first the other way round. */
static void fill_dense(const struct shift *m, size_t row, char *out)
{
    size_t half = m->pairs;
    bool split = m->spec->layout == PE_LAYOUT_SPLIT;
    size_t pair = split ? row % half : row / 2;
    bool second = split ? row >= half : row % 2;
    size_t own = row, other = split ? (second ? pair : half + pair) : row ^ 1;
    memset(out, 0, 2 * half * m->size);
    memcpy(out + own * m->size, cosine(m, pair), m->size);
    if (second == (m->spec->order == PE_ORDER_COS))
        memcpy(out + other * m->size, sine(m, pair), m->size);
    else
        put_negative(m, sine(m, pair), out + other * m->size);
}

static void fill(const void *state, uint64_t first, uint64_t rows, void *const out[])
{
    const struct shift *m = state;
    char *to = out[0];
    for (uint64_t row = first; row < first + rows; row++) {
        if (m->spec->compact) {
            memcpy(to, cosine(m, row), m->size);
            memcpy(to + m->size, sine(m, row), m->size);
            to += 2 * m->size;
        } else {
            fill_dense(m, row, to);
            to += 2 * m->pairs * m->size;
        }
    }
}

const struct pe__producer pe__shift_producer = {create, destroy, bytes, fill};
