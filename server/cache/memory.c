/* SPDX-License-Identifier: MIT
 *
 * memory.c: see memory.h. Large pieces begin on a huge page, where the kernel has them: a fresh
 * table then costs a page fault for 2 MiB instead of one for 4 KiB. Kept pieces are cut where a
 * smaller one is wanted.
 */
#include "memory.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* From here on pages: some microseconds, against those of making a table. */
#define MAP_FROM (8 << 10)
#define PAGE ((size_t)4 << 10)
#define HUGE_PAGE ((size_t)2 << 20)

/* What is kept at most, and how long, in calls of memory_age. */
#define SPARES 8
#define SPARE_BYTES ((size_t)64 << 20)
#define SPARE_AGE 4

struct spare {
    unsigned char *at; /* NULL: none */
    size_t size;
    unsigned age;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct spare spare[SPARES];
static size_t kept;

static size_t up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static unsigned char *map(size_t size, int flags)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return at == MAP_FAILED ? NULL : at;
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
    madvise(at + before, size, MADV_HUGEPAGE);
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
