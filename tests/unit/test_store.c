/* SPDX-License-Identifier: MIT
 *
 * test_store.c: the store on a folder of its own: what was stored is there, also when it is opened
 * again; what is damaged is not served; names and bytes live apart; nothing is left lying about.
 * Failures of the disk are in tests/fault.
 */
#include "learned/store_index.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];
static char body[1 << 16];

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int make_root(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/posenc-store-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct store *opened(void)
{
    struct store *s;
    char error[256];
    if (!store_open(root, &s, error, sizeof error))
        fail_msg("%s", error);
    return s;
}

/* A table of `rows` rows of four f32 that begin with `first`. */
static size_t table(unsigned rows, float first)
{
    char dict[128];
    size_t n = (size_t)snprintf(
        dict, sizeof dict, "{'descr': '<f4', 'fortran_order': False, 'shape': (%u, 4), }", rows);
    memset(body, ' ', 128);
    memcpy(body, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(body + 10, dict, n);
    body[127] = '\n';
    for (unsigned i = 0; i < 4 * rows; i++) {
        float v = first + (float)i;
        memcpy(body + 128 + 4 * i, &v, 4);
    }
    return 128 + 16 * (size_t)rows;
}

static enum api_learned_outcome put_if(struct store *s, const char *name, size_t size,
                                       const char *match, struct store_blob **out)
{
    struct api_learned wish = {.act = API_LEARNED_PUT, .name = name};
    struct store_draft d;
    const char *fault;
    if (match)
        wish.if_match = (struct api_bytes){match, strlen(match)};
    store_draft_open(&d, s);
    for (size_t at = 0; at < size; at += 1000)
        store_draft_write(&d, body + at, size - at < 1000 ? size - at : 1000);
    return store_put(&d, &wish, out, &fault);
}

static void put(struct store *s, const char *name, size_t size, enum api_learned_outcome outcome)
{
    struct store_blob *b;
    assert_int_equal(put_if(s, name, size, outcome == API_LEARNED_CHANGED ? "*" : NULL, &b),
                     outcome);
    store_blob_drop(&b);
}

static enum api_learned_outcome removed(struct store *s, const char *name)
{
    return store_remove(s, &(struct api_learned){.act = API_LEARNED_DELETE, .name = name});
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

static void holds_files(unsigned names, unsigned blobs)
{
    assert_int_equal(files_in("names"), names);
    assert_int_equal(files_in("blobs"), blobs);
    assert_int_equal(files_in("drafts"), 0);
}

/* The table of a name begins with `first`, once it is loaded. */
static void holds_rows(struct store *s, const char *name, unsigned rows, float first)
{
    struct store_blob *b = store_find(s, name, NULL);
    struct pe_tensor tensor = {.dtype = PE_DTYPE_F64, .rows = rows, .row_elements = 4};
    struct api_table t = {.tensor_count = 1, .tensors = &tensor};
    double out[8];
    if (!b)
        fail_msg("%s is not there", name);
    assert_int_equal(store_load(s, b), 0);
    assert_int_equal(store_blob_state(b), STORE_READY);
    assert_int_equal(b->file.rows, rows);
    store_blob_fill(b, &t, rows - 2, 2, out);
    for (int i = 0; i < 8; i++)
        assert_true(out[i] == (double)(first + (float)(4 * (rows - 2)) + (float)i));
    store_blob_drop(&b);
}

static void put_find_remove(void **state)
{
    (void)state;
    struct store *s = opened();
    struct store_blob *b = NULL;
    holds_files(0, 0);
    assert_null(store_find(s, "a", NULL));
    assert_int_equal(put_if(s, "a", table(10, 1), NULL, &b), API_LEARNED_MADE);
    assert_int_equal(store_blob_state(b), STORE_READY);
    assert_int_equal(b->size, 288);
    assert_true(b->largest == 40);
    struct store_blob *found = store_find(s, "a", b->digest);
    assert_ptr_equal(found, b);
    store_blob_drop(&found);
    assert_null(store_find(s, "a", "0"));
    put(s, "a", table(10, 1), API_LEARNED_SAME);
    put(s, "a", table(10, 2), API_LEARNED_TAKEN);
    holds_rows(s, "a", 10, 1);
    holds_files(1, 1);
    put(s, "a", table(11, 2), API_LEARNED_CHANGED);
    holds_rows(s, "a", 11, 2);
    holds_files(1, 1);
    /* who reads the old one goes on reading it */
    float old;
    memcpy(&old, b->map + b->file.data, 4);
    assert_true(old == 1);
    store_blob_drop(&b);
    assert_int_equal(removed(s, "a"), API_LEARNED_REMOVED);
    assert_int_equal(removed(s, "a"), API_LEARNED_ABSENT);
    assert_null(store_find(s, "a", NULL));
    holds_files(0, 0);
    store_close(&s);
}

static void equal_bytes_are_kept_once(void **state)
{
    (void)state;
    struct store *s = opened();
    put(s, "one", table(9, 5), API_LEARNED_MADE);
    put(s, "two", table(9, 5), API_LEARNED_MADE);
    holds_files(2, 1);
    assert_int_equal(removed(s, "one"), API_LEARNED_REMOVED);
    holds_files(1, 1);
    holds_rows(s, "two", 9, 5);
    put(s, "two", table(9, 6), API_LEARNED_CHANGED);
    holds_files(1, 1);
    store_close(&s);
    s = opened();
    holds_rows(s, "two", 9, 6);
    assert_int_equal(removed(s, "two"), API_LEARNED_REMOVED);
    holds_files(0, 0);
    store_close(&s);
}

static void bad_files_leave_nothing(void **state)
{
    (void)state;
    struct store *s = opened();
    struct store_blob *b;
    size_t size = table(10, 1);
    assert_int_equal(put_if(s, "a", size - 1, NULL, &b), API_LEARNED_BAD_FILE);
    assert_int_equal(put_if(s, "a", 0, NULL, &b), API_LEARNED_BAD_FILE);
    assert_int_equal(put_if(s, "a", 5, NULL, &b), API_LEARNED_BAD_FILE);
    memcpy(body + size - 4, "\0\0\x80\x7f", 4);
    assert_int_equal(put_if(s, "a", size, NULL, &b), API_LEARNED_BAD_FILE);
    assert_null(b);
    struct store_draft d;
    store_draft_open(&d, s);
    store_draft_write(&d, body, size);
    assert_int_equal(files_in("drafts"), 1);
    store_draft_drop(&d);
    holds_files(0, 0);
    store_close(&s);
}

static void pages(void **state)
{
    (void)state;
    static const char *const order[] = {"-", "0", "A", "A.", "Z", "a", "a-b", "b"};
    struct store *s = opened();
    struct store_row rows[8];
    bool more;
    for (int i = 7; i > 0; i--)
        put(s, order[(i * 3) % 7 + 1], table(3, (float)i), API_LEARNED_MADE);
    const char *after = "";
    for (int i = 1; i < 8; i++) {
        assert_int_equal(store_page(s, after, 1, rows, &more), 1);
        assert_string_equal(rows[0].name, order[i]);
        assert_true(more == (i < 7));
        store_blob_drop(&rows[0].blob);
        after = order[i];
    }
    assert_int_equal(store_page(s, "b", 8, rows, &more), 0);
    assert_false(more);
    assert_int_equal(store_page(s, "AA", 8, rows, &more), 4);
    assert_string_equal(rows[0].name, "Z");
    for (int i = 0; i < 4; i++)
        store_blob_drop(&rows[i].blob);
    for (int i = 1; i < 8; i++)
        assert_int_equal(removed(s, order[i]), API_LEARNED_REMOVED);
    store_close(&s);
}

static void blob_path(struct store *s, const char *name, char path[256])
{
    struct store_blob *b = store_find(s, name, NULL);
    snprintf(path, 256, "%s/blobs/%s", root, b->digest);
    store_blob_drop(&b);
}

static void flip(const char *path, long at)
{
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 16, f);
    fclose(f);
}

static void damage_is_found(void **state)
{
    (void)state;
    struct store *s = opened();
    char path[256], cut[256];
    put(s, "flipped", table(100, 1), API_LEARNED_MADE);
    put(s, "cut", table(100, 2), API_LEARNED_MADE);
    put(s, "whole", table(100, 3), API_LEARNED_MADE);
    blob_path(s, "flipped", path);
    blob_path(s, "cut", cut);
    store_close(&s);
    flip(path, 700);
    assert_int_equal(truncate(cut, 600), 0);
    s = opened();
    assert_null(store_find(s, "cut", NULL));
    holds_rows(s, "whole", 100, 3);
    struct store_blob *b = store_find(s, "flipped", NULL);
    assert_int_equal(store_load(s, b), 0);
    assert_int_equal(store_blob_state(b), STORE_DAMAGED);
    store_blob_drop(&b);
    /* sent again, it is whole again */
    put(s, "flipped", table(100, 1), API_LEARNED_SAME);
    holds_rows(s, "flipped", 100, 1);
    put(s, "cut", table(100, 2), API_LEARNED_MADE);
    store_close(&s);
    s = opened();
    holds_rows(s, "flipped", 100, 1);
    holds_rows(s, "cut", 100, 2);
    removed(s, "flipped");
    removed(s, "cut");
    removed(s, "whole");
    store_close(&s);
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void start_on_a_strange_folder(void **state)
{
    (void)state;
    struct store *s = opened();
    char path[256], link[256];
    put(s, "kept", table(20, 1), API_LEARNED_MADE);
    blob_path(s, "kept", path);
    store_close(&s);
    write_file("drafts/7", "half of a table");
    write_file("blobs/0000000000000000000000000000000000000000000000000000000000000000",
               "nobody's");
    write_file("blobs/README", "somebody's");
    write_file("names/odd", "sha256:beef\n");
    write_file("names/gone",
               "sha256:1111111111111111111111111111111111111111111111111111111111111111\n");
    write_file("names/.swp", "x");
    snprintf(link, sizeof link, "%s/names/link", root);
    assert_int_equal(symlink("kept", link), 0);
    s = opened();
    bool more;
    struct store_row rows[4];
    assert_int_equal(store_page(s, "", 4, rows, &more), 1);
    assert_string_equal(rows[0].name, "kept");
    store_blob_drop(&rows[0].blob);
    holds_rows(s, "kept", 20, 1);
    assert_int_equal(files_in("drafts"), 0);
    assert_int_equal(files_in("blobs"), 2); /* README is none of ours */
    removed(s, "kept");
    store_close(&s);
    static const char *const ours[] = {"blobs/README", "names/odd", "names/gone", "names/.swp",
                                       "names/link"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        snprintf(path, sizeof path, "%s/%s", root, ours[i]);
        assert_int_equal(unlink(path), 0);
    }
}

static void one_daemon_at_a_time(void **state)
{
    (void)state;
    struct store *s = opened(), *other;
    char error[256];
    assert_false(store_open(root, &other, error, sizeof error));
    assert_null(other);
    assert_non_null(strstr(error, "another posenc"));
    store_close(&s);
    /* the lock goes with a process that is killed */
    pid_t pid = fork();
    if (pid == 0) {
        _exit(store_open(root, &s, error, sizeof error) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 0);
    s = opened();
    store_close(&s);
}

static void folders_that_cannot_be(void **state)
{
    (void)state;
    struct store *s;
    char path[256], error[256];
    write_file("file", "");
    snprintf(path, sizeof path, "%s/file/below", root);
    assert_false(store_open(path, &s, error, sizeof error));
    assert_false(store_files_possible(path, error, sizeof error));
    snprintf(path, sizeof path, "%s/file", root);
    assert_false(store_open(path, &s, error, sizeof error));
    assert_false(store_files_possible(path, error, sizeof error));
    snprintf(path, sizeof path, "%s/new//deep/er/", root);
    assert_true(store_files_possible(path, error, sizeof error));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_true(store_open(path, &s, error, sizeof error));
    assert_true(store_files_possible(path, error, sizeof error));
    store_close(&s);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

struct racer {
    pthread_t id;
    struct store *store;
    enum api_learned_outcome outcome;
};

static void *race(void *closure)
{
    struct racer *r = closure;
    struct store_blob *b;
    r->outcome = put_if(r->store, "race", 128 + 16 * 50, NULL, &b);
    store_blob_drop(&b);
    return NULL;
}

static void one_of_many_makes_it(void **state)
{
    (void)state;
    struct store *s = opened();
    struct racer racers[8];
    unsigned made = 0;
    table(50, 4);
    for (int i = 0; i < 8; i++) {
        racers[i].store = s;
        assert_int_equal(pthread_create(&racers[i].id, NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(racers[i].id, NULL);
        made += racers[i].outcome == API_LEARNED_MADE;
        assert_true(racers[i].outcome == API_LEARNED_MADE || racers[i].outcome == API_LEARNED_SAME);
    }
    assert_int_equal(made, 1);
    holds_files(1, 1);
    removed(s, "race");
    store_close(&s);
}

/* Rows in place where they can be read so, and picked one by one. */
static void rows_of_a_blob(void **state)
{
    (void)state;
    struct store *s = opened();
    struct store_blob *b;
    int64_t positions[] = {7, 0, 7, 19};
    struct pe_tensor tensor = {.dtype = PE_DTYPE_F32, .rows = 5, .row_elements = 4};
    struct api_table t = {.tensor_count = 1, .tensors = &tensor};
    float out[16];
    put_if(s, "a", table(20, 0), NULL, &b);
    t.spec.offset = 3;
    assert_ptr_equal(store_blob_rows(b, &t, 4), b->map + 128 + 3 * 16);
    t.tensors[0].dtype = PE_DTYPE_F16;
    assert_null(store_blob_rows(b, &t, 1));
    t.tensors[0].dtype = PE_DTYPE_F32;
    t.tensors[0].rows = 4;
    t.spec.offset = 0;
    t.spec.positions = (struct pe_ints){positions, 4};
    assert_null(store_blob_rows(b, &t, 1));
    store_blob_fill(b, &t, 0, 4, out);
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < 4; i++)
            assert_true(out[4 * r + i] == (float)(4 * positions[r] + i));
    store_blob_drop(&b);
    removed(s, "a");
    store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_find_remove),         cmocka_unit_test(equal_bytes_are_kept_once),
        cmocka_unit_test(bad_files_leave_nothing), cmocka_unit_test(pages),
        cmocka_unit_test(damage_is_found),         cmocka_unit_test(start_on_a_strange_folder),
        cmocka_unit_test(one_daemon_at_a_time),    cmocka_unit_test(folders_that_cannot_be),
        cmocka_unit_test(one_of_many_makes_it),    cmocka_unit_test(rows_of_a_blob),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
