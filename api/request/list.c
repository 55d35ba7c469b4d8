/* SPDX-License-Identifier: MIT
 *
 * list.c: see list.h: lists in queries and in JSON.
 */
#include "list.h"
#include "decode.h"

#include <string.h>

static bool bad(struct api__call *call, const struct api__param *p, enum api__problem_id id,
                struct api_bytes item, const char *must_be)
{
    return api__bad_value(call, id, p, "%s must be %s, not %s", api__shown(call->arena, p->name),
                          must_be, item.len ? api__shown(call->arena, item) : "an empty item");
}

/* Cuts the next item off a list with commas; false at the end. An empty list has one empty item. */
static bool next_item(struct api_bytes *rest, bool *more, struct api_bytes *item)
{
    if (!*more)
        return false;
    const char *comma = rest->len ? memchr(rest->at, ',', rest->len) : NULL;
    size_t len = comma ? (size_t)(comma - rest->at) : rest->len;
    *item = (struct api_bytes){rest->at, len};
    *more = comma != NULL;
    rest->at += len + *more;
    rest->len -= len + *more;
    return true;
}

static size_t items(struct api_bytes list)
{
    size_t n = 1;
    for (size_t i = 0; i < list.len; i++)
        n += list.at[i] == ',';
    return n;
}

struct span {
    int64_t first;
    int64_t last;
};

static enum api__number read_span(struct api_bytes item, bool ranges, struct span *out)
{
    const char *dash = ranges && item.len > 1 ? memchr(item.at + 1, '-', item.len - 1) : NULL;
    struct api_bytes low = {item.at, dash ? (size_t)(dash - item.at) : item.len};
    enum api__number n = api__integer(low, &out->first);
    out->last = out->first;
    if (n == API__NUMBER && dash)
        n = api__integer((struct api_bytes){dash + 1, item.len - low.len - 1}, &out->last);
    return n == API__NUMBER && out->last < out->first ? API__NO_NUMBER : n;
}

static bool text_integers(struct api__call *call, const struct api__param *p, bool ranges,
                          struct api__ints *out)
{
    struct api_bytes rest = p->value, item;
    struct span span = {0, 0};
    bool more = true;
    size_t room = items(p->value), expanded = 0, count = 0;
    while (next_item(&rest, &more, &item)) {
        enum api__number n = read_span(item, ranges, &span);
        if (n != API__NUMBER)
            return bad(call, p, n == API__NO_NUMBER ? API__BAD_VALUE : API__OUT_OF_RANGE, item,
                       ranges ? "integers and rising ranges such as 0,7,4096-4099"
                              : "integers such as 1,2,3");
        uint64_t extra = (uint64_t)span.last - (uint64_t)span.first;
        if (extra > API__MAX_EXPANDED || (expanded += (size_t)extra) > API__MAX_EXPANDED)
            return api__bad_value(
                call, API__TOO_LARGE, p,
                "the ranges of %s may stand for %d integers at most in a query; use length "
                "and offset, or POST a JSON array",
                api__shown(call->arena, p->name), API__MAX_EXPANDED);
    }
    out->at = api__arena_array(call->arena, room + expanded, sizeof *out->at);
    rest = p->value;
    more = true;
    while (next_item(&rest, &more, &item)) {
        read_span(item, ranges, &span);
        for (int64_t v = span.first;; v++) {
            out->at[count++] = v;
            if (v == span.last)
                break;
        }
    }
    out->count = count;
    out->rank = 1;
    out->shape[0] = count;
    return true;
}

/* The walk over nested arrays. `depth` arrays are open; `counts` are the items seen in each;
 * `shape` is known for levels below `known`, from the outside in, since an inner array closes
 * before its neighbours. */
struct walk {
    struct api__ints *out;
    unsigned depth;
    unsigned rank; /* 0 until the first number */
    uint64_t counts[PE_MAX_RANK];
    bool known[PE_MAX_RANK];
};

static bool item_fault(struct api__call *call, const struct api__param *p, const struct walk *w,
                       enum api__problem_id id, const char *what)
{
    struct api__text t;
    api__text_init(&t, call->arena, 64);
    api__text_put(&t, "\"index\":[");
    for (unsigned i = 0; i < w->depth; i++)
        api__text_print(&t, "%s%llu", i ? "," : "", (unsigned long long)w->counts[i]);
    api__text_put(&t, "]");
    api__bad_value(call, id, p, "%s must be an array of integers, nested evenly: %s",
                   api__shown(call->arena, p->name), what);
    call->issue.members = api__text_done(&t).at;
    return false;
}

static const char *open_array(struct walk *w)
{
    if (w->depth == PE_MAX_RANK)
        return "it has more than 8 axes";
    if (w->rank && w->depth >= w->rank)
        return "an array stands beside a number";
    w->counts[w->depth++] = 0;
    return NULL;
}

static const char *close_array(struct walk *w)
{
    uint64_t n = w->counts[w->depth - 1];
    uint64_t *axis = &w->out->shape[w->depth - 1];
    if (n == 0)
        return "an array is empty";
    if (w->known[w->depth - 1] && *axis != n)
        return "arrays of one level have different lengths";
    *axis = n;
    w->known[--w->depth] = true;
    if (w->depth)
        w->counts[w->depth - 1]++;
    return NULL;
}
_Static_assert(PE_MAX_RANK == 8, "the text of open_array");

static const char *put_number(struct walk *w, int64_t value)
{
    if (w->rank == 0)
        w->rank = w->depth;
    if (w->depth != w->rank)
        return "a number stands beside an array";
    w->out->at[w->out->count++] = value;
    w->counts[w->depth - 1]++;
    return NULL;
}

/* A number of a checked slice; up to 18 digits cannot overflow. */
static enum api__number fast_integer(const char **at, const char *end, int64_t *out)
{
    const char *p = *at;
    bool negative = *p == '-';
    uint64_t value = 0;
    const char *from = p += negative;
    while (p < end && *p >= '0' && *p <= '9' && p - from < 18)
        value = value * 10 + (uint64_t)(*p++ - '0');
    const char *stop = p;
    while (stop < end && *stop != ',' && *stop != ']' && (unsigned char)*stop > ' ')
        stop++;
    if (p == stop && p > from) {
        *out = negative ? -(int64_t)value : (int64_t)value;
        *at = stop;
        return API__NUMBER;
    }
    enum api__number n = api__integer((struct api_bytes){*at, (size_t)(stop - *at)}, out);
    *at = stop;
    return n;
}

static bool json_integers(struct api__call *call, const struct api__param *p, struct api__ints *out)
{
    struct walk w = {.out = out};
    const char *at = p->value.at, *end = at + p->value.len, *fault = NULL;
    if (p->value.len == 0 || *at != '[')
        return bad(call, p, API__BAD_VALUE, p->value, "an array of integers");
    out->at = api__arena_array(call->arena, items(p->value), sizeof *out->at);
    while (at < end && !fault) {
        char c = *at;
        if (c == '[') {
            fault = open_array(&w);
            at++;
        } else if (c == ']') {
            fault = close_array(&w);
            at++;
        } else if (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            at++;
        } else {
            int64_t value = 0;
            enum api__number n = fast_integer(&at, end, &value);
            if (n != API__NUMBER)
                return item_fault(
                    call, p, &w, n == API__NO_NUMBER ? API__BAD_VALUE : API__OUT_OF_RANGE,
                    n == API__NO_NUMBER ? "an item is no integer" : "an integer is too large");
            fault = put_number(&w, value);
        }
    }
    if (fault)
        return item_fault(call, p, &w, API__BAD_VALUE, fault);
    out->rank = w.rank;
    return true;
}

bool api__read_integers(struct api__call *call, const struct api__param *p, bool ranges,
                        struct api__ints *out)
{
    out->count = 0;
    return p->json ? json_integers(call, p, out) : text_integers(call, p, ranges, out);
}

bool api__read_reals(struct api__call *call, const struct api__param *p, struct pe_reals *out)
{
    struct api_bytes rest = p->value, item;
    bool more = true;
    size_t count = 0;
    if (p->json) {
        if (rest.len < 2 || rest.at[0] != '[')
            return bad(call, p, API__BAD_VALUE, rest, "an array of real numbers");
        rest = (struct api_bytes){rest.at + 1, rest.len - 2};
    }
    double *at = api__arena_array(call->arena, items(rest), sizeof *at);
    while (next_item(&rest, &more, &item)) {
        if (p->json)
            while (item.len && (unsigned char)item.at[0] <= ' ')
                item.at++, item.len--;
        if (p->json)
            while (item.len && (unsigned char)item.at[item.len - 1] <= ' ')
                item.len--;
        enum api__number n = api__real(item, &at[count]);
        if (n != API__NUMBER)
            return bad(call, p, n == API__NO_NUMBER ? API__BAD_VALUE : API__OUT_OF_RANGE, item,
                       "real numbers such as 1.0,2.5");
        count++;
    }
    *out = (struct pe_reals){at, count};
    return true;
}
