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

static const struct pe__arithmetic *const arithmetics[PE_ARITHMETIC_COUNT] = {
    [PE_ARITHMETIC_EXACT] = &pe__exact_arithmetic,
    [PE_ARITHMETIC_FLOAT32] = &pe__staged_arithmetic,
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

static enum pe_error add_strip(struct pe__trig *t, const void *ladder,
                               const struct pe__strip *strip)
{
    enum pe_error error;
    if (t->count == t->room) {
        unsigned room = t->room ? 2 * t->room : 4;
        struct pe__strip *more = realloc(t->strips, room * sizeof *more);
        if (!more)
            return PE_NO_MEMORY;
        t->strips = more;
        t->room = room;
    }
    t->strips[t->count] = *strip;
    error = t->how->band_create(ladder, t->spec, &strip->of, &t->strips[t->count].band);
    t->count += !error;
    return error;
}

/* Cuts what goes through the block into strips that fit it. */
static enum pe_error add_pairs(struct pe__trig *t, const void *ladder, struct pe__strip strip)
{
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
        error = add_strip(t, ladder, &strip);
    }
    return error;
}

static struct pe__strip strip_of(const struct pe_spec *s, unsigned axis, struct pe__band of)
{
    struct pe__strip strip = {
        .of = of, .first = of.first, .axis = axis, .to = pe__arrangement_of(s, axis)};
    pe__walk_range(s, &strip.of.low, &strip.of.span);
    return strip;
}

/* Both axes have the ladder to themselves; the second stands behind the first. */
static enum pe_error add_two_axes(struct pe__trig *t, const void *ladder)
{
    size_t pairs = (size_t)t->spec->width / 4;
    enum pe_error error = PE_OK;
    for (unsigned axis = 0; axis < 2 && !error; axis++) {
        struct pe__strip strip = strip_of(t->spec, axis, (struct pe__band){0, 1, pairs, 0, 0});
        strip.first = t->spec->kind == PE_KIND_AXIAL_ROPE ? axis * pairs : 0;
        error = add_pairs(t, ladder, strip);
    }
    return error;
}

/* Pairs from, from + 3, .. < end of a woven mrope: they belong to one axis. */
static enum pe_error add_thirds(struct pe__trig *t, const void *ladder, size_t from, size_t end)
{
    struct pe__band band = {.first = from, .step = 3, .pairs = (end - from + 2) / 3};
    if (from >= end)
        return PE_OK;
    return add_pairs(t, ladder, strip_of(t->spec, pe__mrope_axis(t->spec, from), band));
}

/* Every third pair: t throughout; h and w as far as their sections go, then t again. */
static enum pe_error add_woven_axes(struct pe__trig *t, const void *ladder)
{
    size_t pairs = (size_t)t->spec->width / 2;
    enum pe_error error = PE_OK;
    for (size_t axis = 0; axis < 3 && !error; axis++) {
        size_t own = axis ? axis + 3 * (size_t)t->spec->mrope_section.at[axis] : pairs;
        own = own < pairs ? own : pairs;
        error = add_thirds(t, ladder, axis, own);
        if (!error && own < pairs)
            error = add_thirds(t, ladder, own, pairs);
    }
    return error;
}

static enum pe_error add_sections(struct pe__trig *t, const void *ladder)
{
    const int64_t *section = t->spec->mrope_section.at;
    struct pe__band band = {.step = 1};
    enum pe_error error = PE_OK;
    for (unsigned axis = 0; axis < 3 && !error; axis++) {
        band.pairs = (size_t)section[axis];
        if (band.pairs)
            error = add_pairs(t, ladder, strip_of(t->spec, axis, band));
        band.first += band.pairs;
    }
    return error;
}

/* An odd width: the sine of a pair that has no cosine, behind the other sines or in the last
 * column. */
static enum pe_error add_lone_sine(struct pe__trig *t, const void *ladder)
{
    const struct pe_spec *s = t->spec;
    size_t half = (size_t)s->width / 2;
    bool among = s->layout == PE_LAYOUT_SPLIT && s->order == PE_ORDER_SIN;
    struct pe__strip strip = strip_of(s, 0, (struct pe__band){half, 1, 1, 0, 0});
    strip.first = among ? half : (size_t)s->width - 1;
    strip.to = (struct pe__arrangement){1, {{PE__SIN, 0, 0, 1}}};
    return add_pairs(t, ladder, strip);
}

static enum pe_error add_strips(struct pe__trig *t, const void *ladder)
{
    const struct pe_spec *s = t->spec;
    enum pe_error error;
    if (s->kind == PE_KIND_GRID || s->kind == PE_KIND_AXIAL_ROPE)
        return add_two_axes(t, ladder);
    if (s->kind == PE_KIND_MROPE && pe__axes(s) == 3)
        return s->mrope_interleaved ? add_woven_axes(t, ladder) : add_sections(t, ladder);
    error =
        add_pairs(t, ladder, strip_of(s, 0, (struct pe__band){0, 1, (size_t)s->width / 2, 0, 0}));
    if (!error && s->kind == PE_KIND_SINUSOIDAL && s->width % 2 && s->odd == PE_ODD_SINE)
        error = add_lone_sine(t, ladder);
    return error;
}

enum pe_error pe__trig_cut(struct pe__trig *t)
{
    void *ladder = NULL;
    enum pe_error error;
    t->how = arithmetics[t->spec->kind == PE_KIND_GRID ? PE_ARITHMETIC_EXACT : t->spec->arithmetic];
    error = t->how->ladder_create(t->spec, &ladder);
    if (!error)
        error = add_strips(t, ladder);
    t->how->ladder_destroy(&ladder);
    return error;
}

void pe__trig_uncut(struct pe__trig *t)
{
    for (unsigned i = 0; i < t->count; i++)
        t->how->band_destroy(&t->strips[i].band);
    free(t->strips);
    t->strips = NULL;
    t->count = t->room = 0;
}
