/* SPDX-License-Identifier: MIT
 *
 * param.c: see param.h: collecting, and the checks of names.
 */
#include "param.h"
#include "decode.h"
#include "json.h"
#include "nearest.h"

#include <string.h>

static bool same(struct api_bytes a, struct api_bytes b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

static const char *decode_fault(enum api__decoded d)
{
    return d == API__BROKEN_ESCAPE ? "a broken percent escape"
           : d == API__NUL_INSIDE  ? "a NUL"
                                   : "bytes that are not UTF-8";
}

static bool read_pair(struct api__call *call, struct api_bytes pair, struct api__param *out)
{
    const char *sign = pair.len ? memchr(pair.at, '=', pair.len) : NULL;
    struct api_bytes name = {pair.at, sign ? (size_t)(sign - pair.at) : pair.len};
    struct api_bytes value = {pair.at + pair.len, 0};
    if (sign)
        value = (struct api_bytes){sign + 1, pair.len - name.len - 1};
    enum api__decoded d = api__unescape(call->arena, name, &out->name);
    if (d != API__DECODED)
        return api__refuse(call, API__MALFORMED_REQUEST, "a parameter name in the query has %s",
                           decode_fault(d));
    if (name.len == 0)
        return api__refuse(call, API__MALFORMED_REQUEST,
                           "the query has a parameter without a name");
    d = api__unescape(call->arena, value, &out->value);
    if (d != API__DECODED)
        return api__blame(call, API__BAD_VALUE, out->name, "the value of %s has %s",
                          api__shown(call->arena, out->name), decode_fault(d));
    out->json = false;
    return true;
}

bool api__read_query(struct api__call *call, struct api__params *params)
{
    struct api_bytes rest = call->query;
    while (rest.len && params->count < API__MAX_PARAMS) {
        const char *end = memchr(rest.at, '&', rest.len);
        size_t len = end ? (size_t)(end - rest.at) : rest.len;
        struct api_bytes pair = {rest.at, len};
        if (!read_pair(call, pair, &params->items[params->count]))
            return false;
        params->count++;
        rest.at += end ? len + 1 : len;
        rest.len -= end ? len + 1 : len;
        if (end && rest.len == 0)
            return api__refuse(call, API__MALFORMED_REQUEST,
                               "the query ends in an empty parameter");
    }
    return true;
}

bool api__read_json(struct api__call *call, struct api_bytes body, struct api__params *params)
{
    struct api__json j;
    struct api_bytes name, value;
    if (api__json_object(&j, body)) {
        while (api__json_member(&j, call->arena, &name, &value))
            if (params->count < API__MAX_PARAMS)
                params->items[params->count++] = (struct api__param){name, value, true};
        if (!j.fault)
            api__json_end(&j);
    }
    if (j.fault)
        return api__refuse(call, API__MALFORMED_BODY,
                           "the body must be one JSON object with the parameters: %s at byte %zu",
                           j.fault, (size_t)(j.p - j.begin));
    return true;
}

const struct api__param *api__find_param(const struct api__params *params, const char *name)
{
    for (size_t i = 0; i < params->count; i++)
        if (api__equal(params->items[i].name, name))
            return &params->items[i];
    return NULL;
}

bool api__check_repeats(struct api__call *call, const struct api__params *params)
{
    for (size_t i = 1; i < params->count; i++) {
        const struct api__param *p = &params->items[i];
        for (size_t j = 0; j < i; j++)
            if (same(params->items[j].name, p->name))
                return api__bad_value(call, API__REPEATED_PARAMETER, p, "%s is given twice",
                                      api__shown(call->arena, p->name));
    }
    return true;
}

bool api__unknown_param(struct api__call *call, const struct api__param *p, const char *why,
                        const char *const *names, size_t count)
{
    const char *near = api__nearest(p->name, names, count);
    const char *name = api__shown(call->arena, p->name);
    if (near)
        api__bad_value(call, API__UNKNOWN_PARAMETER, p, "%s %s; did you mean %s?", name, why, near);
    else
        api__bad_value(call, API__UNKNOWN_PARAMETER, p, "%s %s", name, why);
    call->issue.did_you_mean = near;
    call->issue.allowed = names;
    call->issue.allowed_count = count;
    return false;
}

bool api__check_names(struct api__call *call, const struct api__params *params,
                      const char *const *names, size_t count)
{
    for (size_t i = 0; i < params->count; i++) {
        size_t n = 0;
        while (n < count && !api__equal(params->items[i].name, names[n]))
            n++;
        if (n == count)
            return api__unknown_param(call, &params->items[i], "is not a parameter of this path",
                                      names, count);
    }
    return api__check_repeats(call, params);
}
