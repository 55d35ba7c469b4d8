/* SPDX-License-Identifier: MIT
 *
 * axes.c: see axes.h: reading a request. Documents are walked token by token; a grid takes its tokens at once.
 */
#include "layout/axes.h"
#include "layout/fault.h"
#include "layout/labels.h"

#include <inttypes.h>
#include <math.h>
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

static const struct pe_array *grids(const struct pe_layout_request *q, bool video)
{
    return video ? &q->video_grid_thw : &q->image_grid_thw;
}

static enum pe_option grid_option(bool video)
{
    return video ? PE_OPTION_VIDEO_GRID_THW : PE_OPTION_IMAGE_GRID_THW;
}

struct pe__frames pe__grid_of(const struct pe_layout_request *q, bool video, int64_t grid)
{
    const struct pe_array *a = grids(q, video);
    int64_t m = q->spatial_merge_size;
    uint64_t at = 3 * (uint64_t)grid;
    return (struct pe__frames){pe__at(a, at), pe__at(a, at + 1) / m, pe__at(a, at + 2) / m};
}

int64_t pe__frame_at(const struct pe_layout_request *q, bool video, int64_t grid, int64_t frame)
{
    if (!video || !q->given[PE_OPTION_SECOND_PER_GRID_TS])
        return frame;
    double at = (double)frame * q->second_per_grid_ts.at[grid];
    return (int64_t)fmin(floor(at * q->tokens_per_second), 0x1p60);
}

static void fail(struct reading *r, enum pe_error e)
{
    if (!r->error)
        r->error = e;
}

static void out_of_memory(struct reading *r)
{
    fail(r, pe__fault(r->fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout"));
}

static bool more(void *list, uint32_t count, uint32_t *room, size_t item)
{
    if (count < *room)
        return true;
    size_t grown = *room ? *room + (size_t)*room / 2 : 64;
    void *at = grown < UINT32_MAX ? realloc(*(void **)list, grown * item) : NULL;
    if (!at)
        return false;
    *(void **)list = at;
    *room = (uint32_t)grown;
    return true;
}

/* ---------------------------------------------------------------- checks before the walk */

static enum pe_error check_grids(const struct pe_layout_request *q, bool video, struct pe_layout_fault *fault)
{
    const struct pe_array *a = grids(q, video);
    enum pe_option o = grid_option(video);
    uint64_t rows, width;
    if (!q->given[o] || a->count == 0)
        return PE_OK;
    enum pe_error e = pe__grid(a, o, &rows, &width, fault);
    if (e)
        return e;
    if (width != 3)
        return pe__fault(fault, PE_RANGE, o, "%s holds rows of t, h, w", pe_option_info(o)->name);
    for (uint64_t i = 0; i < rows; i++) {
        int64_t m = q->spatial_merge_size, h = pe__at(a, 3 * i + 1), w = pe__at(a, 3 * i + 2);
        if (pe__at(a, 3 * i) < 1 || h < 1 || w < 1 || h % m || w % m)
            return pe__fault_at(fault, PE_RANGE, o, i,
                                "t, h and w are at least 1, h and w multiples of spatial_merge_size");
    }
    return PE_OK;
}

static enum pe_error check_seconds(const struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    bool seconds = q->given[PE_OPTION_SECOND_PER_GRID_TS], rate = q->given[PE_OPTION_TOKENS_PER_SECOND];
    if (seconds != rate)
        return pe__fault(fault, PE_MISSING,
                         seconds ? PE_OPTION_TOKENS_PER_SECOND : PE_OPTION_SECOND_PER_GRID_TS,
                         "second_per_grid_ts and tokens_per_second go together");
    if (!seconds)
        return PE_OK;
    if (!(q->tokens_per_second > 0))
        return pe__fault(fault, PE_RANGE, PE_OPTION_TOKENS_PER_SECOND, "tokens_per_second must be above 0");
    if (q->second_per_grid_ts.count != q->video_grid_thw.count / 3)
        return pe__fault(fault, PE_RANGE, PE_OPTION_SECOND_PER_GRID_TS,
                         "second_per_grid_ts has %zu entries for %" PRIu64 " videos",
                         q->second_per_grid_ts.count, q->video_grid_thw.count / 3);
    for (size_t i = 0; i < q->second_per_grid_ts.count; i++)
        if (!(q->second_per_grid_ts.at[i] >= 0))
            return pe__fault_at(fault, PE_RANGE, PE_OPTION_SECOND_PER_GRID_TS, i, "seconds are at least 0");
    return PE_OK;
}

static enum pe_error same_shape(const struct pe_layout_request *q, enum pe_option o,
                                const struct pe_array *a, struct pe_layout_fault *fault)
{
    uint64_t rows, width, r, w;
    enum pe_error e = pe__grid(&q->mm_token_type_ids, PE_OPTION_MM_TOKEN_TYPE_IDS, &rows, &width, fault);
    if (e || !q->given[o] || (e = pe__grid(a, o, &r, &w, fault)))
        return e;
    if (r != rows || w != width)
        return pe__fault(fault, PE_RANGE, o, "%s has not the shape of mm_token_type_ids",
                         pe_option_info(o)->name);
    return PE_OK;
}

static enum pe_error check(const struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    enum pe_error e;
    if (!q->given[PE_OPTION_MM_TOKEN_TYPE_IDS])
        return pe__fault(fault, PE_MISSING, PE_OPTION_MM_TOKEN_TYPE_IDS, "mm_token_type_ids is required");
    if (q->given[PE_OPTION_ATTENTION_MASK] && q->given[PE_OPTION_SEGMENT_IDS])
        return pe__fault(fault, PE_CONFLICT, PE_OPTION_SEGMENT_IDS,
                         "segment_ids cannot stand beside attention_mask");
    if (q->fill >= PE_A_WORD)
        return pe__fault(fault, PE_RANGE, PE_OPTION_FILL, "fill must be an integer here");
    if ((e = same_shape(q, PE_OPTION_ATTENTION_MASK, &q->attention_mask, fault)) ||
        (e = same_shape(q, PE_OPTION_SEGMENT_IDS, &q->segment_ids, fault)) ||
        (q->given[PE_OPTION_ATTENTION_MASK] &&
         (e = pe__within(&q->attention_mask, PE_OPTION_ATTENTION_MASK, 0, 1, fault))) ||
        (e = check_grids(q, false, fault)) || (e = check_grids(q, true, fault)))
        return e;
    return check_seconds(q, fault);
}

/* ---------------------------------------------------------------- the walk */

static void open_document(struct reading *r, uint32_t row, bool first)
{
    struct pe__axes *a = r->a;
    if (r->error)
        return;
    if (!more(&a->document, a->documents, &a->room_documents, sizeof *a->document)) {
        out_of_memory(r);
        return;
    }
    uint32_t n = a->documents++;
    a->document[n] = (struct pe__story){.before = a->tokens, .row = row, .first_of_row = first ? n : a->document[n - 1].first_of_row};
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
        fail(r, pe__fault(r->fault, PE_RANGE, PE_OPTION_START, "row %" PRIu32 " needs an id beyond 2^53",
                          d->row));
}

static void add(struct reading *r, int64_t slot, int64_t length, bool video, int64_t grid)
{
    struct pe__axes *a = r->a;
    if (!more(&a->stretch, a->stretches, &a->room_stretches, sizeof *a->stretch)) {
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
    fail(r, pe__fault_in(r->fault, PE_RANGE, PE_OPTION_MM_TOKEN_TYPE_IDS, (uint64_t)(flat / r->a->width),
                         (uint64_t)(flat % r->a->width), what));
}

/* A grid at the head of neighbouring slots [flat, end) of the document: returns how many it takes. */
static int64_t take_grid(struct reading *r, int64_t flat, int64_t end, bool video)
{
    const struct pe_layout_request *q = r->q;
    uint64_t g = r->used[video];
    if (g >= grids(q, video)->count / 3) {
        fail(r, pe__fault(r->fault, PE_RANGE, grid_option(video),
                          "row %" PRId64 " has tokens of a grid that %s does not list",
                          flat / r->a->width, pe_option_info(grid_option(video))->name));
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
    const struct pe_array *mask = r->q->given[PE_OPTION_ATTENTION_MASK] ? &r->q->attention_mask : NULL;
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
                fail(r, pe__fault_in(r->fault, PE_RANGE, PE_OPTION_SEGMENT_IDS, (uint64_t)row,
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

enum pe_error pe__axes_make(struct pe__axes *a, const struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    struct reading r = {.a = a, .q = q, .fault = fault};
    uint64_t rows, width;
    enum pe_error e = check(q, fault);
    if (e || (e = pe__grid(&q->mm_token_type_ids, PE_OPTION_MM_TOKEN_TYPE_IDS, &rows, &width, fault)))
        return e;
    a->q = q;
    a->rows = (int64_t)rows;
    a->width = (int64_t)width;
    if (q->given[PE_OPTION_SEGMENT_IDS])
        walk_labels(&r);
    else
        walk_mask(&r);
    for (int video = 0; video < 2 && !r.error; video++)
        if (r.used[video] != grids(q, video)->count / 3)
            r.error = pe__fault_at(fault, PE_RANGE, grid_option(video), r.used[video],
                                   "no tokens are left for the grid");
    return r.error;
}

void pe__axes_clear(struct pe__axes *a)
{
    free(a->stretch);
    free(a->document);
    *a = (struct pe__axes){0};
}
