/* SPDX-License-Identifier: MIT
 *
 * kit.h: what the HTTP tests stand on: a daemon of their own on a free port of 127.0.0.1, and a
 * client that sends raw bytes and reads answers strictly. Nothing is hidden: a test can send half a
 * request, two at once, or garbage. Failures of the kit itself end the test by cmocka's fail_msg.
 */
#ifndef KIT_H
#define KIT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

struct kit_daemon {
    pid_t pid;
    int port;
    int log; /* a file that holds its stderr */
};

/* Starts $POSENC_BIN serve --listen 127.0.0.1:0 with more options (NULL-ended list) and waits for
 * its ready line. */
void kit_start(struct kit_daemon *, const char *const *options);
/* SIGTERM, then the exit code; fails the test when it does not end within 20 s. */
int kit_stop(struct kit_daemon *);
/* Its stderr so far, malloc'd, NUL-ended. */
char *kit_log(struct kit_daemon *);

struct kit_link {
    int fd;
    char *bytes;
    size_t have, room;
};

struct kit_answer {
    int status;
    bool chunked, closes;
    char *head; /* the whole head, NUL-ended */
    char *body; /* decoded, NUL behind it */
    size_t size;
};

void kit_open(struct kit_link *, int port);
/* With room for a few KiB of what comes: answers soon fill the sockets between. */
void kit_open_narrow(struct kit_link *, int port);
void kit_close(struct kit_link *);
void kit_send(struct kit_link *, const void *bytes, size_t size);
/* Sends in pieces of `piece` bytes, each in a packet of its own. */
void kit_send_pieces(struct kit_link *, const void *bytes, size_t size, size_t piece);
/* Reads one final answer to a request of that method. False when the connection ended (cleanly
 * before its first byte) or stayed silent for `ms`. A broken answer fails the test. */
bool kit_read(struct kit_link *, const char *method, int ms, struct kit_answer *);
/* Whether the peer closes within `ms` without another byte. */
bool kit_closed(struct kit_link *, int ms);
void kit_free(struct kit_answer *);

/* One request on a link: `head` holds further header lines, each ended by \r\n (NULL for none). */
void kit_ask(struct kit_link *, const char *method, const char *target, const char *head,
             struct kit_answer *);
/* The same on a connection of its own, GET. */
void kit_get(struct kit_daemon *, const char *target, const char *head, struct kit_answer *);
/* POST with a body. */
void kit_post(struct kit_link *, const char *target, const char *type, const char *body,
              struct kit_answer *);

/* The value of a header of an answer in a static ring of buffers, or NULL. */
const char *kit_header(const struct kit_answer *, const char *name);
/* The value of a sample `posenc_x` in /metrics summed over its labels, or -1. */
double kit_metric(struct kit_daemon *, const char *name);
/* A whole file of the tests folder, malloc'd, NUL-ended. */
char *kit_file(const char *name, size_t *size);

#endif
