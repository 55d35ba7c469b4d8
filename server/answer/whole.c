/* SPDX-License-Identifier: MIT
 *
 * whole.c: see whole.h.
 */
#include "whole.h"
#include "squeeze.h"

#include <stdlib.h>

/* Plain text, or what is coded, up to this size: half a millisecond of work at most, and not again
 * while the answer is kept. */
#define SMALL (64 << 10)

/* Room for the plain body; 0 where it is too large, or is sent as it stands in the payload. An
 * api_writer counts the frame of a body with each tensor; it is there once. */
static size_t room_for(const struct order *order)
{
    const struct api_table *t = order->plan->table;
    if (!api_format_is_text(t->format))
        return t->coding != API_IDENTITY && t->length <= SMALL ? (size_t)t->length : 0;
    size_t frame = api_writer_room(t, 0, 0), room = api_writer_head_size(t);
    bool small = order->extent.bytes <= FILL_AT_ONCE &&
                 !__builtin_add_overflow(room, frame, &room) && room <= SMALL;
    for (unsigned i = 0; small && i < t->tensor_count; i++)
        if (api_sends(t, i))
            small = !__builtin_add_overflow(
                        room, api_writer_room(t, i, order->extent.rows[i]) - frame, &room) &&
                    room <= SMALL;
    return small ? room : 0;
}

bool whole_fits(const struct order *order)
{
    return room_for(order) > 0;
}

static char *write_plain(struct stream *s, size_t room, size_t *length)
{
    char *body = malloc(room);
    ssize_t n = body ? 1 : STREAM_BROKEN;
    for (*length = 0; n > 0 && *length<room; *length += n> 0 ? (size_t)n : 0)
        n = stream_read(s, body + *length, room - *length);
    char more;
    if (n == STREAM_END || (n > 0 && stream_read(s, &more, 1) == STREAM_END))
        return body;
    free(body);
    return NULL;
}

char *whole_write(struct order *order, struct payload *payload, struct shared_plan *plan,
                  size_t *length)
{
    const struct api_table *t = order->plan->table;
    struct stream *s = stream_open(order, payload, plan);
    if (!s) {
        payload_leave(&payload);
        plans_drop(&plan);
        return NULL;
    }
    char *body = write_plain(s, room_for(order), length);
    stream_close(&s);
    if (!body || t->coding == API_IDENTITY)
        return body;
    char *coded = squeeze_whole(t->coding, api_format_is_text(t->format),
                                (struct api_bytes){body, *length}, length);
    free(body);
    return coded;
}
