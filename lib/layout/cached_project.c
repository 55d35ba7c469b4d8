/* SPDX-License-Identifier: MIT
 *
 * cached_project.c: the tensors of `cached`.
 */
#include "layout/cached.h"
#include "layout/fault.h"
#include "layout/form.h"
#include "layout/project.h"
#include "must.h"

int64_t pe__held(const struct pe__cached *c, const struct pe__request *r)
{
    int64_t earlier = r->done;
    if (c->q->given[PE_OPTION_WINDOW])
        earlier = pe__min(earlier, c->q->window - 1);
    return earlier + r->query;
}

static uint64_t fixed_or(const struct pe__cached *c, uint64_t entries)
{
    return c->q->given[PE_OPTION_CU_SEQLENS_SIZE] ? (uint64_t)c->q->cu_seqlens_size : entries;
}

unsigned pe__cached_shape(const struct pe__cached *c, enum pe_out id, uint64_t shape[4])
{
    switch (id) {
    case PE_OUT_KV_LENGTHS:
    case PE_OUT_KV_OFFSET:
    case PE_OUT_ROPE_OFFSET:
    case PE_OUT_NEXT_POSITION:
        shape[0] = c->batch;
        return 1;
    case PE_OUT_CU_SEQLENS:
    case PE_OUT_CU_SEQLENS_K:
        shape[0] = fixed_or(c, c->batch + 1);
        return 1;
    case PE_OUT_MAX_SEQLEN:
    case PE_OUT_MAX_SEQLEN_K:
        return 0;
    case PE_OUT_DEPTH:
        shape[0] = c->q->parents.count;
        return 1;
    case PE_OUT_MASK:
        shape[0] = c->depth ? c->q->parents.count : (uint64_t)c->request[c->batch].queries_before;
        shape[1] = c->depth ? c->q->parents.count : (uint64_t)c->request[c->batch].keys_before;
        return 2;
    default:
        if (c->q->flatten) {
            shape[0] = (uint64_t)c->slots;
            return 1;
        }
        shape[0] = c->batch;
        shape[1] = (uint64_t)c->width;
        return 2;
    }
}

/* The request that a token of the stream belongs to. */
static uint64_t request_of(const struct pe__cached *c, int64_t token)
{
    uint64_t lo = 0, hi = c->batch;
    while (hi - lo > 1) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (c->request[mid].queries_before <= token)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* ---------------------------------------------------------------- one value a token */

static void put_tokens(const struct pe__cached *c, enum pe_out id, uint64_t b, int64_t k, int64_t n,
                       struct pe__sink *out)
{
    const struct pe__request *r = &c->request[b];
    switch (id) {
    case PE_OUT_POSITION_IDS:
        if (!c->depth)
            pe__put_run(out, r->first + k, 1, n);
        for (int64_t i = 0; c->depth && i < n; i++)
            pe__put(out, r->first + c->depth[k + i]);
        break;
    case PE_OUT_CACHE_POSITIONS:
        pe__put_run(out, r->where + k, 1, n);
        break;
    case PE_OUT_BATCH_IDS:
        pe__put_run(out, (int64_t)b, 0, n);
        break;
    default:
        must(id == PE_OUT_ATTENTION_MASK);
        pe__put_run(out, 1, 0, n);
    }
}

static void put_pads(const struct pe__cached *c, enum pe_out id, int64_t n, struct pe__sink *out)
{
    int64_t v = id == PE_OUT_POSITION_IDS ? c->q->fill : id == PE_OUT_ATTENTION_MASK ? 0 : -1;
    pe__put_run(out, v, 0, n);
}

static void put_stream(const struct pe__cached *c, enum pe_out id, int64_t first, int64_t count,
                       struct pe__sink *out)
{
    int64_t tokens = c->request[c->batch].queries_before;
    for (uint64_t b = first < tokens ? request_of(c, first) : c->batch; count > 0 && b < c->batch;
         b++) {
        int64_t k = first - c->request[b].queries_before,
                n = pe__min(count, c->request[b].query - k);
        put_tokens(c, id, b, k, n, out);
        first += n;
        count -= n;
    }
    put_pads(c, id, count, out);
}

static void put_rows(const struct pe__cached *c, enum pe_out id, int64_t first, int64_t count,
                     struct pe__sink *out)
{
    while (count > 0) {
        int64_t b = first / c->width, at = first % c->width;
        int64_t query = c->request[b].query;
        int64_t begin = c->q->side == PE_SIDE_LEFT ? c->width - query : 0, end = begin + query, n;
        if (at >= begin && at < end) {
            n = pe__min(count, end - at);
            put_tokens(c, id, (uint64_t)b, at - begin, n, out);
        } else {
            n = pe__min(count, (at < begin ? begin : c->width) - at);
            put_pads(c, id, n, out);
        }
        first += n;
        count -= n;
    }
}

void pe__cached_positions(const struct pe__cached *c, uint64_t first, uint64_t count, int64_t *out)
{
    struct pe__sink sink = {(char *)out, true};
    if (c->q->flatten)
        put_stream(c, PE_OUT_POSITION_IDS, (int64_t)first, (int64_t)count, &sink);
    else
        put_rows(c, PE_OUT_POSITION_IDS, (int64_t)first, (int64_t)count, &sink);
}

/* ---------------------------------------------------------------- masks */

/* Ancestors of a token of the tree, and itself. */
static void put_tree(const struct pe__cached *c, int64_t first, int64_t count, unsigned char *out)
{
    int64_t width = (int64_t)c->q->parents.count;
    memset(out, 0, (size_t)count);
    while (count > 0) {
        int64_t row = first / width, at = first % width, n = pe__min(count, width - at);
        for (int64_t i = row; i >= at; i = pe__at(&c->q->parents, (uint64_t)i))
            if (i < at + n)
                out[i - at] = 1;
        out += n;
        first += n;
        count -= n;
    }
}

/* Bottom-right causal blocks, one for each request, in the window. */
static void put_blocks(const struct pe__cached *c, int64_t first, int64_t count, unsigned char *out)
{
    int64_t width = c->request[c->batch].keys_before;
    memset(out, 0, (size_t)count);
    while (count > 0) {
        int64_t row = first / width, at = first % width, n = pe__min(count, width - at);
        const struct pe__request *r = &c->request[request_of(c, row)];
        int64_t seen = pe__held(c, r) - r->query + row - r->queries_before, begin = 0;
        if (c->q->given[PE_OPTION_WINDOW])
            begin = pe__max(0, seen - c->q->window + 1);
        int64_t lo = pe__max(at, r->keys_before + begin),
                hi = pe__min(at + n, r->keys_before + seen + 1);
        if (lo < hi)
            memset(out + (lo - at), 1, (size_t)(hi - lo));
        out += n;
        first += n;
        count -= n;
    }
}

/* ---------------------------------------------------------------- one value a request */

static int64_t bound(const struct pe__cached *c, enum pe_out id, uint64_t i)
{
    const struct pe__request *r = &c->request[i < c->batch ? i : c->batch];
    bool beyond = i > c->batch && c->q->cu_seqlens_fill != PE_A_WORD + PE_REST_LAST;
    switch (id) {
    case PE_OUT_CU_SEQLENS:
        return beyond ? -1 : r->queries_before;
    case PE_OUT_CU_SEQLENS_K:
        return beyond ? -1 : r->keys_before;
    case PE_OUT_MAX_SEQLEN:
        return c->longest;
    case PE_OUT_MAX_SEQLEN_K:
        return c->longest_keys;
    case PE_OUT_KV_LENGTHS:
        return pe__held(c, r);
    case PE_OUT_KV_OFFSET:
        return r->done + r->query - pe__held(c, r);
    case PE_OUT_ROPE_OFFSET:
        return r->first;
    case PE_OUT_NEXT_POSITION:
        return r->first + (c->depth ? c->deepest : r->query);
    default:
        must(id == PE_OUT_DEPTH);
        return c->depth[i];
    }
}

static bool is_slots(enum pe_out id)
{
    return id == PE_OUT_POSITION_IDS || id == PE_OUT_ATTENTION_MASK ||
           id == PE_OUT_CACHE_POSITIONS || id == PE_OUT_BATCH_IDS;
}

void pe__cached_project(const struct pe__cached *c, enum pe_out id, uint64_t first, uint64_t count,
                        void *out)
{
    struct pe__sink sink = {out, pe__dtype(c->q, id) == PE_DTYPE_I64};
    if (is_slots(id) && c->q->flatten)
        put_stream(c, id, (int64_t)first, (int64_t)count, &sink);
    else if (is_slots(id))
        put_rows(c, id, (int64_t)first, (int64_t)count, &sink);
    else if (id == PE_OUT_MASK && c->depth)
        put_tree(c, (int64_t)first, (int64_t)count, out);
    else if (id == PE_OUT_MASK)
        put_blocks(c, (int64_t)first, (int64_t)count, out);
    else
        for (uint64_t i = 0; i < count; i++)
            pe__put(&sink, bound(c, id, first + i));
}

bool pe__cached_extent(const struct pe__cached *c, int64_t *lo, int64_t *hi)
{
    bool any = false;
    int64_t slots = c->q->flatten ? c->slots : (int64_t)c->batch * c->width;
    *lo = *hi = c->q->fill;
    if (slots > c->request[c->batch].queries_before)
        any = true;
    for (uint64_t b = 0; b < c->batch; b++) {
        const struct pe__request *r = &c->request[b];
        if (r->query == 0)
            continue;
        int64_t last = r->first + (c->depth ? c->deepest : r->query) - 1;
        *lo = any ? pe__min(*lo, r->first) : r->first;
        *hi = any ? pe__max(*hi, last) : last;
        any = true;
    }
    return any;
}

enum pe_error pe__cached_allowed(const struct pe__cached *c, enum pe_out id,
                                 struct pe_layout_fault *fault)
{
    int64_t lo = -1, hi = 0;
    if (id == PE_OUT_DEPTH && !c->depth)
        return pe__fault(fault, PE_CONFLICT, PE_OPTION_OUTPUTS, "depth is that of parents");
    if (id == PE_OUT_MASK && !c->depth && !c->q->flatten)
        return pe__fault(fault, PE_CONFLICT, PE_OPTION_OUTPUTS,
                         "mask needs parents or flatten=true");
    if (pe__dtype(c->q, id) != PE_DTYPE_I32 || id == PE_OUT_DEPTH)
        return PE_OK;
    if (id == PE_OUT_POSITION_IDS) {
        pe__cached_extent(c, &lo, &hi);
    } else if (id == PE_OUT_CACHE_POSITIONS) {
        for (uint64_t b = 0; b < c->batch; b++)
            if (c->request[b].query)
                hi = pe__max(hi, c->request[b].where + c->request[b].query - 1);
    } else if (!is_slots(id)) {
        for (uint64_t b = 0; b < c->batch + (id == PE_OUT_CU_SEQLENS || id == PE_OUT_CU_SEQLENS_K);
             b++) {
            lo = pe__min(lo, bound(c, id, b));
            hi = pe__max(hi, bound(c, id, b));
        }
    }
    return pe__fits(c->q, id, lo, hi, fault);
}
