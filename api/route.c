/* SPDX-License-Identifier: MIT
 *
 * route.c: see route.h. A dozen patterns tried in order cost less than a tree of them would.
 */
#include "route.h"
#include "compare.h"
#include "kinds.h"
#include "layouts.h"
#include "learned.h"
#include "pages.h"
#include "pattern.h"
#include "resolve.h"
#include "precision.h"
#include "service.h"
#include "table.h"

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
