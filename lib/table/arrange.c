/* SPDX-License-Identifier: MIT
 *
 * arrange.c: where the hands are drawn: from planes of cosines and sines to the columns of a
 * layout.
 *
 * Moves bits and never looks at a value, except that the sign of a sine may be turned. Neighbouring
 * places are woven together, sixteen bytes at a time; what is left goes element by element.
 */
#include "arrange.h"
#include "must.h"

#include <string.h>

/* ---------------------------------------------------------------- layouts */

static void place(struct pe__arrangement *a, struct pe__place at)
{
    must(a->count < PE__MAX_PLACES);
    a->at[a->count++] = at;
}

static struct pe__arrangement sinusoidal(const struct pe_spec *s)
{
    bool cos_first = s->order == PE_ORDER_COS;
    size_t half = (size_t)s->width / 2;
    size_t sines = half + (s->width % 2 && s->odd == PE_ODD_SINE);
    enum pe__hand one = cos_first ? PE__COS : PE__SIN, two = cos_first ? PE__SIN : PE__COS;
    struct pe__arrangement a = {0};
    if (s->layout == PE_LAYOUT_SPLIT) {
        place(&a, (struct pe__place){one, 0, 0, 1});
        place(&a, (struct pe__place){two, 0, cos_first ? half : sines, 1});
    } else {
        place(&a, (struct pe__place){one, 0, 0, 2});
        place(&a, (struct pe__place){two, 0, 1, 2});
    }
    return a;
}

static struct pe__arrangement grid(const struct pe_spec *s, unsigned axis)
{
    size_t quarter = (size_t)s->width / 4;
    size_t half = axis == (s->order == PE_ORDER_HW ? 0u : 1u) ? 0 : 2 * quarter;
    struct pe__arrangement a = {0};
    place(&a, (struct pe__place){PE__SIN, 0, half, 1});
    place(&a, (struct pe__place){PE__COS, 0, half + quarter, 1});
    return a;
}

static void plane(struct pe__arrangement *a, const struct pe_spec *s, enum pe__hand hand,
                  unsigned tensor)
{
    size_t half = (size_t)s->width / 2;
    if (s->layout == PE_LAYOUT_PAIRS) {
        place(a, (struct pe__place){hand, tensor, 0, 1});
    } else if (s->layout == PE_LAYOUT_SPLIT) {
        place(a, (struct pe__place){hand, tensor, 0, 1});
        place(a, (struct pe__place){hand, tensor, half, 1});
    } else {
        place(a, (struct pe__place){hand, tensor, 0, 2});
        place(a, (struct pe__place){hand, tensor, 1, 2});
    }
}

static struct pe__arrangement rotary(const struct pe_spec *s)
{
    bool xpos = s->kind == PE_KIND_XPOS;
    struct pe__arrangement a = {0};
    switch (s->layout) {
    case PE_LAYOUT_COS_SIN:
        place(&a, (struct pe__place){PE__COS, 0, 0, 1});
        place(&a, (struct pe__place){PE__SIN, 0, (size_t)s->width / 2, 1});
        break;
    case PE_LAYOUT_COMPLEX:
        place(&a, (struct pe__place){PE__COS, 0, 0, 2});
        place(&a, (struct pe__place){PE__SIN, 0, 1, 2});
        break;
    case PE_LAYOUT_MATRIX:
        place(&a, (struct pe__place){PE__COS, 0, 0, 4});
        place(&a, (struct pe__place){PE__MINUS_SIN, 0, 1, 4});
        place(&a, (struct pe__place){PE__SIN, 0, 2, 4});
        place(&a, (struct pe__place){PE__COS, 0, 3, 4});
        break;
    case PE_LAYOUT_PHASE:
        place(&a, (struct pe__place){PE__COS, 0, 0, 1});
        break;
    default:
        plane(&a, s, PE__COS, 0);
        if (xpos)
            plane(&a, s, PE__SCALE, 1);
        plane(&a, s, PE__SIN, xpos ? 2 : 1);
    }
    return a;
}

struct pe__arrangement pe__arrangement_of(const struct pe_spec *s, unsigned axis)
{
    return s->kind == PE_KIND_SINUSOIDAL ? sinusoidal(s)
           : s->kind == PE_KIND_GRID     ? grid(s, axis)
                                         : rotary(s);
}

/* ---------------------------------------------------------------- weaving */

/* The lower and the upper halves of two vectors, zipped by elements and by pairs of elements. */
#define ZIP_8 0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_8_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#define ZIP_8_PAIRS 0, 1, 8, 9, 2, 3, 10, 11
#define ZIP_8_PAIRS_HIGH 4, 5, 12, 13, 6, 7, 14, 15
#define ZIP_4 0, 4, 1, 5
#define ZIP_4_HIGH 2, 6, 3, 7
#define ZIP_4_PAIRS 0, 1, 4, 5
#define ZIP_4_PAIRS_HIGH 2, 3, 6, 7
#define ZIP_2 0, 2
#define ZIP_2_HIGH 1, 3
#define ZIP_2_PAIRS 0, 1
#define ZIP_2_PAIRS_HIGH 2, 3
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)

/* zip_N: out = a0 b0 a1 b1 ...; quad_N: out = a0 -b0 b0 a0 a1 -b1 ..., -0 being 0; spread_N: every
 * pitch-th element of out. N is the bits of an element, LANES of which fill a vector. */
#define WEAVERS(N, LANES)                                                                       \
    typedef uint##N##_t vector_##N __attribute__((vector_size(16)));                            \
                                                                                                \
    static inline vector_##N load_##N(const char *from)                                         \
    {                                                                                           \
        vector_##N v;                                                                           \
        memcpy(&v, from, sizeof v);                                                             \
        return v;                                                                               \
    }                                                                                           \
                                                                                                \
    static inline void store_##N(char *to, vector_##N v)                                        \
    {                                                                                           \
        memcpy(to, &v, sizeof v);                                                               \
    }                                                                                           \
                                                                                                \
    static void zip_##N(char *out, const char *a, const char *b, size_t n)                      \
    {                                                                                           \
        size_t k = 0;                                                                           \
        for (; k + LANES <= n; k += LANES, a += 16, b += 16, out += 32) {                       \
            vector_##N x = load_##N(a), y = load_##N(b);                                        \
            store_##N(out, SHUFFLE(x, y, ZIP_##LANES));                                         \
            store_##N(out + 16, SHUFFLE(x, y, ZIP_##LANES##_HIGH));                             \
        }                                                                                       \
        for (; k < n; k++, a += N / 8, b += N / 8, out += N / 4) {                              \
            memcpy(out, a, N / 8);                                                              \
            memcpy(out + N / 8, b, N / 8);                                                      \
        }                                                                                       \
    }                                                                                           \
                                                                                                \
    static void quad_##N(char *out, const char *a, const char *b, size_t n)                     \
    {                                                                                           \
        const uint##N##_t sign = (uint##N##_t)((uint##N##_t)1 << (N - 1));                      \
        size_t k = 0;                                                                           \
        for (; k + LANES <= n; k += LANES, a += 16, b += 16, out += 64) {                       \
            vector_##N c = load_##N(a), s = load_##N(b), m = (s ^ sign) & (vector_##N)(s != 0); \
            vector_##N x = SHUFFLE(c, m, ZIP_##LANES);                                          \
            vector_##N y = SHUFFLE(s, c, ZIP_##LANES);                                          \
            store_##N(out, SHUFFLE(x, y, ZIP_##LANES##_PAIRS));                                 \
            store_##N(out + 16, SHUFFLE(x, y, ZIP_##LANES##_PAIRS_HIGH));                       \
            x = SHUFFLE(c, m, ZIP_##LANES##_HIGH);                                              \
            y = SHUFFLE(s, c, ZIP_##LANES##_HIGH);                                              \
            store_##N(out + 32, SHUFFLE(x, y, ZIP_##LANES##_PAIRS));                            \
            store_##N(out + 48, SHUFFLE(x, y, ZIP_##LANES##_PAIRS_HIGH));                       \
        }                                                                                       \
        for (; k < n; k++, a += N / 8, b += N / 8, out += N / 2) {                              \
            uint##N##_t c, s, m;                                                                \
            memcpy(&c, a, sizeof c);                                                            \
            memcpy(&s, b, sizeof s);                                                            \
            m = s ? s ^ sign : 0;                                                               \
            memcpy(out, &c, sizeof c);                                                          \
            memcpy(out + sizeof c, &m, sizeof m);                                               \
            memcpy(out + 2 * sizeof c, &s, sizeof s);                                           \
            memcpy(out + 3 * sizeof c, &c, sizeof c);                                           \
        }                                                                                       \
    }                                                                                           \
                                                                                                \
    static void spread_##N(char *out, size_t pitch, const char *a, size_t n)                    \
    {                                                                                           \
        for (size_t k = 0; k < n; k++)                                                          \
            memcpy(out + k * pitch * (N / 8), a + k * (N / 8), N / 8);                          \
    }

WEAVERS(16, 8)
WEAVERS(32, 4)
WEAVERS(64, 2)

struct weaver {
    void (*zip)(char *, const char *, const char *, size_t);
    void (*quad)(char *, const char *, const char *, size_t);
    void (*spread)(char *, size_t, const char *, size_t);
};

static const struct weaver *weaver_of(size_t size)
{
    static const struct weaver weavers[] = {
        {zip_16, quad_16, spread_16}, {zip_32, quad_32, spread_32}, {zip_64, quad_64, spread_64}};
    must(size == 2 || size == 4 || size == 8);
    return &weavers[size == 2 ? 0 : size == 4 ? 1 : 2];
}

/* How many places from the i-th on fill a pitch without a gap. */
static unsigned neighbours(const struct pe__arrangement *a, unsigned i)
{
    unsigned n = 1;
    while (i + n < a->count && n < a->at[i].pitch && a->at[i + n].tensor == a->at[i].tensor &&
           a->at[i + n].column == a->at[i].column + n && a->at[i + n].pitch == a->at[i].pitch)
        n++;
    return n;
}

static const char *hand_row(const struct pe__planes *p, enum pe__hand hand, size_t row)
{
    return (const char *)p->of[hand] + row * p->pairs * p->size;
}

/* One row of n neighbouring places. */
static void weave_row(const struct pe__place *at, unsigned n, const struct pe__planes *p,
                      size_t row, char *out)
{
    const struct weaver *weave = weaver_of(p->size);
    bool whole = n == at->pitch && p->step == 1;
    const char *first = hand_row(p, at->hand, row);
    if (whole && n == 1)
        memcpy(out, first, p->pairs * p->size);
    else if (whole && n == 2)
        weave->zip(out, first, hand_row(p, at[1].hand, row), p->pairs);
    else if (whole && n == 4)
        weave->quad(out, first, hand_row(p, PE__SIN, row), p->pairs);
    else
        for (unsigned j = 0; j < n; j++)
            weave->spread(out + j * p->size, at->pitch * p->step, hand_row(p, at[j].hand, row),
                          p->pairs);
}

void pe__arrange_rows(const struct pe__arrangement *a, const struct pe__planes *p,
                      void *const out[], const size_t stride[])
{
    for (unsigned i = 0, n; i < a->count; i += n) {
        const struct pe__place *at = &a->at[i];
        char *to = out[at->tensor];
        n = neighbours(a, i);
        if (!to)
            continue;
        to += (at->column + p->first * at->pitch) * p->size;
        for (size_t row = 0; row < p->rows; row++, to += stride[at->tensor])
            weave_row(at, n, p, row, to);
    }
}
