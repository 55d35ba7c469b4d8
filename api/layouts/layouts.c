/* SPDX-License-Identifier: MIT
 *
 * layouts.c: see layouts.h. A layout is made here, in proportion to the request; its arrays are
 * not: they are the tensors of a table, and leave as its rows do.
 */
#include "layouts.h"
#include "pages/document.h"
#include "learned/learned.h"
#include "request/nearest.h"
#include "table/table_answer.h"

#include <inttypes.h>
#include <string.h>

static void release(void *object)
{
    struct pe_layout *layout = object;
    pe_layout_destroy(&layout);
}

static bool find_endpoint(struct api__call *call, enum pe_endpoint *out)
{
    struct api_bytes name = call->captures[0];
    int e = pe_endpoint_find(name.at, name.len);
    *out = (enum pe_endpoint)e;
    if (e >= 0)
        return true;
    const char **names = api__arena_array(call->arena, PE_ENDPOINTS, sizeof *names);
    for (int i = 0; i < PE_ENDPOINTS; i++)
        names[i] = pe_endpoint_name((enum pe_endpoint)i);
    const char *near = api__nearest(name, names, PE_ENDPOINTS);
    api__refuse(call, API__NOT_FOUND, "there is no layout by the name %s%s%s%s",
                api__shown(call->arena, name), near ? "; did you mean " : "", near ? near : "",
                near ? "?" : "");
    call->issue.allowed = names;
    call->issue.allowed_count = PE_ENDPOINTS;
    call->issue.did_you_mean = near;
    return false;
}

/* ---------------------------------------------------------------- sizes */

static uint64_t values_of(const struct api_table *table, unsigned t)
{
    const struct pe_tensor *x = &table->tensors[t];
    uint64_t values;
    return __builtin_mul_overflow(x->rows, x->row_elements, &values) ? UINT64_MAX : values;
}

/* The tensor that a format of one array sends: tensor=, else the only one of `outputs`, else the
 * ids. */
static bool choose_tensor(struct api__call *call, const struct api__layout_ask *ask,
                          const struct api_table *table, struct api__choice *choice)
{
    if (!choice->format->single || choice->tensor || table->tensor_count == 1)
        return true;
    uint64_t outputs = ask->q.outputs;
    const char *name = ask->q.endpoint == PE_PLAN ? "documents" : "position_ids";
    if (outputs && outputs & (outputs - 1)) {
        return api__blame(call, API__MISSING_PARAMETER, api__bytes("tensor"),
                          "tensor is required: .%s holds one array, and outputs names several",
                          choice->format->name);
    }
    for (int o = 0; outputs && o < PE_OUTS; o++)
        if (outputs >> o & 1)
            name = pe_out_name((enum pe_out)o);
    struct api__param *p = api__arena_take(call->arena, sizeof *p);
    *p = (struct api__param){.name = api__bytes("tensor"), .value = api__bytes(name)};
    choice->tensor = p;
    return true;
}

/* Decided from sizes alone, before anything is made of them. */
static bool check_sizes(struct api__call *call, const struct api_table *table,
                        const struct api__choice *choice)
{
    uint64_t values = 0, limit = call->request->limits->max_layout_values;
    uint64_t json = call->request->limits->max_json_values;
    struct api_bytes only = {NULL, 0};
    if (choice->tensor && !api__read_word(call, choice->tensor, &only))
        return false;
    for (unsigned t = 0; t < table->tensor_count; t++)
        if (!only.at || api__equal(only, table->tensors[t].name))
            if (__builtin_add_overflow(values, values_of(table, t), &values))
                values = UINT64_MAX;
    if (values > limit)
        return api__refuse(call, API__TOO_LARGE,
                           "the answer would hold %" PRIu64 " values, and %" PRIu64
                           " at most are sent",
                           values, limit);
    if (choice->format == &api__format_json && values > json)
        return api__refuse(
            call, API__TOO_LARGE,
            "JSON holds %" PRIu64 " values at most, and here would be %" PRIu64
            "; the binary form is /v1/layouts/%s.safetensors with the same parameters",
            json, values, table->kind);
    return true;
}

/* ---------------------------------------------------------------- names of the answer */

/* What the bytes of the answer depend on: the endpoint, the parameters as they were given, a binary
 * body. */
static struct api__digest digest_of(struct api__call *call, const struct api__layout_ask *ask)
{
    struct api__text t;
    api__text_init(&t, call->arena, 256);
    api__text_print(&t, "layout %s rev=%d\n", pe_endpoint_name(ask->q.endpoint), PE_NUMERICS_REV);
    for (size_t i = 0; i < ask->params.count; i++) {
        const struct api__param *p = &ask->params.items[i];
        api__text_add(&t, p->name.at, p->name.len);
        api__text_put(&t, p->json ? ":" : "=");
        api__text_print(&t, "%zu:", p->value.len);
        api__text_add(&t, p->value.at, p->value.len);
        api__text_put(&t, "\n");
    }
    if (ask->stored)
        api__text_put(&t, call->facts->tables->digest);
    struct api_bytes parts[] = {api__text_done(&t),
                                call->body ? call->request->body : (struct api_bytes){"", 0}};
    return api__sha256(parts, 2);
}

static const char *warnings_of(struct api__call *call, const struct pe_layout *layout)
{
    struct pe_layout_warning w[PE_MAX_WARNINGS];
    unsigned n = pe_layout_warnings(layout, w);
    struct api__text t;
    api__text_init(&t, call->arena, 64);
    api__text_put(&t, "\"warnings\":[");
    for (unsigned i = 0; i < n; i++)
        api__text_print(&t, "%s{\"rule\":\"%s\",\"detail\":\"%s\"}", i ? "," : "", w[i].rule,
                        w[i].detail);
    api__text_put(&t, "]");
    return api__text_done(&t).at;
}

static bool send(struct api__call *call, const struct api__layout_ask *ask,
                 const struct pe_layout *layout, const struct api__choice *choice,
                 struct api_table *table)
{
    struct api__labels labels = {.cache_control =
                                     choice->has_rev ? API__IMMUTABLE : "public, max-age=86400"};
    const struct pe_spec *rows = api_layout_has_rows(table->layout) ? &table->spec : NULL;
    const struct pe_layout_request *q = pe_layout_request_of(layout);
    labels.sent.stem = table->kind;
    labels.text = api__bytes("");
    api__label(call, choice, table, digest_of(call, ask), &labels);
    if (table->format == &api__format_json) {
        table->parameters = api__layout_parameters(call, ask, q, rows);
        table->members = warnings_of(call, layout);
    }
    if (table->format == &api__format_safetensors)
        table->metadata = api__layout_metadata(call, ask, q, rows, &table->metadata_count);
    if (rows) {
        struct api__digest *key = api__arena_take(call->arena, sizeof *key);
        *key = api__table_key(rows, api__table_text(call->arena, rows));
        if (rows->dtype == PE_DTYPE_BF16_AS_F32)
            *key = api__sha256(
                (struct api_bytes[]){{(const char *)key, sizeof *key}, api__bytes("bf16 in f32")},
                2);
        table->key = (struct api_bytes){(const char *)key->bytes, sizeof key->bytes};
    }
    if (ask->stored)
        labels.cache_control = ask->stored->digest ? API__IMMUTABLE : "no-cache";
    if (!api__send_table(call, choice, table, &labels))
        return false;
    call->plan->no_memo |= ask->stored != NULL;
    return true;
}

/* ---------------------------------------------------------------- handlers */

static bool answer(struct api__call *call, struct api__layout_ask *ask)
{
    struct pe_layout_fault fault;
    struct pe_layout *layout;
    struct api__choice choice;
    if (ask->stored && call->facts && call->facts->outcome != API_LEARNED_FOUND)
        return api__learned_refuse(call, ask->stored);
    struct api_table *table = api__arena_take(call->arena, sizeof *table);
    const struct pe_spec *rows = NULL;
    int64_t least = 0, most = 0;
    memset(table, 0, sizeof *table);
    if (!api__choose(call, &ask->params, &choice))
        return false;
    if (ask->stored && !call->facts)
        return api__learned_ask(call, ask->stored);
    void **place = api__arena_own(call->arena, release);
    if (pe_layout_create(&ask->q, &layout, &fault) != PE_OK)
        return api__layout_fault(call, ask, &fault);
    *place = layout;
    if (ask->rows_param) {
        if (!pe_layout_extent(layout, &least, &most))
            least = most = 0;
        if (!api__rows_spec(call, ask, least, most, &table->spec))
            return false;
        rows = &table->spec;
    }
    table->kind = pe_endpoint_name(ask->q.endpoint);
    api__layout_tensors(call, layout, rows, table);
    return choose_tensor(call, ask, table, &choice) && check_sizes(call, table, &choice) &&
           api__select_tensors(call, &choice, table) &&
           (!ask->stored || api__learned_json(call, table)) &&
           send(call, ask, layout, &choice, table);
}

bool api__layout(struct api__call *call)
{
    enum pe_endpoint endpoint;
    if (!find_endpoint(call, &endpoint))
        return false;
    struct api__layout_ask *ask = api__arena_take(call->arena, sizeof *ask);
    memset(ask, 0, sizeof *ask);
    pe_layout_request_init(&ask->q, endpoint);
    if (!api__read_layout(call, ask))
        return false;
    return endpoint == PE_CHECK ? api__layout_check(call, ask) : answer(call, ask);
}

static void put_setting(struct api__text *t, const struct pe_setting *s)
{
    const struct pe_option_info *info = pe_option_info(s->option);
    const char *word = NULL;
    api__text_print(t, "\"%s\":", info->name);
    if (info->type == PE_IS_TENSORS) {
        const char *comma = "[";
        for (int o = 0; o < PE_OUTS; o++) {
            if (!((uint64_t)s->value >> o & 1))
                continue;
            api__text_print(t, "%s\"%s\"", comma, pe_out_name((enum pe_out)o));
            comma = ",";
        }
        api__text_put(t, "]");
        return;
    }
    if (info->type == PE_IS_WORD)
        word = info->words[s->value];
    else if (info->type == PE_IS_NUMBER_OR_WORD && s->value >= PE_A_WORD)
        word = info->words[s->value - PE_A_WORD];
    else if (info->type == PE_IS_BOOL)
        api__text_put(t, s->value ? "true" : "false");
    else
        api__text_print(t, "%" PRId64, s->value);
    if (word)
        api__text_print(t, "\"%s\"", word);
}

bool api__conventions_page(struct api__call *call)
{
    struct api__text t;
    const struct pe_convention *c;
    if (!api__no_params(call))
        return false;
    api__text_init(&t, call->arena, 16384);
    api__text_put(&t, "{\"conventions\":[");
    for (unsigned row = 0; (c = pe_convention(row)); row++) {
        api__text_print(&t, "%s{\"name\":\"%s\",\"layout\":\"%s\",\"options\":{", row ? "," : "",
                        c->name, pe_endpoint_name(c->endpoint));
        for (unsigned i = 0; i < c->count; i++) {
            api__text_put(&t, i ? "," : "");
            put_setting(&t, &c->settings[i]);
        }
        api__text_put(&t, "}}");
    }
    api__text_put(&t, "]}\n");
    return api__document(call, "application/json", NULL, api__text_done(&t));
}
