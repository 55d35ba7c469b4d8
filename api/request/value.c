/* SPDX-License-Identifier: MIT
 *
 * value.c: the readers of single values of param.h. One grammar serves both sources, because the
 * numbers and booleans of a query are spelled as in JSON.
 */
#include "param.h"
#include "decode.h"
#include "json.h"
#include "nearest.h"

#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool api__bad_value(struct api__call *call, enum api__problem_id id, const struct api__param *p,
                    const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    api__blame(call, id, p->name, "%s", text);
    call->issue.value = p->value;
    call->issue.value_is_json = p->json;
    return false;
}

static bool absent(struct api__call *call, const struct api__param *p)
{
    api__bad_value(call, API__BAD_VALUE, p, "%s has no value", api__shown(call->arena, p->name));
    return true;
}

static const char *name_of(struct api__call *call, const struct api__param *p)
{
    return api__shown(call->arena, p->name);
}

static const char *value_of(struct api__call *call, const struct api__param *p)
{
    return api__shown(call->arena, p->value);
}

bool api__read_integer(struct api__call *call, const struct api__param *p, int64_t lo, int64_t hi,
                       int64_t *out)
{
    if (p->value.len == 0 && absent(call, p))
        return false;
    enum api__number n = api__integer(p->value, out);
    if (n == API__NUMBER && *out >= lo && *out <= hi)
        return true;
    const char *allowed =
        api__format_text(call->arena, "an integer from %" PRId64 " to %" PRId64, lo, hi);
    if (n == API__NO_NUMBER)
        api__bad_value(call, API__BAD_VALUE, p, "%s must be %s in decimal digits, not %s",
                       name_of(call, p), allowed, value_of(call, p));
    else
        api__bad_value(call, API__OUT_OF_RANGE, p, "%s must be %s, not %s", name_of(call, p),
                       allowed, value_of(call, p));
    call->issue.allowed_text = allowed;
    return false;
}

const char *api__real_range(struct api__arena *arena, double lo, double hi)
{
    char low[64] = "", high[64] = "";
    if (lo == 1 + DBL_EPSILON)
        snprintf(low, sizeof low, " greater than 1");
    else if (lo == DBL_TRUE_MIN)
        snprintf(low, sizeof low, " greater than 0");
    else if (lo > -DBL_MAX)
        snprintf(low, sizeof low, " of at least %.17g", lo);
    if (hi < DBL_MAX)
        snprintf(high, sizeof high, "%s at most %.17g", low[0] ? " and" : " of", hi);
    return api__format_text(arena, "a%s real number%s%s", low[0] || high[0] ? "" : " finite", low,
                            high);
}

bool api__read_real(struct api__call *call, const struct api__param *p, double lo, double hi,
                    double *out)
{
    if (p->value.len == 0 && absent(call, p))
        return false;
    enum api__number n = api__real(p->value, out);
    if (n == API__NUMBER && *out >= lo && *out <= hi)
        return true;
    const char *allowed = api__real_range(call->arena, lo, hi);
    api__bad_value(call, n == API__NO_NUMBER ? API__BAD_VALUE : API__OUT_OF_RANGE, p,
                   "%s must be %s%s, not %s", name_of(call, p), allowed,
                   n == API__NO_NUMBER ? ", spelled as in JSON" : "", value_of(call, p));
    call->issue.allowed_text = allowed;
    return false;
}

bool api__read_bool(struct api__call *call, const struct api__param *p, bool *out)
{
    static const char *const words[] = {"true", "false"};
    if (p->value.len == 0 && absent(call, p))
        return false;
    *out = api__equal(p->value, "true");
    if (*out || api__equal(p->value, "false"))
        return true;
    api__bad_value(call, API__BAD_VALUE, p, "%s must be true or false, not %s", name_of(call, p),
                   value_of(call, p));
    call->issue.allowed = words;
    call->issue.allowed_count = 2;
    return false;
}

bool api__read_word(struct api__call *call, const struct api__param *p, struct api_bytes *out)
{
    *out = p->value;
    if (p->json && !api__json_string(call->arena, p->value, out))
        return api__bad_value(call, API__BAD_VALUE, p, "%s must be a string, not %s",
                              name_of(call, p), value_of(call, p));
    return out->len != 0 || !absent(call, p);
}

bool api__read_choice(struct api__call *call, const struct api__param *p, const char *const *words,
                      size_t count, int *out)
{
    struct api_bytes word;
    bool spelled = api__read_word(call, p, &word);
    for (size_t i = 0; spelled && i < count; i++) {
        if (api__equal(word, words[i])) {
            *out = (int)i;
            return true;
        }
    }
    if (spelled) {
        struct api__text list;
        api__text_init(&list, call->arena, 64);
        for (size_t i = 0; i < count; i++)
            api__text_print(&list, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", words[i]);
        const char *near = api__nearest(word, words, count);
        api__bad_value(call, API__BAD_VALUE, p, "%s must be %s, not %s", name_of(call, p),
                       api__text_done(&list).at, api__shown(call->arena, word));
        call->issue.did_you_mean = near;
    }
    call->issue.allowed = words;
    call->issue.allowed_count = count;
    return false;
}
