/* SPDX-License-Identifier: MIT
 *
 * sink.h: where elements go. Every array of a layout is made of runs that stay equal or rise by
 * one, so a run is the unit of writing.
 */
#ifndef PE_LAYOUT_SINK_H
#define PE_LAYOUT_SINK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct pe__sink {
    char *at;
    bool wide; /* 8 bytes an element, else 4 */
};

/* Appends v, v + step, v + 2 step ... `count` times. */
void pe__put_run(struct pe__sink *, int64_t v, int64_t step, int64_t count);

static inline void pe__put(struct pe__sink *s, int64_t v)
{
    memcpy(s->at, &v, s->wide ? 8 : 4);
    s->at += s->wide ? 8 : 4;
}

#endif
