/* SPDX-License-Identifier: MIT
 *
 * value.h: the text of an option's value, and what it means. Knows counts, sizes, durations, words
 * and addresses, and nothing of where a text came from.
 */
#ifndef SERVER_VALUE_H
#define SERVER_VALUE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

enum value_type {
    VALUE_COUNT,    /* 17 */
    VALUE_SIZE,     /* 64MiB, in bytes */
    VALUE_DURATION, /* 30s, in milliseconds */
    VALUE_WORD_LEVEL,
    VALUE_WORD_FORMAT,
    VALUE_ADDRESSES,
    VALUE_PATH
};

struct value_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    } at;
    socklen_t size;
};

/* Reads `text` as that type. False where it is not one, or outside [lo, hi]; `wrong` then says what
 * a value has to be, the nearest valid one or all of them included ("at least 1"). A PATH is any
 * text. */
bool value_number(enum value_type, const char *text, int64_t lo, int64_t hi, uint64_t *out,
                  char wrong[160]);

/* Reads 127.0.0.1:80, [::1]:80, localhost:80 or unix:PATH. Same convention. */
bool value_address(const char *text, struct value_address *, char wrong[160]);

/* The URL of an address, http://HOST:PORT or unix:PATH. */
void value_url(const struct value_address *, char *out, size_t size);

/* The names of a WORD type in the order of their numbers, ended by NULL. */
const char *const *value_words(enum value_type);

/* The nearest of `names` (ended by NULL) to a mistyped `text`: few letters wrong, missing, extra or
 * swapped; NULL where none is near. */
const char *value_nearest(const char *text, const char *const *names);

#endif
