/* SPDX-License-Identifier: MIT
 *
 * answer.c: see answer.h. Bytes behind an answer that came with its end are noticed at once; those
 * that come later stand where the next answer should begin, and are a fault of that one.
 */
#include "answer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

void answer_reset(struct answer *a)
{
    a->have = 0;
    a->has_head = false;
}

bool answer_is_whole(const struct answer *a)
{
    return a->has_head && a->left == 0;
}

static const char *read_status(struct answer *a)
{
    char *end;
    if (strncmp(a->head, "HTTP/1.1 ", 9) || !isdigit((unsigned char)a->head[9]))
        return "no HTTP/1.1 status line";
    a->status = (int)strtol(a->head + 9, &end, 10);
    return end != a->head + 12 || a->status < 200 ? "no final status" : NULL;
}

static const char *read_fields(struct answer *a, bool for_head)
{
    bool sized = false;
    char *end;
    a->left = 0;
    a->closes = false;
    for (const char *line = a->head; (line = strstr(line, "\r\n")) != NULL;) {
        line += 2;
        if (!strncasecmp(line, "content-length: ", 16)) {
            if (sized || !isdigit((unsigned char)line[16]))
                return "no single Content-Length";
            sized = true;
            a->left = strtoull(line + 16, &end, 10);
            if (*end != '\r')
                return "a Content-Length that is no number";
        } else if (!strncasecmp(line, "connection: close\r", 18)) {
            a->closes = true;
        }
    }
    if (for_head || a->status == 204 || a->status == 304)
        a->left = 0;
    else if (!sized)
        return "no Content-Length";
    return NULL;
}

static const char *read_head(struct answer *a, int fd, bool for_head, uint64_t *bytes)
{
    ssize_t n = recv(fd, a->head + a->have, HEAD_MOST - a->have, 0);
    if (n < 0 && errno == EAGAIN)
        return NULL;
    if (n <= 0)
        return a->have ? "closed within a head" : "closed without an answer";
    a->have += (size_t)n;
    char *end = memmem(a->head, a->have, "\r\n\r\n", 4);
    if (!end)
        return a->have == HEAD_MOST ? "a head without an end" : NULL;
    size_t more = a->have - (size_t)(end + 4 - a->head);
    end[2] = 0; /* the last line keeps its own end, and the body is not looked at */
    const char *fault = read_status(a);
    if (!fault)
        fault = read_fields(a, for_head);
    if (fault)
        return fault;
    if (more > a->left)
        return "more than the head announces";
    a->has_head = true;
    a->left -= more;
    *bytes += more;
    return NULL;
}

static const char *skip_body(struct answer *a, int fd, uint64_t *bytes)
{
    size_t most = a->left < (1u << 30) ? (size_t)a->left : 1u << 30;
    ssize_t n = recv(fd, NULL, most, MSG_TRUNC);
    if (n < 0 && errno == EAGAIN)
        return NULL;
    if (n <= 0)
        return "closed within a body";
    a->left -= (uint64_t)n;
    *bytes += (uint64_t)n;
    return NULL;
}

const char *answer_read(struct answer *a, int fd, bool for_head, uint64_t *bytes)
{
    const char *fault = a->has_head ? NULL : read_head(a, fd, for_head, bytes);
    return !fault && a->has_head && a->left ? skip_body(a, fd, bytes) : fault;
}
