/* SPDX-License-Identifier: MIT
 *
 * route.c: see route.h. A dozen patterns tried in order cost less than a tree of them would.
 */
#include "route.h"
#include "table/compare.h"
#include "table/kinds.h"
#include "layouts/layouts.h"
#include "learned/learned.h"
#include "pages/pages.h"
#include "pattern.h"
#include "resolve/resolve.h"
#include "table/precision.h"
#include "pages/service.h"
#include "table/table.h"

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
