/* SPDX-License-Identifier: MIT
 *
 * format.c: the list of formats, finding one, and where the bytes of a body lie in the payload.
 * What is in front of them each format knows itself.
 */
#include "format.h"

#include "must.h"

#include <string.h>

const struct api_format *const api__formats[] = {
#define API_FORMAT(id) &api__format_##id,
#include "formats.def"
#undef API_FORMAT
    NULL,
};

const struct api_format *api__format_find(const char *name, size_t len)
{
    for (const struct api_format *const *f = api__formats; *f; f++)
        if (strlen((*f)->name) == len && memcmp((*f)->name, name, len) == 0)
            return *f;
    return NULL;
}

const char *api_format_name(const struct api_format *format)
{
    return format->name;
}

bool api_format_is_text(const struct api_format *format)
{
    return format->writing != NULL;
}

void api__format_lay_out(struct api_table *table, struct api__arena *arena)
{
    const struct api_format *format = table->format;
    table->prefix = (struct api_bytes){"", 0};
    table->payload_first = 0;
    table->payload_length = 0;
    for (unsigned t = 0; t < table->tensor_count; t++) {
        if (api_sends(table, t))
            table->payload_length += table->tensors[t].bytes;
        else if ((int)t < table->tensor)
            table->payload_first += table->tensors[t].bytes;
    }
    must(table->payload_first + table->payload_length <= (uint64_t)INT64_MAX);
    if (format->prefix)
        format->prefix(table, arena);
    table->length = table->prefix.len + table->payload_length;
    if (format->writing)
        table->length = format->written_length ? format->written_length(table) : API_UNKNOWN;
    table->first = 0;
    table->count = table->length;
}
