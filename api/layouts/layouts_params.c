/* SPDX-License-Identifier: MIT
 *
 * layouts_params.c: what a layout was made with: every option that has a value, presets and
 * conventions filled in, and the parameters of rows=. Arrays are not repeated.
 */
#include "layouts.h"
#include "table/table_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A value as text, and whether it is a string of JSON. */
struct pair {
    const char *name;
    const char *text;
    bool is_string;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pair *)a)->name, ((const struct pair *)b)->name);
}

static struct pair number(struct api__call *call, const char *name, int64_t v)
{
    return (struct pair){name, api__format_text(call->arena, "%" PRId64, v), false};
}

/* False where the option has no value that is shown. */
static bool value_of(struct api__call *call, const struct pe_layout_request *q, enum pe_option o,
                     struct pair *out)
{
    const struct pe_option_info *info = pe_option_info(o);
    const void *field = (const char *)q + info->offset;
    bool has_value = q->given[o] || (info->preset[0] && pe_option_bears(q, o));
    if (!(info->endpoints >> q->endpoint & 1) || !has_value)
        return false;
    switch (info->type) {
    case PE_IS_INT:
        *out = number(call, info->name, *(const int64_t *)field);
        return true;
    case PE_IS_BOOL:
        *out = (struct pair){info->name, *(const bool *)field ? "true" : "false", false};
        return true;
    case PE_IS_WORD:
        *out = (struct pair){info->name, info->words[*(const int *)field], true};
        return true;
    case PE_IS_NUMBER_OR_WORD:
        *out = number(call, info->name, *(const int64_t *)field);
        if (*(const int64_t *)field >= PE_A_WORD)
            *out =
                (struct pair){info->name, info->words[*(const int64_t *)field - PE_A_WORD], true};
        return true;
    case PE_IS_PAIR:
        *out = (struct pair){info->name,
                             api__format_text(call->arena, "[%" PRId64 ",%" PRId64 "]",
                                              q->slice.first, q->slice.end),
                             false};
        return true;
    default:
        return false;
    }
}

/* As the client spelled it: a real, or a list. */
static bool spelled(const struct api__layout_ask *ask, struct api__call *call, const char *name,
                    struct pair *out)
{
    const struct api__param *p = api__find_param(&ask->params, name);
    if (!p)
        return false;
    *out = (struct pair){name, api__arena_copy(call->arena, p->value.at, p->value.len), false};
    return true;
}

/* The parameters of the kind, from its canonical text `name=value&...`, but for those that the ids
 * replace. */
static size_t rows_pairs(struct api__call *call, const struct api__layout_ask *ask,
                         const struct pe_spec *rows, struct pair *out)
{
    size_t n = 0;
    if (ask->stored) {
        out[n++] = (struct pair){
            "rows", api__format_text(call->arena, "learned/%s", ask->stored->name), true};
        out[n++] = (struct pair){"dtype", pe_dtype_name((enum pe_dtype)rows->dtype), true};
        return n;
    }
    out[n++] = (struct pair){"rows", pe_kind_name(rows->kind), true};
    struct api_bytes text = api__table_text(call->arena, rows);
    while (text.len) {
        const char *end = memchr(text.at, '&', text.len), *sign = memchr(text.at, '=', text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len;
        const char *name = api__arena_copy(call->arena, text.at, (size_t)(sign - text.at));
        const char *value =
            api__arena_copy(call->arena, sign + 1, len - (size_t)(sign + 1 - text.at));
        text.at += len + (end != NULL);
        text.len -= len + (end != NULL);
        int id = pe_param_find(name, strlen(name));
        if (id < 0 || id == PE_PARAM_LENGTH || id == PE_PARAM_OFFSET || id == PE_PARAM_POSITIONS)
            continue;
        enum pe_type type = pe_param_info((enum pe_param)id)->type;
        if (type == PE_TYPE_INTS || type == PE_TYPE_REALS)
            value = api__format_text(call->arena, "[%s]", value);
        out[n++] = (struct pair){name, value, type == PE_TYPE_CHOICE};
    }
    return n;
}

static struct pair *pairs_of(struct api__call *call, const struct api__layout_ask *ask,
                             const struct pe_layout_request *q, const struct pe_spec *rows,
                             size_t *count)
{
    struct pair *pairs = api__arena_array(call->arena, PE_OPTIONS + PE_PARAMS + 1, sizeof *pairs);
    size_t n = 0;
    for (int o = 0; o < PE_OPTIONS; o++)
        n += value_of(call, q, (enum pe_option)o, &pairs[n]);
    n += spelled(ask, call, "tokens_per_second", &pairs[n]);
    if (rows)
        n += rows_pairs(call, ask, rows, pairs + n);
    qsort(pairs, n, sizeof *pairs, by_name);
    *count = n;
    return pairs;
}

const char *api__layout_parameters(struct api__call *call, const struct api__layout_ask *ask,
                                   const struct pe_layout_request *q, const struct pe_spec *rows)
{
    size_t count;
    const struct pair *pairs = pairs_of(call, ask, q, rows, &count);
    struct api__text t;
    api__text_init(&t, call->arena, 512);
    api__text_put(&t, "{");
    for (size_t i = 0; i < count; i++) {
        api__text_print(&t, "%s\"%s\":", i ? "," : "", pairs[i].name);
        if (pairs[i].is_string)
            api__text_json(&t, pairs[i].text, strlen(pairs[i].text));
        else
            api__text_put(&t, pairs[i].text);
    }
    api__text_put(&t, "}");
    return api__text_done(&t).at;
}

const struct api_pair *api__layout_metadata(struct api__call *call,
                                            const struct api__layout_ask *ask,
                                            const struct pe_layout_request *q,
                                            const struct pe_spec *rows, unsigned *count)
{
    size_t n;
    const struct pair *pairs = pairs_of(call, ask, q, rows, &n);
    struct api_pair *out = api__arena_array(call->arena, n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = (struct api_pair){pairs[i].name, pairs[i].text};
    *count = (unsigned)n;
    return out;
}
