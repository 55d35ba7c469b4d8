/* SPDX-License-Identifier: MIT
 *
 * layouts_read.c: names before values, values before what they mean together. What is unknown or
 * repeated is blamed first.
 */
#include "layouts.h"
#include "table/table_choice.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- names */

/* Names that a path takes besides options: how the answer is sent, rows=, and body= of an .npy
 * body. */
static size_t other_names(struct api__call *call, const struct api__layout_ask *ask,
                          const char **names)
{
    struct api__names sending = api__option_names();
    size_t n = 0;
    bool check = ask->q.endpoint == PE_CHECK;
    for (size_t i = 0; i < sending.count; i++)
        if (!check || strcmp(sending.at[i], "format") == 0)
            names[n++] = sending.at[i];
    if (ask->q.endpoint == PE_PADDED || ask->q.endpoint == PE_PACKED ||
        ask->q.endpoint == PE_CACHED || ask->q.endpoint == PE_SHARDED)
        names[n++] = "rows";
    if (call->body == API__NPY)
        names[n++] = "body";
    return n;
}

static bool is_one_of(struct api_bytes name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (api__equal(name, names[i]))
            return true;
    return false;
}

/* The option that a parameter is, or PE_OPTION_NONE for one of the others. */
static bool resolve_name(struct api__call *call, const struct api__layout_ask *ask,
                         const struct api__param *p, enum pe_option *out)
{
    const char **names = api__arena_array(call->arena, PE_OPTIONS + 16, sizeof *names);
    size_t count = other_names(call, ask, names);
    int o = pe_option_find(p->name.at, p->name.len);
    *out = PE_OPTION_NONE;
    if (o >= 0 && pe_option_info((enum pe_option)o)->endpoints >> ask->q.endpoint & 1) {
        *out = (enum pe_option)o;
        return true;
    }
    if (is_one_of(p->name, names, count) || (ask->rows_param && api__rows_know(ask, p->name)))
        return true;
    for (int i = 0; i < PE_OPTIONS; i++)
        if (pe_option_info((enum pe_option)i)->endpoints >> ask->q.endpoint & 1)
            names[count++] = pe_option_info((enum pe_option)i)->name;
    const char *why = api__format_text(call->arena, "is not a parameter of %s",
                                       pe_endpoint_name(ask->q.endpoint));
    return api__unknown_param(call, p, why, names, count);
}

/* ---------------------------------------------------------------- values */

static bool is_name(enum pe_option o)
{
    return o != PE_OPTION_NONE && pe_option_info(o)->type == PE_IS_NAME;
}

static bool read_values(struct api__call *call, struct api__layout_ask *ask,
                        const enum pe_option *ids)
{
    for (size_t i = 0; i < ask->params.count; i++) {
        if (ids[i] == PE_OPTION_NONE || is_name(ids[i]))
            continue;
        if (!api__read_option(call, ask, &ask->params.items[i], ids[i]))
            return false;
        ask->q.given[ids[i]] = true;
    }
    for (size_t i = 0; i < ask->params.count; i++) {
        if (!is_name(ids[i]))
            continue;
        if (!api__read_convention(call, ask, &ask->params.items[i], ids[i]))
            return false;
        ask->q.given[ids[i]] = true;
    }
    return true;
}

bool api__read_layout(struct api__call *call, struct api__layout_ask *ask)
{
    enum pe_option ids[API__MAX_PARAMS];
    struct api__params *params = &ask->params;
    ask->q.most_pieces = call->request->limits->max_layout_entries;
    if (!api__read_query(call, params) ||
        (call->body == API__JSON && !api__read_json(call, call->request->body, params)))
        return false;
    if (!api__read_rows(call, ask))
        return false;
    for (size_t i = 0; i < params->count; i++)
        if (!resolve_name(call, ask, &params->items[i], &ids[i]))
            return false;
    if (!api__check_repeats(call, params))
        return false;
    bool file = call->body == API__NPY || call->body == API__SAFETENSORS;
    return (!file || api__read_layout_file(call, ask)) && read_values(call, ask, ids);
}

/* ---------------------------------------------------------------- faults */

static enum api__problem_id problem_of(enum pe_error error)
{
    switch (error) {
    case PE_MISSING:
        return API__MISSING_PARAMETER;
    case PE_UNUSED:
        return API__UNKNOWN_PARAMETER;
    case PE_RANGE:
        return API__OUT_OF_RANGE;
    case PE_TOO_LARGE:
        return API__TOO_LARGE;
    case PE_NO_MEMORY:
        return API__OVERLOADED;
    default:
        return API__CONFLICT;
    }
}

bool api__layout_fault(struct api__call *call, const struct api__layout_ask *ask,
                       const struct pe_layout_fault *fault)
{
    struct api__text t;
    api__refuse(call, problem_of(fault->error), "%s", fault->text);
    if (fault->option == PE_OPTION_NONE)
        return false;
    const char *name = pe_option_info(fault->option)->name;
    const struct api__param *p = api__find_param(&ask->params, name);
    call->issue.parameter = api__bytes(name);
    if (p && p->value.len <= 64) {
        call->issue.value = p->value;
        call->issue.value_is_json = p->json;
    }
    api__text_init(&t, call->arena, 96);
    for (unsigned i = 0; i < fault->rank; i++)
        api__text_print(&t, "%s%" PRIu64, i ? "," : "\"index\":[", fault->index[i]);
    api__text_put(&t, fault->rank ? "]" : "");
    if (fault->rule)
        api__text_print(&t, "%s\"rule\":\"%s\"", t.len ? "," : "", fault->rule);
    if (t.len)
        call->issue.members = api__text_done(&t).at;
    return false;
}
