/* SPDX-License-Identifier: MIT
 *
 * table_name.c: see table_name.h. Everything is made from pe_spec_text, so that what is
 * shown, what is tagged and what is cached cannot differ.
 */
#include "table_name.h"

#include <inttypes.h>
#include <nettle/sha2.h>
#include <string.h>

#define HEX_DIGITS 64 /* of a SHA-256 */

static void put_hex(struct api__text *t, struct api__digest d)
{
    for (size_t i = 0; i < sizeof d.bytes; i++)
        api__text_print(t, "%02x", d.bytes[i]);
}

static bool narrow(struct pe_ints list)
{
    int64_t lost = 0;
    for (size_t i = 0; i < list.count; i++)
        lost |= list.at[i] ^ (int32_t)list.at[i];
    return lost == 0;
}

/* Shape, then positions. Where all fit into 32 bits they are hashed as such: half of the bytes,
 * half of the time; the shape says how many there are, so the two forms cannot be confused. */
static void put_digest(struct api__text *t, const struct pe_spec *spec)
{
    struct pe_ints list = spec->positions;
    struct sha256_ctx context;
    struct api__digest digest;
    int32_t part[1024];
    sha256_init(&context);
    sha256_update(&context, spec->rank * sizeof *spec->shape, (const uint8_t *)spec->shape);
    if (!narrow(list)) {
        sha256_update(&context, list.count * sizeof *list.at, (const uint8_t *)list.at);
    } else {
        for (size_t i = 0, n = 0; i < list.count; i += n) {
            for (n = 0; n < sizeof part / sizeof *part && i + n < list.count; n++)
                part[n] = (int32_t)list.at[i + n];
            sha256_update(&context, n * sizeof *part, (const uint8_t *)part);
        }
    }
    sha256_digest(&context, sizeof digest.bytes, digest.bytes);
    put_hex(t, digest);
}

static bool spelled_out(const struct pe_spec *spec)
{
    return spec->positions.count <= API__SPELLED_POSITIONS;
}

/* The digest of long positions, which the text ends in where it does not spell them out. */
static void put_known_digest(struct api__text *t, const struct pe_spec *spec, struct api_bytes text)
{
    if (spelled_out(spec))
        put_digest(t, spec);
    else
        api__text_add(t, text.at + text.len - HEX_DIGITS, HEX_DIGITS);
}

/* What stands for a list that is not spelled out, behind its first item. */
static void put_summary(struct api__text *t, const struct pe_spec *spec)
{
    api__text_print(t, ";rank=%u;count=%zu;sha256=", spec->rank, spec->positions.count);
    put_digest(t, spec);
}

struct api_bytes api__table_text(struct api__arena *arena, const struct pe_spec *spec)
{
    struct pe_spec brief = *spec;
    if (!spelled_out(spec)) {
        brief.positions.count = 1;
        brief.rank = 1;
    }
    size_t room = 512;
    char *at = api__arena_take(arena, room);
    size_t len = pe_spec_text(&brief, at, room);
    if (len >= room) {
        at = api__arena_take(arena, len + 1);
        pe_spec_text(&brief, at, len + 1);
    }
    if (spelled_out(spec))
        return (struct api_bytes){at, len};
    struct api__text t;
    api__text_init(&t, arena, len + 128);
    api__text_add(&t, at, len);
    put_summary(&t, spec);
    return api__text_done(&t);
}

void api__put_positions(struct api__text *t, const struct pe_spec *spec)
{
    struct pe_spec brief = *spec;
    if (!spelled_out(spec)) {
        brief.positions.count = 1;
        brief.rank = 1;
    }
    size_t len = pe_spec_value(&brief, PE_PARAM_POSITIONS, NULL, 0);
    char *at = api__arena_take(t->arena, len + 1);
    pe_spec_value(&brief, PE_PARAM_POSITIONS, at, len + 1);
    api__text_add(t, at, len);
    if (!spelled_out(spec))
        put_summary(t, spec);
}

struct api__digest api__table_key(const struct pe_spec *spec, struct api_bytes text)
{
    char head[96];
    struct api__text t = {NULL, head, 0, sizeof head};
    api__text_print(&t, "%s/%s rev=%d\n", pe_kind_name(spec->kind),
                    pe_resource_name(spec->resource), PE_NUMERICS_REV);
    return api__sha256((struct api_bytes[]){{head, t.len}, text}, 2);
}

/* One `name=value` of a query; names are compared as they stand. */
struct pair {
    struct api_bytes name;
    struct api_bytes value;
};

static void insert(struct pair *pairs, size_t *count, const char *name, struct api_bytes value)
{
    size_t i = (*count)++;
    for (; i; i--) {
        struct api_bytes before = pairs[i - 1].name;
        size_t len = strlen(name), n = before.len < len ? before.len : len;
        int order = memcmp(before.at, name, n);
        if (order < 0 || (order == 0 && before.len < len))
            break;
        pairs[i] = pairs[i - 1];
    }
    pairs[i] = (struct pair){api__bytes(name), value};
}

/* The canonical text is sorted pairs already: no name or value in it holds '&' or '='; what follows
 * a ';' is about the positions. */
static size_t split_text(struct api_bytes text, struct pair *pairs)
{
    const char *p = text.at, *end = p + text.len;
    size_t count = 0;
    while (p < end) {
        const char *stop = memchr(p, '&', (size_t)(end - p));
        stop = stop ? stop : end;
        const char *sign = memchr(p, '=', (size_t)(stop - p));
        const char *mark = memchr(sign, ';', (size_t)(stop - sign));
        pairs[count++] = (struct pair){{p, (size_t)(sign - p)},
                                       {sign + 1, (size_t)((mark ? mark : stop) - sign - 1)}};
        p = stop + (stop < end);
    }
    return count;
}

const char *api__table_url(struct api__arena *arena, const struct pe_spec *spec,
                           struct api_bytes text, const struct api__sent *sent)
{
    struct pair pairs[PE_PARAMS + 3];
    if (text.len > API__LONGEST_URL || memchr(text.at, ';', text.len))
        return NULL;
    size_t count = split_text(text, pairs);
    if (sent->bf16)
        insert(pairs, &count, "bf16", api__bytes(sent->bf16));
    if (sent->tensor)
        insert(pairs, &count, "tensor", api__bytes(sent->tensor));
    insert(pairs, &count, "rev", api__bytes(api__format_text(arena, "%d", PE_NUMERICS_REV)));
    const char *resource = pe_resource_name(spec->resource);
    struct api__text t;
    api__text_init(&t, arena, text.len + 128);
    api__text_print(&t, "/v1/tables/%s%s%s.%s", sent->path ? sent->path : pe_kind_name(spec->kind),
                    *resource ? "/" : "", resource, sent->format);
    for (size_t i = 0; i < count; i++) {
        api__text_add(&t, i ? "&" : "?", 1);
        api__text_add(&t, pairs[i].name.at, pairs[i].name.len);
        api__text_add(&t, "=", 1);
        api__text_query(&t, pairs[i].value.at, pairs[i].value.len);
    }
    return t.len <= API__LONGEST_URL ? api__text_done(&t).at : NULL;
}

const char *api__table_file(struct api__arena *arena, const struct pe_spec *spec,
                            struct api_bytes text, const struct api__sent *sent)
{
    static const struct {
        const char *name;
        const char *mark;
    } marks[] = {{"length", "n"}, {"height", "h"}, {"columns", "w"},
                 {"width", "d"},  {"base", "b"},   {"dtype", ""}};
    struct pair pairs[PE_PARAMS];
    size_t count = split_text(text, pairs);
    const char *resource = pe_resource_name(spec->resource);
    struct api__text t;
    api__text_init(&t, arena, 96);
    api__text_print(&t, "%s%s%s", sent->stem ? sent->stem : pe_kind_name(spec->kind),
                    *resource ? "_" : "", resource);
    if (spec->positions.count)
        api__text_print(&t, "_p%zu", spec->positions.count);
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++)
        for (size_t i = 0; i < count; i++)
            if (api__equal(pairs[i].name, marks[m].name))
                api__text_print(&t, "_%s%.*s", marks[m].mark, (int)pairs[i].value.len,
                                pairs[i].value.at);
    if (sent->tensor)
        api__text_print(&t, "_%s", sent->tensor);
    api__text_print(&t, ".%s", sent->format);
    return api__text_done(&t).at;
}

/* ---------------------------------------------------------------- as JSON */

/* Nested by the shape; a list of rank 1 is flat. */
static void put_nested(struct api__text *t, const struct pe_spec *spec, unsigned axis, size_t *next)
{
    api__text_add(t, "[", 1);
    for (uint64_t i = 0; i < spec->shape[axis]; i++) {
        if (i)
            api__text_add(t, ",", 1);
        if (axis + 1 < spec->rank)
            put_nested(t, spec, axis + 1, next);
        else
            api__text_print(t, "%" PRId64, spec->positions.at[(*next)++]);
    }
    api__text_add(t, "]", 1);
}

static void put_positions(struct api__text *t, const struct pe_spec *spec, struct api_bytes text)
{
    size_t next = 0;
    if (spec->positions.count <= API__LISTED_POSITIONS) {
        put_nested(t, spec, 0, &next);
        return;
    }
    api__text_put(t, "{\"shape\":[");
    for (unsigned i = 0; i < spec->rank; i++)
        api__text_print(t, "%s%" PRIu64, i ? "," : "", spec->shape[i]);
    api__text_put(t, "],\"sha256\":\"");
    put_known_digest(t, spec, text);
    api__text_put(t, "\"}");
}

const char *api__table_parameters(struct api__arena *arena, const struct pe_spec *spec,
                                  struct api_bytes text)
{
    struct pair pairs[PE_PARAMS];
    size_t count = split_text(text, pairs);
    struct api__text t;
    api__text_init(&t, arena, 512);
    for (size_t i = 0; i < count; i++) {
        struct pair *pair = &pairs[i];
        int p = pe_param_find(pair->name.at, pair->name.len);
        enum pe_type type = pe_param_info((enum pe_param)p)->type;
        bool list = type == PE_TYPE_INTS || type == PE_TYPE_REALS;
        api__text_print(&t, "%s\"%.*s\":", i ? "," : "{", (int)pair->name.len, pair->name.at);
        if (p == PE_PARAM_POSITIONS)
            put_positions(&t, spec, text);
        else if (type == PE_TYPE_CHOICE)
            api__text_json(&t, pair->value.at, pair->value.len);
        else
            api__text_print(&t, "%s%.*s%s", list ? "[" : "", (int)pair->value.len, pair->value.at,
                            list ? "]" : "");
    }
    api__text_put(&t, count ? "}" : "{}");
    return api__text_done(&t).at;
}

/* ---------------------------------------------------------------- as metadata */

static const char *positions_text(struct api__arena *arena, const struct pe_spec *spec,
                                  struct api_bytes text)
{
    struct api__text t;
    if (spec->positions.count <= API__LISTED_POSITIONS) {
        size_t len = pe_spec_value(spec, PE_PARAM_POSITIONS, NULL, 0);
        char *at = api__arena_take(arena, len + 1);
        pe_spec_value(spec, PE_PARAM_POSITIONS, at, len + 1);
        return at;
    }
    api__text_init(&t, arena, 128);
    api__text_put(&t, "sha256:");
    put_known_digest(&t, spec, text);
    for (unsigned i = 0; i < spec->rank; i++)
        api__text_print(&t, "%s%" PRIu64, i ? "x" : ";shape=", spec->shape[i]);
    return api__text_done(&t).at;
}

const struct api_pair *api__table_metadata(struct api__arena *arena, const struct pe_spec *spec,
                                           struct api_bytes text, unsigned *count)
{
    struct pair pairs[PE_PARAMS];
    *count = (unsigned)split_text(text, pairs);
    struct api_pair *out = api__arena_array(arena, *count, sizeof *out);
    for (unsigned i = 0; i < *count; i++) {
        int p = pe_param_find(pairs[i].name.at, pairs[i].name.len);
        out[i].name = pe_param_info((enum pe_param)p)->name;
        out[i].value = p == PE_PARAM_POSITIONS
                           ? positions_text(arena, spec, text)
                           : api__arena_copy(arena, pairs[i].value.at, pairs[i].value.len);
    }
    return out;
}
