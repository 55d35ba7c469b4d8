/* SPDX-License-Identifier: MIT
 *
 * store_files.c: see store_files.h. Names of files are looked up below open folders and never
 * followed through links, so no name leads out of them.
 */
#include "store_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MODE 0600
#define FOLDER_MODE 0700
#define RECORD (7 + STORE_DIGITS + 1) /* "sha256:", digits, newline */

static int opened(int folder, const char *name, int flags)
{
    int fd = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    return fd < 0 ? -errno : fd;
}

static int open_folder(int at, const char *path)
{
    return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool is_digest(const char *s)
{
    return strlen(s) == STORE_DIGITS && strspn(s, "0123456789abcdef") == STORE_DIGITS;
}

static bool is_name(const char *s)
{
    static const char inside[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t n = strlen(s);
    return n && n <= STORE_NAME && strspn(s, inside) == n && !strchr("._-", *s);
}

/* ---------------------------------------------------------------- opening */

/* Syncs the folder that holds `path`, so that a new entry in it lasts. */
static bool sync_parent(const char *path)
{
    char *copy = strdup(path);
    int parent = copy ? open_folder(AT_FDCWD, dirname(copy)) : -1;
    bool good = parent >= 0 && fsync(parent) == 0;
    if (parent >= 0)
        close(parent);
    free(copy);
    return good;
}

/* Makes a folder and what is missing above it. */
static bool make_folders(char *path)
{
    for (char *end = path; *end;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        const char kept = *end;
        *end = 0;
        bool made = mkdir(path, FOLDER_MODE) == 0;
        bool good = made ? sync_parent(path) : errno == EEXIST;
        *end = kept;
        if (!good)
            return false;
    }
    return true;
}

static int make_inside(int root, const char *name)
{
    if (mkdirat(root, name, FOLDER_MODE) && errno != EEXIST)
        return -1;
    return open_folder(root, name);
}

/* Calls `each` for every file of a folder that is no link and not hidden. */
static int each_file(int folder, int (*each)(int folder, const char *name, void *closure),
                     void *closure)
{
    int fd = open_folder(folder, "."), status = 0;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        status = -errno;
        if (fd >= 0)
            close(fd);
        return status;
    }
    for (struct dirent *e; !status && (errno = 0, e = readdir(dir));)
        if (*e->d_name != '.')
            status = each(folder, e->d_name, closure);
    if (!status && errno)
        status = -errno;
    closedir(dir);
    return status;
}

static int remove_file(int folder, const char *name, void *closure)
{
    (void)closure;
    return unlinkat(folder, name, 0) && errno != ENOENT ? -errno : 0;
}

/* Whether files can be made here: a folder that can only be read is found out at start. */
static int try_writing(struct store_files *f)
{
    char name[STORE_DRAFT];
    int fd = store_files_draft(f, name);
    if (fd < 0)
        return fd == -ENOSPC || fd == -EDQUOT ? 0 : fd;
    close(fd);
    return store_files_drop(f, name);
}

static const char *prepare(struct store_files *f, int root)
{
    f->lock = opened(root, "lock", O_RDWR | O_CREAT);
    if (f->lock < 0) {
        errno = -f->lock;
        return "its lock cannot be opened";
    }
    if (flock(f->lock, LOCK_EX | LOCK_NB))
        return errno == EWOULDBLOCK ? "another posenc is using it" : "it cannot be locked";
    f->blobs = make_inside(root, "blobs");
    f->names = make_inside(root, "names");
    f->drafts = make_inside(root, "drafts");
    if (f->blobs < 0 || f->names < 0 || f->drafts < 0 || fsync(root))
        return "the folders in it cannot be made";
    int status = each_file(f->drafts, remove_file, NULL);
    if (!status)
        status = try_writing(f);
    errno = -status;
    return status ? "it cannot be written to" : NULL;
}

bool store_files_open(struct store_files *f, const char *path, char *error, size_t size)
{
    *f = (struct store_files){.lock = -1, .blobs = -1, .names = -1, .drafts = -1};
    char *copy = strdup(path);
    bool made = copy && make_folders(copy);
    int root = made ? open_folder(AT_FDCWD, path) : -1;
    const char *what = root < 0 ? "it cannot be opened or made" : prepare(f, root);
    int code = errno;
    free(copy);
    if (root >= 0)
        close(root);
    if (!what)
        return true;
    snprintf(error, size, "%s%s%s", what, code && code != EWOULDBLOCK ? ": " : "",
             code && code != EWOULDBLOCK ? strerror(code) : "");
    store_files_close(f);
    return false;
}

bool store_files_possible(const char *path, char *error, size_t size)
{
    char *copy = strdup(path);
    struct stat st;
    bool there = copy && stat(copy, &st) == 0;
    while (copy && !there && errno == ENOENT && strcmp(copy, "/") != 0 && strcmp(copy, ".") != 0) {
        char *above = strdup(dirname(copy));
        free(copy);
        copy = above;
        there = copy && stat(copy, &st) == 0;
    }
    if (there && !S_ISDIR(st.st_mode)) {
        there = false;
        errno = ENOTDIR;
    }
    there = there && access(copy, R_OK | W_OK | X_OK) == 0;
    if (!there)
        snprintf(error, size, "%s", strerror(errno));
    free(copy);
    return there;
}

void store_files_close(struct store_files *f)
{
    int *fds[] = {&f->blobs, &f->names, &f->drafts, &f->lock};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

/* ---------------------------------------------------------------- steps */

int store_files_draft(struct store_files *f, char name[STORE_DRAFT])
{
    snprintf(name, STORE_DRAFT, "%u", atomic_fetch_add(&f->number, 1));
    return opened(f->drafts, name, O_RDWR | O_CREAT | O_EXCL);
}

int store_files_drop(struct store_files *f, const char *draft)
{
    return remove_file(f->drafts, draft, NULL);
}

int store_files_write(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : -EIO;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

int store_files_sync(int fd)
{
    return fsync(fd) ? -errno : 0;
}

int store_files_publish(struct store_files *f, const char *draft, const char *digest)
{
    if (renameat(f->drafts, draft, f->blobs, digest))
        return -errno;
    return fsync(f->blobs) ? -errno : 0;
}

int store_files_drop_blob(struct store_files *f, const char *digest)
{
    return remove_file(f->blobs, digest, NULL);
}

int store_files_open_blob(struct store_files *f, const char *digest)
{
    return opened(f->blobs, digest, O_RDONLY);
}

int store_files_point(struct store_files *f, const char *name, const char *digest, bool *moved)
{
    char draft[STORE_DRAFT], record[RECORD + 1];
    int fd = store_files_draft(f, draft);
    *moved = false;
    if (fd < 0)
        return fd;
    snprintf(record, sizeof record, "sha256:%s\n", digest);
    int status = store_files_write(fd, record, RECORD);
    if (!status)
        status = store_files_sync(fd);
    close(fd);
    if (!status && renameat(f->drafts, draft, f->names, name))
        status = -errno;
    *moved = !status;
    if (status)
        store_files_drop(f, draft);
    else if (fsync(f->names))
        status = -errno;
    return status;
}

int store_files_unpoint(struct store_files *f, const char *name)
{
    if (unlinkat(f->names, name, 0) && errno != ENOENT)
        return -errno;
    return fsync(f->names) ? -errno : 0;
}

/* ---------------------------------------------------------------- walks */

struct names_walk {
    bool (*found)(void *, const char *name, const char *digest);
    void *closure;
};

/* What is no name, or does not hold a digest, is none of ours and stays as it is. */
static int read_name(int folder, const char *name, void *closure)
{
    struct names_walk *walk = closure;
    char record[RECORD + 1];
    if (!is_name(name))
        return 0;
    int fd = opened(folder, name, O_RDONLY);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, record, sizeof record);
    close(fd);
    if (n != RECORD || memcmp(record, "sha256:", 7) != 0 || record[RECORD - 1] != '\n')
        return 0;
    record[RECORD - 1] = 0;
    return !is_digest(record + 7) || walk->found(walk->closure, name, record + 7) ? 0 : -ENOMEM;
}

int store_files_each_name(struct store_files *f,
                          bool (*found)(void *, const char *name, const char *digest),
                          void *closure)
{
    struct names_walk walk = {found, closure};
    return each_file(f->names, read_name, &walk);
}

struct sweep {
    bool (*wanted)(void *, const char *digest);
    void *closure;
};

static int sweep_blob(int folder, const char *name, void *closure)
{
    struct sweep *s = closure;
    if (!is_digest(name) || s->wanted(s->closure, name))
        return 0;
    return remove_file(folder, name, NULL);
}

int store_files_sweep(struct store_files *f, bool (*wanted)(void *, const char *digest),
                      void *closure)
{
    struct sweep s = {wanted, closure};
    return each_file(f->blobs, sweep_blob, &s);
}
