/* SPDX-License-Identifier: MIT
 *
 * memory.c: see memory.h. Large pieces begin on a huge page, where the kernel has them: a fresh
 * table then costs a page fault for 2 MiB instead of one for 4 KiB. A guest whose host has taken
 * its free memory back gets huge pages slowly (measured: 4 MiB in 9 ms, in 0.2 ms otherwise, and
 * in 1.4 ms by small pages, of which it has some left): then it does without them for a while. Kept
 * pieces are cut where a smaller one is wanted.
 */
#include "memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* From here on pages: some microseconds, against those of making a table. */
#define MAP_FROM (8 << 10)
#define PAGE ((size_t)4 << 10)
#define HUGE_PAGE ((size_t)2 << 20)

/* What is kept at most, and how long, in calls of memory_age. */
#define SPARES 8
#define SPARE_BYTES ((size_t)64 << 20)
#define SPARE_AGE 4

/* A huge page is cleared in some 100 microseconds; one that takes so long had to be fetched. Then
 * none are asked for during so many calls of memory_age (250 ms each, of each loop). */
#define SLOW_US 1000
#define SLOW_AGE 8

/* A piece of this size is worth trying at any time. */
#define TRY_FROM ((size_t)32 << 20)

struct spare {
    unsigned char *at; /* NULL: none */
    size_t size;
    unsigned age;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct spare spare[SPARES];
static size_t kept;
static atomic_int slow; /* calls of memory_age until huge pages are tried again */

static size_t up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static unsigned char *map(size_t size, int flags)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Writes to the first page of a piece, in microseconds. */
static int64_t first_touch(volatile unsigned char *at)
{
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    *at = 0;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    return (ended.tv_sec - began.tv_sec) * 1000000 + (ended.tv_nsec - began.tv_nsec) / 1000;
}

static void want_huge(unsigned char *at, size_t size)
{
    if (size < TRY_FROM && atomic_load_explicit(&slow, memory_order_relaxed) > 0)
        return;
    madvise(at, size, MADV_HUGEPAGE);
    if (first_touch(at) < SLOW_US)
        return;
    madvise(at, size, MADV_NOHUGEPAGE);
    atomic_store_explicit(&slow, SLOW_AGE, memory_order_relaxed);
}

static unsigned char *map_huge(size_t size)
{
    unsigned char *at = map(size + HUGE_PAGE, MAP_NORESERVE);
    if (!at)
        return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
    if (before)
        munmap(at, before);
    munmap(at + before + size, HUGE_PAGE - before);
    want_huge(at + before, size);
    return at + before;
}

/* Under the lock: the piece leaves the kept ones. */
static struct spare take(struct spare *s)
{
    struct spare taken = *s;
    *s = (struct spare){NULL, 0, 0};
    kept -= taken.size;
    return taken;
}

/* Under the lock: false where there is no place. */
static bool keep(struct spare piece)
{
    for (size_t i = 0; i < SPARES; i++)
        if (!spare[i].at) {
            spare[i] = piece;
            kept += piece.size;
            return true;
        }
    return false;
}

/* The smallest kept piece that does, cut to size; what is behind it stays where it is a huge page.
 */
static unsigned char *take_spare(size_t size)
{
    struct spare *best = NULL, found = {NULL, 0, 0};
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < SPARES; i++)
        if (spare[i].at && spare[i].size >= size && (!best || spare[i].size < best->size))
            best = &spare[i];
    if (best) {
        found = take(best);
        size_t cut = up(size, HUGE_PAGE);
        if (cut + HUGE_PAGE <= found.size) {
            keep((struct spare){found.at + cut, found.size - cut, found.age});
            found.size = cut;
        }
    }
    pthread_mutex_unlock(&lock);
    if (found.size > size)
        munmap(found.at + size, found.size - size);
    return found.at;
}

static void keep_spare(unsigned char *at, size_t size)
{
    struct spare gone[SPARES];
    size_t n = 0;
    pthread_mutex_lock(&lock);
    while (kept + size > SPARE_BYTES || n == 0) {
        struct spare *oldest = NULL;
        bool room = false;
        for (size_t i = 0; i < SPARES; i++) {
            room |= !spare[i].at;
            if (spare[i].at && (!oldest || spare[i].age > oldest->age))
                oldest = &spare[i];
        }
        if (!oldest || (room && kept + size <= SPARE_BYTES))
            break;
        gone[n++] = take(oldest);
    }
    bool held = size <= SPARE_BYTES && keep((struct spare){at, size, 0});
    pthread_mutex_unlock(&lock);
    if (!held)
        munmap(at, size);
    while (n)
        n--, munmap(gone[n].at, gone[n].size);
}

void memory_age(void)
{
    if (atomic_load_explicit(&slow, memory_order_relaxed) > 0)
        atomic_fetch_sub_explicit(&slow, 1, memory_order_relaxed);
    for (size_t i = 0; i < SPARES; i++) {
        struct spare old = {NULL, 0, 0};
        pthread_mutex_lock(&lock);
        if (spare[i].at && spare[i].age++ > SPARE_AGE)
            old = take(&spare[i]);
        pthread_mutex_unlock(&lock);
        if (old.at)
            munmap(old.at, old.size);
    }
}

unsigned char *memory_get(size_t size, size_t *mapped)
{
    *mapped = size < MAP_FROM ? 0 : up(size, PAGE);
    if (!*mapped)
        return malloc(size + 1);
    if (size < HUGE_PAGE)
        return map(*mapped, MAP_POPULATE);
    unsigned char *at = take_spare(*mapped);
    return at ? at : map_huge(*mapped);
}

void memory_give(unsigned char *at, size_t mapped)
{
    if (!mapped)
        free(at);
    else if (mapped < HUGE_PAGE)
        munmap(at, mapped);
    else
        keep_spare(at, mapped);
}
