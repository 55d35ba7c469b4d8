/* SPDX-License-Identifier: MIT
 *
 * daemon.c: starts and ends a posenc for a test. It listens on port 0 of 127.0.0.1, dies with the
 * test program, and is ended by its pid.
 */
#include "kit/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGS 32

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

char *kit_log(struct kit_daemon *d)
{
    struct stat st;
    assert_int_equal(fstat(d->log, &st), 0);
    char *text = malloc((size_t)st.st_size + 1);
    assert_non_null(text);
    ssize_t n = pread(d->log, text, (size_t)st.st_size, 0);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static int port_of_ready_line(struct kit_daemon *d)
{
    char *text = kit_log(d);
    int port = 0;
    char *ready = strstr(text, "ready");
    char *line_end = ready ? strchr(ready, '\n') : NULL;
    char *url = ready ? strstr(ready, "http://127.0.0.1:") : NULL;
    if (line_end && url && url < line_end)
        port = (int)strtol(url + strlen("http://127.0.0.1:"), NULL, 10);
    free(text);
    return port;
}

void kit_start(struct kit_daemon *d, const char *const *options)
{
    const char *binary = getenv("POSENC_BIN");
    const char *argv[MAX_ARGS] = {binary, "serve", "--listen", "127.0.0.1:0"};
    size_t argc = 4;
    char name[] = "/tmp/posenc-test-XXXXXX";

    if (!binary)
        fail_msg("POSENC_BIN is not set");
    for (; options && *options && argc + 1 < MAX_ARGS; options++)
        argv[argc++] = *options;
    d->log = mkstemp(name);
    assert_true(d->log >= 0);
    unlink(name);
    d->pid = fork();
    assert_true(d->pid >= 0);
    if (d->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(d->log, STDERR_FILENO);
        execv(binary, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    for (int tries = 0; tries < 3000; tries++) {
        if ((d->port = port_of_ready_line(d)) > 0)
            return;
        if (waitpid(d->pid, NULL, WNOHANG) == d->pid)
            break;
        pause_ms(10);
    }
    char *said = kit_log(d);
    fail_msg("no ready line; stderr: %s", said);
}

int kit_stop(struct kit_daemon *d)
{
    int status = 0;

    /* It never started: 0 would be the whole process group. */
    if (d->pid <= 0)
        return -1;
    kill(d->pid, SIGTERM);
    for (int tries = 0; tries < 2000; tries++) {
        pid_t got = waitpid(d->pid, &status, WNOHANG);
        if (got == d->pid) {
            if (!WIFEXITED(status) || WEXITSTATUS(status)) {
                char *said = kit_log(d);
                print_error("stderr of the daemon: %s\n", said);
                free(said);
            }
            close(d->log);
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        pause_ms(10);
    }
    kill(d->pid, SIGKILL);
    waitpid(d->pid, &status, 0);
    close(d->log);
    fail_msg("the daemon did not end within 20 s of SIGTERM");
    return -1;
}

char *kit_file(const char *name, size_t *size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", TESTS_DIR, name);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s cannot be opened", path);
    struct stat st;
    assert_int_equal(fstat(fileno(f), &st), 0);
    char *text = malloc((size_t)st.st_size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)st.st_size, f), (size_t)st.st_size);
    text[st.st_size] = 0;
    if (size)
        *size = (size_t)st.st_size;
    fclose(f);
    return text;
}
