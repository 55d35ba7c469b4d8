/* SPDX-License-Identifier: MIT
 *
 * text.h: text that grows in an arena, and the three spellings that bytes take in an answer: as
 * they are, as a JSON string, percent-encoded. Appending never fails (see arena.h).
 */
#ifndef API_TEXT_H
#define API_TEXT_H

#include "api.h"
#include "arena.h"

struct api__text {
    struct api__arena *arena;
    char *at;
    size_t len;
    size_t room;
};

/* An empty text with room for `room` bytes (at least 16) before it has to move. */
void api__text_init(struct api__text *, struct api__arena *, size_t room);

/* Appends bytes, a C string, or what printf would print (integers and strings: locale-free). */
void api__text_add(struct api__text *, const void *at, size_t len);
void api__text_put(struct api__text *, const char *s);
__attribute__((format(printf, 2, 3))) void api__text_print(struct api__text *, const char *format,
                                                           ...);

/* Appends a JSON string, quotes included. The bytes are valid UTF-8. RFC 8259, section 7. */
void api__text_json(struct api__text *, const void *at, size_t len);

/* Appends the bytes percent-encoded for a value in a query: all but unreserved characters and
 * ",:;/". RFC 3986, sections 2.3 and 3.4. */
void api__text_query(struct api__text *, const void *at, size_t len);

/* The text, with a NUL behind it that `len` does not count. It stays where it is until the next
 * append. */
struct api_bytes api__text_done(struct api__text *);

/* printf into the arena. */
__attribute__((format(printf, 2, 3), nonnull(2))) const char *
api__format_text(struct api__arena *, const char *format, ...);

/* At most 100 bytes of valid UTF-8 as a C string, cut at a character: a client's text inside a
 * sentence. */
const char *api__shown(struct api__arena *, struct api_bytes);

/* A C string as bytes; whether bytes equal a C string, exactly or without ASCII case. */
struct api_bytes api__bytes(const char *s);
bool api__equal(struct api_bytes, const char *s);
bool api__equal_case(struct api_bytes, const char *s);

#endif
