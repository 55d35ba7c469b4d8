/* SPDX-License-Identifier: MIT
 *
 * shard_units.c: where units begin and how they are cut: what all files of shards count with.
 */
#include "layout/shard.h"

int64_t pe__shard_multiple(int split, int64_t shards, int64_t stripe)
{
    int64_t times = split == PE_SPLIT_ZIGZAG ? 2 : split == PE_SPLIT_ROUND_ROBIN ? stripe : 1, out;
    return __builtin_mul_overflow(shards, times, &out) ? INT64_MAX : out;
}

int64_t pe__unit_first(const struct pe__shard *s, uint64_t unit)
{
    if (!s->by_document)
        return (int64_t)unit * s->form->width;
    return s->units ? pe__room(s->form, (uint32_t)unit) : 0;
}

struct pe__cut pe__cut_unit(const struct pe__shard *s, int64_t n)
{
    struct pe__cut c = {.base = n / s->count, .many = n % s->count, .more = 1};
    if (s->stripes) {
        int64_t stripe = s->q->stripe;
        int64_t round = pe__shard_multiple(PE_SPLIT_ROUND_ROBIN, s->count, stripe);
        int64_t left = n % round;
        return (struct pe__cut){n / round * stripe, left / stripe, stripe, left % stripe};
    }
    if (s->q->uneven == PE_UNEVEN_CEIL && c.many) {
        int64_t each = c.base + 1;
        return (struct pe__cut){0, n / each, each, n % each};
    }
    return c;
}

int64_t pe__span_slot(const struct pe__shard *s, const struct pe__span *span, int64_t i)
{
    if (!s->stripes)
        return span->slot + i;
    int64_t stripe = s->q->stripe;
    return span->slot + (i / stripe * s->count + s->q->shard) * stripe + i % stripe;
}
