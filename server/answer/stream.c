/* SPDX-License-Identifier: MIT
 *
 * stream.c: bodies of tables. Rows come from one place (rows_at), whether they stand in a payload
 * or are made now; two readers stand on it, bytes of rows for the binary formats and an api_writer
 * for text.
 */
#include "stream.h"
#include "must.h"

#include <string.h>

/* Rows made at a time: enough to make a call worth its while, little enough to stay in the L2 cache
 * and to keep a loop for some 100 microseconds. */
#define BAND (128 << 10)

struct stream *stream_open(struct order *order, struct payload *payload, struct shared_plan *plan)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    order_hold(order);
    s->order = order;
    s->payload = payload;
    s->plan = plan;
    return s;
}

void stream_close(struct stream **address)
{
    struct stream *s = *address;
    *address = NULL;
    if (!s)
        return;
    payload_leave(&s->payload);
    plans_drop(&s->plan);
    order_drop(&s->order);
    free(s->band);
    free(s->text);
    free(s);
}

bool stream_room(void **at, size_t *have, size_t size)
{
    if (*have >= size)
        return true;
    free(*at);
    *at = malloc(size);
    *have = *at ? size : 0;
    return *at != NULL;
}

/* Rows of a stored table for the ids of a layout. */
static void pick_rows(const struct stream *s, unsigned t, uint64_t first, uint64_t rows,
                      unsigned char *out)
{
    const struct api_table *table = s->order->plan->table;
    const struct pe_tensor *tensor = &table->tensors[t];
    int64_t ids[256];
    for (uint64_t n; rows;
         first += n, rows -= n, out += n * tensor->row_elements * pe_dtype_size(tensor->dtype)) {
        n = rows < 256 ? rows : 256;
        api_layout_positions(table->layout, first, n, ids);
        store_blob_pick(s->order->blob, ids, n, tensor->dtype, out);
    }
}

/* Makes `rows` rows of tensor t. */
static bool make_rows(const struct stream *s, unsigned t, uint64_t first, uint64_t rows, void *out)
{
    const struct api_table *table = s->order->plan->table;
    if (s->order->blob && table->layout && api_layout_is_rows(table->layout, t)) {
        pick_rows(s, t, first, rows, out);
        return true;
    }
    if (s->order->blob && !table->layout) {
        store_blob_fill(s->order->blob, table, first, rows, out);
        return true;
    }
    return api_table_fill(table, s->plan ? s->plan->plan : NULL, t, first, rows, out);
}

const unsigned char *stream_rows(const struct stream *s, unsigned t, uint64_t first, uint64_t rows,
                                 void *room)
{
    const struct extent *x = &s->order->extent;
    if (s->payload)
        return s->payload->at + x->offset[t] + first * x->row_bytes[t];
    return make_rows(s, t, first, rows, room) ? room : NULL;
}

/* Fills the band with rows of tensor t from `first` on, no more than `want`. */
static bool make_band(struct stream *s, unsigned t, uint64_t first, uint64_t want)
{
    const struct extent *x = &s->order->extent;
    uint64_t n = x->row_bytes[t] ? BAND / x->row_bytes[t] : 1, left = x->rows[t] - first;
    n = n < 1 ? 1 : n;
    n = n < want ? n : want;
    n = n < left ? n : left;
    void *band = s->band;
    bool good = stream_room(&band, &s->band_size, (size_t)(n * x->row_bytes[t]));
    s->band = band;
    s->band_tensor = t;
    s->band_first = first;
    s->band_rows = good && make_rows(s, t, first, n, s->band) ? n : 0;
    return s->band_rows > 0;
}

/* Where row `first` of tensor t stands, and in *rows how many follow it there (at most `want`, at
 * least one). NULL: *state says whether to wait or give up. */
static const unsigned char *rows_at(struct stream *s, unsigned t, uint64_t first, uint64_t want,
                                    uint64_t *rows, ssize_t *state)
{
    const struct extent *x = &s->order->extent;
    if (s->payload) {
        uint64_t progress = payload_progress(s->payload), made = x->base[t] + first;
        *state = progress == PAYLOAD_FAILED ? STREAM_BROKEN : STREAM_WAIT;
        if (progress == PAYLOAD_FAILED || progress <= made) {
            s->need = made + 1;
            return NULL;
        }
        *rows = progress - made < want ? progress - made : want;
        return s->payload->at + x->offset[t] + first * x->row_bytes[t];
    }
    bool there = s->band_rows && s->band_tensor == t && first >= s->band_first &&
                 first - s->band_first < s->band_rows;
    if (!there && !make_band(s, t, first, want)) {
        *state = STREAM_BROKEN;
        return NULL;
    }
    uint64_t skip = first - s->band_first;
    *rows = s->band_rows - skip < want ? s->band_rows - skip : want;
    return s->band + skip * x->row_bytes[t];
}

/* Whole rows go straight to where they are wanted. Returns bytes, 0 where that is not possible. */
static size_t straight(struct stream *s, unsigned t, uint64_t row, char *out, size_t size)
{
    const struct extent *x = &s->order->extent;
    uint64_t n = size / x->row_bytes[t], most = BAND / x->row_bytes[t];
    bool there = s->band_rows && s->band_tensor == t && row >= s->band_first &&
                 row - s->band_first < s->band_rows;
    n = n < most ? n : most;
    if (s->payload || there || !n || (uintptr_t)out % 8)
        return 0;
    return make_rows(s, t, row, n, out) ? (size_t)(n * x->row_bytes[t]) : 0;
}

/* A place in the payload: a byte of a row of a tensor. */
struct spot {
    unsigned tensor;
    uint64_t row, skip;
    uint64_t left; /* bytes of the tensor from there on */
};

static struct spot spot_of(const struct extent *x, uint64_t at)
{
    unsigned t = extent_tensor(x, at);
    uint64_t inside = at - x->offset[t];
    return (struct spot){t, inside / x->row_bytes[t], inside % x->row_bytes[t],
                         x->rows[t] * x->row_bytes[t] - inside};
}

/* Where byte `at` of the body stands, and how many follow it there, at most `size`; made first
 * where they must be. Otherwise as stream_read. */
static ssize_t stand(struct stream *s, uint64_t at, size_t size, const unsigned char **from)
{
    const struct api_table *table = s->order->plan->table;
    const struct extent *x = &s->order->extent;
    if (at < table->prefix.len) {
        size_t more = table->prefix.len - (size_t)at;
        *from = (const unsigned char *)table->prefix.at + at;
        return (ssize_t)(more < size ? more : size);
    }
    struct spot p = spot_of(x, table->payload_first + at - table->prefix.len);
    uint64_t bytes = x->row_bytes[p.tensor], rows;
    size = size < p.left ? size : (size_t)p.left;
    ssize_t state;
    *from = rows_at(s, p.tensor, p.row, (p.skip + size + bytes - 1) / bytes, &rows, &state);
    if (!*from)
        return state;
    *from += p.skip;
    uint64_t have = rows * bytes - p.skip;
    return (ssize_t)(size < have ? size : have);
}

/* Bytes of the body from `at` on, as many as stand together. */
static ssize_t read_some(struct stream *s, uint64_t at, char *out, size_t size)
{
    const struct api_table *table = s->order->plan->table;
    if (at >= table->prefix.len) {
        struct spot p = spot_of(&s->order->extent, table->payload_first + at - table->prefix.len);
        size_t most = size < p.left ? size : (size_t)p.left;
        size_t n = p.skip ? 0 : straight(s, p.tensor, p.row, out, most);
        if (n)
            return (ssize_t)n;
    }
    const unsigned char *from;
    ssize_t n = stand(s, at, size, &from);
    if (n > 0)
        memcpy(out, from, (size_t)n);
    return n;
}

static ssize_t read_binary(struct stream *s, char *out, size_t size)
{
    const struct api_table *table = s->order->plan->table;
    size_t n = 0;
    if (size > table->count - s->sent)
        size = (size_t)(table->count - s->sent);
    if (!size)
        return STREAM_END;
    while (n < size) {
        ssize_t got = read_some(s, table->first + s->sent + n, out + n, size - n);
        if (got <= 0)
            return n ? (ssize_t)n : got;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

ssize_t stream_lend(struct stream *s, const unsigned char **at, size_t size)
{
    const struct api_table *table = s->order->plan->table;
    must(s->payload && !api_format_is_text(table->format));
    s->need = 0;
    if (size > table->count - s->sent)
        size = (size_t)(table->count - s->sent);
    if (!size)
        return STREAM_END;
    ssize_t n = stand(s, table->first + s->sent, size, at);
    if (n > 0)
        s->sent += (uint64_t)n;
    return n;
}

/* Text is written here when the caller's room does not do for one row. */
static bool own_room(struct stream *s, size_t size)
{
    void *at = s->text;
    bool good = stream_room(&at, &s->text_size, size);
    s->text = at;
    return good;
}

/* The tensors that go out: table->tensor, or all. */
static unsigned tensor_of(const struct api_table *table, unsigned stage)
{
    return table->tensor >= 0 ? (unsigned)table->tensor : stage - 1;
}

static unsigned tensors_sent(const struct api_table *table)
{
    return table->tensor >= 0 ? 1 : table->tensor_count;
}

/* As many rows as find room, straight to `out` or through the stream's own. */
static ssize_t write_rows(struct stream *s, char *out, size_t size)
{
    const struct api_table *table = s->order->plan->table;
    unsigned t = tensor_of(table, s->stage);
    uint64_t want = s->order->extent.rows[t] - s->row, rows;
    ssize_t state;
    if (!want) {
        s->stage++;
        return 0;
    }
    const unsigned char *from = rows_at(s, t, s->row, want < 4096 ? want : 4096, &rows, &state);
    if (!from)
        return state;
    size_t room = api_writer_room(table, t, rows);
    while (rows > 1 && room > size) {
        uint64_t fewer = (uint64_t)((double)rows * ((double)size / (double)room));
        rows = fewer < 1 ? 1 : fewer < rows ? fewer : rows - 1;
        room = api_writer_room(table, t, rows);
    }
    bool own = room > size;
    if (own && !own_room(s, room))
        return STREAM_BROKEN;
    size_t n = api_writer_rows(&s->writer, t, from, rows, own ? s->text : out);
    s->row += rows;
    if (s->row == s->order->extent.rows[t]) {
        s->row = 0;
        s->stage++;
    }
    s->text_from = 0;
    s->text_to = own ? n : 0;
    return own ? 0 : (ssize_t)n;
}

/* The next piece of text, to `out` or to the stream's own room (then 0, with text_to set). */
static ssize_t write_text(struct stream *s, char *out, size_t size)
{
    const struct api_table *table = s->order->plan->table;
    unsigned last = tensors_sent(table);
    s->text_from = s->text_to = 0;
    if (s->stage == 0) {
        if (!own_room(s, api_writer_head_size(table)))
            return STREAM_BROKEN;
        s->text_to = api_writer_open(&s->writer, table, s->text);
        s->stage = 1;
    } else if (s->stage <= last) {
        return write_rows(s, out, size);
    } else if (s->stage == last + 1) {
        if (!own_room(s, api_writer_room(table, tensor_of(table, last), 0)))
            return STREAM_BROKEN;
        s->text_to = api_writer_tail(&s->writer, s->text);
        s->stage++;
    } else {
        return STREAM_END;
    }
    return 0;
}

static ssize_t read_text(struct stream *s, char *out, size_t size)
{
    size_t n = 0;
    while (n < size) {
        size_t have = s->text_to - s->text_from;
        if (have) {
            have = have < size - n ? have : size - n;
            memcpy(out + n, s->text + s->text_from, have);
            s->text_from += have;
            n += have;
            continue;
        }
        ssize_t got = write_text(s, out + n, size - n);
        if (got > 0)
            n += (size_t)got;
        else if (got < 0 || s->need)
            return n ? (ssize_t)n : got;
        if (n &&
            size - n <
                512) /* the next row will hardly fit, and half of it is better in the next piece */
            break;
    }
    return (ssize_t)n;
}

ssize_t stream_read(struct stream *s, char *out, size_t size)
{
    s->need = 0;
    ssize_t n = api_format_is_text(s->order->plan->table->format) ? read_text(s, out, size)
                                                                  : read_binary(s, out, size);
    if (n > 0)
        s->sent += (uint64_t)n;
    return n;
}
