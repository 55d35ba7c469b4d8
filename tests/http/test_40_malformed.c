/* SPDX-License-Identifier: MIT
 *
 * test_40_malformed.c: requests that are wrong, or right in odd ways (golden/malformed.tsv), on raw
 * sockets: whole, byte by byte, and in pieces of seven. The first answer has a status that the case
 * allows, or the connection closes where it says `close`; never more answers than the case allows.
 * The daemon lives on, and its descriptors are all back.
 */
#include "kit/kit.h"

#include <dirent.h>
#include <errno.h>
#include <nettle/base64.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_CASES 256
#define PATIENCE 13000 /* ms; the deadline of a head is 10 s */
#define QUIET 300      /* ms in which an answer too many would come */

struct wrong {
    const char *name, *expect;
    int most;
    char *raw;
    size_t size;
    bool head_request;
    struct kit_link link;
    size_t sent;
    bool ended;
};

static struct kit_daemon daemon_;
static struct wrong cases_[MOST_CASES];
static size_t count_;
static char *file_;

static void load(void)
{
    char *save;
    file_ = kit_file("golden/malformed.tsv", NULL);
    for (char *line = strtok_r(file_, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (*line == '#')
            continue;
        struct wrong *w = &cases_[count_++];
        char *at = line;
        w->name = strsep(&at, "\t");
        w->expect = strsep(&at, "\t");
        w->most = (int)strtol(strsep(&at, "\t"), NULL, 10);
        w->raw = malloc(BASE64_DECODE_LENGTH(strlen(at)) + 1);
        struct base64_decode_ctx c;
        base64_decode_init(&c);
        assert_true(base64_decode_update(&c, &w->size, (uint8_t *)w->raw, strlen(at), at));
        w->head_request = w->size > 5 && memcmp(w->raw, "HEAD ", 5) == 0;
    }
    static char target[70000];
    struct wrong *w = &cases_[count_++];
    memset(target, 'a', sizeof target);
    *w = (struct wrong){.name = "target-of-70000", .expect = "414|400|431|close", .most = 1};
    w->size = (size_t)asprintf(&w->raw, "GET /%.*s HTTP/1.1\r\nHost: a\r\n\r\n", (int)sizeof target,
                               target);
}

static bool allowed(const char *expect, int status)
{
    char want[8];
    for (const char *at = expect; *at; at += *at == '|') {
        size_t n = strcspn(at, "|");
        snprintf(want, sizeof want, "%.*s", (int)n, at);
        if (n == 3 && want[1] == 'x' ? want[0] - '0' == status / 100 : atoi(want) == status)
            return true;
        at += n;
    }
    return false;
}

/* Reads until the peer closes, has said all that it may, or patience ends. */
static void listen_to(struct wrong *w)
{
    int statuses[64], n = 0;
    const char *method = w->head_request ? "HEAD" : "GET";
    struct kit_answer a;
    while (n < 64 && kit_read(&w->link, method, n ? QUIET : PATIENCE, &a)) {
        bool own_head_twice = a.status >= 400 && strncmp(a.body, "HTTP/1.1 ", 9) == 0;
        statuses[n++] = a.status;
        bool last = a.closes;
        kit_free(&a);
        if (own_head_twice || last)
            break;
    }
    if (!n && !strstr(w->expect, "close"))
        fail_msg("%s: no answer, expected %s", w->name, w->expect);
    if (n > (w->most > 1 ? w->most : 1))
        fail_msg("%s: %d answers, %d allowed", w->name, n, w->most);
    if (n && !allowed(w->expect, statuses[0]))
        fail_msg("%s: %d, expected %s", w->name, statuses[0], w->expect);
}

static size_t open_files(void)
{
    char path[64];
    size_t n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)daemon_.pid);
    DIR *d = opendir(path);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* All cases at once, so that those which wait for a deadline wait together. */
static void deliver(size_t piece)
{
    for (size_t i = 0; i < count_; i++) {
        kit_open(&cases_[i].link, daemon_.port);
        if (piece && cases_[i].size < 4000)
            kit_send_pieces(&cases_[i].link, cases_[i].raw, cases_[i].size, piece);
        else
            kit_send(&cases_[i].link, cases_[i].raw, cases_[i].size);
    }
    for (size_t i = 0; i < count_; i++) {
        listen_to(&cases_[i]);
        kit_close(&cases_[i].link);
    }
    struct kit_answer a;
    kit_get(&daemon_, "/livez", NULL, &a);
    assert_int_equal(a.status, 200);
    kit_free(&a);
}

static void whole(void **state)
{
    (void)state;
    deliver(0);
}

static void byte_by_byte(void **state)
{
    (void)state;
    deliver(1);
}

static void in_sevens(void **state)
{
    (void)state;
    deliver(7);
}

static void nothing_is_left_open(void **state)
{
    (void)state;
    for (int tries = 0; tries < 50; tries++) {
        if (open_files() < 40)
            return;
        usleep(100000);
    }
    fail_msg("%zu files are still open", open_files());
}

/* Two errors in one head once made the library forget to tell of the end of a request. */
static void two_errors_in_a_head(void **state)
{
    (void)state;
    static const char text[] =
        "GET /livez HTTP/1.1\r\nHost: a\r\nCookie: a=\"\r\nContent-Length: x\r\n\r\n";
    for (int i = 0; i < 200; i++) {
        struct kit_link l;
        kit_open(&l, daemon_.port);
        kit_send(&l, text, sizeof text - 1);
        char some[512];
        while (recv(l.fd, some, sizeof some, 0) > 0) {
        }
        kit_close(&l);
    }
}

static int begin(void **state)
{
    (void)state;
    static const char *const options[] = {"--idle-timeout", "5s", NULL};
    load();
    kit_start(&daemon_, options);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (size_t i = 0; i < count_; i++)
        free(cases_[i].raw);
    free(file_);
    return kit_stop(&daemon_);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(byte_by_byte),
        cmocka_unit_test(in_sevens),
        cmocka_unit_test(two_errors_in_a_head),
        cmocka_unit_test(nothing_is_left_open),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
