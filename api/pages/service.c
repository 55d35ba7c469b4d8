/* SPDX-License-Identifier: MIT
 *
 * service.c: see service.h. A function of the build and of the configuration, not of the moment.
 */
#include "service.h"
#include "document.h"
#include "format/format.h"
#include "request/list.h"

#include <inttypes.h>
#include <string.h>

static void put_limits(struct api__text *t, const struct api_limits *l)
{
    api__text_print(t,
                    "\"limits\":{\"max_json_values\":%" PRIu64 ",\"max_body\":%" PRIu64
                    ",\"max_json_body\":%" PRIu64 ",\"max_layout_entries\":%" PRIu64
                    ",\"max_layout_values\":%" PRIu64
                    ",\"max_expanded_positions\":%d,\"cache_size\":%" PRIu64
                    ",\"max_connections\":%" PRIu64 ",\"max_connections_per_ip\":%" PRIu64 "}",
                    l->max_json_values, l->max_body, API__MAX_JSON_BODY, l->max_layout_entries,
                    l->max_layout_values, API__MAX_EXPANDED, l->cache_size, l->max_connections,
                    l->max_connections_per_ip);
}

static void put_formats(struct api__text *t)
{
    api__text_put(t, "\"formats\":[");
    for (const struct api_format *const *f = api__formats; *f; f++) {
        api__text_print(t, "%s{\"name\":\"%s\",\"media_type\":", f == api__formats ? "" : ",",
                        (*f)->name);
        api__text_json(t, (*f)->content_type, strlen((*f)->content_type));
        api__text_put(t, "}");
    }
    api__text_put(t, "]");
}

bool api__service_page(struct api__call *call)
{
    struct api__text t;
    if (!api__no_params(call))
        return false;
    api__text_init(&t, call->arena, 2048);
    api__text_print(&t, "{\"name\":\"posenc\",\"version\":\"" PE_VERSION "\",\"numerics_rev\":%d,",
                    PE_NUMERICS_REV);
    put_limits(&t, call->request->limits);
    api__text_put(&t, ",");
    put_formats(&t);
    api__text_put(&t, ",\"kinds\":[");
    for (int k = 0; k < PE_KINDS; k++)
        api__text_print(&t, "%s\"%s\"", k ? "," : "", pe_kind_name((enum pe_kind)k));
    api__text_put(&t, "]}\n");
    return api__document(call, "application/json", NULL, api__text_done(&t));
}
