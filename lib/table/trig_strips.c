/* SPDX-License-Identifier: MIT
 *
 * trig_strips.c: cuts a table of sines and cosines into strips.
 *
 * A strip is as wide as its axis and its steps allow; one that goes through the block is cut
 * further to fit it. Which pairs read which axis is decided here, for grids, for two and for three
 * axes.
 */
#include "spec/spec.h"
#include "trig.h"
#include "walk.h"

#include <stdlib.h>

/* What strips are cut from. */
struct cloth {
    struct pe__trig *t;
    const void *ladder;
    const struct pe__trig *like;
};

static bool is_direct(const struct pe__arrangement *a, size_t step)
{
    for (unsigned i = 0; i < a->count; i++)
        if (a->at[i].pitch != 1)
            return false;
    return step == 1;
}

static bool is_woven(const struct pe__arrangement *a, size_t step)
{
    const struct pe__place *p = &a->at[0], *q = &a->at[1];
    return a->count == 2 && step == 1 && p->pitch == 2 && q->pitch == 2 && p->tensor == q->tensor &&
           q->column == p->column + 1 &&
           ((p->hand == PE__COS && q->hand == PE__SIN) ||
            (p->hand == PE__SIN && q->hand == PE__COS));
}

/* The band of a strip of the same pairs. */
static const void *find_band(const struct pe__trig *t, const struct pe__band *of)
{
    for (unsigned i = 0; t && i < t->count; i++) {
        const struct pe__band *b = &t->strips[i].of;
        if (b->first == of->first && b->step == of->step && b->pairs == of->pairs)
            return t->strips[i].band;
    }
    return NULL;
}

static enum pe_error add_strip(const struct cloth *cloth, const struct pe__strip *strip)
{
    struct pe__trig *t = cloth->t;
    struct pe__band of = strip->of;
    enum pe_error error;
    if (t->count == t->room) {
        unsigned room = t->room ? 2 * t->room : 4;
        struct pe__strip *more = realloc(t->strips, room * sizeof *more);
        if (!more)
            return PE_NO_MEMORY;
        t->strips = more;
        t->room = room;
    }
    /* of two axes that read the same pairs the second is like the first */
    of.like = find_band(t, &of);
    if (!of.like)
        of.like = find_band(cloth->like, &of);
    struct pe__strip *last = &t->strips[t->count];
    *last = *strip;
    last->of = (struct pe__band){.first = of.first, .step = of.step, .pairs = of.pairs};
    error = t->how->band_create(cloth->ladder, t->spec, &of, &last->band);
    t->count += !error;
    return error;
}

/* Cuts what goes through the block into strips that fit it. */
static enum pe_error add_pairs(const struct cloth *cloth, struct pe__strip strip)
{
    const struct pe__trig *t = cloth->t;
    size_t pairs = strip.of.pairs, start = strip.of.first, place = strip.first;
    enum pe_error error = PE_OK;
    strip.direct = is_direct(&strip.to, strip.of.step);
    strip.woven = t->how->woven && is_woven(&strip.to, strip.of.step);
    for (size_t k = 0; k < pairs && !error; k += strip.of.pairs) {
        strip.of.first = start + k * strip.of.step;
        strip.first = place + k * strip.of.step;
        strip.of.pairs = pairs - k;
        if (!strip.direct && !strip.woven && strip.of.pairs > PE__BLOCK_PAIRS)
            strip.of.pairs = PE__BLOCK_PAIRS;
        error = add_strip(cloth, &strip);
    }
    return error;
}

static struct pe__strip strip_of(const struct pe_spec *s, unsigned axis, struct pe__band of)
{
    struct pe__strip strip = {
        .of = of, .first = of.first, .axis = axis, .to = pe__arrangement_of(s, axis)};
    pe__walk_range(s, &strip.of.low, &strip.of.span);
    if (pe__given(s, PE_PARAM_POSITIONS)) {
        strip.of.count = s->positions.count / pe__axes(s);
        strip.of.list = s->positions.at + axis * strip.of.count;
    }
    return strip;
}

/* Both axes have the ladder to themselves; the second stands behind the first. */
static enum pe_error add_two_axes(const struct cloth *cloth)
{
    size_t pairs = (size_t)cloth->t->spec->width / 4;
    enum pe_error error = PE_OK;
    for (unsigned axis = 0; axis < 2 && !error; axis++) {
        struct pe__strip strip =
            strip_of(cloth->t->spec, axis, (struct pe__band){.step = 1, .pairs = pairs});
        strip.first = cloth->t->spec->kind == PE_KIND_AXIAL_ROPE ? axis * pairs : 0;
        error = add_pairs(cloth, strip);
    }
    return error;
}

/* Pairs from, from + 3, .. < end of a woven mrope: they belong to one axis. */
static enum pe_error add_thirds(const struct cloth *cloth, size_t from, size_t end)
{
    struct pe__band band = {.first = from, .step = 3, .pairs = (end - from + 2) / 3};
    if (from >= end)
        return PE_OK;
    return add_pairs(cloth, strip_of(cloth->t->spec, pe__mrope_axis(cloth->t->spec, from), band));
}

/* Every third pair: t throughout; h and w as far as their sections go, then t again. */
static enum pe_error add_woven_axes(const struct cloth *cloth)
{
    size_t pairs = (size_t)cloth->t->spec->width / 2;
    enum pe_error error = PE_OK;
    for (size_t axis = 0; axis < 3 && !error; axis++) {
        size_t own = axis ? axis + 3 * (size_t)cloth->t->spec->mrope_section.at[axis] : pairs;
        own = own < pairs ? own : pairs;
        error = add_thirds(cloth, axis, own);
        if (!error && own < pairs)
            error = add_thirds(cloth, own, pairs);
    }
    return error;
}

static enum pe_error add_sections(const struct cloth *cloth)
{
    const int64_t *section = cloth->t->spec->mrope_section.at;
    struct pe__band band = {.step = 1};
    enum pe_error error = PE_OK;
    for (unsigned axis = 0; axis < 3 && !error; axis++) {
        band.pairs = (size_t)section[axis];
        if (band.pairs)
            error = add_pairs(cloth, strip_of(cloth->t->spec, axis, band));
        band.first += band.pairs;
    }
    return error;
}

/* An odd width: the sine of a pair that has no cosine, behind the other sines or in the last
 * column. */
static enum pe_error add_lone_sine(const struct cloth *cloth)
{
    const struct pe_spec *s = cloth->t->spec;
    size_t half = (size_t)s->width / 2;
    bool among = s->layout == PE_LAYOUT_SPLIT && s->order == PE_ORDER_SIN;
    struct pe__strip strip =
        strip_of(s, 0, (struct pe__band){.first = half, .step = 1, .pairs = 1});
    strip.first = among ? half : (size_t)s->width - 1;
    strip.to = (struct pe__arrangement){1, {{PE__SIN, 0, 0, 1}}};
    return add_pairs(cloth, strip);
}

static enum pe_error add_strips(const struct cloth *cloth)
{
    const struct pe_spec *s = cloth->t->spec;
    enum pe_error error;
    if (s->kind == PE_KIND_GRID || s->kind == PE_KIND_AXIAL_ROPE)
        return add_two_axes(cloth);
    if (s->kind == PE_KIND_MROPE && pe__axes(s) == 3)
        return s->mrope_interleaved ? add_woven_axes(cloth) : add_sections(cloth);
    error = add_pairs(cloth,
                      strip_of(s, 0, (struct pe__band){.step = 1, .pairs = (size_t)s->width / 2}));
    if (!error && s->kind == PE_KIND_SINUSOIDAL && s->width % 2 && s->odd == PE_ODD_SINE)
        error = add_lone_sine(cloth);
    return error;
}

enum pe_error pe__trig_cut(struct pe__trig *t, const void *ladder, const struct pe__trig *like)
{
    return add_strips(&(struct cloth){t, ladder, like});
}

void pe__trig_uncut(struct pe__trig *t)
{
    for (unsigned i = 0; i < t->count; i++)
        t->how->band_destroy(&t->strips[i].band);
    free(t->strips);
    t->strips = NULL;
    t->count = t->room = 0;
}
