/* SPDX-License-Identifier: MIT
 *
 * kernel.c: the inner loops, compiled once per instruction set with -DPE_ISA=name. Rows are made by
 * angle addition, z(a + b) = z(a) z(b), for b and -b at once, which share their products. Every
 * value comes with an interval that surely holds the true one; it is certain when both ends round
 * alike.
 *
 * E, the error bounds. S is the sum of the absolute values of the two terms of a part, u = 2^-53.
 *
 * F64: a factor of the anchor is a = h + l + d: h its first 26 bits, |l| <= 2^-25 |a|, |d| <= 2^-78
 * |a| (1.1: rounding of l, and 0.1 for the tables, see parts.c). A factor of the row is b = h' + l'
 * + d', h' in 27 bits, |l'| <= 2^-27 |b|, |d'| <= 2^-80 |b|. h h' is exact. The rest l l' + h l' +
 * l h' has five roundings without FMA: of 2^-52 (negligible), twice of 2^-27, of 2^-25 and of 1.26
 * * 2^-25: u (0.25 + 0.25 + 1 + 1.26) 2^-25 = 2.76 * 2^-78. The sum or difference of the exact
 * products is exact in two doubles; adding the rests, their sum to the second of these, and the
 * bound to that, are three roundings of at most 1.27 * 2^-25 S: 3.81 * 2^-78. In all (1.1 + 0.25
 * + 2.76 + 3.81) 2^-78 S = 7.92 * 2^-78 S. E = 2^-75 S.
 *
 * Others: the anchor's and the row's factors are rounded to u each, so are product, sum and the
 * ends of the interval: (1 + 1 + 1 + 1 + 1) u S. E = 2^-50 S = 8 u S. For 16 bits see odd24().
 *
 * The caller bounds S by min(1, greatest |angle|) times the amplitude.
 */
#include "rotation/kernel.h"

#include "rotation/lanes.h"

static void compose(struct pe__turns a, struct pe__turns b, struct pe__turns out, size_t n)
{
    for (size_t i = 0; i < n; i += LANES) {
        const double *pa = a.at + i, *pb = b.at + i;
        double *po = out.at + i;
        struct two ac = {load(pa), load(pa + a.part)};
        struct two as = {load(pa + 2 * a.part), load(pa + 3 * a.part)};
        struct two bc = {load(pb), load(pb + b.part)};
        struct two bs = {load(pb + 2 * b.part), load(pb + 3 * b.part)};
        struct two ss = multiply(as, bs);
        struct two c = add(multiply(ac, bc), (struct two){-ss.h, -ss.l});
        struct two s = add(multiply(as, bc), multiply(ac, bs));
        store(po, c.h);
        store(po + out.part, c.l);
        store(po + 2 * out.part, s.h);
        store(po + 3 * out.part, s.l);
    }
}

/* ---------------------------------------------------------------- rows */

/* Where the parts at offsets j and -j go: cos and sin of each; NULL where not wanted. */
struct targets {
    unsigned char *cos[2], *sin[2];
};

INLINE struct targets targets_of(const struct pe__block *b, int j)
{
    struct targets t = {{NULL, NULL}, {NULL, NULL}};
    for (unsigned side = 0; side < 2; side++) {
        int offset = side ? -j : j;
        if (offset < b->lo || offset >= b->hi || (side && j == 0))
            continue;
        ptrdiff_t at = (offset - b->lo) * b->stride;
        t.cos[side] = b->cos ? b->cos + at : NULL;
        t.sin[side] = b->sin ? b->sin + at : NULL;
    }
    return t;
}

/* The anchors of a group as the rows need them: see E. */
struct anchors {
    double part[4][PE__GROUP];
};

static void split_anchors(const struct pe__block *b, struct anchors *out)
{
    const uint64_t first26 = ~UINT64_C(0x7ffffff);
    double sign = b->conjugate ? -1 : 1;
    for (size_t i = 0; i < b->pairs; i += LANES) {
        for (unsigned part = 0; part < 4; part += 2) {
            vdouble h = load(b->anchor.at + part * b->anchor.part + i);
            vdouble l = load(b->anchor.at + (part + 1) * b->anchor.part + i);
            if (part) {
                h *= sign;
                l *= sign;
            }
            if (b->dtype == PE_DTYPE_F64) {
                vdouble high = (vdouble)((vbits)h & first26);
                l = (h - high) + l;
                h = high;
            }
            store(out->part[part] + i, h);
            store(out->part[part + 1] + i, l);
        }
    }
}

/* h h' and l l' + h l' + l h'. */
INLINE struct two short_product(vdouble ah, vdouble al, vdouble bh, vdouble bl)
{
    return (struct two){ah * bh, madd(al, bh, madd(ah, bl, al * bl))};
}

INLINE vbits emit_sum(struct two p, struct two q, vdouble e, struct place to)
{
    struct two s = two_sum(p.h, q.h);
    return emit_f64(s.h, (p.l + q.l) + s.l, e, to);
}

INLINE vbits emit_difference(struct two p, struct two q, vdouble e, struct place to)
{
    vdouble h = p.h - q.h;
    vdouble t = h - p.h;
    vdouble l = (p.h - (h - t)) - (q.h + t);
    return emit_f64(h, (p.l - q.l) + l, e, to);
}

/* One step: n pairs from pair i on, at offsets j and -j; all: nothing is left out. With n == LANES
 * and `all` these are known when this is compiled. */
struct step {
    const struct pe__block *b;
    const struct anchors *a;
    struct targets to;
    int j;
    size_t i, n;
    bool all;
    bool apart; /* the targets hold this step alone, and all its lanes */
};

INLINE struct place place_of(const struct step *s, unsigned char *row, size_t size)
{
    return s->apart ? (struct place){row, LANES} : (struct place){row + size * s->i, s->n};
}

INLINE void step_f64(const struct step *s, struct list *list)
{
    const struct pe__block *b = s->b;
    const double *row = b->row + (size_t)s->j * b->row_step + s->i;
    vdouble bch = load(row), bcl = load(row + b->row_part);
    vdouble bsh = load(row + 2 * b->row_part), bsl = load(row + 3 * b->row_part);
    vdouble ach = load(s->a->part[0] + s->i), acl = load(s->a->part[1] + s->i);
    vdouble ash = load(s->a->part[2] + s->i), asl = load(s->a->part[3] + s->i);
    vbits c0 = {0}, c1 = {0}, s0 = {0}, s1 = {0};
    if (s->all || b->cos) {
        struct two cc = short_product(ach, acl, bch, bcl);
        struct two ss = short_product(ash, asl, bsh, bsl);
        vdouble e = load(b->error[0] + s->i);
        if (s->all || s->to.cos[0])
            c0 = emit_difference(cc, ss, e, place_of(s, s->to.cos[0], 8));
        if (s->all || s->to.cos[1])
            c1 = emit_sum(cc, ss, e, place_of(s, s->to.cos[1], 8));
    }
    if (s->all || b->sin) {
        struct two sc = short_product(ash, asl, bch, bcl);
        struct two cs = short_product(ach, acl, bsh, bsl);
        vdouble e = load(b->error[1] + s->i);
        if (s->all || s->to.sin[0])
            s0 = emit_sum(sc, cs, e, place_of(s, s->to.sin[0], 8));
        if (s->all || s->to.sin[1])
            s1 = emit_difference(sc, cs, e, place_of(s, s->to.sin[1], 8));
    }
    if (__builtin_expect(any_bits(c0 | c1 | s0 | s1), 0)) {
        note_bits(list, c0, s->n, PE__PENDING(s->j, 0, s->i));
        note_bits(list, c1, s->n, PE__PENDING(-s->j, 0, s->i));
        note_bits(list, s0, s->n, PE__PENDING(s->j, 1, s->i));
        note_bits(list, s1, s->n, PE__PENDING(-s->j, 1, s->i));
    }
}

INLINE void step_short(const struct step *s, struct list *list, const enum pe_dtype dtype)
{
    const size_t size = element_size(dtype);
    const struct pe__block *b = s->b;
    const double *row = b->row + (size_t)s->j * b->row_step + s->i;
    vdouble bc = load(row), bs = load(row + b->row_part);
    vdouble ac = load(s->a->part[0] + s->i), as = load(s->a->part[2] + s->i);
    vword c0 = {0}, c1 = {0}, s0 = {0}, s1 = {0};
    if (s->all || b->cos) {
        vdouble cc = ac * bc, ss = as * bs, e = load(b->error[0] + s->i);
        if (s->all || s->to.cos[0])
            c0 = emit(cc - ss, e, dtype, place_of(s, s->to.cos[0], size));
        if (s->all || s->to.cos[1])
            c1 = emit(cc + ss, e, dtype, place_of(s, s->to.cos[1], size));
    }
    if (s->all || b->sin) {
        vdouble sc = as * bc, cs = ac * bs, e = load(b->error[1] + s->i);
        if (s->all || s->to.sin[0])
            s0 = emit(sc + cs, e, dtype, place_of(s, s->to.sin[0], size));
        if (s->all || s->to.sin[1])
            s1 = emit(sc - cs, e, dtype, place_of(s, s->to.sin[1], size));
    }
    if (__builtin_expect(any_words(c0 | c1 | s0 | s1), 0)) {
        note_words(list, c0, s->n, PE__PENDING(s->j, 0, s->i));
        note_words(list, c1, s->n, PE__PENDING(-s->j, 0, s->i));
        note_words(list, s0, s->n, PE__PENDING(s->j, 1, s->i));
        note_words(list, s1, s->n, PE__PENDING(-s->j, 1, s->i));
    }
}

INLINE void take(struct step s, struct list *list, const enum pe_dtype dtype)
{
    if (dtype == PE_DTYPE_F64)
        step_f64(&s, list);
    else
        step_short(&s, list, dtype);
}

/* A step whose values go into woven rows: through vectors of its own. */
INLINE void take_woven(struct step s, struct list *list, const enum pe_dtype dtype)
{
    const size_t size = element_size(dtype);
    const struct targets to = s.to;
    bool one = s.all || to.cos[0], two = s.all || to.cos[1], cos_first = s.b->cos_first;
    vdouble c0, c1, s0, s1;
    s.to.cos[0] = one ? (unsigned char *)&c0 : NULL;
    s.to.sin[0] = one ? (unsigned char *)&s0 : NULL;
    s.to.cos[1] = two ? (unsigned char *)&c1 : NULL;
    s.to.sin[1] = two ? (unsigned char *)&s1 : NULL;
    s.apart = true;
    take(s, list, dtype);
    if (one)
        put_zipped(to.cos[0] + 2 * size * s.i, cos_first ? &c0 : &s0, cos_first ? &s0 : &c0, size,
                   s.n);
    if (two)
        put_zipped(to.cos[1] + 2 * size * s.i, cos_first ? &c1 : &s1, cos_first ? &s1 : &c1, size,
                   s.n);
}

INLINE size_t rows(const struct pe__block *block, const struct anchors *a, uint16_t *pending,
                   const enum pe_dtype dtype)
{
    struct pe__block own =
        *block; /* bytes written to rows cannot change it, so it stays in registers */
    const struct pe__block *b = &own;
    struct list list = {pending, 0};
    size_t whole = b->pairs / LANES * LANES;
    for (int j = 0; j <= PE__REACH; j++) {
        struct targets t = targets_of(b, j);
        size_t i = 0;
        if (!t.cos[0] && !t.cos[1] && !t.sin[0] && !t.sin[1])
            continue;
        bool all = t.cos[0] && t.cos[1] && t.sin[0] && t.sin[1];
        if (b->woven && all)
            for (; i < whole; i += LANES)
                take_woven((struct step){b, a, t, j, i, LANES, true, true}, &list, dtype);
        for (; b->woven && i < b->pairs; i += LANES) {
            size_t n = b->pairs - i < LANES ? b->pairs - i : LANES;
            take_woven((struct step){b, a, t, j, i, n, false, true}, &list, dtype);
        }
        if (all)
            for (; i < whole; i += LANES)
                take((struct step){b, a, t, j, i, LANES, true, false}, &list, dtype);
        for (; i < whole; i += LANES)
            take((struct step){b, a, t, j, i, LANES, false, false}, &list, dtype);
        if (i < b->pairs)
            take((struct step){b, a, t, j, i, b->pairs - i, false, false}, &list, dtype);
    }
    return list.count;
}

static size_t make_block(const struct pe__block *b, uint16_t *pending)
{
    struct anchors a;
    split_anchors(b, &a);
    switch (b->dtype) {
    case PE_DTYPE_F64:
        return rows(b, &a, pending, PE_DTYPE_F64);
    case PE_DTYPE_F32:
        return rows(b, &a, pending, PE_DTYPE_F32);
    case PE_DTYPE_F16:
        return rows(b, &a, pending, PE_DTYPE_F16);
    case PE_DTYPE_BF16:
        return rows(b, &a, pending, PE_DTYPE_BF16);
    default:
        return rows(b, &a, pending, PE_DTYPE_BF16_AS_F32);
    }
}

/* ---------------------------------------------------------------- phases */

/* p = p1 + p2 with |p2| < 2^27 <= |p1| or p1 == 0, p1 in 26 bits: p1 h and p2 h are exact, their
 * sum is exact in two doubles (Dekker). The rest p l has an error of 2^-79 |p w| (as l itself), of
 * 2^-79 for its sum with the second, and again with the bound: below 2^-75. */
INLINE vbits phase_f64(const struct pe__phase_row *r, size_t i, const size_t n)
{
    double p = (double)r->position;
    double upper = (double)(r->position / (1 << 27) * (1 << 27));
    vdouble h = load(r->high + i);
    vdouble a = upper * h, b = (p - upper) * h;
    vdouble sum = a + b;
    vdouble rest = (b - (sum - a)) + p * load(r->low + i);
    vdouble size = (vdouble)((vbits)sum & INT64_MAX);
    return emit_f64(sum, rest, size * 0x1p-75 + load(r->unsure + i),
                    (struct place){r->out + 8 * i, n});
}

/* w, the product and the ends of the interval are rounded: 3 u < 2^-51. */
INLINE vword phase_short(const struct pe__phase_row *r, size_t i, const size_t n,
                         const enum pe_dtype dtype)
{
    const size_t size = element_size(dtype);
    vdouble v = (double)r->position * (load(r->high + i) + load(r->low + i));
    vdouble e = (vdouble)((vbits)v & INT64_MAX) * 0x1p-51 + load(r->unsure + i);
    return emit(v, e, dtype, (struct place){r->out + size * i, n});
}

INLINE size_t phases_of(const struct pe__phase_row *r, uint16_t *pending, const enum pe_dtype dtype)
{
    struct list list = {pending, 0};
    for (size_t i = 0; i < r->pairs; i += LANES) {
        bool full = r->pairs - i >= LANES;
        size_t n = full ? LANES : r->pairs - i;
        if (dtype == PE_DTYPE_F64) {
            vbits miss = full ? phase_f64(r, i, LANES) : phase_f64(r, i, n);
            if (any_bits(miss))
                note_bits(&list, miss, n, (unsigned)i);
        } else {
            vword miss = full ? phase_short(r, i, LANES, dtype) : phase_short(r, i, n, dtype);
            if (any_words(miss))
                note_words(&list, miss, n, (unsigned)i);
        }
    }
    return list.count;
}

static size_t phases(const struct pe__phase_row *r, uint16_t *pending)
{
    switch (r->dtype) {
    case PE_DTYPE_F64:
        return phases_of(r, pending, PE_DTYPE_F64);
    case PE_DTYPE_F32:
        return phases_of(r, pending, PE_DTYPE_F32);
    case PE_DTYPE_F16:
        return phases_of(r, pending, PE_DTYPE_F16);
    case PE_DTYPE_BF16:
        return phases_of(r, pending, PE_DTYPE_BF16);
    default:
        return phases_of(r, pending, PE_DTYPE_BF16_AS_F32);
    }
}

#define NAME_(isa) pe__kernel_##isa
#define NAME(isa) NAME_(isa)
#define TEXT_(isa) #isa
#define TEXT(isa) TEXT_(isa)

const struct pe__kernel NAME(PE_ISA) = {TEXT(PE_ISA), compose, make_block, phases};
