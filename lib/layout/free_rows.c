/* SPDX-License-Identifier: MIT
 *
 * free_rows.c: see free_rows.h. Every step is O(log rows): the ordered set is a treap whose
 * priorities depend on all keys so far, so no input of a practical length makes it a list; results
 * never depend on them.
 */
#include "layout/free_rows.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- tournament */

static bool grow_tournament(struct pe__tournament *t, uint32_t row)
{
    size_t leaves = t->leaves ? t->leaves : 512;
    while (leaves <= row)
        leaves *= 2;
    if (leaves == t->leaves)
        return true;
    int64_t *most = malloc(2 * leaves * sizeof *most);
    if (!most)
        return false;
    for (size_t i = 0; i < leaves; i++)
        most[leaves + i] = i < t->leaves ? t->most[t->leaves + i] : -1;
    for (size_t i = leaves - 1; i > 0; i--)
        most[i] = most[2 * i] > most[2 * i + 1] ? most[2 * i] : most[2 * i + 1];
    free(t->most);
    t->most = most;
    t->leaves = leaves;
    return true;
}

bool pe__tournament_set(struct pe__tournament *t, uint32_t row, int64_t free_slots)
{
    if (row >= t->leaves && !grow_tournament(t, row))
        return false;
    size_t i = t->leaves + row;
    t->most[i] = free_slots;
    for (i /= 2; i > 0; i /= 2) {
        int64_t a = t->most[2 * i], b = t->most[2 * i + 1], most = a > b ? a : b;
        if (t->most[i] == most)
            break;
        t->most[i] = most;
    }
    return true;
}

int64_t pe__tournament_most(const struct pe__tournament *t)
{
    return t->leaves ? t->most[1] : -1;
}

uint32_t pe__tournament_first(const struct pe__tournament *t, int64_t need)
{
    size_t i = 1;
    while (i < t->leaves)
        i = 2 * i + (t->most[2 * i] < need);
    return (uint32_t)(i - t->leaves);
}

void pe__tournament_clear(struct pe__tournament *t)
{
    free(t->most);
    *t = (struct pe__tournament){0};
}

/* ---------------------------------------------------------------- heaps of rows */

static uint32_t meld(struct pe__by_room *s, uint32_t a, uint32_t b)
{
    if (!a || !b)
        return a ? a : b;
    if (b < a) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    s->sibling[b] = s->child[a];
    s->child[a] = b;
    return a;
}

/* What is left of a heap without its first: pairs are melded from the left, then all from the
 * right. */
static uint32_t without_first(struct pe__by_room *s, uint32_t heap)
{
    uint32_t pairs = 0, next = s->child[heap];
    while (next) {
        uint32_t a = next, b = s->sibling[a];
        next = b ? s->sibling[b] : 0;
        s->sibling[a] = 0;
        if (b)
            s->sibling[b] = 0;
        uint32_t pair = meld(s, a, b);
        s->sibling[pair] = pairs;
        pairs = pair;
    }
    uint32_t out = 0;
    while (pairs) {
        uint32_t rest = s->sibling[pairs];
        s->sibling[pairs] = 0;
        out = meld(s, out, pairs);
        pairs = rest;
    }
    return out;
}

/* ---------------------------------------------------------------- the tree of levels */

/* Finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
 * 2014). */
static uint64_t scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t *link_to(struct pe__by_room *s, int64_t free_slots)
{
    uint32_t *link = &s->root;
    while (*link && s->level[*link].free_slots != free_slots) {
        struct pe__level *l = &s->level[*link];
        link = free_slots < l->free_slots ? &l->left : &l->right;
    }
    return link;
}

/* Cuts the tree at `key` into what is below and what is above it. */
static void cut(struct pe__by_room *s, uint32_t tree, int64_t key, uint32_t *below, uint32_t *above)
{
    while (tree) {
        struct pe__level *l = &s->level[tree];
        if (l->free_slots < key) {
            *below = tree;
            below = &l->right;
            tree = l->right;
        } else {
            *above = tree;
            above = &l->left;
            tree = l->left;
        }
    }
    *below = *above = 0;
}

static void join(struct pe__by_room *s, uint32_t *link, uint32_t below, uint32_t above)
{
    while (below && above) {
        if (s->level[below].priority > s->level[above].priority) {
            *link = below;
            link = &s->level[below].right;
            below = *link;
        } else {
            *link = above;
            link = &s->level[above].left;
            above = *link;
        }
    }
    *link = below ? below : above;
}

static uint32_t new_level(struct pe__by_room *s, int64_t free_slots)
{
    uint32_t n = s->unused;
    if (n) {
        s->unused = s->level[n].heap;
    } else {
        if (s->levels + 1 >= s->room_levels) {
            uint32_t room = s->room_levels ? s->room_levels * 2 : 256;
            struct pe__level *grown = realloc(s->level, room * sizeof *grown);
            if (!grown)
                return 0;
            s->level = grown;
            s->room_levels = room;
        }
        n = ++s->levels;
    }
    s->state = scramble(s->state + (uint64_t)free_slots + UINT64_C(0x9e3779b97f4a7c15));
    s->level[n] = (struct pe__level){.free_slots = free_slots, .priority = s->state};
    return n;
}

static bool grow_rows(struct pe__by_room *s, uint32_t row)
{
    if (row + 1 < s->room_rows)
        return true;
    size_t room = s->room_rows ? (size_t)s->room_rows * 2 : 1024;
    while (room <= row + 1)
        room *= 2;
    uint32_t *child = realloc(s->child, room * sizeof *child);
    if (child)
        s->child = child;
    uint32_t *sibling = realloc(s->sibling, room * sizeof *sibling);
    if (sibling)
        s->sibling = sibling;
    if (!child || !sibling)
        return false;
    s->room_rows = (uint32_t)room;
    return true;
}

bool pe__by_room_add(struct pe__by_room *s, uint32_t row, int64_t free_slots)
{
    if (!grow_rows(s, row))
        return false;
    uint32_t heap = row + 1;
    s->child[heap] = s->sibling[heap] = 0;
    uint32_t at = *link_to(s, free_slots);
    if (!at) {
        at = new_level(s, free_slots);
        if (!at)
            return false;
        uint32_t *link = &s->root;
        while (*link && s->level[*link].priority > s->level[at].priority)
            link = free_slots < s->level[*link].free_slots ? &s->level[*link].left
                                                           : &s->level[*link].right;
        cut(s, *link, free_slots, &s->level[at].left, &s->level[at].right);
        *link = at;
    }
    s->level[at].heap = meld(s, s->level[at].heap, heap);
    return true;
}

bool pe__by_room_take(struct pe__by_room *s, int64_t need, uint32_t *row, int64_t *free_slots)
{
    uint32_t best = 0;
    for (uint32_t at = s->root; at;) {
        if (s->level[at].free_slots < need) {
            at = s->level[at].right;
        } else {
            best = at;
            at = s->level[at].left;
        }
    }
    if (!best)
        return false;
    struct pe__level *l = &s->level[best];
    *row = l->heap - 1;
    *free_slots = l->free_slots;
    l->heap = without_first(s, l->heap);
    if (!l->heap) {
        uint32_t *link = link_to(s, l->free_slots);
        join(s, link, l->left, l->right);
        l->heap = s->unused;
        s->unused = best;
    }
    return true;
}

void pe__by_room_clear(struct pe__by_room *s)
{
    free(s->level);
    free(s->child);
    free(s->sibling);
    *s = (struct pe__by_room){0};
}
