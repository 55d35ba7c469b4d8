/* SPDX-License-Identifier: MIT
 *
 * axes.h: ids of several axes (M-RoPE): text rises on all of them at once, an image or a clip spans
 * them.
 */
#ifndef PE_LAYOUT_AXES_H
#define PE_LAYOUT_AXES_H

#include "layout/sink.h"
#include "posenc_layout.h"

/* Neighbouring slots of one document: text, or one grid. */
struct pe__stretch {
    int64_t slot; /* flat */
    int64_t length;
    int64_t now;    /* position of the first, on t, h and w */
    int64_t text;   /* place of the first in its document, from `start` on: the text axis */
    int64_t before; /* tokens in front */
    uint32_t document;
    int32_t grid; /* of its kind; -1 for text */
    bool video;
};

struct pe__story {
    int64_t before; /* tokens of the documents in front */
    int64_t tokens;
    int64_t next;          /* largest id + 1 */
    uint32_t first_of_row; /* number of the row's first document */
    uint32_t row;
};

struct pe__axes {
    const struct pe_layout_request *q;
    int64_t rows, width;
    struct pe__stretch *stretch;
    uint32_t stretches;
    struct pe__story *document;
    uint32_t documents;
    int64_t tokens, longest;
    bool overlaps; /* some text begins inside of what stands before it */
    uint64_t room_stretches, room_documents;
};

/* Errors: MISSING, CONFLICT, RANGE, NO_MEMORY. */
enum pe_error pe__axes_make(struct pe__axes *, const struct pe_layout_request *,
                            struct pe_layout_fault *);
void pe__axes_clear(struct pe__axes *);

/* The checks that need no walk. Same errors. */
enum pe_error pe__axes_check(const struct pe_layout_request *, struct pe_layout_fault *);

/* The grids of a kind, and the option that they are. */
const struct pe_array *pe__grids(const struct pe_layout_request *, bool video);
enum pe_option pe__grid_option(bool video);

/* A grid in tokens: frames, rows, columns. */
struct pe__frames {
    int64_t t, h, w;
};
struct pe__frames pe__grid_of(const struct pe_layout_request *, bool video, int64_t grid);

/* Where frame i of a grid lies after its first. */
int64_t pe__frame_at(const struct pe_layout_request *, bool video, int64_t grid, int64_t frame);

/* As in project.h. */
unsigned pe__axes_shape(const struct pe__axes *, enum pe_out, uint64_t shape[4]);
void pe__axes_project(const struct pe__axes *, enum pe_out, uint64_t first, uint64_t count,
                      void *out);
enum pe_error pe__axes_allowed(const struct pe__axes *, enum pe_out, struct pe_layout_fault *);

#endif
