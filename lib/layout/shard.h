/* SPDX-License-Identifier: MIT
 *
 * shard.h: one rank's part of a layout. Units (rows, or rooms of documents) are cut into pieces,
 * pieces go to ranks, and a rank's own are laid end to end. Nothing here grows with the number of
 * ranks.
 */
#ifndef PE_LAYOUT_SHARD_H
#define PE_LAYOUT_SHARD_H

#include "layout/form.h"
#include "layout/slots.h"

/* How a unit is cut: piece i has base + (i < many) * more + (i == many) * rest slots. Pieces lie
 * one after the other; of round_robin a piece is what one rank gets, stripe by stripe. */
struct pe__cut {
    int64_t base, many, more, rest;
};

/* Slots of the rank that lie together: a piece; of round_robin all stripes of a unit. */
struct pe__span {
    int64_t local;  /* place of the first in the rank's own order */
    int64_t slot;   /* its flat slot; of stripes: that of the unit */
    int64_t length; /* slots of the rank */
    uint32_t unit;
};

/* A run of local slots of one room: a sequence of the rank. */
struct pe__local {
    uint32_t sequence;
    int64_t first;   /* local slot */
    int64_t covered; /* covered slots in front */
    int64_t used;    /* tokens */
};

/* Neighbouring local slots of one row and room, all tokens or all pads; stripes cut them further.
 */
struct pe__part {
    int64_t local;
    int64_t slot;    /* flat slot of the first */
    int64_t length;  /* local slots */
    int64_t inside;  /* of stripes: place of the first among the rank's slots of the unit */
    uint64_t pieces; /* pieces in front */
    uint32_t room;   /* NONE without sequences */
    uint32_t unit;
    bool token;
};

/* How many slots of each piece index lie in units in front, for `inverse`: sums over units at every
 * `step`-th unit, by the different values of `many`. */
struct pe__ahead {
    int64_t *value; /* the different values of `many`, rising [values] */
    size_t values;
    uint64_t step;
    int64_t *base;  /* [marks] */
    int64_t *more;  /* [marks, values + 1] sums over units whose `many` is at least the value */
    int64_t *rest;  /* [marks, values] sums over units whose `many` is the value */
    int64_t *spent; /* [values + 1] over all units of a smaller `many`: what all their pieces beyond
                       base hold */
    uint64_t marks;
};

struct pe__shard {
    const struct pe_layout_request *q;
    const struct pe__form *form;
    bool by_document, heads, stripes;
    int64_t count; /* pieces of a unit */
    uint64_t units;
    struct pe__span *span;
    uint64_t spans, head_spans; /* of heads before tails: how many are heads */
    int64_t slots;              /* local slots */
    struct pe__local *run;      /* [runs + 1]: the last holds where things end */
    uint64_t runs;
    struct pe__part *part;
    uint64_t parts, pieces;
    struct pe__ahead ahead;
};

/* Options of a split and of what it demands of the layout: the multiple a unit must be of, and
 * rooms and rows grown to it by uneven=pad. Changes the request before the form is built. `masked`:
 * rows of a mask. Errors: MISSING, UNUSED, CONFLICT, RANGE. */
enum pe_error pe__shard_options(struct pe_layout_request *, bool masked, struct pe_layout_fault *);

/* The slots that a unit must be a multiple of to be cut evenly; INT64_MAX beyond. */
int64_t pe__shard_multiple(int split, int64_t shards, int64_t stripe);

/* Cuts a form. `outputs` says which lists are needed. The request and the form must outlive the
 * shard. Errors: RANGE (a unit that cannot be cut evenly), NO_MEMORY. */
enum pe_error pe__shard_make(struct pe__shard *, const struct pe_layout_request *,
                             const struct pe__form *, uint64_t outputs, struct pe_layout_fault *);
void pe__shard_clear(struct pe__shard *);
size_t pe__shard_bytes(const struct pe__shard *);

/* ---------------------------------------------------------------- between the files of shards */

/* Where a unit begins, also of the number of units; how it is cut; slots in front of piece i. */
int64_t pe__unit_first(const struct pe__shard *, uint64_t unit);
struct pe__cut pe__cut_unit(const struct pe__shard *, int64_t slots);
static inline int64_t pe__piece_size(const struct pe__cut *c, int64_t i)
{
    return c->base + (i < c->many ? c->more : i == c->many ? c->rest : 0);
}
static inline int64_t pe__piece_first(const struct pe__cut *c, int64_t i)
{
    return i * c->base + pe__min(i, c->many) * c->more + (i > c->many ? c->rest : 0);
}

/* The flat slot of local slot i of a span. */
int64_t pe__span_slot(const struct pe__shard *, const struct pe__span *, int64_t i);

/* Lists the rank's sequences; with `parts` also its pieces. */
enum pe_error pe__shard_runs(struct pe__shard *, bool parts);

/* Prepares, and writes, `inverse`. */
enum pe_error pe__ahead_make(struct pe__shard *);
void pe__inverse(const struct pe__shard *, int64_t first, int64_t count, struct pe__sink *);

/* Every tensor of a shard, as in project.h. */
unsigned pe__shard_shape(const struct pe__shard *, enum pe_out, uint64_t shape[4]);
void pe__shard_project(const struct pe__shard *, enum pe_out, uint64_t first, uint64_t count,
                       void *out);
void pe__shard_positions(const struct pe__shard *, uint64_t first, uint64_t count, int64_t *out);
enum pe_error pe__shard_allowed(const struct pe__shard *, enum pe_out, struct pe_layout_fault *);

#endif
