/* SPDX-License-Identifier: MIT
 *
 * store_index.c: see store_index.h, and the look-ups of store.h. A sorted array: pages come in
 * order, and a hundred thousand names are found in seventeen steps.
 */
#include "store_index.h"

#include <stdlib.h>
#include <string.h>

/* The first entry whose name is not before `name`. */
static size_t place_of(const struct store *s, const char *name)
{
    size_t from = 0, to = s->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (strcmp(s->at[middle].name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool is_at(const struct store *s, size_t i, const char *name)
{
    return i < s->count && strcmp(s->at[i].name, name) == 0;
}

struct store_blob *store_find(struct store *s, const char *name, const char *digest)
{
    struct store_blob *b = NULL;
    pthread_mutex_lock(&s->lock);
    size_t i = place_of(s, name);
    if (is_at(s, i, name) && (!digest || strcmp(s->at[i].blob->digest, digest) == 0))
        b = store_blob_hold(s->at[i].blob);
    pthread_mutex_unlock(&s->lock);
    return b;
}

size_t store_page(struct store *s, const char *after, size_t limit, struct store_row *out,
                  bool *more)
{
    size_t n = 0;
    pthread_mutex_lock(&s->lock);
    size_t i = place_of(s, after);
    if (is_at(s, i, after))
        i++;
    for (; n < limit && i < s->count; n++, i++) {
        memcpy(out[n].name, s->at[i].name, strlen(s->at[i].name) + 1);
        out[n].blob = store_blob_hold(s->at[i].blob);
    }
    *more = i < s->count;
    pthread_mutex_unlock(&s->lock);
    return n;
}

struct store_blob *store_index_get(struct store *s, const char *name)
{
    size_t i = place_of(s, name);
    return is_at(s, i, name) ? s->at[i].blob : NULL;
}

struct store_blob *store_index_twin(struct store *s, const char *digest)
{
    for (size_t i = 0; i < s->count; i++)
        if (memcmp(s->at[i].blob->digest, digest, STORE_DIGITS) == 0)
            return s->at[i].blob;
    return NULL;
}

bool store_index_reserve(struct store *s, const char *name, char **copy)
{
    *copy = strdup(name);
    if (!*copy)
        return false;
    pthread_mutex_lock(&s->lock);
    size_t room = s->room ? 2 * s->room : 64;
    struct store_entry *grown = s->count < s->room ? s->at : realloc(s->at, room * sizeof *grown);
    if (grown && s->count == s->room)
        s->room = room;
    s->at = grown ? grown : s->at;
    pthread_mutex_unlock(&s->lock);
    if (grown)
        return true;
    free(*copy);
    *copy = NULL;
    return false;
}

static void give(struct store_entry *e, struct store_blob *b)
{
    struct store_blob *old = e->blob;
    e->blob = store_blob_hold(b);
    store_blob_drop(&old);
}

void store_index_set(struct store *s, const char *name, char **copy, struct store_blob *b)
{
    pthread_mutex_lock(&s->lock);
    size_t i = place_of(s, name);
    if (!is_at(s, i, name)) {
        memmove(&s->at[i + 1], &s->at[i], (s->count - i) * sizeof *s->at);
        s->at[i] = (struct store_entry){*copy, NULL};
        *copy = NULL;
        s->count++;
    }
    give(&s->at[i], b);
    for (i = 0; i < s->count; i++)
        if (s->at[i].blob != b && memcmp(s->at[i].blob->digest, b->digest, STORE_DIGITS) == 0)
            give(&s->at[i], b);
    pthread_mutex_unlock(&s->lock);
}

void store_index_erase(struct store *s, const char *name)
{
    struct store_entry gone = {NULL, NULL};
    pthread_mutex_lock(&s->lock);
    size_t i = place_of(s, name);
    if (is_at(s, i, name)) {
        gone = s->at[i];
        memmove(&s->at[i], &s->at[i + 1], (s->count - i - 1) * sizeof *s->at);
        s->count--;
    }
    pthread_mutex_unlock(&s->lock);
    free(gone.name);
    store_blob_drop(&gone.blob);
}
