/* SPDX-License-Identifier: MIT
 *
 * scribe.c: see scribe.h. The loop hands out blocks: a copy of the writer as it stands at their
 * first row goes with each, and the writer goes past them. A block that is out belongs to the pool,
 * all else to the loop. Blocks are a ring: `first` is sent, those behind it are out or ready.
 */
#include "scribe.h"
#include "must.h"

#include <stdlib.h>

/* Text that a block has room for: 100 microseconds of work, and little enough to be still in a
 * cache when it is sent. */
#define ROOM (128 << 10)

/* Of less than this the loop makes no fuss. */
#define WORTH (4 * ROOM)

enum state { READY, OUT, FAILED };

struct block {
    uv_work_t work;
    struct scribe *scribe;
    enum state state;
    struct api_writer writer; /* at the first row */
    unsigned tensor;
    uint64_t row, rows;
    void *made; /* rows that stand in no payload */
    size_t made_room;
    char *text;
    size_t text_room, size;
};

struct scribe {
    struct conn *conn; /* NULL: it has left */
    struct stream *stream;
    struct api_writer writer;
    enum { HEAD, ROWS, TAIL, OVER } stage;
    unsigned tensor; /* of the next row */
    uint64_t row;
    unsigned first, count, out;
    size_t taken; /* of the first block */
    struct block block[SCRIBE_BLOCKS];
};

/* Rows of a tensor whose text finds room in a block, by bounds; 0 where one does not. */
static uint64_t rows_of(const struct api_table *table, unsigned tensor)
{
    size_t frame = api_writer_room(table, tensor, 0), one = api_writer_room(table, tensor, 1);
    return one > ROOM ? 0 : one > frame ? 1 + (ROOM - one) / (one - frame) : UINT32_MAX;
}

bool scribe_fits(const struct order *order)
{
    const struct api_table *table = order->plan->table;
    size_t room = 0;
    if (!api_format_is_text(table->format) || !api_writer_splits(table))
        return false;
    for (unsigned t = 0; t < table->tensor_count; t++) {
        if (!api_sends(table, t))
            continue;
        size_t more = api_writer_room(table, t, order->extent.rows[t]);
        room = more > SIZE_MAX - room ? SIZE_MAX : room + more;
        if (!rows_of(table, t))
            return false;
    }
    return room >= WORTH;
}

static void release(struct scribe *s)
{
    for (unsigned i = 0; i < SCRIBE_BLOCKS; i++) {
        free(s->block[i].made);
        free(s->block[i].text);
    }
    stream_close(&s->stream);
    free(s);
}

struct scribe *scribe_open(struct conn *c, struct stream *stream)
{
    struct scribe *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->conn = c;
    s->stream = stream;
    return s;
}

void scribe_close(struct scribe **address)
{
    struct scribe *s = *address;
    *address = NULL;
    s->conn = NULL;
    if (!s->out)
        release(s);
}

static bool text_room(struct block *b, size_t size)
{
    void *at = b->text;
    bool good = stream_room(&at, &b->text_room, size);
    b->text = at;
    b->size = 0;
    return good;
}

static void work(uv_work_t *w)
{
    struct block *b = w->data;
    const struct stream *s = b->scribe->stream;
    const struct extent *x = &s->order->extent;
    const struct api_table *table = s->order->plan->table;
    bool good = text_room(b, api_writer_room(table, b->tensor, b->rows)) &&
                (s->payload ||
                 stream_room(&b->made, &b->made_room, (size_t)(b->rows * x->row_bytes[b->tensor])));
    const void *rows = good ? stream_rows(s, b->tensor, b->row, b->rows, b->made) : NULL;
    if (rows)
        b->size = api_writer_rows(&b->writer, b->tensor, rows, b->rows, b->text);
    else
        b->writer.table = NULL;
}

static void over(uv_work_t *w, int status)
{
    struct block *b = w->data;
    struct scribe *s = b->scribe;
    (void)status;
    b->state = b->writer.table ? READY : FAILED;
    s->out--;
    if (!s->conn && !s->out)
        release(s);
    else if (s->conn && b == &s->block[s->first])
        conn_wake(s->conn);
}

/* Hands out the next rows; false where they are not there yet. */
static bool hand_out(struct scribe *s, struct block *b)
{
    const struct extent *x = &s->stream->order->extent;
    const struct api_table *table = s->stream->order->plan->table;
    uint64_t n = rows_of(table, s->tensor), left = x->rows[s->tensor] - s->row;
    n = n < left ? n : left;
    uint64_t end = x->base[s->tensor] + s->row + n;
    if (s->stream->payload && payload_progress(s->stream->payload) < end) {
        s->stream->need = end;
        return false;
    }
    b->scribe = s;
    b->state = OUT;
    b->writer = s->writer;
    b->tensor = s->tensor;
    b->row = s->row;
    b->rows = n;
    b->work.data = b;
    api_writer_skip(&s->writer, s->tensor, n);
    s->row += n;
    s->out++;
    must(uv_queue_work(&s->conn->worker->uv, &b->work, work, over) == 0);
    return true;
}

/* What stands before and behind the rows is short, and written here. */
static void write_frame(struct scribe *s, struct block *b)
{
    const struct api_table *table = s->stream->order->plan->table;
    bool head = s->stage == HEAD;
    size_t room =
        head ? api_writer_head_size(table) : api_writer_room(table, table->tensor_count - 1, 0);
    b->state = text_room(b, room) ? READY : FAILED;
    if (b->state == READY)
        b->size = head ? api_writer_open(&s->writer, table, b->text)
                       : api_writer_tail(&s->writer, b->text);
    s->stage = head ? ROWS : OVER;
}

/* Begins one block more; false where nothing is left, or it is not there yet. */
static bool begin_block(struct scribe *s)
{
    const struct stream *stream = s->stream;
    const struct api_table *table = stream->order->plan->table;
    struct block *b = &s->block[(s->first + s->count) % SCRIBE_BLOCKS];
    while (s->stage == ROWS && (s->tensor == table->tensor_count || !api_sends(table, s->tensor) ||
                                s->row == stream->order->extent.rows[s->tensor])) {
        s->row = 0;
        if (s->tensor == table->tensor_count)
            s->stage = TAIL;
        else
            s->tensor++;
    }
    if (s->stage == OVER || (s->stage == ROWS && !hand_out(s, b)))
        return false;
    if (s->stage != ROWS)
        write_frame(s, b);
    s->count++;
    return true;
}

ssize_t scribe_next(struct scribe *s, const char **at)
{
    s->stream->need = 0;
    if (s->stream->payload && payload_progress(s->stream->payload) == PAYLOAD_FAILED)
        return STREAM_BROKEN;
    for (;;) {
        while (s->count < SCRIBE_BLOCKS && begin_block(s))
            ;
        struct block *b = &s->block[s->first];
        if (!s->count)
            return s->stage == OVER ? STREAM_END : STREAM_WAIT;
        if (b->state != READY)
            return b->state == OUT ? STREAM_BUSY : STREAM_BROKEN;
        *at = b->text + s->taken;
        if (b->size > s->taken)
            return (ssize_t)(b->size - s->taken);
        s->taken = 0;
        s->first = (s->first + 1) % SCRIBE_BLOCKS;
        s->count--;
    }
}

void scribe_taken(struct scribe *s, size_t size)
{
    s->taken += size;
}
