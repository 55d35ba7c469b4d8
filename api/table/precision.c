/* SPDX-License-Identifier: MIT
 *
 * precision.c: see precision.h. The study is lib's; here is its bound and its JSON.
 */
#include "precision.h"
#include "posenc_decimal.h"
#include "pages/document.h"
#include "format/format.h"
#include "must.h"
#include "table.h"
#include "table_choice.h"
#include "table_name.h"
#include "table_spec.h"

#include <inttypes.h>
#include <string.h>

/* Values compared for one answer: some 20 milliseconds of work. Of a larger table rows are taken
 * evenly. */
#define STUDIED_VALUES (UINT64_C(1) << 20)

void api__put_real(struct api__text *t, double v)
{
    char digits[PE_DECIMAL_ROOM];
    api__text_add(t, digits, pe_decimal_f64(v, digits));
}

static void put_position(struct api__text *t, const struct pe_spec *spec, uint64_t row)
{
    int64_t p[3];
    unsigned axes = pe_row_positions(spec, row, p);
    if (axes == 1)
        api__text_print(t, "\"position\":%" PRId64 ",", p[0]);
    for (unsigned a = 0; axes > 1 && a < axes; a++)
        api__text_print(t, "%s%" PRId64 "%s", a ? "," : "\"position\":[", p[a],
                        a + 1 == axes ? "]," : "");
}

void api__put_place(struct api__text *t, const struct api__place *at)
{
    uint64_t flat = at->row * at->tensor->row_elements + at->channel, below = 1;
    api__text_print(t, "{\"tensor\":\"%s\",", at->tensor->name);
    put_position(t, at->spec, at->row);
    api__text_print(t, "\"channel\":%" PRIu64 ",\"index\":[", at->channel);
    for (unsigned a = 1; a < at->tensor->rank; a++)
        below *= at->tensor->shape[a];
    for (unsigned a = 0; a < at->tensor->rank; a++) {
        api__text_print(t, "%s%" PRIu64, a ? "," : "", flat / below);
        flat %= below;
        below /= a + 1 < at->tensor->rank ? at->tensor->shape[a + 1] : 1;
    }
    api__text_put(t, "]}");
}

static void put_worst(struct api__text *t, const char *name, const struct pe_worst *w,
                      struct api__place at)
{
    at.row = w->row;
    at.channel = w->element;
    api__text_print(t, "\"%s\":", name);
    api__put_real(t, w->error);
    api__text_print(t, ",\"%s_at\":", name);
    api__put_place(t, &at);
}

static void put_tensor(struct api__text *t, const struct pe_precision *p, struct api__place at)
{
    api__text_print(t,
                    "\"%s\":{\"dtype\":\"%s\",\"rows\":%" PRIu64 ",\"rows_examined\":%" PRIu64
                    ",\"infinite\":%" PRIu64 ",",
                    p->tensor, pe_dtype_name(p->dtype), p->rows, p->examined, p->infinite);
    put_worst(t, "max_abs_error", &p->absolute, at);
    api__text_put(t, ",");
    put_worst(t, "max_ulp_error", &p->ulp, at);
    api__text_put(t, "}");
}

static bool write_study(struct api__call *call, const struct pe_spec *spec,
                        const struct pe_precision *p, unsigned count)
{
    struct api__text t;
    struct pe_tensor tensors[PE_MAX_TENSORS];
    struct api_bytes text = api__table_text(call->arena, spec);
    unsigned absolute = 0, ulp = 0;
    bool all = true;
    pe_spec_tensors(spec, tensors);
    for (unsigned i = 0; i < count; i++) {
        absolute = p[i].absolute.error > p[absolute].absolute.error ? i : absolute;
        ulp = p[i].ulp.error > p[ulp].ulp.error ? i : ulp;
        all = all && p[i].examined == p[i].rows;
    }
    api__text_init(&t, call->arena, 2048);
    api__text_print(&t, "{\"kind\":\"%s\",\"resource\":\"precision\",\"parameters\":%s,",
                    pe_kind_name(spec->kind), api__table_parameters(call->arena, spec, text));
    api__text_print(&t, "\"examined\":\"%s\",",
                    all ? "every row" : "rows spread evenly from the first to the last");
    put_worst(&t, "max_abs_error", &p[absolute].absolute,
              (struct api__place){spec, &tensors[absolute], 0, 0});
    api__text_put(&t, ",");
    put_worst(&t, "max_ulp_error", &p[ulp].ulp, (struct api__place){spec, &tensors[ulp], 0, 0});
    api__text_put(&t, ",\"tensors\":{");
    for (unsigned i = 0; i < count; i++) {
        api__text_put(&t, i ? "," : "");
        put_tensor(&t, &p[i], (struct api__place){spec, &tensors[i], 0, 0});
    }
    api__text_put(&t, "}}\n");
    return api__document(call, "application/json", call->extension.at ? NULL : "Accept",
                         api__text_done(&t));
}

static bool study(struct api__call *call, const struct pe_spec *spec)
{
    struct pe_precision found[PE_MAX_TENSORS];
    unsigned count;
    enum pe_error error = pe_precision_study(spec, STUDIED_VALUES, found, &count);
    must(error == PE_OK || error == PE_NO_MEMORY);
    if (error)
        longjmp(*api__arena_exit(call->arena), 1);
    return write_study(call, spec, found, count);
}

bool api__precision(struct api__call *call)
{
    static const char *const options[] = {"format", "rev"};
    struct api__choice choice;
    enum pe_kind kind;
    if (!api__table_kind(call, &kind))
        return false;
    if (kind == PE_KIND_T5 || kind == PE_KIND_DEBERTA)
        return api__refuse(call, API__NOT_FOUND, "%s has no precision: its values are integers",
                           pe_kind_name(kind));
    struct api__params *params = api__arena_take(call->arena, sizeof *params);
    struct pe_spec *spec = api__arena_take(call->arena, sizeof *spec);
    pe_spec_init(spec, kind, PE_RESOURCE_TABLE);
    if (!api__table_params(call, params, spec) ||
        !api__read_spec(call, params, (struct api__names){options, 2}, spec) ||
        !api__choose(call, params, &choice))
        return false;
    if (choice.format != &api__format_json)
        return api__refuse(call, API__NOT_ACCEPTABLE, "precision is served as JSON only");
    if (spec->width > API__STUDIED_WIDTH)
        return api__blame(call, API__TOO_LARGE, api__bytes("width"),
                          "precision is found out for widths up to %d", API__STUDIED_WIDTH);
    return study(call, spec);
}
