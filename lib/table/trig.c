/* SPDX-License-Identifier: MIT
 *
 * trig.c: tables of sines and cosines: a source for each strip of pairs, an arrangement for each
 * row.
 *
 * Strips whose places are planes are written where they belong; others go through a block on the
 * stack that fits the caches. Nothing is allocated in a fill.
 */
#include "trig.h"

#include "producer.h"
#include "spec/spec.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- life */

static void destroy(void **state)
{
    struct pe__trig *t = *state;
    if (!t)
        return;
    pe__trig_uncut(t);
    pe__decay_destroy(&t->decay);
    free(t);
    *state = NULL;
}

static enum pe_error create(const struct pe__making *m, void **state)
{
    const struct pe_spec *s = m->spec;
    const struct pe__trig *like = m->like;
    struct pe_tensor tensors[PE_MAX_TENSORS];
    struct pe__trig *t = calloc(1, sizeof *t);
    enum pe_error error;
    *state = t;
    if (!t)
        return PE_NO_MEMORY;
    t->spec = s;
    t->how = m->how;
    t->tensors = pe_spec_tensors(s, tensors);
    t->size = pe_dtype_size((enum pe_dtype)s->dtype);
    for (unsigned i = 0; i < t->tensors; i++)
        t->stride[i] = tensors[i].row_elements * t->size;
    error = pe__trig_cut(t, m->ladder, like);
    if (!error && s->kind == PE_KIND_XPOS)
        error = pe__decay_create(s, like ? like->decay : NULL, &t->decay);
    t->whole = t->count == 1 &&
               (t->strips[0].woven || (t->strips[0].direct && s->layout != PE_LAYOUT_SPLIT));
    if (error)
        destroy(state);
    return error;
}

static size_t bytes(const void *state)
{
    const struct pe__trig *t = state;
    size_t sum = sizeof *t + t->room * sizeof *t->strips + pe__decay_bytes(t->decay);
    for (unsigned i = 0; i < t->count; i++)
        sum += t->how->band_bytes(t->strips[i].band);
    return sum;
}

/* ---------------------------------------------------------------- rows */

/* The first place of a hand that is wanted, or NULL. */
static const struct pe__place *place_of(const struct pe__strip *strip, enum pe__hand hand,
                                        void *const out[])
{
    for (unsigned i = 0; i < strip->to.count; i++)
        if (strip->to.at[i].hand == hand && out[strip->to.at[i].tensor])
            return &strip->to.at[i];
    return NULL;
}

static char *address(const struct pe__trig *t, const struct pe__strip *strip,
                     const struct pe__place *p, void *const out[])
{
    return p ? (char *)out[p->tensor] + (p->column + strip->first) * t->size : NULL;
}

/* Where a source writes: row i of a hand begins at i * stride; NULL where it is not wanted. */
struct hands {
    void *of[PE__HANDS];
    size_t stride;
};

/* The rows of a run that differ. */
static size_t own_rows(const struct pe__run *run)
{
    return run->step ? run->rows : 1;
}

static void read_source(const struct pe__trig *t, const struct pe__strip *strip,
                        const struct pe__run *run, const struct hands *to)
{
    size_t rows = own_rows(run);
    if (t->spec->layout == PE_LAYOUT_PHASE)
        t->how->phases(strip->band, run->position, rows, to->of[PE__COS], to->stride);
    else if (to->of[PE__COS] || to->of[PE__SIN])
        t->how->rows(strip->band, run->position, rows, to->of[PE__COS], to->of[PE__SIN],
                     to->stride);
    if (to->of[PE__SCALE])
        pe__decay_rows(
            t->decay,
            &(struct pe__decay_window){strip->of.first, strip->of.pairs, run->position, rows},
            to->of[PE__SCALE], to->stride);
}

/* Places that are planes: the source writes the first of each hand, the rest are copies. */
static void fill_direct(const struct pe__trig *t, const struct pe__strip *strip,
                        const struct pe__run *run, void *const out[])
{
    const size_t n = strip->of.pairs * t->size;
    struct hands hands = {.stride = 0};
    for (int hand = 0; hand < PE__HANDS; hand++) {
        const struct pe__place *p = place_of(strip, (enum pe__hand)hand, out);
        hands.of[hand] = address(t, strip, p, out);
        hands.stride = p ? t->stride[p->tensor] : hands.stride;
    }
    read_source(t, strip, run, &hands);
    for (unsigned i = 0; i < strip->to.count; i++) {
        const struct pe__place *p = &strip->to.at[i];
        const char *from = hands.of[p->hand];
        char *to = address(t, strip, p, out);
        if (!out[p->tensor] || (to == from && run->step))
            continue;
        for (uint64_t row = to == from; row < run->rows; row++)
            memcpy(to + row * hands.stride, from + (run->step ? row : 0) * hands.stride, n);
    }
}

/* Cosines and sines side by side, as the source makes them. */
static void fill_woven(const struct pe__trig *t, const struct pe__strip *strip,
                       const struct pe__run *run, void *const out[])
{
    const struct pe__place *p = &strip->to.at[0];
    struct pe__woven to = {.stride_bytes = t->stride[p->tensor], .cos_first = p->hand == PE__COS};
    if (!out[p->tensor])
        return;
    to.at = (char *)out[p->tensor] + (p->column + 2 * strip->first) * t->size;
    t->how->woven(strip->band, run->position, own_rows(run), &to);
    for (uint64_t row = own_rows(run); row < run->rows; row++)
        memcpy((char *)to.at + row * to.stride_bytes, to.at, 2 * strip->of.pairs * t->size);
}

static void advance(const struct pe__trig *t, void *const out[], uint64_t rows, void *to[])
{
    for (unsigned i = 0; i < t->tensors; i++)
        to[i] = out[i] ? (char *)out[i] + rows * t->stride[i] : NULL;
}

/* Through the block: at most PE__BLOCK_ROWS rows. */
static void fill_block(const struct pe__trig *t, const struct pe__strip *strip,
                       const struct pe__run *run, void *const out[])
{
    _Alignas(64) char block[PE__HANDS][PE__BLOCK_ROWS * PE__BLOCK_PAIRS * sizeof(double)];
    struct hands hands = {.stride = strip->of.pairs * t->size};
    struct pe__planes from = {.size = t->size,
                              .pairs = strip->of.pairs,
                              .rows = own_rows(run),
                              .first = strip->first,
                              .step = strip->of.step};
    void *at[PE_MAX_TENSORS];
    for (unsigned i = 0; i < strip->to.count; i++) {
        enum pe__hand hand = strip->to.at[i].hand == PE__MINUS_SIN ? PE__SIN : strip->to.at[i].hand;
        if (out[strip->to.at[i].tensor])
            from.of[hand] = hands.of[hand] = block[hand];
    }
    read_source(t, strip, run, &hands);
    for (uint64_t row = 0; row < run->rows; row += from.rows) {
        advance(t, out, row, at);
        pe__arrange_rows(&strip->to, &from, at, t->stride);
    }
}

static void zero_row(const struct pe__trig *t, void *const out[])
{
    memset(out[0], 0, t->stride[0]);
}

/* Rows that are no sines: padding_idx, and the last column of odd=zero. */
static void fill_zeros(const struct pe__trig *t, uint64_t first, uint64_t rows, void *const out[])
{
    const struct pe_spec *s = t->spec;
    void *at[PE_MAX_TENSORS];
    bool column = s->width % 2 && s->odd == PE_ODD_ZERO,
         padded = pe__given(s, PE_PARAM_PADDING_IDX);
    for (uint64_t row = 0; column && row < rows; row++)
        memset((char *)out[0] + (row + 1) * t->stride[0] - t->size, 0, t->size);
    for (uint64_t row = 0, n; padded && row < rows; row += n) {
        struct pe__run run = pe__walk(s, 0, first + row, rows - row);
        int64_t at_run = s->padding_idx - run.position;
        n = run.rows;
        for (uint64_t i = 0; !run.step && at_run == 0 && i < n; i++) {
            advance(t, out, row + i, at);
            zero_row(t, at);
        }
        if (run.step && at_run >= 0 && (uint64_t)at_run < n) {
            advance(t, out, row + (uint64_t)at_run, at);
            zero_row(t, at);
        }
    }
}

static void fill_rows(const struct pe__trig *t, uint64_t first, uint64_t rows, void *const out[])
{
    void *at[PE_MAX_TENSORS];
    for (unsigned i = 0; i < t->count; i++) {
        const struct pe__strip *strip = &t->strips[i];
        struct pe__run run;
        for (uint64_t row = 0; row < rows; row += run.rows) {
            run = pe__walk(t->spec, strip->axis, first + row, rows - row);
            advance(t, out, row, at);
            if (strip->direct)
                fill_direct(t, strip, &run, at);
            else if (strip->woven)
                fill_woven(t, strip, &run, at);
            else
                fill_block(t, strip, &run, at);
        }
    }
    if (t->spec->kind == PE_KIND_SINUSOIDAL)
        fill_zeros(t, first, rows, out);
}

/* Blocks end where those of the rotors do (rotation/tables.h), so that neither is cut in two. */
static uint64_t block_rows(const struct pe__trig *t, uint64_t first)
{
    uint64_t position = (uint64_t)t->spec->offset + first;
    return PE__BLOCK_ROWS - (position + 16) % PE__BLOCK_ROWS;
}

static void fill(const void *state, uint64_t first, uint64_t rows, void *const out[])
{
    const struct pe__trig *t = state;
    void *at[PE_MAX_TENSORS];
    advance(t, out, 0, at);
    if (t->spec->cls_token) {
        if (first == 0) {
            zero_row(t, at);
            advance(t, at, 1, at);
        }
        rows -= first == 0;
        first -= first > 0;
    }
    while (rows) {
        uint64_t n = t->whole ? rows : block_rows(t, first);
        n = n < rows ? n : rows;
        fill_rows(t, first, n, at);
        advance(t, at, n, at);
        first += n;
        rows -= n;
    }
}

const struct pe__producer pe__trig_producer = {create, destroy, bytes, fill};
