/* SPDX-License-Identifier: MIT
 *
 * resolve_members.c: see resolve_members.h.
 */
#include "resolve_members.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    const struct api_bytes *x = &((const struct api__member *)a)->name,
                           *y = &((const struct api__member *)b)->name;
    size_t least = x->len < y->len ? x->len : y->len;
    int order = least ? memcmp(x->at, y->at, least) : 0;
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static bool malformed(struct api__call *call, const struct api__json *j)
{
    return api__refuse(call, API__MALFORMED_BODY,
                       "the body must be one JSON object, a model's config: %s at byte %zu",
                       j->fault, (size_t)(j->p - call->request->body.at));
}

bool api__read_members(struct api__call *call, struct api_bytes object, bool whole,
                       struct api__members *out)
{
    struct api__json j;
    struct api__member m;
    size_t room = 16;
    *out = (struct api__members){api__arena_array(call->arena, room, sizeof m), 0};
    if (api__json_object(&j, object)) {
        j.nul = true;
        while (api__json_member(&j, call->arena, &m.name, &m.value)) {
            if (out->count == room) {
                struct api__member *more = api__arena_array(call->arena, room *= 2, sizeof m);
                memcpy(more, out->at, out->count * sizeof m);
                out->at = more;
            }
            out->at[out->count++] = m;
        }
        if (!j.fault && whole)
            api__json_end(&j);
    }
    if (j.fault)
        return malformed(call, &j);
    qsort(out->at, out->count, sizeof m, by_name);
    for (size_t i = 1; i < out->count; i++)
        if (by_name(&out->at[i - 1], &out->at[i]) == 0)
            return api__blame(call, API__MALFORMED_BODY, out->at[i].name,
                              "the name %s stands twice in one object",
                              api__shown(call->arena, out->at[i].name));
    return true;
}

char api__kind_of(struct api_bytes value)
{
    return value.len ? value.at[0] : 0;
}

bool api__check_inside(struct api__call *call, struct api_bytes value)
{
    struct api__json j;
    struct api_bytes element;
    struct api__members members;
    if (api__kind_of(value) == '{') {
        if (!api__read_members(call, value, false, &members))
            return false;
        for (size_t i = 0; i < members.count; i++)
            if (!api__check_inside(call, members.at[i].value))
                return false;
    } else if (api__kind_of(value) == '[' && memchr(value.at, '{', value.len)) {
        api__json_array(&j, value);
        j.nul = true;
        while (api__json_element(&j, &element))
            if (!api__check_inside(call, element))
                return false;
    }
    return true;
}

const struct api__member *api__find_member(const struct api__members *members, const char *name)
{
    for (size_t i = 0; i < members->count; i++)
        if (api__equal(members->at[i].name, name))
            return &members->at[i];
    return NULL;
}
