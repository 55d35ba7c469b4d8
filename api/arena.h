/* SPDX-License-Identifier: MIT
 *
 * arena.h: the memory of one answer. Everything that a plan refers to is taken from one arena and
 * goes with it, so that nothing in this room is freed one by one.
 *
 * There is one way out of exhaustion: api__arena_take does not return but jumps to the place that
 * api__arena_exit was set at (setjmp in plan.c), and that frees the arena. So no caller checks for
 * NULL, and none may hold anything else that would have to be released.
 */
#ifndef API_ARENA_H
#define API_ARENA_H

#include <setjmp.h>
#include <stddef.h>

struct api__arena;

/* A new arena, or NULL where there is no memory. Owned by the caller; one thread at a time. */
struct api__arena *api__arena_new(void);

/* Frees the arena and all that was taken from it; nulls *arena. NULL inside is fine. */
void api__arena_free(struct api__arena **arena);

/* Where to go when memory runs out: `if (setjmp(*api__arena_exit(a))) { free; return NULL; }`. Must
 * be set before the first take. */
jmp_buf *api__arena_exit(struct api__arena *);

/* `size` bytes, aligned for any type, not cleared. Never NULL; size 0 gives a pointer that may be
 * compared. */
void *api__arena_take(struct api__arena *, size_t size);

/* The same for `count` objects of `size` bytes; a product that overflows is exhaustion. */
void *api__arena_array(struct api__arena *, size_t count, size_t size);

/* A place for an object that is not of the arena but goes with it: NULL at first; where it is not
 * when the arena is freed, `release` gets the object. So a place is taken before the object is
 * made. */
void **api__arena_own(struct api__arena *, void (*release)(void *object));

/* A copy of `len` bytes with a NUL behind them. */
char *api__arena_copy(struct api__arena *, const void *at, size_t len);

#endif
