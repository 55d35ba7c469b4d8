/* SPDX-License-Identifier: MIT
 *
 * test_50_process.c: the daemon as a process: options and exit codes, the same bytes without a
 * server, a drain that lets answers under way finish, a second signal that does not wait, logs that
 * are JSON.
 */
#include "kit/kit.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TABLE "/v1/tables/sinusoidal"

/* Runs $POSENC_BIN with arguments; its output in `out` (NUL-ended), its exit code returned. */
static int run(const char *const *arguments, char *out, size_t room)
{
    const char *argv[16] = {getenv("POSENC_BIN")};
    int p[2], status;
    size_t n = 0;

    for (size_t i = 1; *arguments && i < 15; i++)
        argv[i] = *arguments++;
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(p[1], 1);
        dup2(p[1], 2);
        close(p[0]);
        close(p[1]);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(p[1]);
    for (ssize_t got; n + 1 < room && (got = read(p[0], out + n, room - 1 - n)) > 0;
         n += (size_t)got) {
    }
    out[n] = 0;
    close(p[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void exit_codes(void **state)
{
    (void)state;
    static const struct {
        const char *arguments[8];
        int code;
        const char *says;
    } cases[] = {
        {{"--help", NULL}, 0, "serve"},
        {{"serve", "--help", NULL}, 0, "--listen"},
        {{"version", NULL}, 0, "posenc"},
        {{"version", "--json", NULL}, 0, "\"instruction_set\""},
        {{"nosuch", NULL}, 64, "serve"},
        {{"serve", "--lisen", "127.0.0.1:0", NULL}, 64, "--listen"},
        {{"serve", "--listen", NULL}, 64, "--listen"},
        {{"serve", "--cache-size", "12parsecs", NULL}, 78, "12parsecs"},
        {{"check", "--log-level", "loud", NULL}, 78, "debug"},
        {{"check", "--threads", "3", NULL}, 0, "threads"},
        {{"healthcheck", "http://127.0.0.1:1", NULL}, 1, ""},
        {{"get", "sinusoidal", "--length", "3", "--width", "5", NULL}, 64, "width"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[16384];
        int code = run(cases[i].arguments, out, sizeof out);
        if (code != cases[i].code || !strstr(out, cases[i].says))
            fail_msg("case %zu: exit %d, expected %d; said %s", i, code, cases[i].code, out);
    }
}

static void the_same_bytes_without_a_server(void **state)
{
    (void)state;
    static const char *const arguments[] = {"get", "rope",     "--length", "50", "--width",
                                            "16",  "--format", "npy",      NULL};
    struct kit_daemon d;
    struct kit_answer a;
    char out[16384];
    kit_start(&d, NULL);
    kit_get(&d, "/v1/tables/rope.npy?length=50&width=16", NULL, &a);
    assert_int_equal(run(arguments, out, sizeof out), 0);
    assert_true(a.size < sizeof out);
    assert_memory_equal(out, a.body, a.size);
    kit_free(&a);
    assert_int_equal(kit_stop(&d), 0);
}

static void answers_under_way_finish(void **state)
{
    (void)state;
    static const char text[] =
        "GET " TABLE ".bin?length=200000&width=64 HTTP/1.1\r\nHost: a\r\n\r\n";
    struct kit_daemon d;
    struct kit_link l;
    struct kit_answer a;
    kit_start(&d, NULL);
    kit_open(&l, d.port);
    kit_send(&l, text, sizeof text - 1);
    char first;
    assert_int_equal(recv(l.fd, &first, 1, MSG_PEEK), 1);
    kill(d.pid, SIGTERM);
    assert_true(kit_read(&l, "GET", 20000, &a));
    assert_int_equal(a.size, 200000 * 256);
    kit_free(&a);
    kit_close(&l);
    assert_int_equal(kit_stop(&d), 0);
}

/* A body that cannot be finished is cut, never ended as if complete. */
static void a_second_signal_does_not_wait(void **state)
{
    (void)state;
    static const char text[] =
        "GET " TABLE ".bin?length=1099511627776&width=64 HTTP/1.1\r\nHost: a\r\n\r\n";
    struct kit_daemon d;
    struct kit_link l;
    struct timespec before, after;
    kit_start(&d, NULL);
    kit_open(&l, d.port);
    kit_send(&l, text, sizeof text - 1);
    char first;
    assert_int_equal(recv(l.fd, &first, 1, MSG_PEEK), 1);
    clock_gettime(CLOCK_MONOTONIC, &before);
    kill(d.pid, SIGTERM);
    usleep(100000);
    kill(d.pid, SIGTERM);
    int status;
    assert_int_equal(waitpid(d.pid, &status, 0), d.pid);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(after.tv_sec - before.tv_sec < 10);
    close(d.log);
    kit_close(&l);
}

static void log_lines_are_json(void **state)
{
    (void)state;
    static const char *const options[] = {"--log-format", "json", NULL};
    static const char text[] = "GET /nosuch?\"%1b[31m\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n";
    struct kit_daemon d;
    struct kit_link l;
    struct kit_answer a;
    kit_start(&d, options);
    kit_get(&d, TABLE ".bin?length=4&width=4", "X-Request-Id: for-the-log\r\n", &a);
    kit_free(&a);
    kit_open(&l, d.port);
    kit_send(&l, text, sizeof text - 1);
    if (kit_read(&l, "GET", 10000, &a))
        kit_free(&a);
    kit_close(&l);
    char *said = NULL;
    for (int tries = 0; tries < 100; tries++) {
        free(said);
        said = kit_log(&d);
        if (strstr(said, "for-the-log"))
            break;
        usleep(20000);
    }
    bool seen = false;
    char *save;
    for (char *line = strtok_r(said, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        json_error_t e;
        json_t *doc = json_loads(line, JSON_REJECT_DUPLICATES, &e);
        if (!doc)
            fail_msg("a log line that is no JSON: %s", line);
        const char *id = json_string_value(json_object_get(doc, "request_id"));
        if (id && strcmp(id, "for-the-log") == 0) {
            assert_int_equal(json_integer_value(json_object_get(doc, "status")), 200);
            assert_string_equal(json_string_value(json_object_get(doc, "method")), "GET");
            seen = true;
        }
        json_decref(doc);
    }
    assert_true(seen);
    free(said);
    assert_int_equal(kit_stop(&d), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes),
        cmocka_unit_test(the_same_bytes_without_a_server),
        cmocka_unit_test(answers_under_way_finish),
        cmocka_unit_test(a_second_signal_does_not_wait),
        cmocka_unit_test(log_lines_are_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
