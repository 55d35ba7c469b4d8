/* SPDX-License-Identifier: MIT
 *
 * pattern.c: see pattern.h.
 */
#include "pattern.h"

#include <string.h>

/* The end of the part that begins at p. */
static const char *part_end(const char *p, const char *end)
{
    while (p < end && *p != '/')
        p++;
    return p;
}

static bool ends_with_extension(const char *pattern)
{
    return strcmp(pattern, "[.ext]") == 0;
}

/* The last dot of the part; NULL where there is none. */
static const char *last_dot(const char *p, const char *end)
{
    const char *dot = NULL;
    for (; p < end; p++)
        if (*p == '.')
            dot = p;
    return dot;
}

bool api__fits(const char *pattern, struct api__call *call)
{
    const char *p = call->path.at, *end = p + call->path.len;
    size_t captures = 0;
    call->extension = (struct api_bytes){NULL, 0};
    for (size_t i = 0; i < API__CAPTURES; i++)
        call->captures[i] = (struct api_bytes){"", 0};
    while (*pattern && !ends_with_extension(pattern)) {
        if (*pattern != '{') {
            if (p == end || *p++ != *pattern++)
                return false;
            continue;
        }
        const char *stop = part_end(p, end);
        pattern = strchr(pattern, '}') + 1;
        const char *dot = ends_with_extension(pattern) ? last_dot(p, stop) : NULL;
        if (dot)
            stop = dot;
        if (stop == p)
            return false;
        call->captures[captures++] = (struct api_bytes){p, (size_t)(stop - p)};
        p = stop;
    }
    if (*pattern && p < end && *p == '.') {
        call->extension = (struct api_bytes){p + 1, (size_t)(end - p - 1)};
        return part_end(p, end) == end;
    }
    return p == end;
}
