/* SPDX-License-Identifier: MIT
 *
 * route.c: see route.h. A dozen patterns tried in order cost less than a tree of them would.
 */
#include "route.h"
#include "compare.h"
#include "kinds.h"
#include "learned.h"
#include "pages.h"
#include "resolve.h"
#include "precision.h"
#include "service.h"
#include "table.h"

#include <string.h>

static const struct api__route routes[] = {
#define API_ROUTE(word, pattern, methods, bodies, handler) \
    {word, pattern, methods, bodies, handler},
#include "routes.def"
#undef API_ROUTE
};

const struct api__route *api__routes(size_t *count)
{
    *count = sizeof routes / sizeof *routes;
    return routes;
}

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

const struct api__route *api__find_route(struct api__call *call)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (api__fits(routes[i].pattern, call))
            return &routes[i];
    return NULL;
}

const char *api__methods(struct api__arena *arena, unsigned methods)
{
    return api__format_text(arena, "%s%s%s%sOPTIONS", methods & API__GET ? "GET, HEAD, " : "",
                            methods & API__POST ? "POST, " : "", methods & API__PUT ? "PUT, " : "",
                            methods & API__DELETE ? "DELETE, " : "");
}
