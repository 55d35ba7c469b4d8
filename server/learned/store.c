/* SPDX-License-Identifier: MIT
 *
 * store.c: opening a store: what is on disk becomes the index, and what no name stands for goes. A
 * name whose blob is not there or is no table is left on disk and not served, so that nothing is
 * lost by starting on half of a folder.
 */
#include "store_index.h"
#include "watch/log.h"
#include "must.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the names of the folder say. */
struct listing {
    struct record {
        char *name;
        char digest[STORE_DIGITS + 1];
    } * at;
    size_t count, room;
};

static bool add_record(void *closure, const char *name, const char *digest)
{
    struct listing *l = closure;
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        struct record *grown = realloc(l->at, room * sizeof *grown);
        if (!grown)
            return false;
        l->at = grown;
        l->room = room;
    }
    struct record *r = &l->at[l->count];
    r->name = strdup(name);
    if (!r->name)
        return false;
    memcpy(r->digest, digest, sizeof r->digest);
    l->count++;
    return true;
}

static int by_digest(const void *a, const void *b)
{
    return memcmp(((const struct record *)a)->digest, ((const struct record *)b)->digest,
                  STORE_DIGITS);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct store_entry *)a)->name, ((const struct store_entry *)b)->name);
}

static bool is_wanted(void *closure, const char *digest)
{
    const struct listing *l = closure;
    struct record key = {.name = NULL};
    memcpy(key.digest, digest, sizeof key.digest);
    return l->count && bsearch(&key, l->at, l->count, sizeof *l->at, by_digest);
}

/* Entries of the records, which are sorted by digest: names with equal bytes share a blob. */
static bool make_entries(struct store *s, struct listing *l)
{
    struct store_blob *blob = NULL;
    const char *last = "";
    int status = 0;
    s->room = l->count ? l->count : 1;
    s->at = calloc(s->room, sizeof *s->at);
    if (!s->at)
        return false;
    for (size_t i = 0; i < l->count && status != -ENOMEM; i++) {
        struct record *r = &l->at[i];
        if (strcmp(last, r->digest) != 0) {
            store_blob_drop(&blob);
            status = store_blob_open(&s->files, r->digest, &blob);
        }
        last = r->digest;
        if (blob) {
            s->at[s->count++] = (struct store_entry){r->name, store_blob_hold(blob)};
            r->name = NULL;
        } else {
            log_say(LOG_WARN, "a learned table cannot be served", "name", r->name, "digest",
                    r->digest, "reason",
                    status == -EBADMSG ? "its file is damaged" : strerror(-status), LOG_END);
        }
    }
    store_blob_drop(&blob);
    qsort(s->at, s->count, sizeof *s->at, by_name);
    return status != -ENOMEM;
}

static const char *read_folder(struct store *s)
{
    struct listing l = {NULL, 0, 0};
    int status = store_files_each_name(&s->files, add_record, &l);
    if (l.count)
        qsort(l.at, l.count, sizeof *l.at, by_digest);
    if (!status)
        status = store_files_sweep(&s->files, is_wanted, &l);
    if (!status && !make_entries(s, &l))
        status = -ENOMEM;
    for (size_t i = 0; i < l.count; i++)
        free(l.at[i].name);
    free(l.at);
    return status ? strerror(-status) : NULL;
}

bool store_open(const char *path, struct store **out, char *error, size_t size)
{
    struct store *s = calloc(1, sizeof *s);
    *out = s;
    if (!s) {
        snprintf(error, size, "there is no memory");
        return false;
    }
    must(pthread_mutex_init(&s->lock, NULL) == 0 && pthread_mutex_init(&s->commit, NULL) == 0);
    if (!store_files_open(&s->files, path, error, size)) {
        store_close(out);
        return false;
    }
    const char *fault = read_folder(s);
    if (fault) {
        snprintf(error, size, "it cannot be read: %s", fault);
        store_close(out);
    }
    return !fault;
}

void store_close(struct store **address)
{
    struct store *s = *address;
    *address = NULL;
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        free(s->at[i].name);
        store_blob_drop(&s->at[i].blob);
    }
    free(s->at);
    store_files_close(&s->files);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->commit);
    free(s);
}

int store_load(struct store *s, struct store_blob *b)
{
    return store_blob_load(&s->files, b);
}
