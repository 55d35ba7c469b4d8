/* SPDX-License-Identifier: MIT
 *
 * check_lists.c: offsets, lengths and the longest of them, against each other and against the
 * slots.
 */
#include "layout/check.h"
#include "layout/labels.h"
#include "layout/shard.h"

static void check_order(struct pe_check *c)
{
    int64_t zero = 0, before = pe__at(c->cu, 0);
    if (before != 0)
        pe__report(
            c, PE__CU_NO_ZERO,
            &(struct pe__said){
                .tensor = PE_OPTION_CU_SEQLENS, .at = 0, .found = &before, .expected = &zero});
    for (uint64_t i = 1; i < c->cu->count; i++) {
        int64_t now = pe__at(c->cu, i);
        c->cu_falls |= now < before;
        if (now < before)
            pe__report(c, PE__CU_FALLS,
                       &(struct pe__said){
                           .tensor = PE_OPTION_CU_SEQLENS, .at = (int64_t)i, .found = &now});
        else if (now == before && c->q.empty == PE_EMPTY_ERROR)
            pe__report(c, PE__EMPTY_SEQUENCE,
                       &(struct pe__said){
                           .tensor = PE_OPTION_CU_SEQLENS, .at = (int64_t)i, .found = &now});
        before = now;
    }
}

/* Slots that sequences cover, as far as the arrays say; false where they say nothing. */
static bool total_of(const struct pe_check *c, int64_t *total)
{
    int64_t slots = c->rows * c->width, n = 0;
    if (c->q.given[PE_OPTION_TOTAL]) {
        *total = c->q.total;
        return true;
    }
    if (c->declared.row && !c->labels) {
        *total = c->declared.covered;
        return true;
    }
    if (!c->any_grid || (c->lengths && !c->labels && !c->mask))
        return false;
    for (int64_t row = 0; (c->labels || c->mask) && row < c->rows; row++) {
        int64_t end = (row + 1) * c->width, tail = 0;
        for (int64_t i = row * c->width; i < end; i++) {
            bool in = c->labels ? pe__at(c->labels, (uint64_t)i) != c->q.segment_base - 1
                                : pe__at(c->mask, (uint64_t)i) != 0;
            n += in;
            tail = in ? 0 : tail + 1;
        }
        if (!c->labels && c->q.tail != PE_TAIL_PADS)
            n += tail;
    }
    *total = c->labels || c->mask ? n : slots;
    return true;
}

/* True where the end is wrong. */
static bool check_end(struct pe_check *c)
{
    int64_t total, end = pe__at(c->cu, c->cu->count - 1);
    if (!total_of(c, &total) || end == total)
        return false;
    pe__report(c, end > total ? PE__CU_ABOVE : PE__CU_BELOW,
               &(struct pe__said){.tensor = PE_OPTION_CU_SEQLENS,
                                  .at = (int64_t)c->cu->count - 1,
                                  .found = &end,
                                  .expected = &total});
    return true;
}

static void check_sums(struct pe_check *c)
{
    int64_t sum = 0;
    uint64_t n = c->lengths->count;
    for (uint64_t i = 0; i < c->cu->count; i++) {
        int64_t found = pe__at(c->cu, i);
        if (i > n || found != sum) {
            pe__report(c, PE__LENGTHS_DISAGREE,
                       &(struct pe__said){.tensor = PE_OPTION_CU_SEQLENS,
                                          .at = (int64_t)i,
                                          .found = &found,
                                          .expected = i > n ? NULL : &sum});
            return;
        }
        if (i < n)
            sum += pe__at(c->lengths, i);
    }
    if (c->cu->count < n + 1) {
        int64_t found = pe__at(c->cu, c->cu->count - 1);
        for (uint64_t i = c->cu->count; i < n; i++)
            sum += pe__at(c->lengths, i);
        pe__report(c, PE__LENGTHS_DISAGREE,
                   &(struct pe__said){.tensor = PE_OPTION_CU_SEQLENS,
                                      .at = (int64_t)c->cu->count - 1,
                                      .found = &found,
                                      .expected = &sum});
    }
}

/* The next offset that is not the one before; false at the end. */
static bool next_offset(const struct pe_check *c, uint64_t *i, int64_t *value)
{
    int64_t before = pe__at(c->cu, *i);
    while (++*i < c->cu->count) {
        *value = pe__at(c->cu, *i);
        if (*value != before)
            return true;
    }
    return false;
}

/* One border after the other; false after the first that no offset stands at. */
static bool at_border(struct pe_check *c, uint64_t *i, int64_t border, bool end_wrong)
{
    int64_t found;
    if (!next_offset(c, i, &found))
        return false;
    if (found == border)
        return true;
    if (!(end_wrong && *i == c->cu->count - 1))
        pe__report(c, PE__BOUNDARIES_DISAGREE,
                   &(struct pe__said){.tensor = PE_OPTION_CU_SEQLENS,
                                      .at = (int64_t)*i,
                                      .found = &found,
                                      .expected = &border});
    return false;
}

static void check_borders(struct pe_check *c, bool end_wrong)
{
    struct pe__labels l = {.array = c->labels, .pad = c->q.segment_base - 1};
    struct pe__label_run run;
    uint64_t i = 0;
    int64_t count = 0;
    bool fine = true;
    for (int64_t row = 0; c->labels && fine && row < c->rows; row++) {
        bool open = false;
        pe__labels_row(&l, (uint64_t)row);
        while (fine && pe__labels_next(&l, &run)) {
            if (run.opens && open)
                fine = at_border(c, &i, count, end_wrong);
            open = true;
            count += run.length;
        }
        if (fine && open)
            fine = at_border(c, &i, count, end_wrong);
    }
    c->no_memory |= l.no_memory;
    pe__labels_clear(&l);
    for (uint32_t s = 0; !c->labels && fine && s < c->declared.sequences; s++)
        if (pe__cu(&c->declared, s + 1) != pe__cu(&c->declared, s))
            fine = at_border(c, &i, pe__cu(&c->declared, s + 1), end_wrong);
}

static void check_longest(struct pe_check *c)
{
    int64_t longest = 0, found = c->q.max_seqlen;
    if (!c->cu && !c->lengths)
        return;
    uint64_t n = c->cu ? c->cu->count - 1 : c->lengths->count;
    for (uint64_t i = 0; i < n; i++) {
        int64_t length = c->cu ? pe__at(c->cu, i + 1) - pe__at(c->cu, i) : pe__at(c->lengths, i);
        longest = pe__max(longest, length);
    }
    if (found < longest)
        pe__report(
            c, PE__MAX_TOO_SMALL,
            &(struct pe__said){
                .tensor = PE_OPTION_MAX_SEQLEN, .at = -1, .found = &found, .expected = &longest});
    else if (found > longest)
        pe__report(c, PE__MAX_TOO_LARGE,
                   &(struct pe__said){.tensor = PE_OPTION_MAX_SEQLEN,
                                      .at = -1,
                                      .found = &found,
                                      .expected = &longest,
                                      .warning = true});
}

static void check_multiples(struct pe_check *c)
{
    int64_t need = pe__shard_multiple(c->q.split, c->q.shards, c->q.stripe);
    bool lengths = c->lengths != NULL;
    if (!lengths && !c->cu)
        return;
    uint64_t n = lengths ? c->lengths->count : c->cu->count - 1;
    for (uint64_t i = 0; i < n; i++) {
        int64_t length = lengths ? pe__at(c->lengths, i) : pe__at(c->cu, i + 1) - pe__at(c->cu, i);
        if (length > 0 && length % need)
            pe__report(
                c, PE__NOT_MULTIPLE,
                &(struct pe__said){.tensor = lengths ? PE_OPTION_LENGTHS : PE_OPTION_CU_SEQLENS,
                                   .at = (int64_t)(lengths ? i : i + 1),
                                   .found = &length,
                                   .expected = &need});
    }
}

/* Lengths beside slots: their sum is the number of tokens. */
static void check_tokens(struct pe_check *c)
{
    int64_t tokens = 0, sum = 0;
    for (int64_t i = 0; i < c->rows * c->width; i++)
        tokens += pe__check_token(c, i);
    bool exact = c->mask || c->labels || c->declared.row;
    for (uint64_t i = 0; i < c->lengths->count; i++) {
        sum += pe__at(c->lengths, i);
        bool last = i + 1 == c->lengths->count;
        if (sum > tokens || (last && exact && sum < tokens)) {
            pe__report(c, PE__LENGTHS_DISAGREE,
                       &(struct pe__said){.tensor = PE_OPTION_LENGTHS,
                                          .at = (int64_t)i,
                                          .found = &sum,
                                          .expected = &tokens});
            return;
        }
    }
}

void pe__check_lists(struct pe_check *c)
{
    if (c->cu) {
        check_order(c);
        bool end_wrong = check_end(c);
        if (c->lengths)
            check_sums(c);
        if (!c->cu_falls && (c->labels || c->declared.row))
            check_borders(c, end_wrong);
    }
    if (c->lengths && c->any_grid)
        check_tokens(c);
    if (c->q.given[PE_OPTION_MAX_SEQLEN])
        check_longest(c);
    if (c->q.given[PE_OPTION_SHARDS])
        check_multiples(c);
}
