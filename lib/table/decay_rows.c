/* SPDX-License-Identifier: MIT
 *
 * decay_rows.c: the scale of xpos, correctly rounded.
 *
 * A block of rows is anchored at its first row, exactly; its other rows are one product away, in
 * doubles or in pairs of doubles. Where that product comes to lie near a boundary, or is no normal
 * number, the exact number is made as well. With fewer than 400 products of relative error 2^-255
 * between two far ones the 2^-190 that exact rounding asks for is never near.
 */
#include "decay_tables.h"
#include "must.h"
#include "quick.h"

#define LANES PE__DECAY_LANES
#define ROWS PE__DECAY_ROWS

/* Blocks between two far products. */
#define STRETCH 256

/* Anchors of a group at the first row of a block, also as doubles (0 where they are too great or
 * small). */
struct group {
    size_t pair, n;
    size_t row;     /* of the block */
    int64_t offset; /* of its first row from the center */
    struct pe__wide anchor[LANES];
    double near[2][LANES];
};

static const struct pe__wide *powers_of(const struct pe__decay *d, size_t pair)
{
    return d->zetas->powers + pair * (d->zetas->up + d->zetas->down);
}

/* zeta^(n / scale_base) */
static void far_product(const struct pe__decay *d, size_t pair, int64_t n, struct pe__wide *x)
{
    const struct pe__wide *power = powers_of(d, pair) + (n < 0 ? d->zetas->up : 0);
    uint64_t rest = n < 0 ? -(uint64_t)n : (uint64_t)n;
    *x = (struct pe__wide){.m = {0, 0, 0, UINT64_C(1) << 63}, .exp = 1};
    for (; rest; rest >>= 1, power++)
        if (rest & 1)
            pe__wide_mul(x, x, power);
}

static void set_near(struct group *g, size_t lane)
{
    double parts[2] = {0, 0};
    if (g->anchor[lane].exp > -450 && g->anchor[lane].exp < 450)
        pe__wide_to_dd(&g->anchor[lane], parts);
    g->near[0][lane] = parts[0];
    g->near[1][lane] = parts[1];
}

static void start(const struct pe__decay *d, struct group *g)
{
    for (size_t lane = 0; lane < g->n; lane++) {
        far_product(d, g->pair + lane, g->offset, &g->anchor[lane]);
        set_near(g, lane);
    }
    for (size_t lane = g->n; lane < LANES; lane++)
        g->near[0][lane] = g->near[1][lane] = 0;
}

static void next_block(const struct pe__decay *d, struct group *g)
{
    g->offset += ROWS;
    if (d->zetas->cut) {
        start(d, g);
        return;
    }
    for (size_t lane = 0; lane < g->n; lane++) {
        pe__wide_mul(&g->anchor[lane], &g->anchor[lane],
                     powers_of(d, g->pair + lane) + PE__DECAY_BITS);
        set_near(g, lane);
    }
}

/* A lane of the row, exactly. */
static void product(const struct pe__decay *d, const struct group *g, size_t lane,
                    struct pe__wide *x)
{
    const struct pe__wide *power = powers_of(d, g->pair + lane);
    if (d->zetas->cut) {
        far_product(d, g->pair + lane, g->offset + (int64_t)g->row, x);
        return;
    }
    *x = g->anchor[lane];
    for (size_t rest = g->row; rest; rest >>= 1, power++)
        if (rest & 1)
            pe__wide_mul(x, x, power);
}

/* The lanes of a row that are not certain. */
static void correct(const struct pe__decay *d, const struct group *g, const bool certain[],
                    char *out)
{
    size_t size = pe_dtype_size(d->dtype);
    for (size_t i = 0; i < g->n; i++) {
        struct pe__wide x;
        if (certain[i])
            continue;
        product(d, g, i, &x);
        pe__wide_store(&x, false, d->dtype, out + i * size);
    }
}

static void fill_narrow(const struct pe__decay *d, const struct group *g, char *out)
{
    const struct pe__narrow to = pe__narrow_of(d->dtype);
    const double *step = pe__decay_steps(d->zetas, g->pair, g->row, 0);
    uint32_t bits[LANES];
    uint16_t halves[LANES];
    bool certain[LANES];
    for (size_t i = 0; i < LANES; i++) {
        certain[i] = pe__round_narrow(g->near[0][i] * step[i], &to, &bits[i]);
        halves[i] = (uint16_t)bits[i];
    }
    memcpy(out, to.size == 4 ? (void *)bits : (void *)halves, g->n * to.size);
    correct(d, g, certain, out);
}

static void fill_wide(const struct pe__decay *d, const struct group *g, char *out)
{
    const double *step = pe__decay_steps(d->zetas, g->pair, g->row, 0);
    double v[LANES];
    bool certain[LANES];
    for (size_t i = 0; i < LANES; i++) {
        double a[2] = {g->near[0][i], g->near[1][i]}, b[2] = {step[i], step[LANES + i]};
        certain[i] = pe__round_product(a, b, &v[i]);
    }
    memcpy(out, v, g->n * sizeof v[0]);
    correct(d, g, certain, out);
}

/* Row i begins at at + i * stride. */
struct plane {
    char *at;
    size_t stride;
};

static void fill_group(const struct pe__decay *d, const struct pe__decay_window *w, size_t k,
                       struct plane to)
{
    struct group g = {.pair = w->pair + k, .n = w->pairs - k < LANES ? w->pairs - k : LANES};
    for (size_t row = 0; row < w->rows; row++, to.at += to.stride) {
        if (row % (ROWS * STRETCH) == 0) {
            g.offset = w->first + (int64_t)row - d->center;
            start(d, &g);
        } else if (row % ROWS == 0) {
            next_block(d, &g);
        }
        g.row = row % ROWS;
        if (d->dtype == PE_DTYPE_F64)
            fill_wide(d, &g, to.at);
        else
            fill_narrow(d, &g, to.at);
    }
}

void pe__decay_rows(const struct pe__decay *d, const struct pe__decay_window *w, void *out,
                    size_t stride)
{
    size_t size = pe_dtype_size(d->dtype);
    must(w->pair % LANES == 0);
    for (size_t k = 0; k < w->pairs; k += LANES)
        fill_group(d, w, k, (struct plane){(char *)out + k * size, stride});
}
