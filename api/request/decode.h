/* SPDX-License-Identifier: MIT
 *
 * decode.h: what the bytes of a request mean before any name is known: percent escapes, UTF-8,
 * numbers. Nothing here depends on the locale.
 */
#ifndef API_DECODE_H
#define API_DECODE_H

#include "api.h"
#include "arena.h"

/* Whether the bytes are UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing beyond
 * U+10FFFF). */
bool api__utf8(const char *at, size_t len);

/* The value of a hexadecimal digit, or -1. */
int api__hex_digit(char c);

enum api__decoded { API__DECODED, API__BROKEN_ESCAPE, API__NUL_INSIDE, API__NOT_UTF8 };

/* Takes percent escapes off (RFC 3986, 2.1); '+' is itself. Text without escapes is borrowed, other
 * text lies in the arena. On failure *out is not set. */
enum api__decoded api__unescape(struct api__arena *, struct api_bytes, struct api_bytes *out);

enum api__number { API__NUMBER, API__NO_NUMBER, API__NUMBER_TOO_LARGE };

/* A whole text as a number. Integers: an optional '-', decimal digits, no leading zero; TOO_LARGE
 * beyond 64 bits. Reals: a JSON number (RFC 8259, section 6) to the nearest double; TOO_LARGE where
 * it overflows. */
enum api__number api__integer(struct api_bytes, int64_t *out);
enum api__number api__real(struct api_bytes, double *out);

/* The end of the JSON number that begins at `at`, or NULL where none does; *integer says that it
 * has neither point nor exponent. */
const char *api__number_end(const char *at, const char *end, bool *integer);

#endif
