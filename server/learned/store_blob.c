/* SPDX-License-Identifier: MIT
 *
 * store_blob.c: see store_blob.h. A mapping outlives the name of its file, so a table that is
 * replaced or deleted is sent to its end to whoever reads it.
 */
#include "store_blob.h"
#include "must.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct store_blob *store_blob_create(const char *digest, const struct api_learned_file *file,
                                     uint64_t size)
{
    struct store_blob *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    memcpy(b->digest, digest, STORE_DIGITS);
    b->file = *file;
    b->size = size;
    b->owners = 1;
    must(pthread_mutex_init(&b->lock, NULL) == 0);
    return b;
}

struct store_blob *store_blob_hold(struct store_blob *b)
{
    atomic_fetch_add_explicit(&b->owners, 1, memory_order_relaxed);
    return b;
}

void store_blob_drop(struct store_blob **address)
{
    struct store_blob *b = *address;
    *address = NULL;
    if (!b || atomic_fetch_sub_explicit(&b->owners, 1, memory_order_acq_rel) != 1)
        return;
    if (b->map)
        munmap((void *)(uintptr_t)b->map, b->size);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

/* The first bytes of a file. */
static ssize_t read_head(int fd, char *head)
{
    size_t have = 0;
    while (have < API_LEARNED_HEAD) {
        ssize_t n = pread(fd, head + have, API_LEARNED_HEAD - have, (off_t)have);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (!n)
            break;
        have += (size_t)n;
    }
    return (ssize_t)have;
}

static int read_file(int fd, const char *digest, struct store_blob **out)
{
    struct api_learned_file file;
    struct stat st;
    char *head = malloc(API_LEARNED_HEAD);
    ssize_t n = head ? read_head(fd, head) : -ENOMEM;
    if (n >= 0 && fstat(fd, &st))
        n = -errno;
    if (n >= 0 && (!S_ISREG(st.st_mode) ||
                   api_learned_read(API_LEARNED_ANY, (struct api_bytes){head, (size_t)n},
                                    (uint64_t)st.st_size, &file)))
        n = -EBADMSG;
    free(head);
    if (n < 0)
        return (int)n;
    *out = store_blob_create(digest, &file, (uint64_t)st.st_size);
    return *out ? 0 : -ENOMEM;
}

int store_blob_open(struct store_files *files, const char *digest, struct store_blob **out)
{
    int fd = store_files_open_blob(files, digest);
    if (fd < 0)
        return fd;
    int status = read_file(fd, digest, out);
    close(fd);
    return status;
}

int store_blob_map(struct store_blob *b, int fd, double largest)
{
    void *at = mmap(NULL, b->size, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    b->map = at;
    b->largest = largest;
    atomic_store_explicit(&b->state, STORE_READY, memory_order_release);
    return 0;
}

void store_blob_digits(const unsigned char sum[SHA256_DIGEST_SIZE], char out[STORE_DIGITS + 1])
{
    for (size_t i = 0; i < SHA256_DIGEST_SIZE; i++) {
        out[2 * i] = "0123456789abcdef"[sum[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[sum[i] & 15];
    }
    out[STORE_DIGITS] = 0;
}

static bool has_digest(const unsigned char *at, size_t size, const char *digest)
{
    struct sha256_ctx context;
    unsigned char sum[SHA256_DIGEST_SIZE];
    char text[STORE_DIGITS + 1];
    sha256_init(&context);
    sha256_update(&context, size, at);
    sha256_digest(&context, sizeof sum, sum);
    store_blob_digits(sum, text);
    return strcmp(text, digest) == 0;
}

/* The mapped bytes are the whole of what the digest names, and the header says what it said at
 * first. */
static bool is_sound(const struct store_blob *b, const unsigned char *at, double *largest)
{
    struct api_learned_file file;
    struct api_bytes head = {(const char *)at,
                             b->size < API_LEARNED_HEAD ? (size_t)b->size : API_LEARNED_HEAD};
    *largest = 0;
    return has_digest(at, b->size, b->digest) &&
           !api_learned_read(API_LEARNED_ANY, head, b->size, &file) &&
           file.dtype == b->file.dtype && file.rows == b->file.rows &&
           file.width == b->file.width && file.data == b->file.data &&
           api_learned_scan(file.dtype, at + file.data, file.rows * file.width, largest);
}

static int load_file(struct store_blob *b, int fd)
{
    struct stat st;
    double largest;
    if (fstat(fd, &st))
        return -errno;
    if ((uint64_t)st.st_size != b->size) {
        atomic_store(&b->state, STORE_DAMAGED);
        return 0;
    }
    unsigned char *at = mmap(NULL, b->size, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    bool sound = is_sound(b, at, &largest);
    if (sound) {
        b->map = at;
        b->largest = largest;
    } else {
        munmap(at, b->size);
    }
    atomic_store_explicit(&b->state, sound ? STORE_READY : STORE_DAMAGED, memory_order_release);
    return 0;
}

int store_blob_load(struct store_files *files, struct store_blob *b)
{
    int status = 0;
    pthread_mutex_lock(&b->lock);
    if (store_blob_state(b) == STORE_UNREAD) {
        int fd = store_files_open_blob(files, b->digest);
        status = fd < 0 ? fd : load_file(b, fd);
        if (fd >= 0)
            close(fd);
    }
    pthread_mutex_unlock(&b->lock);
    return status;
}

/* ---------------------------------------------------------------- rows */

static const unsigned char *row_at(const struct store_blob *b, uint64_t row)
{
    must(row < b->file.rows);
    return b->map + b->file.data + row * b->file.width * pe_dtype_size(b->file.dtype);
}

void store_blob_pick(const struct store_blob *b, const int64_t *rows, uint64_t count,
                     enum pe_dtype dtype, void *out)
{
    unsigned char *to = out;
    for (uint64_t i = 0; i < count; i++, to += b->file.width * pe_dtype_size(dtype))
        must(pe_convert(b->file.dtype, row_at(b, (uint64_t)rows[i]), dtype, to, b->file.width) ==
             PE_OK);
}

void store_blob_fill(const struct store_blob *b, const struct api_table *table, uint64_t first,
                     uint64_t count, void *out)
{
    const struct pe_tensor *t = &table->tensors[0];
    const struct pe_spec *s = &table->spec;
    if (!s->positions.count) {
        row_at(b, (uint64_t)s->offset + first + count - 1);
        must(pe_convert(b->file.dtype, row_at(b, (uint64_t)s->offset + first), t->dtype, out,
                        count * t->row_elements) == PE_OK);
        return;
    }
    store_blob_pick(b, s->positions.at + first, count, t->dtype, out);
}

const unsigned char *store_blob_rows(const struct store_blob *b, const struct api_table *table,
                                     size_t alignment)
{
    const struct pe_spec *s = &table->spec;
    if (s->positions.count || table->tensors[0].dtype != b->file.dtype)
        return NULL;
    const unsigned char *at = row_at(b, (uint64_t)s->offset);
    row_at(b, (uint64_t)s->offset + table->tensors[0].rows - 1);
    return (uintptr_t)at % alignment ? NULL : at;
}
