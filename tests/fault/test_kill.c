/* SPDX-License-Identifier: MIT
 *
 * test_kill.c: SIGKILL at random moments while four clients upload, replace and delete. After each
 * restart every table that was acknowledged is whole, every other one is whole or absent, nothing
 * is there that nobody sent, and no draft is left. POSENC_KILLS says how often (default 200),
 * POSENC_SEED from where.
 */
#include "kit/state.h"

#include <jansson.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WRITERS 4
#define NAMES 12 /* of each writer */
#define MAX_ROWS 900
#define WIDTH 8

/* What a name may stand for: seeds of tables, 0 for nothing. */
struct name {
    unsigned known;    /* as it was found, or acknowledged */
    unsigned possible; /* what a request without an answer may have made of it */
    bool uncertain;
};

struct writer {
    pthread_t id;
    int port, number;
    unsigned z;
    struct name names[NAMES];
    unsigned acknowledged;
    char body[128 + 4 * MAX_ROWS * WIDTH];
};

static struct writer writers[WRITERS];
static struct kit_state state;
static struct kit_daemon daemon_;

static unsigned draw(unsigned *z, unsigned below)
{
    *z = *z * 1664525 + 1013904223;
    return (*z >> 8) % below;
}

static unsigned rows_of(unsigned seed)
{
    return 20 + seed * 2654435761u % (MAX_ROWS - 20);
}

/* One request; its status, or 0 where no whole answer came. */
static int ask(int port, const char *head, size_t head_size, const char *body, size_t size)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval limit = {5, 0};
    char answer[64];
    size_t have = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), status = 0;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) ||
        send(fd, head, head_size, MSG_NOSIGNAL) != (ssize_t)head_size)
        goto no_answer;
    for (size_t at = 0; at < size;) {
        ssize_t n = send(fd, body + at, size - at < 8192 ? size - at : 8192, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    for (ssize_t n; have < 12 && (n = recv(fd, answer + have, sizeof answer - have, 0)) > 0;
         have += (size_t)n) {
    }
    if (have >= 12)
        status = (answer[9] - '0') * 100 + (answer[10] - '0') * 10 + (answer[11] - '0');
no_answer:
    if (fd >= 0)
        close(fd);
    return status;
}

/* One change of one name; false where the daemon is gone. */
static bool change(struct writer *w)
{
    unsigned which = draw(&w->z, NAMES), then = draw(&w->z, 4) ? 1 + draw(&w->z, 1000000) : 0;
    struct name *n = &w->names[which];
    char head[512];
    if (!n->known && !then)
        return true;
    size_t size = then ? kit_npy(w->body, rows_of(then), WIDTH, then) : 0;
    int length = snprintf(
        head, sizeof head, "%s /v1/learned/w%d-%u HTTP/1.1\r\nHost: test\r\n%s" KIT_BEARER,
        then ? "PUT" : "DELETE", w->number, which, n->known && then ? "If-Match: *\r\n" : "");
    length += then
                  ? snprintf(head + length, sizeof head - (size_t)length,
                             "Content-Type: application/x-npy\r\nContent-Length: %zu\r\n\r\n", size)
                  : snprintf(head + length, sizeof head - (size_t)length, "\r\n");
    n->possible = then;
    n->uncertain = true;
    int status = ask(w->port, head, (size_t)length, w->body, size);
    if (status != 200 && status != 201 && status != 204)
        return false;
    n->known = then;
    n->uncertain = false;
    w->acknowledged++;
    return true;
}

static void *run(void *closure)
{
    while (change(closure)) {
    }
    return NULL;
}

/* The seed of the table that a name stands for, whole; 0 where there is none. */
static unsigned look(struct writer *w, unsigned which)
{
    struct name *n = &w->names[which];
    const unsigned seeds[] = {n->known, n->possible};
    char target[128];
    struct kit_answer a;
    snprintf(target, sizeof target, "/v1/learned/w%d-%u", w->number, which);
    kit_get(&daemon_, target, NULL, &a);
    int status = a.status;
    char *rows = status == 200 ? strstr(a.body, "\"shape\":[") : NULL;
    unsigned count = rows ? (unsigned)strtoul(rows + 9, NULL, 10) : 0;
    kit_free(&a);
    if (status == 404)
        return 0;
    assert_int_equal(status, 200);
    snprintf(target, sizeof target, "/v1/tables/learned/w%d-%u.bin?length=%u", w->number, which,
             count);
    kit_get(&daemon_, target, NULL, &a);
    assert_int_equal(a.status, 200);
    unsigned found = 0;
    for (int i = 0; i < 1 + n->uncertain; i++) {
        size_t size = seeds[i] ? kit_npy(w->body, rows_of(seeds[i]), WIDTH, seeds[i]) : 0;
        if (size && size - 128 == a.size && !memcmp(a.body, w->body + 128, a.size))
            found = seeds[i];
    }
    if (!found)
        fail_msg("%s is none of the tables that were sent", target);
    kit_free(&a);
    return found;
}

static void check(void)
{
    size_t tables = 0;
    for (int i = 0; i < WRITERS; i++)
        for (unsigned k = 0; k < NAMES; k++) {
            struct name *n = &writers[i].names[k];
            unsigned found = look(&writers[i], k);
            if (found != n->known && !(n->uncertain && found == n->possible))
                fail_msg("w%d-%u is %u, and %u was acknowledged", i, k, found, n->known);
            n->known = found;
            n->uncertain = false;
            tables += found != 0;
        }
    struct kit_answer a;
    kit_get(&daemon_, "/v1/learned?limit=1000", NULL, &a);
    json_t *j = json_loads(a.body, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(j, "tables")), tables);
    json_decref(j);
    kit_free(&a);
    assert_int_equal(kit_state_files(&state, "drafts"), 0);
    assert_int_equal(kit_state_files(&state, "names"), tables);
    assert_int_equal(kit_state_files(&state, "blobs"), tables);
}

static unsigned long setting(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : otherwise;
}

static void killed_at_any_moment(void **unused)
{
    (void)unused;
    unsigned long kills = setting("POSENC_KILLS", 200);
    unsigned z = (unsigned)setting("POSENC_SEED", 1), acknowledged = 0;
    kit_state_make(&state, NULL);
    for (unsigned long k = 0; k < kills; k++) {
        kit_start(&daemon_, state.options);
        check();
        for (int i = 0; i < WRITERS; i++) {
            writers[i].port = daemon_.port;
            writers[i].number = i;
            writers[i].z = z + (unsigned)(k * WRITERS) + (unsigned)i * 7919;
            assert_int_equal(pthread_create(&writers[i].id, NULL, run, &writers[i]), 0);
        }
        struct timespec moment = {0, 1000000 + (long)draw(&z, 90000) * 1000};
        nanosleep(&moment, NULL);
        kill(daemon_.pid, SIGKILL);
        assert_int_equal(waitpid(daemon_.pid, NULL, 0), daemon_.pid);
        close(daemon_.log);
        for (int i = 0; i < WRITERS; i++)
            pthread_join(writers[i].id, NULL);
    }
    kit_start(&daemon_, state.options);
    check();
    for (int i = 0; i < WRITERS; i++)
        acknowledged += writers[i].acknowledged;
    assert_true(acknowledged >= kills);
    assert_int_equal(kit_stop(&daemon_), 0);
    kit_state_remove(&state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(killed_at_any_moment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
