/* SPDX-License-Identifier: MIT
 *
 * log.h: lines on stderr, as text or as one JSON object each, escaped. A request is a line at level
 * info; these are gathered in a buffer for each thread, whose loop writes them together, whole
 * lines at a time.
 */
#ifndef SERVER_LOG_H
#define SERVER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api.h"

/* In the order of the words of --log-level. */
enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Once, before threads. The level may be set later, from any thread. */
void log_open(bool json, enum log_level level);
void log_set_level(enum log_level);
bool log_wants(enum log_level);

/* A line at once: msg, then pairs of name and text, ended by LOG_END. Thread-safe. */
#define LOG_END ((const char *)0)
void log_say(enum log_level, const char *msg, ...) __attribute__((sentinel));

/* The line that says that the daemon serves; written at every level. `urls` are `count` texts. */
void log_ready(const char *const *urls, size_t count);

/* One request. Texts are borrowed for the call. */
struct log_request {
    const char *request_id;
    const char *method;
    struct api_bytes target; /* raw */
    int status;
    uint64_t bytes; /* of the body, as sent */
    uint64_t duration_us;
    struct api_bytes trace_id; /* empty: none */
    const char *client;
    bool cut; /* the answer was not sent to its end */
};

struct log_buffer {
    char *at;
    size_t length, capacity;
    int64_t second; /* that `clock` shows */
    char clock[24];
};

/* Adds a line if the level is info or finer. */
void log_add(struct log_buffer *, const struct log_request *);
void log_flush(struct log_buffer *);
void log_buffer_free(struct log_buffer *);

#endif
