/* SPDX-License-Identifier: MIT
 *
 * layouts_segments.c: rows of {"length", "reason", "position", "pads"}, from JSON alone. A flat
 * list is one row.
 */
#include "layouts.h"
#include "request/decode.h"
#include "request/json.h"
#include "request/nearest.h"

#include <inttypes.h>
#include <string.h>

static const char *const members[] = {"length", "pads", "position", "reason"};

struct place {
    uint64_t row, at;
};

static bool bad(struct api__call *call, const struct api__param *p, struct place at,
                const char *what)
{
    api__bad_value(call, API__BAD_VALUE, p, "segments[%" PRIu64 ", %" PRIu64 "]: %s", at.row, at.at,
                   what);
    call->issue.members =
        api__format_text(call->arena, "\"index\":[%" PRIu64 ",%" PRIu64 "]", at.row, at.at);
    return false;
}

static bool read_count(struct api_bytes value, int64_t lo, int64_t *out)
{
    return api__integer(value, out) == API__NUMBER && *out >= lo && *out < PE_SLOT_END;
}

static int reason_of(struct api__call *call, struct api_bytes value)
{
    struct api_bytes word;
    if (!api__json_string(call->arena, value, &word))
        return -1;
    for (int reason = 0; reason <= PE_REASON_BRANCH; reason++)
        if (api__equal(word, pe_reason_name(reason)))
            return reason;
    return -1;
}

static bool read_member(struct api__call *call, const struct api__param *p, struct place at,
                        struct api_bytes name, struct api_bytes value, struct pe_declared *out)
{
    if (api__equal(name, "length"))
        return read_count(value, 0, &out->length) ||
               bad(call, p, at, "length is an integer from 0 on");
    if (api__equal(name, "pads"))
        return read_count(value, 0, &out->pads) || bad(call, p, at, "pads is an integer from 0 on");
    if (api__equal(name, "position")) {
        out->has_position = true;
        return read_count(value, -PE_SLOT_END, &out->position) ||
               bad(call, p, at, "position is an integer within 2^53");
    }
    if (api__equal(name, "reason")) {
        out->reason = reason_of(call, value);
        return out->reason >= 0 ||
               bad(call, p, at, "reason is document, chunk, skip, copy or branch");
    }
    const char *near = api__nearest(name, members, sizeof members / sizeof *members);
    bad(call, p, at,
        api__format_text(call->arena, "%s is not one of length, reason, position and pads",
                         api__shown(call->arena, name)));
    call->issue.did_you_mean = near;
    return false;
}

static bool read_segment(struct api__call *call, const struct api__param *p, struct place at,
                         struct api_bytes text, struct pe_declared *out)
{
    struct api__json j;
    struct api_bytes name, value;
    bool length = false;
    *out = (struct pe_declared){.reason = PE_REASON_DOCUMENT};
    if (!api__json_object(&j, text))
        return bad(call, p, at, "a segment is an object");
    unsigned seen = 0;
    while (api__json_member(&j, call->arena, &name, &value)) {
        for (unsigned i = 0; i < sizeof members / sizeof *members; i++) {
            if (!api__equal(name, members[i]))
                continue;
            if (seen >> i & 1)
                return bad(call, p, at, "a member is given twice");
            seen |= 1u << i;
        }
        length |= api__equal(name, "length");
        if (!read_member(call, p, at, name, value, out))
            return false;
    }
    return length || bad(call, p, at, "a segment has a length");
}

/* Whether the list holds rows; a row is a list. */
static bool has_rows(struct api_bytes text)
{
    struct api__json j;
    struct api_bytes first;
    return api__json_array(&j, text) && api__json_element(&j, &first) && *first.at == '[';
}

static size_t count_of(struct api_bytes text, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += text.at[i] == c;
    return n;
}

struct reading {
    struct pe_declared *at;
    uint64_t *ends;
    uint64_t count, rows;
};

static bool read_row(struct api__call *call, const struct api__param *p, struct api_bytes text,
                     struct reading *r)
{
    struct api__json j;
    struct api_bytes item;
    struct place at = {r->rows, 0};
    if (!api__json_array(&j, text))
        return bad(call, p, at, "a row is a list of segments");
    for (; api__json_element(&j, &item); at.at++)
        if (!read_segment(call, p, at, item, &r->at[r->count++]))
            return false;
    r->ends[r->rows++] = r->count;
    return true;
}

bool api__read_segments(struct api__call *call, struct api__layout_ask *ask,
                        const struct api__param *p, struct pe_declared_rows *out)
{
    struct reading r = {.count = 0};
    struct api__json j;
    struct api_bytes row;
    if (!p->json || p->value.len == 0 || *p->value.at != '[')
        return api__bad_value(call, API__BAD_VALUE, p,
                              "segments is a list of rows of objects, in a JSON body alone");
    size_t segments = count_of(p->value, '{'), rows = count_of(p->value, '[');
    if (!api__count_entries(call, ask, p->name, segments + rows))
        return false;
    r.at = api__arena_array(call->arena, segments + 1, sizeof *r.at);
    r.ends = api__arena_array(call->arena, rows + 1, sizeof *r.ends);
    if (!has_rows(p->value) && segments) {
        if (!read_row(call, p, p->value, &r))
            return false;
    } else {
        api__json_array(&j, p->value);
        while (api__json_element(&j, &row))
            if (!read_row(call, p, row, &r))
                return false;
    }
    *out = (struct pe_declared_rows){r.at, r.ends, r.rows};
    return true;
}
