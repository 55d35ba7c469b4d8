/* SPDX-License-Identifier: MIT
 *
 * axes.c: see axes.h: reading a request. Documents are walked token by token; a grid takes its
 * tokens at once.
 */
#include "layout/axes.h"
#include "layout/fault.h"
#include "layout/labels.h"
#include "layout/list.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TEXT, IMAGE, VIDEO, AUDIO };

struct reading {
    struct pe__axes *a;
    const struct pe_layout_request *q;
    struct pe_layout_fault *fault;
    enum pe_error error;
    uint64_t used[2]; /* grids of images, of videos */
    /* the document under way */
    int64_t now, top, text;
    bool after_vision;
};

static void fail(struct reading *r, enum pe_error e)
{
    if (!r->error)
        r->error = e;
}

static void out_of_memory(struct reading *r)
{
    fail(r, pe__fault(r->fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout"));
}

/* ---------------------------------------------------------------- the walk */

static void open_document(struct reading *r, uint32_t row, bool first)
{
    struct pe__axes *a = r->a;
    if (r->error)
        return;
    if (!pe__list_more(&a->document, a->documents, &a->room_documents, sizeof *a->document)) {
        out_of_memory(r);
        return;
    }
    uint32_t n = a->documents++;
    a->document[n] =
        (struct pe__story){.before = a->tokens,
                           .row = row,
                           .first_of_row = first ? n : a->document[n - 1].first_of_row};
    r->now = r->text = r->q->start;
    r->top = r->q->start - 1;
    r->after_vision = false;
}

static void close_document(struct reading *r)
{
    struct pe__axes *a = r->a;
    if (r->error)
        return;
    struct pe__story *d = &a->document[a->documents - 1];
    d->next = r->top + 1;
    a->longest = d->tokens > a->longest ? d->tokens : a->longest;
    if (r->top > PE_SLOT_END)
        fail(r, pe__fault(r->fault, PE_RANGE, PE_OPTION_START,
                          "row %" PRIu32 " needs an id beyond 2^53", d->row));
}

static void add(struct reading *r, int64_t slot, int64_t length, bool video, int64_t grid)
{
    struct pe__axes *a = r->a;
    if (!pe__list_more(&a->stretch, a->stretches, &a->room_stretches, sizeof *a->stretch)) {
        out_of_memory(r);
        return;
    }
    a->stretch[a->stretches++] = (struct pe__stretch){.slot = slot,
                                                      .length = length,
                                                      .now = r->now,
                                                      .text = r->text,
                                                      .before = a->tokens,
                                                      .document = a->documents - 1,
                                                      .grid = (int32_t)grid,
                                                      .video = video};
    a->tokens += length;
    a->document[a->documents - 1].tokens += length;
    r->text += length;
}

static void blame_slot(struct reading *r, int64_t flat, const char *what)
{
    fail(r, pe__fault_in(r->fault, PE_RANGE, PE_OPTION_MM_TOKEN_TYPE_IDS,
                         (uint64_t)(flat / r->a->width), (uint64_t)(flat % r->a->width), what));
}

/* A grid at the head of neighbouring slots [flat, end) of the document: returns how many it takes.
 */
static int64_t take_grid(struct reading *r, int64_t flat, int64_t end, bool video)
{
    const struct pe_layout_request *q = r->q;
    uint64_t g = r->used[video];
    if (g >= pe__grids(q, video)->count / 3) {
        fail(r, pe__fault(r->fault, PE_RANGE, pe__grid_option(video),
                          "row %" PRId64 " has tokens of a grid that %s does not list",
                          flat / r->a->width, pe_option_info(pe__grid_option(video))->name));
        return 0;
    }
    struct pe__frames f = pe__grid_of(q, video, (int64_t)g);
    int64_t n, kind = video ? VIDEO : IMAGE;
    bool fits = !__builtin_mul_overflow(f.t, f.h, &n) && !__builtin_mul_overflow(n, f.w, &n) &&
                n <= end - flat;
    for (int64_t i = 0; fits && i < n; i++)
        fits = pe__at(&q->mm_token_type_ids, (uint64_t)(flat + i)) == kind;
    if (!fits) {
        blame_slot(r, flat, "the grid has more tokens than follow here");
        return 0;
    }
    add(r, flat, n, video, (int64_t)g);
    int64_t last = pe__frame_at(q, video, (int64_t)g, f.t - 1), side = f.h > f.w ? f.h : f.w;
    int64_t high = r->now + (last > side - 1 ? last : side - 1);
    r->top = r->top > high ? r->top : high;
    r->now = q->advance == PE_ADVANCE_ALL ? high + 1 : r->now + side;
    r->after_vision = true;
    r->used[video]++;
    return n;
}

static int64_t take_text(struct reading *r, int64_t flat, int64_t end)
{
    const struct pe_array *types = &r->q->mm_token_type_ids;
    int64_t n = 0;
    while (flat + n < end) {
        int64_t type = pe__at(types, (uint64_t)(flat + n));
        if (type != TEXT && type != AUDIO)
            break;
        n++;
    }
    r->a->overlaps |= r->after_vision && r->now <= r->top;
    add(r, flat, n, false, -1);
    r->now += n;
    r->top = r->top > r->now - 1 ? r->top : r->now - 1;
    r->after_vision = false;
    return n;
}

/* Neighbouring slots of the document under way. */
static void take(struct reading *r, int64_t flat, int64_t end)
{
    while (flat < end && !r->error) {
        int64_t type = pe__at(&r->q->mm_token_type_ids, (uint64_t)flat);
        if (type < TEXT || type > AUDIO)
            blame_slot(r, flat, "a type is 0 text, 1 image, 2 video or 3 audio");
        else if (type == IMAGE || type == VIDEO)
            flat += take_grid(r, flat, end, type == VIDEO);
        else
            flat += take_text(r, flat, end);
        if (r->now > PE_SLOT_END)
            fail(r, pe__fault(r->fault, PE_RANGE, PE_OPTION_START, "an id would be beyond 2^53"));
    }
}

static void walk_mask(struct reading *r)
{
    const struct pe_array *mask =
        r->q->given[PE_OPTION_ATTENTION_MASK] ? &r->q->attention_mask : NULL;
    for (int64_t row = 0; row < r->a->rows && !r->error; row++) {
        int64_t at = row * r->a->width, end = at + r->a->width;
        open_document(r, (uint32_t)row, true);
        while (at < end && !r->error) {
            int64_t from = at;
            bool token = !mask || pe__at(mask, (uint64_t)at);
            while (at < end && (!mask || pe__at(mask, (uint64_t)at) != 0) == token)
                at++;
            if (token)
                take(r, from, at);
        }
        close_document(r);
    }
}

static void walk_labels(struct reading *r)
{
    struct pe__labels l = {.array = &r->q->segment_ids, .pad = r->q->segment_base - 1};
    struct pe__label_run run;
    for (int64_t row = 0; row < r->a->rows && !r->error; row++) {
        bool open = false;
        pe__labels_row(&l, (uint64_t)row);
        while (!r->error && pe__labels_next(&l, &run)) {
            if (run.repeated) {
                fail(r,
                     pe__fault_in(r->fault, PE_RANGE, PE_OPTION_SEGMENT_IDS, (uint64_t)row,
                                  (uint64_t)run.slot, "the number comes back after another one"));
                break;
            }
            if (run.opens) {
                if (open)
                    close_document(r);
                open_document(r, (uint32_t)row, !open);
                open = true;
            }
            take(r, row * r->a->width + run.slot, row * r->a->width + run.slot + run.length);
        }
        if (open)
            close_document(r);
    }
    if (l.no_memory)
        out_of_memory(r);
    pe__labels_clear(&l);
}

enum pe_error pe__axes_make(struct pe__axes *a, const struct pe_layout_request *q,
                            struct pe_layout_fault *fault)
{
    struct reading r = {.a = a, .q = q, .fault = fault};
    uint64_t rows, width;
    enum pe_error e = pe__axes_check(q, fault);
    if (e ||
        (e = pe__grid(&q->mm_token_type_ids, PE_OPTION_MM_TOKEN_TYPE_IDS, &rows, &width, fault)))
        return e;
    a->q = q;
    a->rows = (int64_t)rows;
    a->width = (int64_t)width;
    if (q->given[PE_OPTION_SEGMENT_IDS])
        walk_labels(&r);
    else
        walk_mask(&r);
    for (int video = 0; video < 2 && !r.error; video++)
        if (r.used[video] != pe__grids(q, video)->count / 3)
            r.error = pe__fault_at(fault, PE_RANGE, pe__grid_option(video), r.used[video],
                                   "no tokens are left for the grid");
    return r.error;
}

void pe__axes_clear(struct pe__axes *a)
{
    free(a->stretch);
    free(a->document);
    *a = (struct pe__axes){0};
}
