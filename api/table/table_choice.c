/* SPDX-License-Identifier: MIT
 *
 * table_choice.c: see table_choice.h. The order of refusals is that of the questions: what is asked
 * for, can it be read, is it this server's revision, can this format carry it, is it too much for
 * text.
 */
#include "table_choice.h"
#include "http/negotiate.h"
#include "table/table_finite.h"

#include <inttypes.h>
#include <string.h>

static const char *const option_names[] = {
#define API_OPTION(id, name, type, values, prose) name,
#include "presentation.def"
#undef API_OPTION
};

static const char *const carriers[] = {"void", "u16", "f32"}; /* by enum api_bf16 */

struct api__names api__option_names(void)
{
    return (struct api__names){option_names, sizeof option_names / sizeof *option_names};
}

/* ---------------------------------------------------------------- format */

static size_t format_names(struct api__call *call, const char ***names)
{
    size_t count = 0, n = 0;
    while (api__formats[count])
        count++;
    *names = api__arena_array(call->arena, count, sizeof **names);
    for (; n < count; n++)
        (*names)[n] = api__formats[n]->name;
    return count;
}

static bool by_extension(struct api__call *call, const struct api__param *p,
                         struct api__choice *out)
{
    const char **names;
    struct api_bytes ext = call->extension;
    out->format = api__format_find(ext.at, ext.len);
    if (!out->format) {
        api__refuse(call, API__NOT_FOUND, "there is no format .%s", api__shown(call->arena, ext));
        call->issue.allowed_count = format_names(call, &names);
        call->issue.allowed = names;
        return false;
    }
    if (p && !api__equal(p->value, out->format->name) &&
        !(p->json && p->value.len == ext.len + 2 && memcmp(p->value.at + 1, ext.at, ext.len) == 0))
        return api__bad_value(call, API__CONFLICT, p,
                              "format is another one than the extension .%s", out->format->name);
    return true;
}

static bool by_name(struct api__call *call, const struct api__param *p, struct api__choice *out)
{
    const char **names;
    int index;
    size_t count = format_names(call, &names);
    if (!api__read_choice(call, p, names, count, &index))
        return false;
    out->format = api__formats[index];
    return true;
}

static bool by_accept(struct api__call *call, struct api__choice *out)
{
    struct api__offer offers[32] = {{NULL, 0, false}};
    const char **types;
    size_t count = 0, formats = 0;
    out->negotiated = true;
    for (int f = 0; api__formats[f]; f++, formats++)
        for (size_t m = 0; m < API__MAX_MEDIA && api__formats[f]->media[m]; m++)
            if (count < sizeof offers / sizeof *offers)
                offers[count++] = (struct api__offer){api__formats[f]->media[m], f, m > 0};
    int best = api__negotiate(call->request, offers, count);
    if (best >= 0) {
        out->format = api__formats[best];
        return true;
    }
    types = api__arena_array(call->arena, formats, sizeof *types);
    for (size_t f = 0; f < formats; f++)
        types[f] = api__formats[f]->media[0];
    api__refuse(call, API__NOT_ACCEPTABLE,
                "nothing that Accept names can be served; there is .json, .npy, .npz, "
                ".safetensors, .bin, .csv and "
                ".txt, each under its media type");
    call->issue.allowed = types;
    call->issue.allowed_count = formats;
    return false;
}

/* ---------------------------------------------------------------- the other options */

static bool read_rev(struct api__call *call, const struct api__param *p, struct api__choice *out)
{
    int64_t rev;
    if (!p)
        return true;
    out->has_rev = true;
    if (!api__read_integer(call, p, 0, PE_POSITION_END, &rev))
        return false;
    if (rev != PE_NUMERICS_REV)
        return api__bad_value(call, API__OTHER_REVISION, p,
                              "rev is %" PRId64 ", but this server makes numerics revision %d", rev,
                              PE_NUMERICS_REV);
    return true;
}

static bool read_bf16(struct api__call *call, struct api__choice *out)
{
    int index;
    if (!out->bf16)
        return true;
    if (!api__read_choice(call, out->bf16, carriers, 3, &index))
        return false;
    out->carrier = (enum api_bf16)index;
    return true;
}

bool api__choose(struct api__call *call, const struct api__params *params, struct api__choice *out)
{
    const struct api__param *format = api__find_param(params, "format");
    *out = (struct api__choice){.tensor = api__find_param(params, "tensor"),
                                .bf16 = api__find_param(params, "bf16")};
    bool chosen = call->extension.at ? by_extension(call, format, out)
                  : format           ? by_name(call, format, out)
                                     : by_accept(call, out);
    return chosen && read_bf16(call, out) && read_rev(call, api__find_param(params, "rev"), out);
}

/* ---------------------------------------------------------------- tensors */

static bool names_of(struct api__call *call, const struct api_table *table)
{
    const char **names = api__arena_array(call->arena, table->tensor_count, sizeof *names);
    for (unsigned i = 0; i < table->tensor_count; i++)
        names[i] = table->tensors[i].name;
    call->issue.allowed = names;
    call->issue.allowed_count = table->tensor_count;
    return false;
}

static bool alike(const struct pe_tensor *a, const struct pe_tensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

static bool pick_tensor(struct api__call *call, const struct api__choice *choice,
                        struct api_table *table)
{
    struct api_bytes word;
    table->tensor = -1;
    if (choice->tensor) {
        if (!api__read_word(call, choice->tensor, &word))
            return names_of(call, table);
        for (unsigned i = 0; i < table->tensor_count; i++)
            if (api__equal(word, table->tensors[i].name))
                table->tensor = (int)i;
        if (table->tensor >= 0)
            return true;
        api__bad_value(call, API__BAD_VALUE, choice->tensor,
                       "tensor must be one of this table's, not %s", api__shown(call->arena, word));
        return names_of(call, table);
    }
    if (!choice->format->single || table->tensor_count == 1)
        return true;
    for (unsigned i = 1; i < table->tensor_count; i++) {
        if (!alike(&table->tensors[0], &table->tensors[i])) {
            api__blame(
                call, API__MISSING_PARAMETER, api__bytes("tensor"),
                "tensor is required: .%s holds one array, and the tensors here differ in shape",
                choice->format->name);
            return names_of(call, table);
        }
    }
    table->stacked = true;
    return true;
}

/* ---------------------------------------------------------------- what a format can carry */

static bool is_npy(const struct api_format *format)
{
    return format == &api__format_npy || format == &api__format_npz;
}

/* Twice the bytes of bf16 may be too many, and so may a prefix with bytes that just fit. */
static bool fits(struct api__call *call, const struct api_table *table, unsigned factor)
{
    uint64_t total = 1 << 20; /* more than any prefix */
    for (unsigned i = 0; i < table->tensor_count; i++)
        for (unsigned n = 0; n < factor; n++)
            if (__builtin_add_overflow(total, table->tensors[i].bytes, &total) || total > INT64_MAX)
                return api__refuse(call, API__TOO_LARGE,
                                   "the body would have more than 2^63-1 bytes");
    return true;
}

static bool has_bf16(const struct api_table *table)
{
    for (unsigned i = 0; i < table->tensor_count; i++)
        if (table->tensors[i].dtype == PE_DTYPE_BF16)
            return true;
    return false;
}

static bool carry_bf16(struct api__call *call, const struct api__choice *choice,
                       struct api_table *table)
{
    bool bf16 = has_bf16(table);
    if (choice->bf16 && !(bf16 && is_npy(choice->format)))
        return api__bad_value(call, API__UNKNOWN_PARAMETER, choice->bf16,
                              "bf16 is not used here: it says how .npy and .npz carry dtype=bf16");
    if (!bf16 || !is_npy(choice->format))
        return true;
    if (!choice->bf16) {
        api__blame(
            call, API__NOT_ACCEPTABLE, api__bytes("bf16"),
            ".%s has no bf16: add bf16=void, bf16=u16 or bf16=f32, or take .safetensors or .bin",
            choice->format->name);
        call->issue.allowed = carriers;
        call->issue.allowed_count = 3;
        return false;
    }
    table->bf16 = choice->carrier;
    if (choice->carrier == API_BF16_F32) {
        if (!fits(call, table, 2))
            return false;
        table->spec.dtype = PE_DTYPE_BF16_AS_F32;
        for (unsigned i = 0; i < table->tensor_count; i++) {
            struct pe_tensor *t = &table->tensors[i];
            t->bytes *= t->dtype == PE_DTYPE_BF16 ? 2 : 1;
            t->dtype = t->dtype == PE_DTYPE_BF16 ? PE_DTYPE_BF16_AS_F32 : t->dtype;
        }
    }
    return true;
}

static bool has_infinities(const struct api_table *table)
{
    if (table->spec.kind != PE_KIND_ALIBI || !table->spec.masked)
        return false;
    for (unsigned i = 0; i < table->tensor_count; i++)
        if (api_sends(table, i) && strcmp(table->tensors[i].name, "bias") == 0)
            return true;
    return false;
}

static bool check_json(struct api__call *call, const struct api_table *table)
{
    uint64_t limit = call->request->limits->max_json_values, values = 0;
    if (table->format != &api__format_json)
        return true;
    if (has_infinities(table))
        return api__refuse(call, API__NOT_ACCEPTABLE,
                           "JSON has no infinities, which masked=true puts into bias; take .npy, "
                           ".safetensors, .bin "
                           "or .csv, or tensor=slopes");
    for (unsigned i = 0; i < table->tensor_count; i++)
        if (api_sends(table, i))
            values += table->tensors[i].bytes / pe_dtype_size(table->tensors[i].dtype);
    if (values <= limit && api__table_overflows(table))
        return api__refuse(call, API__NOT_ACCEPTABLE,
                           "JSON has no infinities, and some values here exceed %s; take a wider "
                           "dtype, or .npy, .safetensors, .bin or .csv",
                           pe_dtype_name((enum pe_dtype)table->spec.dtype));
    if (values <= limit)
        return true;
    const char *resource = pe_resource_name(table->spec.resource);
    const char *end = table->tensor_count > 1 ? "safetensors" : "npy";
    return api__refuse(call, API__TOO_LARGE,
                       "JSON holds %" PRIu64 " values at most, and here would be %" PRIu64
                       "; the binary form is /v1/tables/%s%s%s.%s with the same parameters",
                       limit, values, table->kind ? table->kind : pe_kind_name(table->spec.kind),
                       *resource ? "/" : "", resource, end);
}

bool api__select(struct api__call *call, const struct api__choice *choice, struct api_table *table)
{
    table->tensors = api__arena_array(call->arena, PE_MAX_TENSORS, sizeof *table->tensors);
    table->tensor_count = pe_spec_tensors(&table->spec, table->tensors);
    return api__select_tensors(call, choice, table);
}

bool api__select_tensors(struct api__call *call, const struct api__choice *choice,
                         struct api_table *table)
{
    table->format = choice->format;
    table->stacked = false;
    table->bf16 = API_BF16_VOID;
    return pick_tensor(call, choice, table) && carry_bf16(call, choice, table) &&
           fits(call, table, 1) && check_json(call, table);
}
