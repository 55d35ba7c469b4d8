/* SPDX-License-Identifier: MIT
 *
 * test_store_faults.c: the store on a disk that fails. Every system call by which it changes the
 * disk fails in turn, once or from then on, with each likely error; power goes at random moments,
 * and what was not synced is lost or not, file by file. After each: whatever was acknowledged is
 * there, everything that is there is whole, and nothing else is left. POSENC_CUTS says how many
 * times power goes (default 150).
 */
#include "learned/store_index.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

/* ---------------------------------------------------------------- the disk */

/* What was done to it while it is watched: no sync is passed on, for the power goes here alone. */
struct event {
    char what; /* w: write, s: sync, r: rename, u: unlink */
    ino_t file;
    int from, to;
    char source[80], name[160];
    bool lasting; /* it is on the disk whatever happens */
};

static struct {
    bool on;
    int fail_at; /* the call that fails, counted from 1; 0: none */
    bool for_ever;
    int error; /* 0: a short write, else errno */
    int calls;
    int cut_at; /* power goes after so many calls; 0: it stays */
    unsigned seed;
    struct event events[256];
    int count;
} disk;

static ino_t inode(int fd)
{
    struct stat st;
    return fstat(fd, &st) ? 0 : st.st_ino;
}

#define REAL(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

static bool lost(void)
{
    disk.seed = disk.seed * 1664525 + 1013904223;
    return disk.seed >> 31;
}

/* Loses the bytes of a file, whatever it is called now. */
static void lose(ino_t file)
{
    static const char *const folders[] = {"drafts", "blobs", "names"};
    for (int f = 0; f < 3; f++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", root, folders[f]);
        DIR *d = opendir(path);
        for (struct dirent *entry; d && (entry = readdir(d));)
            if (entry->d_ino == file) {
                snprintf(path, sizeof path, "%s/%s/%.100s", root, folders[f], entry->d_name);
                if (truncate(path, 3))
                    _exit(3);
            }
        if (d)
            closedir(d);
    }
}

/* What a change of a folder does away with is kept under a hidden name. */
static void backup_name(int event, char out[32])
{
    snprintf(out, 32, ".backup-%d", event);
}

/* What had not been synced is there or not: bytes of each file, and the last changes of folders,
 * from some point on, as a journal loses them. */
static void cut_power(void)
{
    disk.on = false;
    bool keep = false;
    for (int i = disk.count - 1; i >= 0; i--) {
        struct event *e = &disk.events[i];
        char backup[32];
        backup_name(i, backup);
        if (e->what == 'w' && !e->lasting && lost())
            lose(e->file);
        if ((e->what != 'r' && e->what != 'u') || e->lasting)
            continue;
        keep = keep || !lost();
        if (keep)
            continue;
        if (e->what == 'r')
            REAL(renameat)(e->to, e->name, e->from, e->source);
        REAL(renameat)(e->to, backup, e->to, e->name);
    }
    _exit(0);
}

/* Counts a call: 0, or the errno with which it is to fail; -1 for a short write. */
static int trouble(bool writes)
{
    if (!disk.on)
        return 0;
    disk.calls++;
    if (disk.cut_at && disk.calls > disk.cut_at)
        cut_power();
    bool fails = disk.fail_at &&
                 (disk.calls == disk.fail_at || (disk.for_ever && disk.calls > disk.fail_at));
    if (!fails)
        return 0;
    return disk.error                             ? disk.error
           : writes && disk.calls == disk.fail_at ? -1
           : writes                               ? ENOSPC
                                                  : EIO;
}

static void note(char what, ino_t file, int from, int to, const char *source, const char *name)
{
    char backup[32];
    if (!disk.on || disk.count == 256)
        return;
    backup_name(disk.count, backup);
    if (disk.cut_at && (what == 'r' || what == 'u') && linkat(to, name, to, backup, 0) &&
        errno != ENOENT)
        _exit(4);
    struct event *e = &disk.events[disk.count++];
    *e = (struct event){.what = what, .file = file, .from = from, .to = to};
    snprintf(e->source, sizeof e->source, "%s", source ? source : "");
    snprintf(e->name, sizeof e->name, "%s", name ? name : "");
}

/* A synced file has its bytes, a synced folder its entries. */
static void synced(int fd)
{
    ino_t file = inode(fd);
    for (int i = 0; disk.on && i < disk.count; i++) {
        struct event *e = &disk.events[i];
        if ((e->what == 'w' && e->file == file) ||
            ((e->what == 'r' || e->what == 'u') && inode(e->to) == file))
            e->lasting = true;
    }
}

/* Each stands in for the C library's, as the server's objects see it. */
ssize_t write(int fd, const void *bytes, size_t size)
{
    int t = trouble(true);
    if (t > 0) {
        errno = t;
        return -1;
    }
    if (t < 0 && size > 1)
        size /= 2;
    note('w', inode(fd), fd, -1, NULL, NULL);
    return REAL(write)(fd, bytes, size);
}

int fsync(int fd)
{
    int t = trouble(false);
    if (t > 0) {
        errno = t;
        return -1;
    }
    note('s', inode(fd), fd, -1, NULL, NULL);
    synced(fd);
    return 0;
}

int renameat(int from, const char *source, int to, const char *name)
{
    int t = trouble(false);
    if (t > 0) {
        errno = t;
        return -1;
    }
    note('r', 0, from, to, source, name);
    return REAL(renameat)(from, source, to, name);
}

int unlinkat(int folder, const char *name, int flags)
{
    int t = trouble(false);
    if (t > 0) {
        errno = t;
        return -1;
    }
    note('u', 0, folder, folder, NULL, name);
    return REAL(unlinkat)(folder, name, flags);
}

int openat(int folder, const char *name, int flags, ...)
{
    int t = flags & O_CREAT ? trouble(false) : 0;
    va_list more;
    va_start(more, flags);
    mode_t mode = flags & O_CREAT ? (mode_t)va_arg(more, int) : 0;
    va_end(more);
    if (t > 0) {
        errno = t;
        return -1;
    }
    return REAL(openat)(folder, name, flags, mode);
}

/* ---------------------------------------------------------------- what is done */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void make_root(void)
{
    snprintf(root, sizeof root, "/tmp/posenc-faults-XXXXXX");
    assert_non_null(mkdtemp(root));
}

static void remove_root(void)
{
    assert_int_equal(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static struct store *opened(void)
{
    struct store *s;
    char error[256];
    if (!store_open(root, &s, error, sizeof error))
        fail_msg("%s", error);
    return s;
}

#define ROWS 300

static size_t table(char *out, float first)
{
    int n = snprintf(out + 10, 100, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 4), }",
                     ROWS);
    memset(out + 10 + n, ' ', (size_t)(118 - n));
    memcpy(out, "\x93NUMPY\1\0\x76\0", 10);
    out[127] = '\n';
    for (int i = 0; i < 4 * ROWS; i++) {
        float v = first + (float)i;
        memcpy(out + 128 + 4 * i, &v, 4);
    }
    return 128 + 16 * ROWS;
}

enum act { CREATE, REPLACE, SAME_BYTES, REMOVE, ACTS };

static enum api_learned_outcome put(struct store *s, const char *name, float first)
{
    static char body[128 + 16 * ROWS];
    struct api_learned wish = {.act = API_LEARNED_PUT, .name = name, .if_match = {NULL, 0}};
    struct store_draft d;
    struct store_blob *b;
    const char *fault;
    size_t size = table(body, first);
    struct store_blob *now = store_find(s, name, NULL);
    if (now)
        wish.if_match = (struct api_bytes){"*", 1};
    store_blob_drop(&now);
    store_draft_open(&d, s);
    store_draft_write(&d, body, size / 3);
    store_draft_write(&d, body + size / 3, size - size / 3);
    enum api_learned_outcome outcome = store_put(&d, &wish, &b, &fault);
    store_blob_drop(&b);
    return outcome;
}

/* "kept" is 1; the act is on "x", which is 2 before (but for CREATE) and 3 after (2 for a second
 * name of its bytes). */
static void prepare(struct store *s, enum act act)
{
    assert_int_equal(put(s, "kept", 1), API_LEARNED_MADE);
    if (act != CREATE)
        assert_int_equal(put(s, act == SAME_BYTES ? "twin" : "x", 2), API_LEARNED_MADE);
}

static enum api_learned_outcome perform(struct store *s, enum act act)
{
    if (act == REMOVE)
        return store_remove(s, &(struct api_learned){.act = API_LEARNED_DELETE, .name = "x"});
    return put(s, "x", act == SAME_BYTES ? 2 : 3);
}

static bool done(enum api_learned_outcome outcome)
{
    return outcome == API_LEARNED_MADE || outcome == API_LEARNED_CHANGED ||
           outcome == API_LEARNED_REMOVED;
}

/* The first value of a whole table; 0 where there is none by that name. */
static float first_of(struct store *s, const char *name)
{
    struct store_blob *b = store_find(s, name, NULL);
    float v[4 * ROWS];
    if (!b)
        return 0;
    assert_int_equal(store_load(s, b), 0);
    if (store_blob_state(b) != STORE_READY)
        fail_msg("%s is damaged", name);
    assert_int_equal(b->file.rows, ROWS);
    memcpy(v, b->map + b->file.data, sizeof v);
    for (int i = 0; i < 4 * ROWS; i++)
        assert_true(v[i] == v[0] + (float)i);
    store_blob_drop(&b);
    return v[0];
}

static unsigned files_in(const char *folder)
{
    char path[128];
    unsigned n = 0;
    snprintf(path, sizeof path, "%s/%s", root, folder);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += *e->d_name != '.';
    closedir(d);
    return n;
}

static void holds(struct store *s, enum act act, bool acknowledged)
{
    float before = act == CREATE || act == SAME_BYTES ? 0 : 2, after = act == REMOVE       ? 0
                                                                       : act == SAME_BYTES ? 2
                                                                                           : 3;
    float x = first_of(s, "x");
    assert_true(first_of(s, "kept") == 1);
    if (act == SAME_BYTES)
        assert_true(first_of(s, "twin") == 2);
    if (acknowledged ? x != after : x != after && x != before)
        fail_msg("x is %g", (double)x);
}

/* After a start there is nothing but names, and a file for each of their digests. */
static void holds_only_that(enum act act, bool acknowledged)
{
    struct store *s = opened();
    holds(s, act, acknowledged);
    assert_int_equal(files_in("drafts"), 0);
    float x = first_of(s, "x");
    assert_int_equal(files_in("blobs"), 1 + (act == SAME_BYTES || x != 0));
    assert_int_equal(files_in("names"), 1 + (act == SAME_BYTES) + (x != 0));
    store_close(&s);
}

/* ---------------------------------------------------------------- tests */

/* The N-th call fails: how many there are to fail is found by counting until none does. */
static void fail_each_call(enum act act, int error, bool for_ever)
{
    for (int n = 1; n < 100; n++) {
        make_root();
        struct store *s = opened();
        prepare(s, act);
        memset(&disk, 0, sizeof disk);
        disk.on = true;
        disk.fail_at = n;
        disk.error = error;
        disk.for_ever = for_ever;
        enum api_learned_outcome outcome = perform(s, act);
        disk.on = false;
        bool reached = disk.calls >= n;
        if (!done(outcome)) {
            assert_true(reached);
            assert_int_equal(outcome, error == ENOSPC ? API_LEARNED_NO_ROOM : outcome);
            assert_true(outcome == API_LEARNED_NO_ROOM || outcome == API_LEARNED_BROKEN);
        }
        holds(s, act, done(outcome));
        if (!done(outcome) && !for_ever) {
            assert_int_equal(files_in("drafts"), 0);
            assert_int_equal(files_in("blobs"), 1 + (act != CREATE));
        }
        /* the store goes on working */
        assert_int_equal(put(s, "later", 9), API_LEARNED_MADE);
        assert_int_equal(
            store_remove(s, &(struct api_learned){.act = API_LEARNED_DELETE, .name = "later"}),
            API_LEARNED_REMOVED);
        store_close(&s);
        holds_only_that(act, done(outcome));
        remove_root();
        if (!reached)
            return;
    }
    fail_msg("more than 100 calls");
}

static void every_call_fails(void **state)
{
    static const int errors[] = {EIO, ENOSPC, EDQUOT, EROFS, EACCES, EMFILE, 0};
    (void)state;
    for (int act = 0; act < ACTS; act++)
        for (size_t e = 0; e < sizeof errors / sizeof *errors; e++)
            for (int for_ever = 0; for_ever < 2; for_ever++)
                fail_each_call((enum act)act, errors[e], for_ever);
}

/* Bytes are synced before they get a name, and a name before it is acknowledged. */
static void order_of_steps(void **state)
{
    (void)state;
    for (int act = 0; act < ACTS; act++) {
        make_root();
        struct store *s = opened();
        prepare(s, (enum act)act);
        memset(&disk, 0, sizeof disk);
        disk.on = true;
        assert_true(done(perform(s, (enum act)act)));
        disk.on = false;
        int renames = 0, writes = 0;
        for (int i = 0; i < disk.count; i++) {
            struct event *e = &disk.events[i];
            writes += e->what == 'w';
            renames += e->what == 'r';
            if ((e->what == 'w' || e->what == 'r') && !e->lasting)
                fail_msg("act %d: step %d (%c %s) was not synced", act, i, e->what, e->name);
            if (e->what != 'r')
                continue;
            for (int j = i + 1; j < disk.count; j++)
                if (disk.events[j].what == 'w')
                    for (int k = 0; k < i; k++)
                        assert_true(disk.events[k].file != disk.events[j].file ||
                                    disk.events[k].what != 'w');
        }
        assert_int_equal(renames, act == REMOVE ? 0 : 2);
        assert_true(act == REMOVE || writes >= 3);
        store_close(&s);
        remove_root();
    }
}

static void power_goes(void **state)
{
    const char *text = getenv("POSENC_CUTS");
    int cuts = text ? (int)strtol(text, NULL, 10) : 150;
    (void)state;
    for (int i = 0; i < cuts; i++) {
        enum act act = (enum act)(i % ACTS);
        int ack[2], status;
        char told = 0;
        make_root();
        struct store *s = opened();
        prepare(s, act);
        store_close(&s);
        assert_int_equal(pipe(ack), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            s = opened();
            memset(&disk, 0, sizeof disk);
            disk.on = true;
            disk.seed = (unsigned)i * 2654435761u + 12345;
            disk.cut_at = 1 + i / ACTS % 16;
            enum api_learned_outcome outcome = perform(s, act);
            if (done(outcome) && REAL(write)(ack[1], "y", 1) != 1)
                _exit(2);
            cut_power();
        }
        close(ack[1]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        bool acknowledged = read(ack[0], &told, 1) == 1 && told == 'y';
        close(ack[0]);
        holds_only_that(act, acknowledged);
        remove_root();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_fails),
        cmocka_unit_test(order_of_steps),
        cmocka_unit_test(power_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
