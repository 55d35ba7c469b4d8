/* SPDX-License-Identifier: MIT
 *
 * format_safetensors.c: eight bytes of length, a JSON header, the tensors as they lie in the
 * payload.
 *
 * Invariant: equal tables give equal bytes. `__metadata__` comes first with sorted names, tensors
 * follow in payload order (element size downwards, then name, as the format's own writer has them),
 * and spaces make the data begin at a multiple of 8. Left out: a digest of the data, since the
 * header is sent before they exist.
 */
#include "format.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "posenc."

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct api_pair *)a)->name, ((const struct api_pair *)b)->name);
}

/* Names without PREFIX, which all but `format` bear; "format" sorts before it. */
static void put_metadata(struct api__text *text, const struct api_table *table,
                         struct api__arena *arena)
{
    const unsigned own = 3, count = own + table->metadata_count;
    struct api_pair *pairs = api__arena_array(arena, count, sizeof *pairs);
    pairs[0] = (struct api_pair){"kind", table->kind};
    pairs[1] = (struct api_pair){"numerics_rev", api__format_text(arena, "%d", PE_NUMERICS_REV)};
    pairs[2] = (struct api_pair){"version", PE_VERSION};
    for (unsigned i = 0; i < table->metadata_count; i++)
        pairs[own + i] = table->metadata[i];
    qsort(pairs, count, sizeof *pairs, by_name);

    /* what loaders of model files ask for: the framework whose names the tensors bear */
    api__text_put(text, "{\"__metadata__\":{\"format\":\"pt\"");
    for (unsigned i = 0; i < count; i++) {
        api__text_put(text, ",\"" PREFIX);
        api__text_put(text, pairs[i].name);
        api__text_put(text, "\":");
        api__text_json(text, pairs[i].value, strlen(pairs[i].value));
    }
    api__text_put(text, "}");
}

static const char *dtype_name(enum pe_dtype dtype)
{
    static const char *const names[] = {
#define PE_DTYPE(id, name, alias, size, npy, safetensors) [PE_DTYPE_##id] = safetensors,
#include "dtypes.def"
#undef PE_DTYPE
    };
    return names[dtype];
}

static void put_tensor(struct api__text *text, const struct pe_tensor *tensor, uint64_t begin)
{
    api__text_print(text, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", tensor->name,
                    dtype_name(tensor->dtype));
    for (unsigned a = 0; a < tensor->rank; a++)
        api__text_print(text, "%s%" PRIu64, a ? "," : "", tensor->shape[a]);
    api__text_print(text, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", begin,
                    begin + tensor->bytes);
}

static void prefix(struct api_table *table, struct api__arena *arena)
{
    struct api__text text;
    api__text_init(&text, arena, 1024);
    api__text_add(&text, "........", 8);
    put_metadata(&text, table, arena);
    uint64_t at = 0;
    for (unsigned t = 0; t < table->tensor_count; t++) {
        if (!api_sends(table, t))
            continue;
        put_tensor(&text, &table->tensors[t], at);
        at += table->tensors[t].bytes;
    }
    api__text_put(&text, "}");
    while (text.len % 8)
        api__text_put(&text, " ");
    for (unsigned i = 0; i < 8; i++)
        text.at[i] = (char)((uint64_t)(text.len - 8) >> (8 * i) & 0xff);
    table->prefix = api__text_done(&text);
}

const struct api_format api__format_safetensors = {
    .name = "safetensors",
    .content_type = "application/x-safetensors",
    .media = {"application/x-safetensors", "application/vnd.safetensors",
              "application/vnd.huggingface.safetensors"},
    .prefix = prefix,
};
