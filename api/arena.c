/* SPDX-License-Identifier: MIT
 *
 * arena.c: blocks that only grow, freed together. The first block lies in the arena itself and
 * holds an ordinary answer, so that a request costs one malloc. A large take gets a block of its
 * own, of its size and not of a doubled one: what a request holds is what it asked for.
 */
#include "arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 7168 /* with malloc's own header less than two pages */
#define BLOCK_BYTES 32768
#define ALIGNMENT alignof(max_align_t)

struct block {
    struct block *older;
    char *next;
    char *end;
    alignas(max_align_t) char bytes[];
};

struct owned {
    struct owned *older;
    void (*release)(void *);
    void *object;
};

struct api__arena {
    jmp_buf out;
    bool armed;
    struct owned *owned;
    struct block *newest;
    struct block first;
};

struct api__arena *api__arena_new(void)
{
    struct api__arena *a = malloc(sizeof *a + FIRST_BYTES);
    if (!a)
        return NULL;
    a->armed = false;
    a->owned = NULL;
    a->newest = &a->first;
    a->first.older = NULL;
    a->first.next = a->first.bytes;
    a->first.end = a->first.bytes + FIRST_BYTES;
    return a;
}

void api__arena_free(struct api__arena **arena)
{
    struct api__arena *a = *arena;
    *arena = NULL;
    if (!a)
        return;
    for (struct owned *o = a->owned; o; o = o->older)
        if (o->object)
            o->release(o->object);
    for (struct block *b = a->newest, *older; b != &a->first; b = older) {
        older = b->older;
        free(b);
    }
    free(a);
}

jmp_buf *api__arena_exit(struct api__arena *a)
{
    a->armed = true;
    return &a->out;
}

static void exhausted(struct api__arena *a)
{
    if (!a->armed)
        abort();
    longjmp(a->out, 1);
}

static char *take_block(struct api__arena *a, size_t size)
{
    size_t room = size > BLOCK_BYTES / 2 ? size : BLOCK_BYTES;
    struct block *b = size > PTRDIFF_MAX / 2 ? NULL : malloc(sizeof *b + room);
    if (!b)
        exhausted(a);
    b->next = b->bytes + size;
    b->end = b->bytes + room;
    b->older = a->newest;
    a->newest = b;
    return b->bytes;
}

void *api__arena_take(struct api__arena *a, size_t size)
{
    if (size > PTRDIFF_MAX / 2)
        exhausted(a);
    size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    struct block *b = a->newest;
    if ((size_t)(b->end - b->next) < size)
        return take_block(a, size);
    char *at = b->next;
    b->next += size;
    return at;
}

void *api__arena_array(struct api__arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        exhausted(a);
    return api__arena_take(a, bytes);
}

void **api__arena_own(struct api__arena *a, void (*release)(void *))
{
    struct owned *o = api__arena_take(a, sizeof *o);
    *o = (struct owned){a->owned, release, NULL};
    a->owned = o;
    return &o->object;
}

char *api__arena_copy(struct api__arena *a, const void *at, size_t len)
{
    char *copy = api__arena_take(a, len + 1);
    if (len)
        memcpy(copy, at, len);
    copy[len] = '\0';
    return copy;
}
