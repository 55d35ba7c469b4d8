/* SPDX-License-Identifier: MIT
 *
 * axes_grids.c: grids of images and videos, and what can be wrong with a request before its tokens
 * are looked at.
 */
#include "layout/axes.h"
#include "layout/fault.h"

#include <inttypes.h>
#include <math.h>

const struct pe_array *pe__grids(const struct pe_layout_request *q, bool video)
{
    return video ? &q->video_grid_thw : &q->image_grid_thw;
}

enum pe_option pe__grid_option(bool video)
{
    return video ? PE_OPTION_VIDEO_GRID_THW : PE_OPTION_IMAGE_GRID_THW;
}

struct pe__frames pe__grid_of(const struct pe_layout_request *q, bool video, int64_t grid)
{
    const struct pe_array *a = pe__grids(q, video);
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

static enum pe_error check_grids(const struct pe_layout_request *q, bool video,
                                 struct pe_layout_fault *fault)
{
    const struct pe_array *a = pe__grids(q, video);
    enum pe_option o = pe__grid_option(video);
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
            return pe__fault_at(
                fault, PE_RANGE, o, i,
                "t, h and w are at least 1, h and w multiples of spatial_merge_size");
    }
    return PE_OK;
}

static enum pe_error check_seconds(const struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    bool seconds = q->given[PE_OPTION_SECOND_PER_GRID_TS],
         rate = q->given[PE_OPTION_TOKENS_PER_SECOND];
    if (seconds != rate)
        return pe__fault(fault, PE_MISSING,
                         seconds ? PE_OPTION_TOKENS_PER_SECOND : PE_OPTION_SECOND_PER_GRID_TS,
                         "second_per_grid_ts and tokens_per_second go together");
    if (!seconds)
        return PE_OK;
    if (!(q->tokens_per_second > 0))
        return pe__fault(fault, PE_RANGE, PE_OPTION_TOKENS_PER_SECOND,
                         "tokens_per_second must be above 0");
    if (q->second_per_grid_ts.count != q->video_grid_thw.count / 3)
        return pe__fault(fault, PE_RANGE, PE_OPTION_SECOND_PER_GRID_TS,
                         "second_per_grid_ts has %zu entries for %" PRIu64 " videos",
                         q->second_per_grid_ts.count, q->video_grid_thw.count / 3);
    for (size_t i = 0; i < q->second_per_grid_ts.count; i++)
        if (!(q->second_per_grid_ts.at[i] >= 0))
            return pe__fault_at(fault, PE_RANGE, PE_OPTION_SECOND_PER_GRID_TS, i,
                                "seconds are at least 0");
    return PE_OK;
}

static enum pe_error same_shape(const struct pe_layout_request *q, enum pe_option o,
                                const struct pe_array *a, struct pe_layout_fault *fault)
{
    uint64_t rows, width, r, w;
    enum pe_error e =
        pe__grid(&q->mm_token_type_ids, PE_OPTION_MM_TOKEN_TYPE_IDS, &rows, &width, fault);
    if (e || !q->given[o] || (e = pe__grid(a, o, &r, &w, fault)))
        return e;
    if (r != rows || w != width)
        return pe__fault(fault, PE_RANGE, o, "%s has not the shape of mm_token_type_ids",
                         pe_option_info(o)->name);
    return PE_OK;
}

enum pe_error pe__axes_check(const struct pe_layout_request *q, struct pe_layout_fault *fault)
{
    enum pe_error e;
    if (!q->given[PE_OPTION_MM_TOKEN_TYPE_IDS])
        return pe__fault(fault, PE_MISSING, PE_OPTION_MM_TOKEN_TYPE_IDS,
                         "mm_token_type_ids is required");
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
