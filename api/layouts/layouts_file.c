/* SPDX-License-Identifier: MIT
 *
 * layouts_file.c: arrays that are sent as they are: .npy holds one, .safetensors any number under
 * the names of parameters. Integers of 1 to 8 bytes or bool, little-endian, C order, at most three
 * axes. Values are not copied, except those that a layout goes on reading after it is made.
 */
#include "layouts.h"
#include "request/decode.h"
#include "request/json.h"
#include "request/nearest.h"
#include "request/npy_head.h"

#include <inttypes.h>
#include <string.h>

static bool bad_file(struct api__call *call, const char *what)
{
    return api__refuse(call, API__MALFORMED_BODY, "the file cannot be used: %s", what);
}

/* A file's own idea of its array, and what stands there. */
struct found {
    unsigned size;
    bool is_unsigned;
    unsigned rank;
    uint64_t shape[3];
    struct api_bytes data;
};

/* Elements of a shape; false where they are not as many as the data say. */
static bool count_of(const struct found *f, uint64_t *count)
{
    uint64_t bytes;
    *count = 1;
    for (unsigned i = 0; i < f->rank; i++)
        if (__builtin_mul_overflow(*count, f->shape[i], count))
            return false;
    return !__builtin_mul_overflow(*count, f->size, &bytes) && bytes == f->data.len;
}

/* What a layout reads after it is made outlives the body. */
static const void *lasting(struct api__call *call, enum pe_option o, struct api_bytes data)
{
    return pe_option_lasts(o) ? api__arena_copy(call->arena, data.at, data.len) : data.at;
}

/* Puts an array where its option has it. */
static bool take(struct api__call *call, struct api__layout_ask *ask, struct api_bytes name,
                 enum pe_option o, const struct found *f)
{
    const struct pe_option_info *info = pe_option_info(o);
    uint64_t count;
    if (!count_of(f, &count))
        return bad_file(call, "its data are not as long as its shape says");
    if (!api__count_entries(call, ask, name, count))
        return false;
    struct pe_array a = {.at = lasting(call, o, f->data),
                         .size = f->size,
                         .is_unsigned = f->is_unsigned,
                         .rank = f->rank,
                         .count = count};
    memcpy(a.shape, f->shape, sizeof a.shape);
    if (info->type == PE_IS_ARRAY)
        *(struct pe_array *)((char *)&ask->q + info->offset) = a;
    ask->q.given[o] = true;
    return true;
}

/* The option that an array of a file may be. */
static bool find_option(struct api__call *call, const struct api__layout_ask *ask,
                        struct api_bytes name, enum pe_option *out)
{
    const char **names = api__arena_array(call->arena, PE_OPTIONS, sizeof *names);
    size_t count = 0;
    for (int o = 0; o < PE_OPTIONS; o++) {
        const struct pe_option_info *info = pe_option_info((enum pe_option)o);
        if (info->type != PE_IS_ARRAY || !(info->endpoints >> ask->q.endpoint & 1))
            continue;
        names[count++] = info->name;
        if (!api__equal(name, info->name))
            continue;
        *out = (enum pe_option)o;
        if (!ask->q.given[o] && !api__find_param(&ask->params, info->name))
            return true;
        return api__blame(call, API__REPEATED_PARAMETER, api__bytes(info->name),
                          "%s is given twice", info->name);
    }
    const char *near = api__nearest(name, names, count);
    api__blame(call, API__UNKNOWN_PARAMETER, name, "%s is no array of %s%s%s%s",
               api__shown(call->arena, name), pe_endpoint_name(ask->q.endpoint),
               near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    call->issue.allowed = names;
    call->issue.allowed_count = count;
    call->issue.did_you_mean = near;
    return false;
}

/* ---------------------------------------------------------------- .npy */

static bool read_npy(struct api__call *call, struct api_bytes file, struct found *f)
{
    struct api__npy_head head;
    const char *fault = api__npy_read_head(file, &head);
    if (fault)
        return bad_file(call, fault);
    if (head.rank > 3)
        return bad_file(call, "it has more than three axes");
    bool known = head.type == 'b' ? head.size == 1 : head.type == 'i' || head.type == 'u';
    if (!known || (head.size != 1 && head.size != 2 && head.size != 4 && head.size != 8))
        return bad_file(call, "its values are not integers of 1 to 8 bytes, or bool");
    if (head.order != '<' && head.size > 1)
        return bad_file(call, "its values are not little-endian");
    *f = (struct found){.size = head.size,
                        .is_unsigned = head.type != 'i',
                        .rank = head.rank,
                        .data = {file.at + head.data, file.len - head.data}};
    memcpy(f->shape, head.shape, head.rank * sizeof *f->shape);
    return true;
}

static enum pe_option usual(enum pe_endpoint e)
{
    switch (e) {
    case PE_CACHED:
        return PE_OPTION_PAST_LENGTHS;
    case PE_CHECK:
    case PE_CONVERT:
        return PE_OPTION_POSITION_IDS;
    case PE_MULTIMODAL:
        return PE_OPTION_MM_TOKEN_TYPE_IDS;
    default:
        return PE_OPTION_LENGTHS;
    }
}

static bool take_npy(struct api__call *call, struct api__layout_ask *ask)
{
    const struct api__param *body = api__find_param(&ask->params, "body");
    struct api_bytes name = api__bytes(pe_option_info(usual(ask->q.endpoint))->name);
    enum pe_option o;
    struct found f;
    if (body && !api__read_word(call, body, &name))
        return false;
    if (!find_option(call, ask, name, &o)) {
        if (body && call->issue.id == API__UNKNOWN_PARAMETER)
            call->issue.parameter = api__bytes("body");
        return false;
    }
    return read_npy(call, call->request->body, &f) && take(call, ask, name, o, &f);
}

/* ---------------------------------------------------------------- .safetensors */

/* Digits alone, below 2^63. */
static bool read_size(struct api_bytes text, uint64_t *out)
{
    int64_t v;
    if (api__integer(text, &v) != API__NUMBER || v < 0)
        return false;
    *out = (uint64_t)v;
    return true;
}

static bool read_sizes(struct api_bytes text, uint64_t *out, unsigned most, unsigned *count)
{
    struct api__json j;
    struct api_bytes item;
    *count = 0;
    if (!api__json_array(&j, text))
        return false;
    while (api__json_element(&j, &item))
        if (*count == most || !read_size(item, &out[(*count)++]))
            return false;
    return true;
}

static bool read_dtype(struct api__call *call, struct api_bytes text, struct found *f)
{
    static const struct {
        const char *name;
        unsigned size;
        bool is_unsigned;
    } types[] = {{"I64", 8, false}, {"I32", 4, false}, {"I16", 2, false},
                 {"I8", 1, false},  {"U64", 8, true},  {"U32", 4, true},
                 {"U16", 2, true},  {"U8", 1, true},   {"BOOL", 1, true}};
    struct api_bytes name;
    if (!api__json_string(call->arena, text, &name))
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!api__equal(name, types[i].name))
            continue;
        f->size = types[i].size;
        f->is_unsigned = types[i].is_unsigned;
        return true;
    }
    return false;
}

/* One member of the header: what it says of its tensor. `data` is all that lies behind the header.
 */
static const char *read_tensor(struct api__call *call, struct api_bytes text, struct api_bytes data,
                               struct found *f)
{
    struct api__json j;
    struct api_bytes name, value;
    uint64_t span[2];
    unsigned seen = 0, n;
    if (!api__json_object(&j, text))
        return "a tensor is not described by an object";
    while (api__json_member(&j, call->arena, &name, &value)) {
        unsigned bit = api__equal(name, "dtype") ? 1 : api__equal(name, "shape") ? 2 : 4;
        if (seen & bit || (bit == 4 && !api__equal(name, "data_offsets")))
            return "a tensor has another member than dtype, shape and data_offsets, or one twice";
        seen |= bit;
        if (bit == 1 && !read_dtype(call, value, f))
            return "its values are not integers of 1 to 8 bytes, or bool";
        if (bit == 2 && !read_sizes(value, f->shape, 3, &f->rank))
            return "a shape is not a list of at most three sizes";
        if (bit == 4 && (!read_sizes(value, span, 2, &n) || n != 2))
            return "data_offsets are not two sizes";
    }
    if (seen != 7)
        return "a tensor lacks a member";
    if (span[0] > span[1] || span[1] > data.len)
        return "data_offsets lie outside of the data";
    f->data = (struct api_bytes){data.at + span[0], (size_t)(span[1] - span[0])};
    return NULL;
}

static bool take_safetensors(struct api__call *call, struct api__layout_ask *ask)
{
    struct api_bytes file = call->request->body, name, value;
    struct api__json j;
    uint64_t header = 0, covered = 0;
    for (unsigned i = 0; i < 8 && file.len >= 8; i++)
        header |= (uint64_t)(unsigned char)file.at[i] << 8 * i;
    if (file.len < 8 || header > file.len - 8)
        return bad_file(call, "its header is longer than the file");
    struct api_bytes data = {file.at + 8 + header, file.len - 8 - (size_t)header};
    if (!api__json_object(&j, (struct api_bytes){file.at + 8, (size_t)header}))
        return bad_file(call, "its header is not a JSON object");
    while (api__json_member(&j, call->arena, &name, &value)) {
        struct found f = {.size = 0};
        enum pe_option o;
        if (api__equal(name, "__metadata__"))
            continue;
        const char *fault = read_tensor(call, value, data, &f);
        if (fault)
            return bad_file(call, fault);
        covered += f.data.len;
        if (!find_option(call, ask, name, &o) || !take(call, ask, name, o, &f))
            return false;
    }
    if (!j.fault)
        api__json_end(&j);
    if (j.fault)
        return bad_file(call, "its header is not a JSON object");
    return covered == data.len || bad_file(call, "its tensors do not cover its data exactly");
}

bool api__read_layout_file(struct api__call *call, struct api__layout_ask *ask)
{
    return call->body == API__NPY ? take_npy(call, ask) : take_safetensors(call, ask);
}
