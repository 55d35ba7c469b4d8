/* SPDX-License-Identifier: MIT
 *
 * resolve_members.c: see resolve_members.h.
 */
#include "resolve_members.h"
#include "request/json.h"
#include "must.h"

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

/* A list of members that is used again and again. */
struct store {
    struct api__members members;
    size_t room;
};

static void keep(struct api__arena *arena, struct store *store, struct api__member m)
{
    struct api__members *list = &store->members;
    if (list->count == store->room) {
        store->room = store->room ? 2 * store->room : 16;
        struct api__member *more = api__arena_array(arena, store->room, sizeof m);
        if (list->count)
            memcpy(more, list->at, list->count * sizeof m);
        list->at = more;
    }
    list->at[list->count++] = m;
}

static bool read_into(struct api__call *call, struct api_bytes object, bool whole,
                      struct store *store)
{
    struct api__json j;
    struct api__member m;
    struct api__members *list = &store->members;
    list->count = 0;
    if (api__json_object(&j, object)) {
        j.nul = true;
        while (api__json_member(&j, call->arena, &m.name, &m.value))
            keep(call->arena, store, m);
        if (!j.fault && whole)
            api__json_end(&j);
    }
    if (j.fault)
        return malformed(call, &j);
    if (list->count > 1)
        qsort(list->at, list->count, sizeof m, by_name);
    for (size_t i = 1; i < list->count; i++)
        if (by_name(&list->at[i - 1], &list->at[i]) == 0)
            return api__blame(call, API__MALFORMED_BODY, list->at[i].name,
                              "the name %s stands twice in one object",
                              api__shown(call->arena, list->at[i].name));
    return true;
}

bool api__read_members(struct api__call *call, struct api_bytes object, bool whole,
                       struct api__members *out)
{
    struct store store = {.room = 0};
    bool fine = read_into(call, object, whole, &store);
    *out = store.members;
    return fine;
}

char api__kind_of(struct api_bytes value)
{
    return value.len ? value.at[0] : 0;
}

/* One store for each depth, so that a body of many small objects costs no more than its largest. */
static bool check(struct api__call *call, struct api_bytes value, struct store *stores, int depth)
{
    struct api__json j;
    struct api_bytes element;
    must(depth <= API__JSON_DEPTH + 1); /* the reader's limit */
    if (api__kind_of(value) == '{') {
        struct store *mine = &stores[depth];
        if (!read_into(call, value, false, mine))
            return false;
        for (size_t i = 0; i < mine->members.count; i++)
            if (!check(call, mine->members.at[i].value, stores, depth + 1))
                return false;
    } else if (api__kind_of(value) == '[' && memchr(value.at, '{', value.len)) {
        api__json_array(&j, value);
        j.nul = true;
        while (api__json_element(&j, &element))
            if (!check(call, element, stores, depth + 1))
                return false;
    }
    return true;
}

bool api__check_inside(struct api__call *call, struct api_bytes value)
{
    struct store stores[API__JSON_DEPTH + 2] = {{.room = 0}};
    return check(call, value, stores, 0);
}

const struct api__member *api__find_member(const struct api__members *members, const char *name)
{
    for (size_t i = 0; i < members->count; i++)
        if (api__equal(members->at[i].name, name))
            return &members->at[i];
    return NULL;
}
