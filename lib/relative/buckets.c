/* SPDX-License-Identifier: MIT
 *
 * buckets.c: the relative position buckets of T5 (Raffel et al. 2020) and DeBERTa (He et al. 2021).
 *
 * Both give the nearer distances a bucket each and share the rest out on a logarithmic scale; they
 * differ in where a boundary belongs, what is farther than the last, and how the two sides are told
 * apart. All of that is integers before the first row is written, and a fill only copies runs of
 * equal buckets.
 */
#include "table/producer.h"
#include "relative/boundaries.h"
#include "spec/spec.h"

#include <stdlib.h>
#include <string.h>

/* Distance a is in bucket a up to `own`, beyond it in own + (number of starts that are <= a). A key
 * behind the query gets behind * bucket; one ahead of it ahead_base + ahead * bucket. */
struct buckets {
    int64_t length, offset;
    int64_t own;
    int32_t behind, ahead, ahead_base;
    size_t count, room;
    int64_t starts[];
};

/* ---------------------------------------------------------------- life */

static struct buckets *allocate(const struct pe_spec *s, size_t room)
{
    struct buckets *b = malloc(sizeof *b + room * sizeof b->starts[0]);
    if (b)
        *b = (struct buckets){.length = s->length, .offset = s->offset, .room = room};
    return b;
}

/* Bucket own + k begins at the least a with a >= own (max_distance / own)^(k / logarithmic): a key
 * at exactly that distance belongs to it. Ahead is another set of buckets, or bucket 0. */
static struct buckets *make_t5(const struct pe_spec *s)
{
    int64_t all = s->bidirectional ? s->num_buckets / 2 : s->num_buckets;
    int64_t own = all / 2, logarithmic = all - own;
    struct buckets *b = allocate(s, (size_t)logarithmic);
    if (!b)
        return NULL;
    b->own = own;
    b->behind = 1;
    b->ahead = s->bidirectional ? 1 : 0;
    b->ahead_base = s->bidirectional ? (int32_t)all : 0;
    b->count = pe__boundaries(
        &(struct pe__logarithmic){own, s->max_distance, logarithmic, false, PE_POSITION_END}, 1,
        (size_t)logarithmic - 1, b->starts);
    return b;
}

/* ceil(ln(a / own) / ln(last / own) * (own - 1)) + own: a bucket ends with its boundary. It goes on
 * beyond the last distance; starts that no key of this table reaches are left out. Behind is
 * positive, ahead negative. */
static struct buckets *make_deberta(const struct pe_spec *s)
{
    int64_t own = s->position_buckets / 2, last = s->max_relative_positions - 1;
    int64_t back = s->offset + s->queries - 1, ahead = s->length - 1 - s->offset;
    struct pe__logarithmic log = {own, last, own - 1, true, back > ahead ? back : ahead};
    size_t room = 64;
    struct buckets *b = allocate(s, room);
    while (b && own > 1) {
        struct buckets *more;
        b->count += pe__boundaries(&log, b->count, room - b->count, b->starts + b->count);
        if (b->count < room)
            break;
        room *= 2;
        more = realloc(b, sizeof *b + room * sizeof b->starts[0]);
        if (!more)
            free(b);
        b = more;
    }
    if (!b)
        return NULL;
    b->room = room;
    b->own = own;
    b->behind = 1;
    b->ahead = -1;
    return b;
}

static enum pe_error create(const struct pe__making *m, void **state)
{
    const struct pe_spec *s = m->spec;
    *state = s->kind == PE_KIND_T5 ? make_t5(s) : make_deberta(s);
    return *state ? PE_OK : PE_NO_MEMORY;
}

static void destroy(void **state)
{
    free(*state);
    *state = NULL;
}

static size_t bytes(const void *state)
{
    const struct buckets *b = state;
    return sizeof *b + b->room * sizeof b->starts[0];
}

/* ---------------------------------------------------------------- rows */

static int32_t *repeat(int32_t *out, int32_t value, uint64_t n)
{
    uint64_t done = n < 16 ? n : 16;
    for (uint64_t i = 0; i < done; i++)
        out[i] = value;
    while (done < n) {
        uint64_t more = n - done < done ? n - done : done;
        more = more < 4096 ? more : 4096;
        memcpy(out + done, out, more * sizeof *out);
        done += more;
    }
    return out + n;
}

/* The number of starts that are <= a. */
static size_t starts_up_to(const struct buckets *b, int64_t a)
{
    size_t low = 0, high = b->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (b->starts[middle] <= a)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Distances a, a-1, .. a-n+1 >= 0. */
static int32_t *fall(const struct buckets *b, int64_t a, int64_t n, int32_t *out)
{
    size_t k = a > b->own ? starts_up_to(b, a) : 0;
    while (n && a > b->own) {
        int64_t least = k ? b->starts[k - 1] : b->own + 1, run;
        least = least > b->own ? least : b->own + 1;
        run = a - least + 1 < n ? a - least + 1 : n;
        if (run > 0) {
            out = repeat(out, b->behind * (int32_t)(b->own + (int64_t)k), (uint64_t)run);
            a -= run;
            n -= run;
        }
        k -= k > 0;
    }
    for (; n; n--)
        *out++ = b->behind * (int32_t)a--;
    return out;
}

/* Distances a, a+1, .. a+n-1, a > 0. */
static int32_t *rise(const struct buckets *b, int64_t a, int64_t n, int32_t *out)
{
    size_t k;
    for (; n && a <= b->own; n--)
        *out++ = b->ahead_base + b->ahead * (int32_t)a++;
    for (k = n ? starts_up_to(b, a) : 0; n; k++) {
        int64_t run = k < b->count && b->starts[k] - a < n ? b->starts[k] - a : n;
        out = repeat(out, b->ahead_base + b->ahead * (int32_t)(b->own + (int64_t)k), (uint64_t)run);
        a += run;
        n -= run;
    }
    return out;
}

static void fill(const void *state, uint64_t first, uint64_t rows, void *const outs[])
{
    const struct buckets *b = state;
    int32_t *out = outs[0];
    int64_t query = b->offset + (int64_t)(first / (uint64_t)b->length);
    int64_t key = (int64_t)(first % (uint64_t)b->length);
    for (uint64_t n; rows; rows -= n, key = 0, query++) {
        uint64_t rest = (uint64_t)(b->length - key);
        n = rows < rest ? rows : rest;
        int64_t end = key + (int64_t)n, split = query + 1;
        split = split < key ? key : split > end ? end : split;
        out = fall(b, query - key, split - key, out);
        out = rise(b, split - query, end - split, out);
    }
}

const struct pe__producer pe__bucket_producer = {create, destroy, bytes, fill};
