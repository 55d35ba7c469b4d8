/* SPDX-License-Identifier: MIT
 *
 * cached.c: see cached.h: reading a request. Position = start + tokens already there + place in the
 * new part.
 */
#include "layout/cached.h"
#include "layout/fault.h"

#include <inttypes.h>
#include <stdlib.h>

struct reading {
    struct pe__cached *c;
    const struct pe_layout_request *q;
    struct pe_layout_fault *fault;
    bool tree;
};

static enum pe_error check_forms(const struct reading *r)
{
    const struct pe_layout_request *q = r->q;
    bool past = q->given[PE_OPTION_PAST_LENGTHS], mask = q->given[PE_OPTION_ATTENTION_MASK];
    bool chunk = q->given[PE_OPTION_CHUNK], index = q->given[PE_OPTION_CHUNK_INDEX];
    struct pe_layout_fault *f = r->fault;
    if (!past && !mask)
        return pe__fault(f, PE_MISSING, PE_OPTION_PAST_LENGTHS,
                         "past_lengths or attention_mask is required");
    if (past && mask)
        return pe__fault(f, PE_CONFLICT, PE_OPTION_ATTENTION_MASK,
                         "attention_mask cannot stand beside past_lengths");
    if (r->tree && q->given[PE_OPTION_NEW_LENGTHS])
        return pe__fault(f, PE_CONFLICT, PE_OPTION_NEW_LENGTHS,
                         "new_lengths cannot stand beside parents");
    if (!r->tree && !q->given[PE_OPTION_NEW_LENGTHS])
        return pe__fault(f, PE_MISSING, PE_OPTION_NEW_LENGTHS,
                         "new_lengths or parents is required");
    if (chunk != index)
        return pe__fault(f, PE_MISSING, chunk ? PE_OPTION_CHUNK_INDEX : PE_OPTION_CHUNK,
                         "chunk and chunk_index go together");
    if (chunk && r->tree)
        return pe__fault(f, PE_CONFLICT, PE_OPTION_CHUNK, "chunk cannot stand beside parents");
    if (q->flatten && q->given[PE_OPTION_SIDE])
        return pe__fault(f, PE_UNUSED, PE_OPTION_SIDE, "side is not used with flatten=true");
    if (q->fill >= PE_A_WORD)
        return pe__fault(f, PE_RANGE, PE_OPTION_FILL, "fill must be an integer here");
    if (q->given[PE_OPTION_TABLE_LENGTH] && q->table_length <= q->start)
        return pe__fault(f, PE_RANGE, PE_OPTION_TABLE_LENGTH,
                         "table_length %" PRId64 " must be greater than start %" PRId64,
                         q->table_length, q->start);
    return PE_OK;
}

/* How many requests there are, and that every list has as many entries. */
static enum pe_error count_batch(const struct reading *r, uint64_t *width)
{
    const struct pe_layout_request *q = r->q;
    uint64_t b = 1;
    enum pe_error e = PE_OK;
    if (q->given[PE_OPTION_ATTENTION_MASK]) {
        if ((e = pe__grid(&q->attention_mask, PE_OPTION_ATTENTION_MASK, &b, width, r->fault)) ||
            (e = pe__within(&q->attention_mask, PE_OPTION_ATTENTION_MASK, 0, 1, r->fault)))
            return e;
    } else if (q->past_lengths.rank) {
        b = q->past_lengths.count;
    } else if (!r->tree && q->new_lengths.rank) {
        b = q->new_lengths.count;
    }
    r->c->batch = b;
    if ((e = pe__entries(&q->past_lengths, PE_OPTION_PAST_LENGTHS, b, "requests", r->fault)) ||
        (e = pe__entries(&q->new_lengths, PE_OPTION_NEW_LENGTHS, b, "requests", r->fault)) ||
        (e = pe__entries(&q->rope_deltas, PE_OPTION_ROPE_DELTAS, b, "requests", r->fault)))
        return e;
    return PE_OK;
}

static enum pe_error read_tree(const struct reading *r)
{
    const struct pe_array *a = &r->q->parents;
    struct pe__cached *c = r->c;
    if (a->rank != 1)
        return pe__fault(r->fault, PE_RANGE, PE_OPTION_PARENTS, "parents must be a flat list");
    c->depth = malloc((a->count + 1) * sizeof *c->depth);
    if (!c->depth)
        return pe__fault(r->fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout");
    for (uint64_t i = 0; i < a->count; i++) {
        int64_t p = pe__at(a, i);
        if (p < -1 || p >= (int64_t)i)
            return pe__fault_at(r->fault, PE_RANGE, PE_OPTION_PARENTS, i,
                                "a parent is -1 or an earlier index");
        c->depth[i] = p < 0 ? 0 : c->depth[p] + 1;
        c->deepest = c->depth[i] >= c->deepest ? c->depth[i] + 1 : c->deepest;
    }
    return PE_OK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The tokens of one request that stand in this answer. */
static void take_chunk(const struct reading *r, struct pe__request *now, int64_t fresh)
{
    int64_t begin = 0, end = fresh;
    if (r->q->given[PE_OPTION_CHUNK]) {
        int64_t size = r->q->chunk, k = r->q->chunk_index;
        begin = __builtin_mul_overflow(k, size, &begin) ? fresh : least(fresh, begin);
        end = begin + least(size, fresh - begin);
    }
    now->done += begin;
    now->where += begin;
    now->query = end - begin;
}

static enum pe_error check_table(const struct reading *r, uint64_t b, const struct pe__request *now)
{
    const struct pe_layout_request *q = r->q;
    for (int64_t i = 0; q->given[PE_OPTION_TABLE_LENGTH] && i < now->query; i++) {
        int64_t step = r->tree ? r->c->depth[i] : i, p = now->first + step;
        bool inside = p >= 0 && p < q->table_length;
        if (inside && !r->tree) {
            /* They rise by one: the first outside is the end of the table, if there is one. */
            if (now->query <= q->table_length - now->first)
                return PE_OK;
            i = q->table_length - now->first - 1;
            continue;
        }
        if (inside)
            continue;
        pe__fault(r->fault, PE_RANGE, PE_OPTION_TABLE_LENGTH,
                  "request %" PRIu64 " needs position %" PRId64 "; a table of %" PRId64
                  " rows from %" PRId64 " holds %" PRId64 " tokens",
                  b, p, q->table_length, q->start, q->table_length - q->start);
        if (r->fault) {
            r->fault->rank = 2;
            r->fault->index[0] = b;
            r->fault->index[1] = (uint64_t)i;
        }
        return PE_RANGE;
    }
    return PE_OK;
}

static enum pe_error read_request(const struct reading *r, uint64_t b, uint64_t width)
{
    const struct pe_layout_request *q = r->q;
    struct pe__cached *c = r->c;
    struct pe__request *now = &c->request[b];
    now->done = now->where = pe__entry(&q->past_lengths, b);
    if (q->given[PE_OPTION_ATTENTION_MASK]) {
        now->done = 0;
        for (uint64_t i = 0; i < width; i++)
            now->done += pe__at(&q->attention_mask, b * width + i);
        now->where = (int64_t)width;
    }
    take_chunk(r, now, r->tree ? (int64_t)q->parents.count : pe__entry(&q->new_lengths, b));
    now->first = q->start + now->done + pe__entry(&q->rope_deltas, b);
    if (now->done + now->query > PE_SLOT_END || now->first < -PE_SLOT_END ||
        now->first > PE_SLOT_END - now->query)
        return pe__fault_at(r->fault, PE_RANGE,
                            q->given[PE_OPTION_NEW_LENGTHS] ? PE_OPTION_NEW_LENGTHS
                                                            : PE_OPTION_PAST_LENGTHS,
                            b, "the request needs a position beyond 2^53");
    now[1].queries_before = now->queries_before + now->query;
    now[1].keys_before = now->keys_before + pe__held(c, now);
    if (now[1].keys_before > PE_SLOT_END)
        return pe__fault_at(r->fault, PE_RANGE,
                            q->given[PE_OPTION_NEW_LENGTHS] ? PE_OPTION_NEW_LENGTHS
                                                            : PE_OPTION_PAST_LENGTHS,
                            b, "the sum up to here is beyond 2^53");
    if (now->query > c->longest)
        c->longest = now->query;
    if (pe__held(c, now) > c->longest_keys)
        c->longest_keys = pe__held(c, now);
    return check_table(r, b, now);
}

static enum pe_error finish(const struct reading *r)
{
    const struct pe_layout_request *q = r->q;
    struct pe__cached *c = r->c;
    if (q->given[PE_OPTION_CHUNK] && c->longest == 0)
        return pe__fault(r->fault, PE_RANGE, PE_OPTION_CHUNK_INDEX,
                         "no request has a token in chunk %" PRId64, q->chunk_index);
    if (q->given[PE_OPTION_CU_SEQLENS_SIZE] && q->cu_seqlens_size < (int64_t)c->batch + 1)
        return pe__fault(r->fault, PE_RANGE, PE_OPTION_CU_SEQLENS_SIZE,
                         "cu_seqlens_size %" PRId64 " is less than the %" PRIu64 " entries needed",
                         q->cu_seqlens_size, c->batch + 1);
    if (!pe__round_up(c->longest, q->pad_to_multiple_of, &c->width) ||
        !pe__round_up(c->request[c->batch].queries_before, q->pad_to_multiple_of, &c->slots) ||
        (c->width && (int64_t)c->batch > PE_SLOT_END / c->width))
        return pe__fault(r->fault, PE_RANGE, PE_OPTION_PAD_TO_MULTIPLE_OF,
                         "the batch would have more than 2^53 slots");
    return PE_OK;
}

enum pe_error pe__cached_make(struct pe__cached *c, const struct pe_layout_request *q,
                              struct pe_layout_fault *fault)
{
    struct reading r = {c, q, fault, q->given[PE_OPTION_PARENTS]};
    uint64_t width = 0;
    c->q = q;
    enum pe_error e = check_forms(&r);
    if (e || (e = count_batch(&r, &width)) || (r.tree && (e = read_tree(&r))))
        return e;
    c->request = calloc(c->batch + 1, sizeof *c->request);
    if (!c->request)
        return pe__fault(fault, PE_NO_MEMORY, PE_OPTION_NONE, "no memory for the layout");
    for (uint64_t b = 0; b < c->batch; b++)
        if ((e = read_request(&r, b, width)))
            return e;
    return finish(&r);
}

void pe__cached_clear(struct pe__cached *c)
{
    free(c->request);
    free(c->depth);
    *c = (struct pe__cached){0};
}
