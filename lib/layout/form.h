/* SPDX-License-Identifier: MIT
 *
 * form.h: the one internal form of a layout, and how it is built.
 *
 * B rows of W slots; flat slot f = row * W + slot. A row is a list of segments in slot order:
 * tokens side by side, then slots without one up to the next segment or the end of the row. A
 * sequence is a run of segments of one row that attends to itself. Everything else is read off
 * these three lists, which are of a size in proportion to the documents and holes, never to the
 * slots.
 */
#ifndef PE_LAYOUT_FORM_H
#define PE_LAYOUT_FORM_H

#include "posenc_layout.h"

#define PE__NONE UINT32_MAX

struct pe__segment {
    int64_t slot;      /* flat slot of the first token */
    int64_t length;    /* tokens */
    int64_t position;  /* of the first; of an empty segment: the one that its first would have */
    int64_t cover;     /* covered slots in front of `slot` */
    int32_t document;  /* request number */
    uint32_t anchor;   /* nearest segment of the row with tokens, itself or before it; or NONE */
    uint32_t sequence; /* NONE where it was dropped */
    uint32_t before;   /* segment whose last token predicts the first one here, or NONE */
    uint32_t after;    /* segment whose first token the last one here predicts, or NONE */
    uint8_t reason;
};

struct pe__sequence {
    uint32_t segment;      /* its first; NONE for a tail that is a sequence of its own */
    uint32_t first_tokens; /* its first with tokens, or NONE */
    uint32_t row;
};

/* One more than there are rows: the last holds where the lists end. */
struct pe__row {
    uint32_t segment;
    uint32_t sequence;
    uint32_t first_tokens; /* its first segment with tokens, or NONE */
    int64_t tail;          /* slot of the row where its tail begins */
    int64_t cover; /* slot of the row from which its last sequence covers pads too; W where none */
    int64_t cover_before; /* covered slots of the rows in front */
};

/* A run of tokens as it was sent: neighbouring flat slots of one document. */
struct pe__origin {
    int64_t slot;
    int64_t length;
    int64_t before; /* tokens in front */
};

struct pe__form {
    const struct pe_layout_request *q;
    bool padded; /* one document a row, its room the whole of it */
    int64_t rows, width;
    struct pe__row *row;
    struct pe__segment *segment;
    uint32_t segments;
    struct pe__sequence *sequence;
    uint32_t sequences;
    int64_t tokens, covered;
    int64_t
        *past_before; /* sum of the pasts of the sequences in front [N+1]; NULL where all are 0 */
    int64_t *offset;  /* [N] place of the first token in its document; NULL where all are 0 */
    uint32_t
        *lane; /* [segments] branch of a shared prefix, 0 for the trunk; NULL without branches */
    int64_t *lane_end; /* [segments] flat slot behind the branch; NULL without branches */
    int64_t *
        source; /* [segments] number of the first token among those sent; convert only, else NULL */
    const struct pe__origin *origin; /* where tokens by number came from; convert only */
    uint64_t origins;
    const struct pe_array *tokens_in; /* input_ids, for loss_skip=eos; or NULL */
    const int64_t *dropped;           /* documents left out, owned elsewhere */
    uint64_t dropped_count;
    int64_t tokens_lost;
    uint32_t room_segments, room_sequences;
};

/* A run of one document inside a row. `first` is its slot in the row; `past` and `offset` are of
 * the sequence that it opens. `position` counts only where `has_position`. */
struct pe__piece {
    int32_t document;
    int reason;
    int64_t first;
    int64_t past;
    int64_t offset;
    int64_t position;
    bool has_position;
};

/* Builds a form row by row, piece by piece, run by run, all in slot order. After the first failure
 * every call does nothing, and pe__build_end says what it was. */
struct pe__builder {
    struct pe__form *form;
    struct pe_layout_fault *fault;
    enum pe_error error;
    /* the row under way */
    int64_t row_at;       /* flat slot of its begin */
    int64_t row_tokens;   /* tokens of it so far */
    int64_t row_room;     /* end of the last room */
    uint32_t open;        /* segment that opened the sequence under way, NONE before the first */
    uint32_t open_tokens; /* its first segment with tokens, or NONE */
    uint32_t previous;    /* segment whose last token the next token follows */
    uint32_t trunk;
    uint32_t lane;
    /* the piece under way */
    struct pe__piece piece;
    uint32_t piece_segment;
    int64_t piece_tokens;
    /* what the form will need */
    bool with_offset, with_lanes, with_source;
    int64_t open_past, open_offset;
};

/* Starts a form of rows x width slots for these options. `q` must outlive the form. Rows and width
 * have been checked: their product is at most PE_SLOT_END. `segments` is a guess of how many there
 * will be. */
void pe__build_begin(struct pe__builder *, struct pe__form *, const struct pe_layout_request *q,
                     int64_t rows, int64_t width, uint64_t segments);
void pe__build_row(struct pe__builder *);
void pe__build_piece(struct pe__builder *, const struct pe__piece *);
void pe__build_run(struct pe__builder *, int64_t slot, int64_t length, int64_t source);
void pe__build_piece_end(struct pe__builder *, int64_t room_end);
void pe__build_row_end(struct pe__builder *);
enum pe_error pe__build_end(struct pe__builder *);
void pe__form_clear(struct pe__form *);
size_t pe__form_bytes(const struct pe__form *);

/* ---------------------------------------------------------------- reading it */

static inline int64_t pe__min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t pe__max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The number of a row's sequences, segments; the sequence that covers the tail. */
static inline uint32_t pe__row_last_sequence(const struct pe__form *f, int64_t row)
{
    return f->row[row + 1].sequence - 1;
}

/* Covered slots in front of a sequence; i may be the number of sequences. */
static inline int64_t pe__cu(const struct pe__form *f, uint32_t i)
{
    if (i == f->sequences)
        return f->covered;
    const struct pe__sequence *s = &f->sequence[i];
    if (s->segment != PE__NONE)
        return f->segment[s->segment].cover;
    return f->row[s->row + 1].cover_before - (f->width - f->row[s->row].cover);
}

/* Flat slot where a room begins; of the number of sequences: B*W. */
static inline int64_t pe__room(const struct pe__form *f, uint32_t i)
{
    if (i == f->sequences)
        return f->rows * f->width;
    if (i == 0)
        return 0;
    const struct pe__sequence *s = &f->sequence[i];
    if (i == f->row[s->row].sequence)
        return s->row * f->width;
    return s->segment != PE__NONE ? f->segment[s->segment].slot
                                  : s->row * f->width + f->row[s->row].tail;
}

static inline int64_t pe__past(const struct pe__form *f, uint32_t i)
{
    return f->past_before ? f->past_before[i + 1] - f->past_before[i] : 0;
}

/* Slots of the row's tail that the sequence covers, 0 for all but a row's last. */
int64_t pe__tail_cover(const struct pe__form *, uint32_t sequence);

/* The last segment of a sequence that has tokens, or NONE. */
uint32_t pe__last_tokens(const struct pe__form *, uint32_t sequence);

/* The position that `last` and `next` take ahead of all tokens of a row. */
int64_t pe__row_base(const struct pe__form *, int64_t row);

/* The last segment of the row that begins at or before the flat slot; NONE where there is none. */
uint32_t pe__segment_at(const struct pe__form *, int64_t row, int64_t flat);

/* The sequence whose room holds the flat slot; there is at least one. */
uint32_t pe__room_at(const struct pe__form *, int64_t flat);

#endif
