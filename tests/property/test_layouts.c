/* SPDX-License-Identifier: MIT
 *
 * test_layouts.c: what must hold for any layout: what was packed can be unpacked, shards part the
 * slots and their inverse puts them back, check accepts all that the other endpoints make and finds
 * each planted fault, and converting there and back changes nothing.
 */
#include "unit/test_layout_kit.h"

#define MOST 512

struct array {
    int64_t at[MOST];
    size_t n;
};

static struct array read_out(const struct pe_layout *l, enum pe_out id)
{
    struct array a;
    int64_t *values = kit_values(l, id, &a.n);
    assert_true(a.n <= MOST);
    memcpy(a.at, values, a.n * sizeof *a.at);
    free(values);
    return a;
}

static void same(const struct array *a, const struct array *b)
{
    assert_int_equal(a->n, b->n);
    if (a->n)
        assert_memory_equal(a->at, b->at, a->n * sizeof *a->at);
}

/* Lengths of a few documents, none empty. */
static struct array some_lengths(void)
{
    struct array a = {.n = 1 + (size_t)kit_upto(11)};
    for (size_t i = 0; i < a.n; i++)
        a.at[i] = 1 + kit_upto(8);
    return a;
}

static int64_t sum_of(const struct array *a)
{
    int64_t sum = 0;
    for (size_t i = 0; i < a->n; i++)
        sum += a->at[i];
    return sum;
}

/* A batch of rows: its arrays as the endpoint made them. */
struct batch {
    struct array ids, mask, segment, cu;
    size_t rows, width;
    int64_t start, base, fill;
};

/* Packs lengths into one row, perhaps with a tail. */
static struct batch pack(const struct array *lengths)
{
    struct batch b = {.start = kit_upto(2), .base = kit_upto(1), .rows = 1};
    struct pe_layout_request q = kit_ask(PE_PACKED);
    b.fill = kit_upto(1) ? kit_upto(3) : PE_A_WORD + kit_upto(4);
    b.width = (size_t)(sum_of(lengths) + kit_upto(5));
    kit_list(&q, PE_OPTION_LENGTHS, lengths->at, lengths->n);
    SET(&q, CAPACITY, (int64_t)b.width);
    SET(&q, START, b.start);
    SET(&q, SEGMENT_BASE, b.base);
    SET(&q, FILL, b.fill);
    struct pe_layout *l = kit_make(&q);
    b.ids = read_out(l, PE_OUT_POSITION_IDS);
    b.mask = read_out(l, PE_OUT_ATTENTION_MASK);
    b.segment = read_out(l, PE_OUT_SEGMENT_IDS);
    b.cu = read_out(l, PE_OUT_CU_SEQLENS);
    pe_layout_destroy(&l);
    return b;
}

/* ---------------------------------------------------------------- unpacking */

static void packing_can_be_undone(void **unused)
{
    (void)unused;
    for (int round = 0; round < 400; round++) {
        struct array lengths = some_lengths();
        struct batch b = pack(&lengths);
        static const uint64_t forms[] = {
            1, 2, 3}; /* ids with the mask, segment numbers, offsets with the mask */
        for (size_t f = 0; f < 3; f++) {
            struct pe_layout_request q = kit_ask(PE_CONVERT);
            SET(&q, FROM_START, b.start);
            SET(&q, FROM_SEGMENT_BASE, b.base);
            if (forms[f] != 2)
                kit_list(&q, PE_OPTION_ATTENTION_MASK, b.mask.at, b.mask.n);
            if (forms[f] == 1)
                kit_list(&q, PE_OPTION_POSITION_IDS, b.ids.at, b.ids.n);
            if (forms[f] == 2)
                kit_list(&q, PE_OPTION_SEGMENT_IDS, b.segment.at, b.segment.n);
            if (forms[f] == 3)
                kit_list(&q, PE_OPTION_CU_SEQLENS, b.cu.at, b.cu.n);
            SET(&q, OUTPUTS, OUT(SEQLENS));
            struct pe_layout *l = kit_make(&q);
            kit_holds(l, PE_OUT_SEQLENS, lengths.at, lengths.n);
            pe_layout_destroy(&l);
        }
    }
}

/* Every token of every document is placed once, and rows hold no more than they can. */
static void planning_places_everything(void **unused)
{
    (void)unused;
    for (int round = 0; round < 400; round++) {
        struct array lengths = some_lengths();
        struct pe_layout_request q = kit_ask(PE_PLAN);
        kit_list(&q, PE_OPTION_LENGTHS, lengths.at, lengths.n);
        SET(&q, CAPACITY, 4 + kit_upto(12));
        SET(&q, ALGORITHM, kit_upto(PE_ALGORITHM_WORDS - 1));
        if (q.algorithm != PE_ALGORITHM_CONCAT)
            SET(&q, TOO_LONG, PE_LONG_SPLIT);
        SET(&q, OUTPUTS, OUT(DOCUMENTS) | OUT(OFFSETS) | OUT(LENGTHS) | OUT(CU_DOCUMENTS));
        struct pe_layout *l = kit_make(&q);
        struct array documents = read_out(l, PE_OUT_DOCUMENTS),
                     offsets = read_out(l, PE_OUT_OFFSETS);
        struct array placed = read_out(l, PE_OUT_LENGTHS), cu = read_out(l, PE_OUT_CU_DOCUMENTS);
        bool seen[12][16] = {{false}};
        for (size_t i = 0; i < documents.n; i++)
            for (int64_t k = 0; k < placed.at[i]; k++) {
                assert_false(seen[documents.at[i]][offsets.at[i] + k]);
                seen[documents.at[i]][offsets.at[i] + k] = true;
            }
        assert_int_equal(sum_of(&placed), sum_of(&lengths));
        for (size_t row = 0; row + 1 < cu.n; row++) {
            int64_t held = 0;
            for (int64_t i = cu.at[row]; i < cu.at[row + 1]; i++)
                held += placed.at[i];
            assert_true(held <= q.capacity && cu.at[row] < cu.at[row + 1]);
        }
        pe_layout_destroy(&l);
    }
}

/* ---------------------------------------------------------------- shards */

static void shards_part_the_slots(void **unused)
{
    (void)unused;
    for (int round = 0; round < 400; round++) {
        struct array lengths = some_lengths();
        struct pe_layout_request q = kit_ask(PE_SHARDED), w = kit_ask(PE_PACKED);
        kit_list(&q, PE_OPTION_LENGTHS, lengths.at, lengths.n);
        SET(&q, SHARDS, 1 + kit_upto(4));
        SET(&q, SPLIT, kit_upto(PE_SPLIT_WORDS - 1));
        SET(&q, UNEVEN, kit_upto(1) ? PE_UNEVEN_SPREAD : PE_UNEVEN_CEIL);
        SET(&q, UNIT, kit_upto(1));
        SET(&q, CAPACITY, sum_of(&lengths) + kit_upto(4));
        SET(&q, TAIL, kit_upto(2));
        SET(&q, OUTPUTS,
            OUT(GLOBAL_INDEX) | OUT(POSITION_IDS) | OUT(INVERSE) | OUT(CU_SEQLENS_PADDED));
        kit_list(&w, PE_OPTION_LENGTHS, lengths.at, lengths.n);
        SET(&w, CAPACITY, q.capacity);
        struct pe_layout *l = kit_make(&w);
        struct array whole = read_out(l, PE_OUT_POSITION_IDS), slots = {.n = 0}, ids = {.n = 0},
                     inverse = {.n = 0};
        pe_layout_destroy(&l);
        for (int64_t rank = 0; rank < q.shards; rank++) {
            SET(&q, SHARD, rank);
            l = kit_make(&q);
            struct array own = read_out(l, PE_OUT_GLOBAL_INDEX),
                         id = read_out(l, PE_OUT_POSITION_IDS);
            struct array cu = read_out(l, PE_OUT_CU_SEQLENS_PADDED);
            assert_int_equal(cu.at[cu.n - 1], own.n);
            memcpy(slots.at + slots.n, own.at, own.n * sizeof *own.at);
            memcpy(ids.at + ids.n, id.at, id.n * sizeof *id.at);
            slots.n += own.n;
            ids.n += id.n;
            inverse = read_out(l, PE_OUT_INVERSE);
            pe_layout_destroy(&l);
        }
        assert_int_equal(slots.n, whole.n);
        assert_int_equal(inverse.n, whole.n);
        for (size_t i = 0; i < whole.n; i++) {
            assert_int_equal(slots.at[inverse.at[i]], i);
            assert_int_equal(ids.at[inverse.at[i]], whole.at[i]);
        }
    }
}

/* ---------------------------------------------------------------- check */

static struct pe_layout_request declare(const struct batch *b)
{
    struct pe_layout_request q = kit_ask(PE_CHECK);
    kit_grid(&q, PE_OPTION_POSITION_IDS, b->ids.at, b->rows, b->width);
    kit_grid(&q, PE_OPTION_ATTENTION_MASK, b->mask.at, b->rows, b->width);
    kit_grid(&q, PE_OPTION_SEGMENT_IDS, b->segment.at, b->rows, b->width);
    kit_list(&q, PE_OPTION_CU_SEQLENS, b->cu.at, b->cu.n);
    SET(&q, START, b->start);
    SET(&q, SEGMENT_BASE, b->base);
    return q;
}

/* Whether a check finds the rule at a slot of row 0 or an entry; NULL: nothing at all. */
static void expect(const struct pe_layout_request *q, const char *rule, int64_t at)
{
    struct pe_check *c;
    struct pe_layout_fault fault;
    unsigned listed;
    uint64_t total;
    bool any = false;
    if (pe_check_create(q, &c, &fault) != PE_OK)
        fail_msg("%s", fault.text);
    const struct pe_finding *f = pe_check_findings(c, false, &listed, &total);
    for (unsigned i = 0; rule && i < listed; i++)
        any |= strcmp(f[i].rule, rule) == 0 && (int64_t)f[i].index[f[i].rank - 1] == at;
    if (!rule && total)
        fail_msg("a sound batch: %s", f[0].detail);
    if (rule && !any)
        fail_msg("%s at %lld is not found", rule, (long long)at);
    pe_check_destroy(&c);
}

static void sound_batches_pass(void **unused)
{
    (void)unused;
    for (int round = 0; round < 400; round++) {
        struct array lengths = some_lengths();
        struct batch b = pack(&lengths);
        struct pe_layout_request q = declare(&b);
        SET(&q, FILL, b.fill);
        expect(&q, NULL, 0);
        /* rows of a mask, as padded has them */
        struct pe_layout_request p = kit_ask(PE_PADDED);
        kit_list(&p, PE_OPTION_LENGTHS, lengths.at, lengths.n);
        SET(&p, SIDE, kit_upto(1));
        SET(&p, COUNT, kit_upto(1));
        SET(&p, START, kit_upto(3));
        SET(&p, FILL, PE_A_WORD + kit_upto(4));
        struct pe_layout *l = kit_make(&p);
        struct array ids = read_out(l, PE_OUT_POSITION_IDS),
                     mask = read_out(l, PE_OUT_ATTENTION_MASK);
        pe_layout_destroy(&l);
        q = kit_ask(PE_CHECK);
        kit_grid(&q, PE_OPTION_POSITION_IDS, ids.at, lengths.n, ids.n / lengths.n);
        kit_grid(&q, PE_OPTION_ATTENTION_MASK, mask.at, lengths.n, ids.n / lengths.n);
        SET(&q, COUNT, p.count);
        SET(&q, START, p.start);
        SET(&q, FILL, p.fill);
        expect(&q, NULL, 0);
    }
}

static void planted_faults_are_found(void **unused)
{
    (void)unused;
    for (int round = 0; round < 1000; round++) {
        struct array lengths = some_lengths();
        for (size_t i = 0; i < lengths.n; i++)
            lengths.at[i]++;
        struct batch b = pack(&lengths);
        size_t d = (size_t)kit_upto((int64_t)lengths.n - 1);
        int64_t first = b.cu.at[d], last = b.cu.at[d + 1] - 1,
                inside = first + 1 + kit_upto(last - first - 1);
        int64_t pads = (int64_t)b.width - b.cu.at[lengths.n], tail = b.cu.at[lengths.n];
        struct pe_layout_request q = declare(&b);
        switch (round % 10) {
        case 0:
            for (int64_t s = inside; s <= last; s++)
                b.ids.at[s] += 7;
            expect(&q, "skip_inside_segment", inside);
            break;
        case 1:
            for (int64_t s = inside; s <= last; s++)
                b.ids.at[s] = b.start + s - inside;
            expect(&q, "restart_inside_segment", inside);
            break;
        case 2:
            for (int64_t s = first; s <= last; s++)
                b.ids.at[s] += 40;
            expect(&q, "wrong_first_position", first);
            break;
        case 3:
            b.ids.at[last] = -1;
            expect(&q, "negative_position", last);
            break;
        case 4:
            SET(&q, TABLE_LENGTH, b.start + 1);
            expect(&q, "position_out_of_table", last);
            break;
        case 5:
            if (pads) {
                b.mask.at[tail] = 1;
                expect(&q, "mask_marks_padding_as_real", tail);
            }
            break;
        case 6:
            b.mask.at[first] = 0;
            expect(&q, "mask_hides_token", first);
            break;
        case 7:
            b.cu.at[lengths.n]++;
            expect(&q, "cu_seqlens_end_above_total", (int64_t)lengths.n);
            break;
        case 8:
            if (lengths.n > 1) {
                b.cu.at[1]--;
                expect(&q, "boundaries_disagree", 1);
            }
            break;
        default:
            if (lengths.n > 2) {
                for (int64_t s = b.cu.at[2]; s < b.cu.at[3]; s++)
                    b.segment.at[s] = b.segment.at[0];
                expect(&q, "segment_repeated", b.cu.at[2]);
            }
        }
    }
}

/* ---------------------------------------------------------------- there and back */

static void converting_back_changes_nothing(void **unused)
{
    (void)unused;
    for (int round = 0; round < 300; round++) {
        struct array lengths = some_lengths();
        struct batch b = pack(&lengths);
        /* segment numbers from one base to the other and back */
        struct pe_layout_request q = kit_ask(PE_CONVERT);
        kit_list(&q, PE_OPTION_SEGMENT_IDS, b.segment.at, b.segment.n);
        SET(&q, FROM_SEGMENT_BASE, b.base);
        SET(&q, SEGMENT_BASE, 1 - b.base);
        struct pe_layout *l = kit_make(&q);
        struct array other = read_out(l, PE_OUT_SEGMENT_IDS);
        pe_layout_destroy(&l);
        kit_list(&q, PE_OPTION_SEGMENT_IDS, other.at, other.n);
        SET(&q, FROM_SEGMENT_BASE, 1 - b.base);
        SET(&q, SEGMENT_BASE, b.base);
        l = kit_make(&q);
        struct array back = read_out(l, PE_OUT_SEGMENT_IDS);
        same(&back, &b.segment);
        pe_layout_destroy(&l);
        /* into rows of their own, and packed again */
        struct pe_layout_request p = kit_ask(PE_CONVERT);
        kit_list(&p, PE_OPTION_POSITION_IDS, b.ids.at, b.ids.n);
        kit_list(&p, PE_OPTION_ATTENTION_MASK, b.mask.at, b.mask.n);
        SET(&p, FROM_START, b.start);
        SET(&p, ARRANGE, PE_ARRANGE_PADDED);
        SET(&p, SIDE, kit_upto(1));
        l = kit_make(&p);
        struct array mask = read_out(l, PE_OUT_ATTENTION_MASK);
        pe_layout_destroy(&l);
        p = kit_ask(PE_CONVERT);
        kit_grid(&p, PE_OPTION_ATTENTION_MASK, mask.at, lengths.n, mask.n / lengths.n);
        SET(&p, ARRANGE, PE_ARRANGE_PACKED);
        SET(&p, START, b.start);
        SET(&p, SEGMENT_BASE, b.base);
        SET(&p, CAPACITY, (int64_t)b.width);
        SET(&p, FILL, b.fill);
        l = kit_make(&p);
        struct array ids = read_out(l, PE_OUT_POSITION_IDS),
                     segment = read_out(l, PE_OUT_SEGMENT_IDS);
        same(&ids, &b.ids);
        same(&segment, &b.segment);
        pe_layout_destroy(&l);
    }
}

static struct array step(int64_t past, int64_t fresh, int64_t chunk, int64_t index)
{
    struct pe_layout_request q = kit_ask(PE_CACHED);
    kit_list(&q, PE_OPTION_PAST_LENGTHS, &past, 1);
    kit_list(&q, PE_OPTION_NEW_LENGTHS, &fresh, 1);
    if (chunk) {
        SET(&q, CHUNK, chunk);
        SET(&q, CHUNK_INDEX, index);
    }
    struct pe_layout *l = kit_make(&q);
    struct array ids = read_out(l, PE_OUT_POSITION_IDS);
    pe_layout_destroy(&l);
    return ids;
}

static void steps_join(void **unused)
{
    (void)unused;
    for (int round = 0; round < 200; round++) {
        int64_t past = kit_upto(30), fresh = 1 + kit_upto(30), chunk = 1 + kit_upto(9);
        struct array whole = step(0, past + fresh, 0, 0), later = step(past, fresh, 0, 0),
                     joined = {.n = 0};
        assert_memory_equal(whole.at + past, later.at, (size_t)fresh * sizeof *later.at);
        for (int64_t i = 0; i * chunk < fresh; i++) {
            struct array part = step(past, fresh, chunk, i);
            memcpy(joined.at + joined.n, part.at, part.n * sizeof *part.at);
            joined.n += part.n;
        }
        same(&joined, &later);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_can_be_undone),
        cmocka_unit_test(planning_places_everything),
        cmocka_unit_test(shards_part_the_slots),
        cmocka_unit_test(sound_batches_pass),
        cmocka_unit_test(planted_faults_are_found),
        cmocka_unit_test(converting_back_changes_nothing),
        cmocka_unit_test(steps_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
