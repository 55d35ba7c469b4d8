/* SPDX-License-Identifier: MIT
 *
 * learned_rows.c: rows of a stored table as a table of its own: which rows, of which dtype, in
 * which format. The key of such a table is made of the digest of what is stored, so it changes with
 * the bytes and with nothing else. A row that is not there is a refusal, never made up.
 */
#include "learned.h"
#include "request/list.h"
#include "table/table.h"
#include "table/table_answer.h"

#include <inttypes.h>
#include <string.h>

static const char *const own_names[] = {"dtype", "length", "offset", "positions"};
#define OWN_NAMES (sizeof own_names / sizeof *own_names)

/* A name may hold dots: what stands behind the last one is an extension only where it names a
 * format. */
static struct api_bytes split_extension(struct api__call *call)
{
    struct api_bytes name = call->captures[0], ext = call->extension;
    if (!ext.at || api__format_find(ext.at, ext.len))
        return name;
    call->extension = (struct api_bytes){NULL, 0};
    return (struct api_bytes){name.at, (size_t)(ext.at + ext.len - name.at)};
}

static bool check_names(struct api__call *call, const struct api__params *params)
{
    struct api__names options = api__option_names();
    const char **names = api__arena_array(call->arena, OWN_NAMES + options.count, sizeof *names);
    memcpy(names, own_names, sizeof own_names);
    for (size_t i = 0; i < options.count; i++)
        names[OWN_NAMES + i] = options.at[i];
    return api__check_names(call, params, names, OWN_NAMES + options.count);
}

bool api__learned_dtype(struct api__call *call, const struct api__param *p, struct pe_spec *spec)
{
    struct api_bytes word;
    if (!p)
        return true;
    if (!api__read_word(call, p, &word))
        return false;
    int dtype = pe_choice_find(PE_PARAM_DTYPE, word.at, word.len);
    if (dtype >= 0) {
        spec->dtype = dtype;
        return true;
    }
    size_t count;
    const char *const *words =
        api__allowed_words(call->arena, spec->kind, spec->resource, PE_PARAM_DTYPE, &count);
    return api__read_choice(call, p, words, count, &dtype);
}

/* positions, or length with offset. */
static bool read_window(struct api__call *call, const struct api__params *params,
                        struct pe_spec *spec)
{
    const struct api__param *length = api__find_param(params, "length");
    const struct api__param *offset = api__find_param(params, "offset");
    const struct api__param *positions = api__find_param(params, "positions");
    bool listed = spec->given >> PE_PARAM_POSITIONS & 1; /* by an .npy body */
    struct api__ints ints;
    if (positions && listed)
        return api__bad_value(call, API__REPEATED_PARAMETER, positions,
                              "positions are given twice: as a parameter and as the body");
    if (positions || listed) {
        if (length || offset)
            return api__bad_value(call, API__CONFLICT, length ? length : offset,
                                  "%s contradicts positions, which name the rows one by one",
                                  length ? "length" : "offset");
        if (positions && !api__read_integers(call, positions, true, &ints))
            return false;
        if (positions)
            api__set_positions(spec, &ints);
        return true;
    }
    if (!length)
        return api__blame(call, API__MISSING_PARAMETER, api__bytes("length"),
                          "length is required, or positions");
    return api__read_integer(call, length, 1, PE_POSITION_END, &spec->length) &&
           (!offset || api__read_integer(call, offset, 0, PE_POSITION_END - 1, &spec->offset));
}

static bool no_such_row(struct api__call *call, const char *parameter, int64_t row)
{
    const struct api_learned_table *t = call->facts->tables;
    api__blame(call, API__OUT_OF_RANGE, api__bytes(parameter),
               "%s asks for row %" PRId64 ", but %s has %" PRIu64 " rows, 0 to %" PRIu64, parameter,
               row, t->name, t->file.rows, t->file.rows - 1);
    return false;
}

static bool check_rows(struct api__call *call, const struct pe_spec *spec)
{
    int64_t rows = (int64_t)call->facts->tables->file.rows;
    for (size_t i = 0; i < spec->positions.count; i++)
        if (spec->positions.at[i] < 0 || spec->positions.at[i] >= rows)
            return no_such_row(call, "positions", spec->positions.at[i]);
    if (spec->positions.count)
        return true;
    if (spec->offset >= rows)
        return no_such_row(call, "offset", spec->offset);
    return spec->length <= rows - spec->offset ||
           no_such_row(call, "length", spec->offset + spec->length - 1);
}

/* The one tensor: `weight` [length, width], or the shape of the positions in front of width. */
static bool make_tensor(struct api__call *call, struct api_table *table)
{
    struct pe_spec *spec = &table->spec;
    struct pe_tensor *t = api__arena_take(call->arena, sizeof *t);
    table->tensors = t;
    bool listed = spec->positions.count > 0;
    *t = (struct pe_tensor){.name = "weight",
                            .dtype = (enum pe_dtype)spec->dtype,
                            .rank = listed ? spec->rank : 1,
                            .rows = listed ? spec->positions.count : (uint64_t)spec->length,
                            .row_elements = call->facts->tables->file.width};
    if (listed)
        memcpy(t->shape, spec->shape, spec->rank * sizeof *spec->shape);
    else
        t->shape[0] = t->rows;
    t->shape[t->rank++] = t->row_elements;
    table->tensor_count = 1;
    if (__builtin_mul_overflow(t->rows, t->row_elements, &t->bytes) ||
        __builtin_mul_overflow(t->bytes, pe_dtype_size(t->dtype), &t->bytes))
        return api__refuse(call, API__TOO_LARGE, "the rows are too many");
    return true;
}

/* Whether the dtype can hold the largest value. JSON has no infinities (RFC 8259, section 6). */
bool api__learned_json(struct api__call *call, const struct api_table *table)
{
    unsigned char as[8];
    double again = 0;
    enum pe_dtype dtype = (enum pe_dtype)table->spec.dtype;
    const double largest = call->facts->tables->largest;
    if (table->format != &api__format_json)
        return true;
    if (pe_convert(PE_DTYPE_F64, &largest, dtype, as, 1) == PE_OK)
        pe_convert(dtype, as, PE_DTYPE_F64, &again, 1);
    if (again - again == 0)
        return true;
    return api__refuse(
        call, API__NOT_ACCEPTABLE,
        "the table has values beyond %s, which JSON cannot carry as infinities; take a wider "
        "dtype, .npy, .safetensors, .bin or .csv",
        pe_dtype_name(dtype));
}

/* "dtype=f32&length=512&offset=0": sorted, as canonical texts are. */
static struct api_bytes window_text(struct api__call *call, const struct pe_spec *spec)
{
    struct api__text t;
    api__text_init(&t, call->arena, 96);
    api__text_print(&t, "dtype=%s&", pe_dtype_name((enum pe_dtype)spec->dtype));
    if (spec->positions.count) {
        api__text_put(&t, "positions=");
        api__put_positions(&t, spec);
    } else {
        api__text_print(&t, "length=%" PRId64 "&offset=%" PRId64, spec->length, spec->offset);
    }
    return api__text_done(&t);
}

static const struct api_pair *metadata(struct api__call *call, struct api_table *table,
                                       const struct pe_spec *spec, struct api_bytes text)
{
    const struct api_pair *pairs =
        api__table_metadata(call->arena, spec, text, &table->metadata_count);
    struct api_pair *more = api__arena_array(call->arena, table->metadata_count + 1, sizeof *more);
    memcpy(more, pairs, table->metadata_count * sizeof *more);
    more[table->metadata_count++] = (struct api_pair){
        "digest", api__format_text(call->arena, "sha256:%s", call->facts->tables->digest)};
    return more;
}

static bool send_rows(struct api__call *call, const struct api_learned *wish,
                      const struct api__choice *choice, struct api_table *table)
{
    const struct api_learned_table *t = call->facts->tables;
    struct api__labels labels = {.cache_control = wish->digest ? API__IMMUTABLE : "no-cache"};
    struct pe_spec spec = table->spec;
    if (spec.dtype == PE_DTYPE_BF16_AS_F32)
        spec.dtype = PE_DTYPE_BF16;
    labels.text = window_text(call, &spec);
    labels.sent.path = api__format_text(call->arena, "learned/%s@sha256:%s", t->name, t->digest);
    labels.sent.stem = t->name;
    struct api_bytes parts[] = {
        api__bytes(api__format_text(call->arena, "learned rev=%d\n", PE_NUMERICS_REV)),
        api__bytes(t->digest), api__bytes("\n"), labels.text};
    api__label(call, choice, table, api__sha256(parts, sizeof parts / sizeof *parts), &labels);
    labels.url = api__table_url(call->arena, &spec, labels.text, &labels.sent);
    if (table->format == &api__format_json)
        table->parameters = api__table_parameters(call->arena, &spec, labels.text);
    table->members = api__format_text(call->arena, "\"digest\":\"sha256:%s\"", t->digest);
    if (table->format == &api__format_safetensors)
        table->metadata = metadata(call, table, &spec, labels.text);
    if (!api__send_table(call, choice, table, &labels))
        return false;
    call->plan->no_memo = true;
    return true;
}

bool api__learned_rows(struct api__call *call)
{
    struct api_learned *wish = api__arena_take(call->arena, sizeof *wish);
    struct api__params *params = api__arena_take(call->arena, sizeof *params);
    struct api_table *table = api__arena_take(call->arena, sizeof *table);
    struct api__choice choice;
    *wish = (struct api_learned){.act = API_LEARNED_ROWS};
    memset(table, 0, sizeof *table);
    /* The kind lends the words of dtype and the defaults; what it computes is not asked for. */
    pe_spec_init(&table->spec, PE_KIND_SINUSOIDAL, PE_RESOURCE_TABLE);
    if (!api__learned_name(call, split_extension(call), wish) ||
        !api__table_params(call, params, &table->spec) || !check_names(call, params) ||
        !api__learned_dtype(call, api__find_param(params, "dtype"), &table->spec) ||
        !read_window(call, params, &table->spec) || !api__choose(call, params, &choice))
        return false;
    if (!call->facts)
        return api__learned_ask(call, wish);
    if (call->facts->outcome != API_LEARNED_FOUND)
        return api__learned_refuse(call, wish);
    table->kind = api__format_text(call->arena, "learned/%s", wish->name);
    return check_rows(call, &table->spec) && make_tensor(call, table) &&
           api__select_tensors(call, &choice, table) && api__learned_json(call, table) &&
           send_rows(call, wish, &choice, table);
}
