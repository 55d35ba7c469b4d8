/* SPDX-License-Identifier: MIT
 *
 * table.c: see table.h. From parameters to a checked spec and to its names; no byte of a table is
 * needed for any of it.
 */
#include "table.h"
#include "request/nearest.h"
#include "table_answer.h"
#include "table_spec.h"

#include <string.h>

/* ---------------------------------------------------------------- which table */

bool api__table_kind(struct api__call *call, enum pe_kind *out)
{
    struct api_bytes name = call->captures[0];
    int kind = pe_kind_find(name.at, name.len);
    *out = (enum pe_kind)kind;
    if (kind >= 0)
        return true;
    const char **names = api__arena_array(call->arena, PE_KINDS, sizeof *names);
    for (int k = 0; k < PE_KINDS; k++)
        names[k] = pe_kind_name((enum pe_kind)k);
    const char *near = api__nearest(name, names, PE_KINDS);
    api__refuse(call, API__NOT_FOUND, "there is no kind of table by the name %s%s%s%s",
                api__shown(call->arena, name), near ? "; did you mean " : "", near ? near : "",
                near ? "?" : "");
    call->issue.allowed = names;
    call->issue.allowed_count = PE_KINDS;
    call->issue.did_you_mean = near;
    return false;
}

static bool find_resource(struct api__call *call, enum pe_kind kind, enum pe_resource *out)
{
    struct api_bytes name = call->captures[1];
    int resource = name.len ? pe_resource_find(name.at, name.len) : PE_RESOURCE_TABLE;
    *out = (enum pe_resource)resource;
    if (resource >= 0 && pe_resource_exists(kind, *out))
        return true;
    return api__refuse(call, API__NOT_FOUND, "%s has no %s", pe_kind_name(kind),
                       api__shown(call->arena, name));
}

bool api__table_params(struct api__call *call, struct api__params *params, struct pe_spec *spec)
{
    const struct api_request *r = call->request;
    struct api__ints ints;
    params->count = 0;
    if (!api__read_query(call, params))
        return false;
    if (call->body == API__JSON)
        return api__read_json(call, r->body, params);
    if (call->body != API__NPY)
        return true;
    if (!api__read_npy(call, "positions", r->body, r->limits->max_body / sizeof(int64_t), &ints))
        return false;
    api__set_positions(spec, &ints);
    return true;
}

/* ---------------------------------------------------------------- its answer */

static bool send_table(struct api__call *call, const struct api__choice *choice,
                       struct api_table *table)
{
    struct api__labels labels = {.cache_control =
                                     choice->has_rev ? API__IMMUTABLE : "public, max-age=86400"};
    struct pe_spec spec = table->spec;
    if (spec.dtype == PE_DTYPE_BF16_AS_F32)
        spec.dtype = PE_DTYPE_BF16;
    labels.text = api__table_text(call->arena, &spec);
    api__label(call, choice, table, api__table_key(&spec, labels.text), &labels);
    labels.url = api__table_url(call->arena, &spec, labels.text, &labels.sent);
    table->kind = pe_kind_name(spec.kind);
    if (table->format == &api__format_json)
        table->parameters = api__table_parameters(call->arena, &spec, labels.text);
    if (table->format == &api__format_safetensors)
        table->metadata =
            api__table_metadata(call->arena, &spec, labels.text, &table->metadata_count);
    return api__send_table(call, choice, table, &labels);
}

bool api__table(struct api__call *call)
{
    enum pe_kind kind;
    enum pe_resource resource;
    struct api__choice choice;
    if (!api__table_kind(call, &kind) || !find_resource(call, kind, &resource))
        return false;
    struct api__params *params = api__arena_take(call->arena, sizeof *params);
    struct api_table *table = api__arena_take(call->arena, sizeof *table);
    memset(table, 0, sizeof *table);
    pe_spec_init(&table->spec, kind, resource);
    return api__table_params(call, params, &table->spec) &&
           api__read_spec(call, params, api__option_names(), &table->spec) &&
           api__choose(call, params, &choice) && api__select(call, &choice, table) &&
           send_table(call, &choice, table);
}
