/* SPDX-License-Identifier: MIT
 *
 * resolve_note.c: see resolve_note.h.
 */
#include "resolve_note.h"

#include <stdarg.h>
#include <stdio.h>

void api__note(struct api__arena *arena, struct api__notes *notes, const char *key,
               const char *status, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t kept = len < 0 ? 0 : (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    while (kept + 1 == sizeof text && kept && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--;
    struct api__note *note = api__arena_take(arena, sizeof *note);
    *note = (struct api__note){key, status, api__arena_copy(arena, text, kept), NULL};
    if (notes->last)
        notes->last->next = note;
    else
        notes->first = note;
    notes->last = note;
}
