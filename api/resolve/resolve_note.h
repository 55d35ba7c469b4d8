/* SPDX-License-Identifier: MIT
 *
 * resolve_note.h: reports about keys of a config, in the order in which they were made.
 */
#ifndef API_RESOLVE_NOTE_H
#define API_RESOLVE_NOTE_H

#include "arena.h"

/* `status` is one of: ignored, conflicting, unknown, deprecated, assumed, beside, unsupported,
 * note. */
struct api__note {
    const char *key; /* a dotted path, or NULL */
    const char *status;
    const char *text;
    struct api__note *next;
};

struct api__notes {
    struct api__note *first;
    struct api__note *last;
};

/* Appends; the text is as long as 1023 bytes at most. `key` and `status` outlive the arena or lie
 * in it. */
__attribute__((format(printf, 5, 6))) void api__note(struct api__arena *, struct api__notes *,
                                                     const char *key, const char *status,
                                                     const char *format, ...);

#endif
