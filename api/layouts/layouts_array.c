/* SPDX-License-Identifier: MIT
 *
 * layouts_array.c: arrays of integers as they are spelled: rows between `;` in a query, arrays
 * nested up to three deep in JSON. Rows of two axes may differ in length, which lib judges; of
 * three they may not.
 */
#include "layouts.h"
#include "request/decode.h"

#include <inttypes.h>
#include <string.h>

/* Items of a list, and where its rows end, as they are met. */
struct reading {
    struct api__call *call;
    const struct api__param *p;
    int64_t *at;
    uint64_t *ends;
    size_t count, rows;
    unsigned rank; /* known with the first item or the first row that is empty */
    unsigned depth;
    uint64_t place[3]; /* items or arrays seen in each array that is open */
    uint64_t shape[3];
};

static bool bad(struct reading *r, enum api__problem_id id, const char *what)
{
    struct api__text t;
    api__text_init(&t, r->call->arena, 64);
    api__text_put(&t, "\"index\":[");
    for (unsigned i = 0; i < r->depth; i++)
        api__text_print(&t, "%s%" PRIu64, i ? "," : "", r->place[i]);
    api__text_put(&t, "]");
    const char *index = api__text_done(&t).at;
    api__bad_value(r->call, id, r->p, "%s%s: %s", api__shown(r->call->arena, r->p->name), index + 8,
                   what);
    r->call->issue.members = r->depth ? index : NULL;
    return false;
}

/* The item that ends at `end` or before. Up to 18 digits cannot overflow. */
static enum api__number take_integer(const char **at, const char *end, int64_t *out)
{
    const char *p = *at, *from;
    bool negative = *p == '-';
    uint64_t value = 0;
    from = p += negative;
    while (p < end && *p >= '0' && *p <= '9' && p - from < 18)
        value = value * 10 + (uint64_t)(*p++ - '0');
    const char *stop = p;
    while (stop < end && !strchr(",;] \t\r\n[", *stop))
        stop++;
    struct api_bytes item = {*at, (size_t)(stop - *at)};
    *at = stop;
    if (p < stop || p == from || (*from == '0' && (p > from + 1 || negative)))
        return api__integer(item, out);
    *out = negative ? -(int64_t)value : (int64_t)value;
    return API__NUMBER;
}

static bool put_item(struct reading *r, const char **at, const char *end)
{
    enum api__number n = take_integer(at, end, &r->at[r->count]);
    if (n != API__NUMBER)
        return bad(r, n == API__NO_NUMBER ? API__BAD_VALUE : API__OUT_OF_RANGE,
                   "an item must be an integer in decimal digits");
    r->count++;
    r->place[r->depth - 1]++;
    return true;
}

static size_t count_of(struct api_bytes text, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += text.at[i] == c;
    return n;
}

/* ---------------------------------------------------------------- from a query */

/* `0,1,1;1,1,1`. Every row has an item, every item a digit. */
static bool read_text(struct reading *r)
{
    const char *at = r->p->value.at, *end = at + r->p->value.len;
    bool rows = memchr(at, ';', r->p->value.len) != NULL;
    r->rank = r->depth = rows ? 2 : 1;
    for (;;) {
        if (at == end || *at == ',' || *at == ';')
            return bad(r, API__BAD_VALUE, "an item is empty");
        if (!put_item(r, &at, end))
            return false;
        if (at < end && *at != ',' && *at != ';')
            return bad(r, API__BAD_VALUE, "an item must be an integer in decimal digits");
        if (at == end || *at == ';') {
            r->ends[r->rows++] = r->count;
            r->shape[1] = r->rows == 1 ? r->count : r->shape[1];
            r->place[0] += rows;
            r->place[rows] = 0;
        }
        if (at == end)
            return true;
        at++;
    }
}

/* ---------------------------------------------------------------- from JSON */

static bool open_array(struct reading *r)
{
    if (r->depth == 3 || (r->rank && r->depth == r->rank))
        return bad(r, API__BAD_VALUE, "arrays are nested unevenly or too deeply");
    r->place[r->depth++] = 0;
    return true;
}

static bool close_array(struct reading *r)
{
    uint64_t n = r->place[r->depth - 1];
    unsigned level = --r->depth;
    if (level >= r->rank)
        r->rank = level + 1; /* an empty array is as deep as items would be */
    if (r->rank == 2 && level == 1) {
        r->ends[r->rows++] = r->count;
        if (r->rows == 1)
            r->shape[1] = n;
    } else if (level && r->rank == 3) {
        bool first = r->place[0] == 0 && (level == 1 || r->place[1] == 0);
        if (!first && n != r->shape[level])
            return bad(r, API__BAD_VALUE, "arrays of one level have different lengths");
        r->shape[level] = n;
    } else if (level == 0) {
        r->shape[0] = n;
    }
    if (level)
        r->place[level - 1]++;
    return true;
}

/* The slice is checked JSON: brackets match and commas stand where they must. */
static bool read_json(struct reading *r)
{
    const char *at = r->p->value.at, *end = at + r->p->value.len;
    while (at < end) {
        bool fine = true;
        if (*at == '[')
            fine = open_array(r);
        else if (*at == ']')
            fine = close_array(r);
        else if (!strchr(", \t\r\n", *at)) {
            if (r->rank == 0)
                r->rank = r->depth;
            if (r->depth != r->rank)
                return bad(r, API__BAD_VALUE, "a number stands beside an array");
            if (!put_item(r, &at, end))
                return false;
            continue;
        }
        if (!fine)
            return false;
        at++;
    }
    return true;
}

/* ---------------------------------------------------------------- entry */

bool api__count_entries(struct api__call *call, struct api__layout_ask *ask, struct api_bytes name,
                        uint64_t n)
{
    uint64_t limit = call->request->limits->max_layout_entries;
    ask->entries += n;
    if (ask->entries <= limit)
        return true;
    return api__blame(call, API__TOO_LARGE, name,
                      "lists may have %llu entries at most in one request",
                      (unsigned long long)limit);
}

/* One number stands for every entry of these. */
static bool is_broadcast(struct api_bytes name)
{
    return api__equal(name, "past_lengths") || api__equal(name, "new_lengths") ||
           api__equal(name, "rope_deltas");
}

static bool read_number(struct reading *r, struct pe_array *out)
{
    r->at = api__arena_array(r->call->arena, 1, sizeof *r->at);
    if (!api__read_integer(r->call, r->p, INT64_MIN, INT64_MAX, r->at))
        return false;
    *out = (struct pe_array){.at = r->at, .size = sizeof *r->at, .count = 1};
    return true;
}

bool api__read_array(struct api__call *call, struct api__layout_ask *ask,
                     const struct api__param *p, struct pe_array *out)
{
    struct reading r = {.call = call, .p = p};
    bool list = p->json ? p->value.len && *p->value.at == '[' : true;
    bool one = !p->json && !memchr(p->value.at, ',', p->value.len) &&
               !memchr(p->value.at, ';', p->value.len);
    if (p->value.len == 0)
        return api__bad_value(call, API__BAD_VALUE, p, "%s has no value",
                              api__shown(call->arena, p->name));
    if (is_broadcast(p->name) && (!list || one))
        return read_number(&r, out);
    if (!list)
        return api__bad_value(call, API__BAD_VALUE, p, "%s must be a list of integers, not %s",
                              api__shown(call->arena, p->name), api__shown(call->arena, p->value));
    size_t items = count_of(p->value, ',') + count_of(p->value, ';') + 1;
    size_t rows = p->json ? count_of(p->value, '[') : count_of(p->value, ';') + 1;
    if (!api__count_entries(call, ask, p->name, items))
        return false;
    r.at = api__arena_array(call->arena, items, sizeof *r.at);
    r.ends = api__arena_array(call->arena, rows + 1, sizeof *r.ends);
    if (!(p->json ? read_json(&r) : read_text(&r)))
        return false;
    *out = (struct pe_array){.at = r.at, .size = sizeof *r.at, .rank = r.rank, .count = r.count};
    memcpy(out->shape, r.shape, sizeof out->shape);
    if (r.rank == 2) {
        out->shape[0] = r.rows;
        out->row_ends = r.ends;
    } else if (r.rank == 1) {
        out->shape[0] = r.count;
    }
    return true;
}
