/* SPDX-License-Identifier: MIT
 *
 * json.h: a strict reader of JSON (RFC 8259) that keeps nothing. It checks every byte and hands out
 * members and elements as slices of the text, so a body of a million numbers costs no more memory
 * than the numbers. Depth is bounded; NUL inside strings (unless the caller allows it) and lone
 * surrogates are refused; a byte order mark is not JSON.
 */
#ifndef API_JSON_H
#define API_JSON_H

#include "api.h"
#include "arena.h"

#define API__JSON_DEPTH 32 /* arrays and objects inside of each other, the outermost included */

/* Where the reader stands. `fault` says what is wrong at `p`, NULL while nothing is. */
struct api__json {
    const char *begin;
    const char *p;
    const char *end;
    const char *fault;
    bool first;
    bool nul; /* set by the caller where \u0000 is allowed inside strings */
};

/* Begins on an object or an array: consumes the opening bracket. False where there is none. */
bool api__json_object(struct api__json *, struct api_bytes text);
bool api__json_array(struct api__json *, struct api_bytes text);

/* The next member or element; the name is decoded (in the arena where it has escapes), the value is
 * a checked slice. False at the end of the object and on a fault: look at ->fault. */
bool api__json_member(struct api__json *, struct api__arena *, struct api_bytes *name,
                      struct api_bytes *value);
bool api__json_element(struct api__json *, struct api_bytes *value);

/* After the last member: whether nothing but blanks follows. */
bool api__json_end(struct api__json *);

/* A checked slice that is a string, decoded; false where it is no string. */
bool api__json_string(struct api__arena *, struct api_bytes slice, struct api_bytes *out);

#endif
