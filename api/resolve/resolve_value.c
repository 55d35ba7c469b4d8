/* SPDX-License-Identifier: MIT
 *
 * resolve_value.c: see resolve_value.h. Facts are read late and one by one, so that a value of a
 * key that nobody asks for is never looked at.
 */
#include "resolve_value.h"
#include "request/decode.h"
#include "request/json.h"
#include "request/param.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* The whole of a longrope list, a list of layers, with room to spare. */
#define LONGEST_LIST 65536

void api__refuse_fact(struct api__config *config, const struct api__fact *fact,
                      enum api__problem_id id, const char *format, ...)
{
    char text[512];
    va_list args;
    if (config->refused)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    config->refused = true;
    api__refuse(config->call, id, "%s", text);
    if (!fact)
        return;
    config->call->issue.parameter = api__bytes(fact->path);
    if (fact->value.len <= 100) {
        config->call->issue.value = fact->value;
        config->call->issue.value_is_json = true;
    }
}

void api__refuse_absent(struct api__config *config, enum api__meaning meaning, const char *because)
{
    const char *name = api__spelling(config->dialect, meaning);
    if (config->refused)
        return;
    api__refuse_fact(config, NULL, API__MISSING_PARAMETER, "%s is missing: %s", name, because);
    config->call->issue.parameter = api__bytes(name);
}

static bool refuse_type(struct api__config *config, const struct api__fact *fact,
                        const char *allowed)
{
    if (!config->refused) {
        api__refuse_fact(config, fact, API__BAD_VALUE, "%s must be %s", fact->path, allowed);
        config->call->issue.allowed_text = allowed;
    }
    return false;
}

static bool refuse_range(struct api__config *config, const struct api__fact *fact,
                         const char *allowed)
{
    if (!config->refused) {
        api__refuse_fact(config, fact, API__OUT_OF_RANGE, "%s must be %s", fact->path, allowed);
        config->call->issue.allowed_text = allowed;
    }
    return false;
}

static bool is_number(struct api_bytes value)
{
    return value.len && (value.at[0] == '-' || (value.at[0] >= '0' && value.at[0] <= '9'));
}

bool api__fact_number(const struct api__fact *fact, double *out)
{
    return is_number(fact->value) && api__real(fact->value, out) == API__NUMBER;
}

static const char *integer_range(struct api__config *config, int64_t lo, int64_t hi)
{
    return api__format_text(config->call->arena, "an integer from %lld to %lld", (long long)lo,
                            (long long)hi);
}

/* 8192.0 and 1e6 are integers: some writers of configs know only reals. */
static bool read_integer(struct api_bytes value, int64_t *out, bool *large)
{
    double real;
    enum api__number n = api__integer(value, out);
    *large = n == API__NUMBER_TOO_LARGE;
    if (n != API__NO_NUMBER || !is_number(value))
        return n == API__NUMBER;
    n = api__real(value, &real);
    *large = n == API__NUMBER_TOO_LARGE || (n == API__NUMBER && fabs(real) > 0x1p53);
    if (n != API__NUMBER || *large || real != floor(real))
        return false;
    *out = (int64_t)real;
    return true;
}

bool api__fact_integer(struct api__config *config, const struct api__fact *fact, int64_t lo,
                       int64_t hi, int64_t *out)
{
    int64_t v = 0;
    bool large;
    if (!fact)
        return false;
    if (!read_integer(fact->value, &v, &large) && !large)
        return refuse_type(config, fact, integer_range(config, lo, hi));
    if (large || v < lo || v > hi)
        return refuse_range(config, fact, integer_range(config, lo, hi));
    *out = v;
    return true;
}

bool api__fact_real(struct api__config *config, const struct api__fact *fact, double lo, double hi,
                    double *out)
{
    double v = 0;
    if (!fact)
        return false;
    if (!is_number(fact->value))
        return refuse_type(config, fact, api__real_range(config->call->arena, lo, hi));
    if (api__real(fact->value, &v) != API__NUMBER || v < lo || v > hi)
        return refuse_range(config, fact, api__real_range(config->call->arena, lo, hi));
    *out = v;
    return true;
}

bool api__fact_bool(struct api__config *config, const struct api__fact *fact, bool *out)
{
    if (!fact)
        return false;
    if (!api__equal(fact->value, "true") && !api__equal(fact->value, "false"))
        return refuse_type(config, fact, "true or false");
    *out = fact->value.at[0] == 't';
    return true;
}

bool api__fact_text(struct api__config *config, const struct api__fact *fact, const char **out)
{
    struct api_bytes text;
    if (!fact)
        return false;
    if (!api__json_string(config->call->arena, fact->value, &text))
        return refuse_type(config, fact, "text");
    *out = api__shown(config->call->arena, text);
    return true;
}

/* The elements of a list as slices. */
static bool read_list(struct api__config *config, const struct api__fact *fact, const char *allowed,
                      struct api_bytes **out, size_t *count)
{
    struct api__json j;
    struct api_bytes element;
    size_t n = 0;
    if (!fact)
        return false;
    if (fact->value.at[0] != '[')
        return refuse_type(config, fact, allowed);
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            *out = api__arena_array(config->call->arena, n, sizeof element);
        n = 0;
        api__json_array(&j, fact->value);
        j.nul = true;
        while (api__json_element(&j, &element)) {
            if (n == LONGEST_LIST)
                return refuse_range(config, fact, "a list of 65536 items at most");
            if (pass)
                (*out)[n] = element;
            n++;
        }
    }
    *count = n;
    return true;
}

bool api__fact_integers(struct api__config *config, const struct api__fact *fact, int64_t lo,
                        int64_t hi, struct pe_ints *out)
{
    struct api_bytes *items;
    size_t count;
    bool large;
    const char *allowed = api__format_text(
        config->call->arena, "a list of integers from %lld to %lld", (long long)lo, (long long)hi);
    if (!read_list(config, fact, allowed, &items, &count))
        return false;
    int64_t *list = api__arena_array(config->call->arena, count, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        if (!read_integer(items[i], &list[i], &large) && !large)
            return refuse_type(config, fact, allowed);
        if (large || list[i] < lo || list[i] > hi)
            return refuse_range(config, fact, allowed);
    }
    *out = (struct pe_ints){list, count};
    return true;
}

bool api__fact_reals(struct api__config *config, const struct api__fact *fact, double lo, double hi,
                     struct pe_reals *out)
{
    struct api_bytes *items;
    size_t count;
    const char *allowed = api__format_text(config->call->arena, "a list, each item %s",
                                           api__real_range(config->call->arena, lo, hi));
    if (!read_list(config, fact, allowed, &items, &count))
        return false;
    double *list = api__arena_array(config->call->arena, count, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        if (!is_number(items[i]))
            return refuse_type(config, fact, allowed);
        if (api__real(items[i], &list[i]) != API__NUMBER || list[i] < lo || list[i] > hi)
            return refuse_range(config, fact, allowed);
    }
    *out = (struct pe_reals){list, count};
    return true;
}

bool api__fact_texts(struct api__config *config, const struct api__fact *fact,
                     const char *const **out, size_t *count)
{
    struct api_bytes *items, text;
    if (!read_list(config, fact, "a list of texts", &items, count))
        return false;
    const char **list = api__arena_array(config->call->arena, *count, sizeof *list);
    for (size_t i = 0; i < *count; i++) {
        if (!api__json_string(config->call->arena, items[i], &text))
            return refuse_type(config, fact, "a list of texts");
        list[i] = api__shown(config->call->arena, text);
    }
    *out = list;
    return true;
}
