/* SPDX-License-Identifier: MIT
 *
 * store_change.c: uploads and deletions, see store.h. An upload is written, read again, judged and
 * synced before the lock of changes is taken, so that a large one does not hold up the others;
 * under the lock there are two renames.
 */
#include "store_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is read of a file at a time to look at its values. */
#define BLOCK (256 << 10)

static enum api_learned_outcome outcome_of(int status)
{
    return status == -ENOSPC || status == -EDQUOT || status == -EFBIG ? API_LEARNED_NO_ROOM
                                                                      : API_LEARNED_BROKEN;
}

/* ---------------------------------------------------------------- drafts */

void store_draft_open(struct store_draft *d, struct store *s)
{
    *d = (struct store_draft){.store = s, .fd = -1};
    sha256_init(&d->digest);
}

void store_draft_drop(struct store_draft *d)
{
    if (d->fd >= 0) {
        close(d->fd);
        store_files_drop(&d->store->files, d->name);
    }
    d->fd = -1;
}

void store_draft_write(struct store_draft *d, const void *bytes, size_t size)
{
    if (d->failed)
        return;
    if (d->fd < 0) {
        int fd = store_files_draft(&d->store->files, d->name);
        d->fd = fd < 0 ? -1 : fd;
        d->failed = fd < 0 ? fd : 0;
    }
    if (!d->failed)
        d->failed = store_files_write(d->fd, bytes, size);
    if (d->failed) {
        store_draft_drop(d);
        return;
    }
    sha256_update(&d->digest, size, bytes);
    d->size += size;
}

static int read_at(int fd, void *to, size_t size, uint64_t at)
{
    for (size_t have = 0; have < size;) {
        ssize_t n = pread(fd, (char *)to + have, size - have, (off_t)(at + have));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : -EIO;
        have += (size_t)n;
    }
    return 0;
}

/* Whether the draft is a table: 0, -errno, or -EBADMSG with *fault. */
static int look_at(struct store_draft *d, enum api_learned_form form, struct api_learned_file *file,
                   double *largest, const char **fault)
{
    char *block = malloc(BLOCK);
    size_t head = d->size < API_LEARNED_HEAD ? (size_t)d->size : API_LEARNED_HEAD;
    int status = block ? read_at(d->fd, block, head, 0) : -ENOMEM;
    *largest = 0;
    if (!status)
        *fault = api_learned_read(form, (struct api_bytes){block, head}, d->size, file);
    for (uint64_t at = file->data; !status && !*fault && at < d->size;) {
        size_t n = d->size - at < BLOCK ? (size_t)(d->size - at) : BLOCK;
        status = read_at(d->fd, block, n, at);
        if (!status &&
            !api_learned_scan(file->dtype, block, n / pe_dtype_size(file->dtype), largest))
            *fault = "it has a value that is not finite";
        at += n;
    }
    free(block);
    return *fault ? -EBADMSG : status;
}

/* A blob of the draft, READY but not known to anybody. */
static int make_blob(struct store_draft *d, const struct api_learned_file *file, double largest,
                     struct store_blob **out)
{
    unsigned char sum[SHA256_DIGEST_SIZE];
    char digest[STORE_DIGITS + 1];
    sha256_digest(&d->digest, sizeof sum, sum);
    store_blob_digits(sum, digest);
    *out = store_blob_create(digest, file, d->size);
    if (!*out)
        return -ENOMEM;
    int status = store_blob_map(*out, d->fd, largest);
    if (status)
        store_blob_drop(out);
    return status;
}

/* ---------------------------------------------------------------- changes */

/* Removes the file of a digest that no name stands for any more. */
static void tidy(struct store *s, const char *digest)
{
    if (!store_index_twin(s, digest))
        store_files_drop_blob(&s->files, digest);
}

/* On disk: the blob first, then the name. `old` is what the name stands for now, or NULL. */
static int write_down(struct store_draft *d, const char *name, const char *digest, const char *old)
{
    struct store_files *files = &d->store->files;
    bool moved = false;
    int status = store_files_publish(files, d->name, digest);
    if (!status && !(old && strcmp(old, digest) == 0))
        status = store_files_point(files, name, digest, &moved);
    if (!status)
        return 0;
    /* The name on disk goes back to what it was; where it cannot, its bytes stay. */
    bool back = !moved || (old ? store_files_point(files, name, old, &moved)
                               : store_files_unpoint(files, name)) == 0;
    if (back)
        tidy(d->store, digest);
    return status;
}

/* Under the lock of changes. *blob is the draft's; replaced by one that is there already. */
static enum api_learned_outcome commit(struct store_draft *d, const struct api_learned *wish,
                                       struct store_blob **blob)
{
    struct store *s = d->store;
    struct store_blob *now = store_index_get(s, wish->name),
                      *twin = store_index_twin(s, (*blob)->digest);
    char old[STORE_DIGITS + 1] = "", *copy;
    enum api_learned_outcome outcome =
        api_learned_judge(wish, now ? now->digest : NULL, (*blob)->digest);
    if (outcome == API_LEARNED_TAKEN || outcome == API_LEARNED_FAILED)
        return outcome;
    if (twin && store_blob_state(twin) == STORE_READY) {
        store_blob_drop(blob);
        *blob = store_blob_hold(twin);
        if (outcome == API_LEARNED_SAME)
            return outcome;
    }
    if (now)
        memcpy(old, now->digest, sizeof old);
    if (!store_index_reserve(s, wish->name, &copy))
        return API_LEARNED_BROKEN;
    int status = write_down(d, wish->name, (*blob)->digest, now ? old : NULL);
    if (!status) {
        store_index_set(s, wish->name, &copy, *blob);
        if (now)
            tidy(s, old);
    }
    free(copy);
    return status ? outcome_of(status) : outcome;
}

enum api_learned_outcome store_put(struct store_draft *d, const struct api_learned *wish,
                                   struct store_blob **out, const char **fault)
{
    struct api_learned_file file = {.data = 0};
    double largest;
    *out = NULL;
    *fault = NULL;
    int status = d->failed;
    if (!status && d->fd < 0)
        *fault = "it is empty";
    if (!status)
        status = *fault ? -EBADMSG : look_at(d, wish->form, &file, &largest, fault);
    if (!status)
        status = store_files_sync(d->fd);
    if (!status)
        status = make_blob(d, &file, largest, out);
    enum api_learned_outcome outcome =
        status == -EBADMSG ? API_LEARNED_BAD_FILE : outcome_of(status);
    if (!status) {
        pthread_mutex_lock(&d->store->commit);
        outcome = commit(d, wish, out);
        pthread_mutex_unlock(&d->store->commit);
    }
    store_draft_drop(d);
    if (outcome != API_LEARNED_MADE && outcome != API_LEARNED_CHANGED &&
        outcome != API_LEARNED_SAME)
        store_blob_drop(out);
    return outcome;
}

enum api_learned_outcome store_remove(struct store *s, const struct api_learned *wish)
{
    char digest[STORE_DIGITS + 1];
    pthread_mutex_lock(&s->commit);
    struct store_blob *now = store_index_get(s, wish->name);
    enum api_learned_outcome outcome = api_learned_judge(wish, now ? now->digest : NULL, NULL);
    if (outcome == API_LEARNED_REMOVED) {
        memcpy(digest, now->digest, sizeof digest);
        int status = store_files_unpoint(&s->files, wish->name);
        if (!status) {
            store_index_erase(s, wish->name);
            tidy(s, digest);
        }
        outcome = status ? outcome_of(status) : outcome;
    }
    pthread_mutex_unlock(&s->commit);
    return outcome;
}
