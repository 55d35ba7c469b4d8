/* SPDX-License-Identifier: MIT
 *
 * compare.c: see compare.h.
 *
 * Values are compared, not bodies: two formats of one table are the same, and a digest is that of
 * the values in C order, as .bin sends them. Work and memory are bounded by a number of values.
 * Nothing is taken from the arena while anything else is held.
 */
#include "compare.h"
#include "request/decode.h"
#include "pages/document.h"
#include "must.h"
#include "precision.h"
#include "http/pattern.h"
#include "table.h"
#include "table_choice.h"
#include "table_name.h"
#include "table_spec.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Of each of the two: 8 MiB at most, and some tens of milliseconds. */
#define COMPARED_VALUES (UINT64_C(1) << 20)

struct side {
    const char *name; /* "a" or "b" */
    struct api_table *table;
    uint64_t bytes;
    char *values;
    struct api__digest digest;
};

struct gap {
    uint64_t common; /* rows that both have */
    bool longer;     /* one has more */
    uint64_t differing;
    uint64_t infinite; /* of those: exactly one is infinite */
    double largest;
    struct api__place first, widest;
    double a, b; /* at widest */
};

/* ---------------------------------------------------------------- which tables */

static bool find_resource(struct api__call *call, struct api_bytes name, struct pe_spec *spec)
{
    int resource = pe_resource_find(name.at, name.len);
    if (resource < 0 || !pe_resource_exists(spec->kind, (enum pe_resource)resource))
        return api__refuse(call, API__NOT_FOUND, "%s has no %s to compare",
                           pe_kind_name(spec->kind), api__shown(call->arena, name));
    pe_spec_init(spec, spec->kind, (enum pe_resource)resource);
    return true;
}

static bool read_table(struct api__call *call, struct api_table *table)
{
    struct api__params *params = api__arena_take(call->arena, sizeof *params);
    struct api__choice choice;
    enum pe_kind kind;
    params->count = 0;
    bool beside = api__fits("/v1/tables/{kind}/{resource}[.ext]", call);
    if (!beside && !api__fits("/v1/tables/{kind}[.ext]", call))
        return api__refuse(call, API__NOT_FOUND,
                           "%s is not the path of a table; it begins with /v1/tables/",
                           api__shown(call->arena, call->path));
    if (!api__table_kind(call, &kind))
        return false;
    pe_spec_init(&table->spec, kind, PE_RESOURCE_TABLE);
    if (beside && !find_resource(call, call->captures[1], &table->spec))
        return false;
    if (!api__table_params(call, params, &table->spec) ||
        !api__read_spec(call, params, api__option_names(), &table->spec))
        return false;
    /* without a format all tensors are meant */
    if (!call->extension.at && !api__find_param(params, "format"))
        call->extension = api__bytes("safetensors");
    return api__choose(call, params, &choice) && api__select(call, &choice, table);
}

/* A path of ours as a request of its own; what is wrong with it is blamed on the parameter that
 * holds it. */
static bool read_side(struct api__call *call, const struct api__param *p, struct side *side)
{
    struct api__call *inner = api__arena_take(call->arena, sizeof *inner);
    side->table = api__arena_take(call->arena, sizeof *side->table);
    memset(side->table, 0, sizeof *side->table);
    *inner = *call;
    const char *mark = p->value.len ? memchr(p->value.at, '?', p->value.len) : NULL;
    size_t path = mark ? (size_t)(mark - p->value.at) : p->value.len;
    inner->path = (struct api_bytes){p->value.at, path};
    inner->query = (struct api_bytes){p->value.at + path + (mark != NULL),
                                      p->value.len - path - (mark != NULL)};
    inner->body = API__NO_BODY;
    if (!read_table(inner, side->table)) {
        call->issue = inner->issue;
        call->issue.detail =
            api__format_text(call->arena, "%s: %s", side->name, inner->issue.detail);
        call->issue.id = inner->issue.id == API__NOT_FOUND ? API__BAD_VALUE : inner->issue.id;
        call->issue.parameter = p->name;
        call->issue.value = p->value;
        call->issue.value_is_json = false;
        return false;
    }
    if (side->table->spec.width > API__STUDIED_WIDTH)
        return api__bad_value(call, API__TOO_LARGE, p,
                              "%s is too wide: widths up to %d can be compared", side->name,
                              API__STUDIED_WIDTH);
    for (unsigned t = 0; t < side->table->tensor_count; t++)
        if (api_sends(side->table, t)) {
            uint64_t size = pe_dtype_size(side->table->tensors[t].dtype);
            side->bytes += side->table->tensors[t].bytes;
            if (side->bytes / size > COMPARED_VALUES)
                return api__bad_value(call, API__TOO_LARGE, p,
                                      "%s has too many values: %" PRIu64 " can be compared at most",
                                      side->name, COMPARED_VALUES);
        }
    return true;
}

/* ---------------------------------------------------------------- comparing */

static enum pe_error make(struct side *side)
{
    const struct api_table *table = side->table;
    struct pe_plan *plan = NULL;
    uint64_t at = 0;
    side->values = malloc(side->bytes + 1);
    enum pe_error error = side->values ? pe_plan_create(&table->spec, &plan) : PE_NO_MEMORY;
    for (unsigned t = 0; !error && t < table->tensor_count; t++) {
        void *out[PE_MAX_TENSORS] = {0};
        if (!api_sends(table, t))
            continue;
        out[t] = side->values + at;
        error = pe_fill(plan, 0, table->tensors[t].rows, out);
        at += table->tensors[t].bytes;
    }
    pe_plan_destroy(&plan);
    side->digest = api__sha256(&(struct api_bytes){side->values, error ? 0 : side->bytes}, 1);
    return error;
}

/* The next tensor that is sent, from *t on. */
static const struct pe_tensor *next(const struct api_table *table, unsigned *t)
{
    while (*t < table->tensor_count && !api_sends(table, *t))
        ++*t;
    return *t < table->tensor_count ? &table->tensors[(*t)++] : NULL;
}

/* Names and shapes, one by one, all but the first axis. */
static bool comparable(const struct side *a, const struct side *b)
{
    unsigned i = 0, k = 0;
    for (;;) {
        const struct pe_tensor *x = next(a->table, &i), *y = next(b->table, &k);
        if (!x || !y)
            return x == y;
        if (strcmp(x->name, y->name) != 0 || x->rank != y->rank ||
            (x->rank && memcmp(x->shape + 1, y->shape + 1, (x->rank - 1) * sizeof *x->shape) != 0))
            return false;
    }
}

static void note(struct gap *gap, const struct api__place *at, double a, double b)
{
    double off = fabs(a - b);
    if (gap->differing++ == 0 || at->row < gap->first.row)
        gap->first = *at;
    if (!isfinite(a) || !isfinite(b)) {
        gap->infinite++;
        return;
    }
    if (off < gap->largest || (off == gap->largest && gap->widest.tensor))
        return;
    gap->largest = off;
    gap->widest = *at;
    gap->a = a;
    gap->b = b;
}

static void compare_tensor(const struct pe_tensor *x, const struct pe_tensor *y,
                           const char *const values[2], struct api__place at, struct gap *gap)
{
    size_t size = pe_dtype_size(x->dtype), other = pe_dtype_size(y->dtype);
    uint64_t rows = x->rows < y->rows ? x->rows : y->rows;
    gap->longer = gap->longer || x->rows != y->rows;
    gap->common = rows;
    for (uint64_t i = 0; i < rows * x->row_elements; i++) {
        const char *p = values[0] + i * size, *q = values[1] + i * other;
        if (x->dtype == y->dtype && memcmp(p, q, size) == 0)
            continue;
        double a = pe_value(p, x->dtype), b = pe_value(q, y->dtype);
        if (x->dtype != y->dtype && a == b)
            continue;
        at.row = i / x->row_elements;
        at.channel = i % x->row_elements;
        note(gap, &at, a, b);
    }
}

static void compare(const struct side *a, const struct side *b, struct gap *gap)
{
    unsigned i = 0, k = 0;
    uint64_t at = 0, from = 0;
    const struct pe_tensor *x, *y;
    while ((x = next(a->table, &i)) && (y = next(b->table, &k))) {
        const char *const values[] = {a->values + at, b->values + from};
        compare_tensor(x, y, values, (struct api__place){&a->table->spec, x, 0, 0}, gap);
        at += x->bytes;
        from += y->bytes;
    }
}

/* ---------------------------------------------------------------- the answer */

static void put_side(struct api__call *call, struct api__text *t, const struct side *side)
{
    const struct pe_spec *spec = &side->table->spec;
    struct api_bytes text = api__table_text(call->arena, spec);
    api__text_print(
        t, "\"%s\":{\"kind\":\"%s\",\"parameters\":%s,\"bytes\":%" PRIu64 ",\"digest\":\"sha256:",
        side->name, pe_kind_name(spec->kind), api__table_parameters(call->arena, spec, text),
        side->bytes);
    for (size_t i = 0; i < sizeof side->digest.bytes; i++)
        api__text_print(t, "%02x", side->digest.bytes[i]);
    api__text_put(t, "\"},");
}

static void put_gap(struct api__text *t, const struct gap *gap)
{
    api__text_print(t,
                    ",\"differing_values\":%" PRIu64 ",\"first_differing_row\":", gap->differing);
    if (!gap->differing && gap->longer)
        api__text_print(t, "%" PRIu64 ",\"largest_difference\":0.0", gap->common);
    else if (!gap->differing)
        api__text_put(t, "null,\"largest_difference\":0.0");
    if (!gap->differing)
        return;
    api__text_print(t, "%" PRIu64 ",\"first_differing_at\":", gap->first.row);
    api__put_place(t, &gap->first);
    if (gap->infinite)
        api__text_print(t, ",\"infinite_differences\":%" PRIu64, gap->infinite);
    if (!gap->widest.tensor)
        return;
    api__text_put(t, ",\"largest_difference\":");
    api__put_real(t, gap->largest);
    api__text_put(t, ",\"largest_difference_at\":");
    api__put_place(t, &gap->widest);
    api__text_put(t, ",\"largest_difference_values\":[");
    api__put_real(t, gap->a);
    api__text_put(t, ",");
    api__put_real(t, gap->b);
    api__text_put(t, "]");
}

static bool write_answer(struct api__call *call, const struct side *a, const struct side *b,
                         const struct gap *gap)
{
    struct api__text t;
    bool same = a->bytes == b->bytes && memcmp(&a->digest, &b->digest, sizeof a->digest) == 0;
    api__text_init(&t, call->arena, 2048);
    api__text_put(&t, "{");
    put_side(call, &t, a);
    put_side(call, &t, b);
    api__text_print(&t, "\"same_bytes\":%s,\"same_shape\":%s", same ? "true" : "false",
                    gap && !gap->longer ? "true" : "false");
    if (gap)
        put_gap(&t, gap);
    else
        api__text_put(&t, ",\"first_differing_row\":null,\"largest_difference\":null");
    api__text_put(&t, "}\n");
    return api__document(call, "application/json", NULL, api__text_done(&t));
}

static bool answer(struct api__call *call, struct side *a, struct side *b)
{
    struct gap gap = {0};
    bool alike = comparable(a, b);
    enum pe_error error = make(a);
    if (!error)
        error = make(b);
    if (!error && alike)
        compare(a, b, &gap);
    free(a->values);
    free(b->values);
    must(error == PE_OK || error == PE_NO_MEMORY);
    if (error)
        longjmp(*api__arena_exit(call->arena), 1);
    return write_answer(call, a, b, alike ? &gap : NULL);
}

bool api__compare(struct api__call *call)
{
    static const char *const names[] = {"a", "b"};
    struct api__params *params = api__arena_take(call->arena, sizeof *params);
    struct side sides[2] = {{.name = "a"}, {.name = "b"}};
    params->count = 0;
    if (!api__read_query(call, params) || !api__check_names(call, params, names, 2) ||
        !api__check_repeats(call, params))
        return false;
    for (int i = 0; i < 2; i++) {
        const struct api__param *p = api__find_param(params, names[i]);
        if (!p)
            return api__blame(call, API__MISSING_PARAMETER, api__bytes(names[i]),
                              "%s is required: the path of a table, percent-encoded", names[i]);
        if (!read_side(call, p, &sides[i]))
            return false;
    }
    return answer(call, &sides[0], &sides[1]);
}
