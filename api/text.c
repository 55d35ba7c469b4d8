/* SPDX-License-Identifier: MIT
 *
 * text.c: see text.h. A text that outgrows its room moves to twice the room; the old one stays in
 * the arena, so a text costs at most twice its final size.
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LONGEST_SHOWN 100

void api__text_init(struct api__text *t, struct api__arena *arena, size_t room)
{
    t->arena = arena;
    t->room = room < 16 ? 16 : room;
    t->at = api__arena_take(arena, t->room);
    t->len = 0;
}

static void reserve(struct api__text *t, size_t more)
{
    if (t->room - t->len > more)
        return;
    size_t room = t->len + more + 1;
    room = room < 2 * t->room ? 2 * t->room : room;
    char *at = api__arena_take(t->arena, room);
    memcpy(at, t->at, t->len);
    t->at = at;
    t->room = room;
}

void api__text_add(struct api__text *t, const void *at, size_t len)
{
    reserve(t, len);
    if (len)
        memcpy(t->at + t->len, at, len);
    t->len += len;
}

void api__text_put(struct api__text *t, const char *s)
{
    api__text_add(t, s, strlen(s));
}

void api__text_print(struct api__text *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int need = vsnprintf(t->at + t->len, t->room - t->len, format, args);
    va_end(args);
    if (need >= 0 && (size_t)need >= t->room - t->len) {
        reserve(t, (size_t)need);
        vsnprintf(t->at + t->len, t->room - t->len, format, again);
    }
    va_end(again);
    t->len += need > 0 ? (size_t)need : 0;
}

void api__text_json(struct api__text *t, const void *at, size_t len)
{
    const unsigned char *p = at, *end = p + len;
    api__text_add(t, "\"", 1);
    while (p < end) {
        const unsigned char *plain = p;
        while (p < end && *p >= 0x20 && *p != '"' && *p != '\\' && *p != 0x7f)
            p++;
        api__text_add(t, plain, (size_t)(p - plain));
        if (p == end)
            break;
        if (*p == '"' || *p == '\\')
            api__text_print(t, "\\%c", *p);
        else
            api__text_print(t, "\\u%04x", *p);
        p++;
    }
    api__text_add(t, "\"", 1);
}

static bool plain_in_query(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~,:;/", c));
}

void api__text_query(struct api__text *t, const void *at, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    const unsigned char *p = at;
    reserve(t, len);
    for (size_t i = 0; i < len; i++) {
        if (plain_in_query(p[i])) {
            api__text_add(t, p + i, 1);
        } else {
            char escaped[3] = {'%', digits[p[i] >> 4], digits[p[i] & 15]};
            api__text_add(t, escaped, 3);
        }
    }
}

struct api_bytes api__text_done(struct api__text *t)
{
    reserve(t, 0);
    t->at[t->len] = '\0';
    return (struct api_bytes){t->at, t->len};
}

const char *api__format_text(struct api__arena *arena, const char *format, ...)
{
    char small[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int need = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    size_t len = need > 0 ? (size_t)need : 0;
    char *at;
    if (len < sizeof small) {
        at = api__arena_copy(arena, small, len);
    } else {
        at = api__arena_take(arena, len + 1);
        vsnprintf(at, len + 1, format, again);
    }
    va_end(again);
    return at;
}

const char *api__shown(struct api__arena *arena, struct api_bytes b)
{
    size_t len = b.len;
    if (len > LONGEST_SHOWN) {
        len = LONGEST_SHOWN;
        while (len && ((unsigned char)b.at[len] & 0xc0) == 0x80)
            len--;
    }
    return len == b.len ? api__arena_copy(arena, b.at, len)
                        : api__format_text(arena, "%.*s...", (int)len, b.at);
}

struct api_bytes api__bytes(const char *s)
{
    return (struct api_bytes){s, strlen(s)};
}

bool api__equal(struct api_bytes b, const char *s)
{
    return strlen(s) == b.len && memcmp(b.at, s, b.len) == 0;
}

bool api__equal_case(struct api_bytes b, const char *s)
{
    return strlen(s) == b.len && strncasecmp(b.at, s, b.len) == 0;
}
