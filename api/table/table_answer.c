/* SPDX-License-Identifier: MIT
 *
 * table_answer.c: see table_answer.h. Nothing here needs a byte of the table, so HEAD, 304 and 416
 * cost nothing.
 */
#include "table_answer.h"
#include "http/coding.h"
#include "http/condition.h"
#include "http/reply.h"

#include <inttypes.h>

/* A tag covers what the key does, and how it is sent; bodies state the version of the server. */
void api__label(struct api__call *call, const struct api__choice *choice, struct api_table *table,
                struct api__digest of, struct api__labels *labels)
{
    struct api__digest *key = api__arena_take(call->arena, sizeof *key);
    *key = of;
    labels->sent.format = table->format->name;
    labels->sent.tensor = table->tensor >= 0 ? table->tensors[table->tensor].name : NULL;
    labels->sent.bf16 = !choice->bf16                  ? NULL
                        : table->bf16 == API_BF16_VOID ? "void"
                        : table->bf16 == API_BF16_U16  ? "u16"
                                                       : "f32";
    table->coding = API_IDENTITY;
    labels->codable = api__codable(table);
    labels->acceptable = !labels->codable || api__coding(call->request, &table->coding);
    const char *coding = api__coding_name(table->coding);
    char *tag = api__arena_take(call->arena, API__TAG_SIZE);
    struct api_bytes parts[] = {
        {(const char *)key->bytes, sizeof key->bytes},
        api__bytes(PE_VERSION " as "),
        api__bytes(labels->sent.format),
        api__bytes(labels->sent.bf16 ? labels->sent.bf16 : ""),
        api__bytes("/"),
        api__bytes(labels->sent.tensor ? labels->sent.tensor : ""),
        api__bytes(coding ? " in " : ""),
        api__bytes(coding ? coding : ""),
    };
    api__tag(api__sha256(parts, sizeof parts / sizeof *parts), tag);
    labels->tag = tag;
    if (table->spec.dtype == PE_DTYPE_BF16_AS_F32)
        *key = api__sha256((struct api_bytes[]){parts[0], api__bytes("bf16 in f32")}, 2);
    table->key = (struct api_bytes){(const char *)key->bytes, sizeof key->bytes};
}

static void common_headers(struct api__call *call, const struct api__choice *choice,
                           const struct api__labels *labels)
{
    api__header(call, "ETag", labels->tag);
    api__header(call, "Cache-Control", labels->cache_control);
    if (choice->negotiated || labels->codable)
        api__header(call, "Vary",
                    !labels->codable     ? "Accept"
                    : choice->negotiated ? "Accept, Accept-Encoding"
                                         : "Accept-Encoding");
    if (labels->url)
        api__header(call, "Content-Location", labels->url);
}

/* `X-Tensor-Shape: 2048, 128` and its companions; a scalar has no shape to state. */
static void tensor_headers(struct api__call *call, const struct api_table *table)
{
    const struct pe_tensor *t = &table->tensors[table->tensor < 0 ? 0 : table->tensor];
    struct api__text shape;
    api__text_init(&shape, call->arena, 64);
    if (table->stacked)
        api__text_print(&shape, "%u", table->tensor_count);
    for (unsigned i = 0; i < t->rank; i++)
        api__text_print(&shape, "%s%" PRIu64, shape.len ? ", " : "", t->shape[i]);
    if (shape.len)
        api__header(call, "X-Tensor-Shape", api__text_done(&shape).at);
    api__header(call, "X-Tensor-Dtype", pe_dtype_name(t->dtype));
    api__header(call, "X-Tensor-Order", "C");
    api__header(call, "X-Tensor-Byte-Order", "little");
}

static bool refuse_range(struct api__call *call, uint64_t length)
{
    api__refuse(call, API__RANGE_NOT_SATISFIABLE,
                "the range lies outside of the body, which has %" PRIu64 " bytes", length);
    call->issue.header = (struct api_answer_header){
        "Content-Range", api__format_text(call->arena, "bytes */%" PRIu64, length)};
    return false;
}

/* RFC 9110, 12.5.3 */
static bool refuse_codings(struct api__call *call)
{
    static const char *const names[] = {"zstd", "gzip", "identity"};
    api__refuse(
        call, API__NOT_ACCEPTABLE,
        "Accept-Encoding allows none of zstd, gzip and identity, which is no coding at all");
    call->issue.allowed = names;
    call->issue.allowed_count = sizeof names / sizeof *names;
    return false;
}

/* Bodies whose bytes are known before they are made. */
static bool has_ranges(const struct api_table *table)
{
    return !table->format->writing && table->coding == API_IDENTITY;
}

/* RFC 9110, 14.2: Range is defined for GET alone. */
static bool cut_range(struct api__call *call, const struct api__labels *labels,
                      struct api_table *table, const char **content_range)
{
    *content_range = NULL;
    if (call->method != API__GET || !has_ranges(table))
        return true;
    switch (api__range(call->request, labels->tag, table->length, &table->first, &table->count)) {
    case API__OUTSIDE:
        return refuse_range(call, table->length);
    case API__PART:
        *content_range =
            api__format_text(call->arena, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, table->first,
                             table->first + table->count - 1, table->length);
        break;
    case API__WHOLE:
        break;
    }
    return true;
}

bool api__send_table(struct api__call *call, const struct api__choice *choice,
                     struct api_table *table, const struct api__labels *labels)
{
    const char *content_range, *coding = api__coding_name(table->coding);
    if (!labels->acceptable)
        return refuse_codings(call);
    bool asks = call->method == API__GET || call->method == API__HEAD;
    enum api__verdict verdict = asks ? api__conditions(call->request, labels->tag) : API__PROCEED;
    if (verdict == API__FAILED)
        return api__refuse(call, API__PRECONDITION_FAILED, "If-Match does not name %s",
                           labels->tag);
    api__format_lay_out(table, call->arena);
    if (verdict == API__NOT_MODIFIED) {
        api__reply_begin(call, 304);
        common_headers(call, choice, labels);
        call->plan->table = table; /* its length is that of the 200: RFC 9110, 8.6 */
        return true;
    }
    if (!cut_range(call, labels, table, &content_range))
        return false;
    api__reply_begin(call, content_range ? 206 : 200);
    common_headers(call, choice, labels);
    call->plan->source = API_TABLE;
    call->plan->table = table;
    api__header(call, "Content-Type", table->format->content_type);
    api__header(
        call, "Content-Disposition",
        api__format_text(call->arena, "inline; filename=\"%s\"",
                         api__table_file(call->arena, &table->spec, labels->text, &labels->sent)));
    if (coding)
        api__header(call, "Content-Encoding", coding);
    if (has_ranges(table))
        api__header(call, "Accept-Ranges", "bytes");
    if (content_range)
        api__header(call, "Content-Range", content_range);
    if (table->format == &api__format_bin)
        tensor_headers(call, table);
    return true;
}
