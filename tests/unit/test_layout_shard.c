/* SPDX-License-Identifier: MIT
 *
 * test_layout_shard.c: shards against slots dealt out one by one: places, inverse, pieces, and what
 * a rank is told of its own sequences.
 */
#include "test_layout_kit.h"

#include "layout/shard.h"

#define MOST 4096

/* Where each slot of a unit goes: rank, and whether to its tail. */
struct deal {
    int64_t rank;
    bool tail;
};

static void deal_unit(const struct pe_layout_request *q, int64_t n, struct deal *out)
{
    int64_t ranks = q->shards, pieces = q->split == PE_SPLIT_ZIGZAG ? 2 * ranks : ranks, at = 0;
    if (q->split == PE_SPLIT_ROUND_ROBIN) {
        for (int64_t i = 0; i < n; i++)
            out[i] = (struct deal){i / q->stripe % ranks, false};
        return;
    }
    int64_t each = (n + pieces - 1) / pieces;
    for (int64_t p = 0; p < pieces; p++) {
        int64_t size = n / pieces + (p < n % pieces);
        if (q->uneven == PE_UNEVEN_CEIL)
            size = at + each < n ? each : n - at;
        for (; size > 0; size--)
            out[at++] = (struct deal){p < ranks ? p : pieces - 1 - p, p >= ranks};
    }
}

/* Slots in the order of all ranks, one after the other. */
static size_t deal_all(const struct pe_layout_request *q, const int64_t *units, size_t n,
                       int64_t *order, int64_t rank_wanted)
{
    static struct deal deal[MOST];
    size_t slots = 0, count = 0;
    for (size_t u = 0; u < n; u++) {
        deal_unit(q, units[u], deal + slots);
        slots += (size_t)units[u];
    }
    for (int64_t rank = 0; rank < q->shards; rank++) {
        if (rank_wanted >= 0 && rank != rank_wanted)
            continue;
        for (int pass = 0; pass < (q->piece_order == PE_PIECES_HEADS ? 2 : 1); pass++)
            for (size_t i = 0; i < slots; i++)
                if (deal[i].rank == rank &&
                    (q->piece_order != PE_PIECES_HEADS || deal[i].tail == pass))
                    order[count++] = (int64_t)i;
    }
    return count;
}

static struct pe_layout_request any_split(int64_t *lengths, size_t *n)
{
    struct pe_layout_request q = kit_ask(PE_SHARDED);
    int64_t top = kit_upto(2) ? 12 : 40;
    *n = 1 + (size_t)kit_upto(kit_upto(3) ? 20 : 150);
    for (size_t i = 0; i < *n; i++)
        lengths[i] = kit_upto(9) ? kit_upto(top) : 0;
    kit_list(&q, PE_OPTION_LENGTHS, lengths, *n);
    SET(&q, SHARDS, kit_upto(1) ? 1 + kit_upto(6) : 1 + kit_upto(900));
    SET(&q, SHARD, kit_upto(q.shards < 8 ? q.shards - 1 : 7));
    SET(&q, SPLIT, kit_upto(2));
    SET(&q, UNEVEN, kit_upto(1) ? PE_UNEVEN_SPREAD : PE_UNEVEN_CEIL);
    SET(&q, UNIT, kit_upto(3) ? PE_UNIT_DOCUMENT : PE_UNIT_ROW);
    if (q.split == PE_SPLIT_ZIGZAG && q.unit == PE_UNIT_DOCUMENT && kit_upto(1))
        SET(&q, PIECE_ORDER, PE_PIECES_HEADS);
    if (q.split == PE_SPLIT_ROUND_ROBIN)
        SET(&q, STRIPE, 1 + kit_upto(3));
    return q;
}

static void places_and_inverse(void **unused)
{
    static int64_t order[MOST * 4], lengths[256];
    (void)unused;
    for (int round = 0; round < 400; round++) {
        size_t n, slots = 0, count;
        struct pe_layout_request q = any_split(lengths, &n);
        for (size_t i = 0; i < n; i++)
            slots += (size_t)lengths[i];
        if (slots > MOST)
            continue;
        SET(&q, OUTPUTS, OUT(INVERSE) | OUT(GLOBAL_INDEX) | OUT(POSITION_IDS));
        struct pe_layout *l = kit_make(&q);
        int64_t whole = (int64_t)slots;
        const int64_t *units = q.unit == PE_UNIT_ROW ? &whole : lengths;
        size_t own = deal_all(&q, units, q.unit == PE_UNIT_ROW ? 1 : n, order, q.shard);
        kit_holds(l, PE_OUT_GLOBAL_INDEX, order, own);
        assert_int_equal(deal_all(&q, units, q.unit == PE_UNIT_ROW ? 1 : n, order, -1), slots);
        int64_t *inverse = kit_values(l, PE_OUT_INVERSE, &count);
        assert_int_equal(count, slots);
        for (size_t i = 0; i < slots; i++)
            assert_int_equal(order[inverse[i]], i);
        free(inverse);
        pe_layout_destroy(&l);
    }
}

/* Pieces are cut where neighbours, room or kind change; keys are counted from the start of the
 * sequence. */
static void pieces_of_one_rank(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_SHARDED);
    GIVE(&q, CU_SEQLENS, 0, 8, 12);
    SET(&q, SHARDS, 2);
    SET(&q, SHARD, 0);
    SET(&q, SPLIT, PE_SPLIT_ZIGZAG);
    SET(&q, OUTPUTS, pe_outs_offered(PE_SHARDED));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, GLOBAL_INDEX, 0, 1, 6, 7, 8, 11);
    HOLDS(l, POSITION_IDS, 0, 1, 6, 7, 0, 3);
    HOLDS(l, CU_SEQLENS, 0, 4, 6);
    HOLDS(l, CU_PIECES, 0, 2, 4, 5, 6);
    HOLDS(l, PIECE_KV_LENGTHS, 2, 8, 1, 4);
    HOLDS(l, LABEL_INDEX, 1, 2, 7, -1, 9, -1);
    pe_layout_destroy(&l);
}

static void stripes(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_SHARDED);
    GIVE(&q, LENGTHS, 5, 4);
    q.given[PE_OPTION_PAST_LENGTHS] = true;
    q.past_lengths = (struct pe_array){.at = (const int64_t[]){10}, .size = 8, .count = 1};
    SET(&q, SHARDS, 2);
    SET(&q, SHARD, 1);
    SET(&q, SPLIT, PE_SPLIT_ROUND_ROBIN);
    SET(&q, STRIPE, 2);
    SET(&q, UNEVEN, PE_UNEVEN_SPREAD);
    SET(&q, OUTPUTS, pe_outs_offered(PE_SHARDED));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, GLOBAL_INDEX, 2, 3, 6, 7);
    HOLDS(l, POSITION_IDS, 12, 13, 11, 12);
    HOLDS(l, CU_SEQLENS, 0, 2, 4);
    HOLDS(l, CU_PIECES, 0, 2, 4);
    HOLDS(l, PIECE_KV_LENGTHS, 14, 13);
    pe_layout_destroy(&l);
}

static void padding_first(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_SHARDED);
    struct pe_layout_fault fault;
    GIVE(&q, LENGTHS, 5, 3);
    SET(&q, SHARDS, 2);
    SET(&q, SHARD, 0);
    SET(&q, SPLIT, PE_SPLIT_ZIGZAG);
    assert_int_equal(kit_refused(&q, PE_RANGE, &fault), PE_OPTION_UNEVEN);
    assert_int_equal(fault.index[0], 0);
    assert_non_null(strstr(fault.text, "multiple of 4"));
    SET(&q, UNEVEN, PE_UNEVEN_PAD);
    SET(&q, OUTPUTS, OUT(GLOBAL_INDEX) | OUT(ATTENTION_MASK) | OUT(SEQUSED));
    struct pe_layout *l = kit_make(&q);
    HOLDS(l, GLOBAL_INDEX, 0, 1, 6, 7, 8, 11);
    HOLDS(l, ATTENTION_MASK, 1, 1, 0, 0, 1, 0);
    HOLDS(l, SEQUSED, 2, 1);
    pe_layout_destroy(&l);
    SET(&q, SHARDS, PE_SLOT_END);
    assert_int_equal(kit_refused(&q, PE_RANGE, NULL), PE_OPTION_UNEVEN);
}

/* A billion ranks cost what one does. */
static void many_ranks(void **unused)
{
    (void)unused;
    struct pe_layout_request q = kit_ask(PE_SHARDED);
    GIVE(&q, LENGTHS, 1000, 3);
    SET(&q, SHARDS, 1000000000);
    SET(&q, SHARD, 999999999);
    SET(&q, SPLIT, PE_SPLIT_CONTIGUOUS);
    SET(&q, UNEVEN, PE_UNEVEN_SPREAD);
    SET(&q, OUTPUTS, OUT(GLOBAL_INDEX) | OUT(INVERSE));
    struct pe_layout *l = kit_make(&q);
    size_t count;
    int64_t *inverse = kit_values(l, PE_OUT_INVERSE, &count);
    assert_true(pe_layout_bytes(l) < 1 << 16);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(inverse[i], i);
    free(inverse);
    free(kit_values(l, PE_OUT_GLOBAL_INDEX, &count));
    assert_int_equal(count, 0);
    pe_layout_destroy(&l);
}

static void multiples(void **unused)
{
    (void)unused;
    assert_int_equal(pe__shard_multiple(PE_SPLIT_ZIGZAG, 4, 1), 8);
    assert_int_equal(pe__shard_multiple(PE_SPLIT_CONTIGUOUS, 4, 9), 4);
    assert_int_equal(pe__shard_multiple(PE_SPLIT_ROUND_ROBIN, 4, 3), 12);
    assert_int_equal(pe__shard_multiple(PE_SPLIT_ROUND_ROBIN, PE_SLOT_END, PE_SLOT_END), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_and_inverse),
        cmocka_unit_test(pieces_of_one_rank),
        cmocka_unit_test(stripes),
        cmocka_unit_test(padding_first),
        cmocka_unit_test(many_ranks),
        cmocka_unit_test(multiples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
