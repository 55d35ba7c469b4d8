/* SPDX-License-Identifier: MIT
 *
 * layouts_check.c: the findings of a check as JSON, which is its only form.
 */
#include "layouts.h"
#include "pages/document.h"
#include "http/negotiate.h"

#include <inttypes.h>
#include <string.h>

static void release(void *object)
{
    struct pe_check *check = object;
    pe_check_destroy(&check);
}

static void put_findings(struct api__text *t, const struct pe_check *check, bool warnings)
{
    unsigned listed;
    uint64_t total;
    const struct pe_finding *f = pe_check_findings(check, warnings, &listed, &total);
    api__text_print(t, ",\"%s\":[", warnings ? "warnings" : "errors");
    for (unsigned i = 0; i < listed; i++) {
        api__text_print(t, "%s{\"rule\":\"%s\",\"tensor\":\"%s\",\"index\":[", i ? "," : "",
                        f[i].rule, pe_option_info(f[i].tensor)->name);
        for (unsigned k = 0; k < f[i].rank; k++)
            api__text_print(t, "%s%" PRIu64, k ? "," : "", f[i].index[k]);
        api__text_put(t, "]");
        if (f[i].has_found)
            api__text_print(t, ",\"found\":%" PRId64, f[i].found);
        if (f[i].has_expected)
            api__text_print(t, ",\"expected\":%" PRId64, f[i].expected);
        api__text_put(t, ",\"detail\":");
        api__text_json(t, f[i].detail, strlen(f[i].detail));
        api__text_put(t, "}");
    }
    api__text_put(t, "]");
}

static void put_totals(struct api__text *t, const struct pe_check *check)
{
    unsigned listed;
    uint64_t errors, warnings;
    pe_check_findings(check, false, &listed, &errors);
    pe_check_findings(check, true, &listed, &warnings);
    api__text_print(t, ",\"errors_total\":%" PRIu64 ",\"warnings_total\":%" PRIu64, errors,
                    warnings);
}

static void put_names(struct api__text *t, const struct pe_check *check)
{
    struct pe_known_fault faults[PE_MAX_KNOWN_FAULTS];
    unsigned rows[128], n = pe_check_conventions(check, rows, 128);
    api__text_put(t, ",\"conventions\":[");
    for (unsigned i = 0; i < n && i < 128; i++)
        api__text_print(t, "%s\"%s\"", i ? "," : "", pe_convention(rows[i])->name);
    n = pe_check_known_faults(check, faults);
    api__text_put(t, "],\"known_faults\":[");
    for (unsigned i = 0; i < n; i++)
        api__text_print(t, "%s{\"name\":\"%s\",\"seen_in\":\"%s\"}", i ? "," : "", faults[i].name,
                        faults[i].seen_in);
    api__text_put(t, "]");
}

static void put_starts(struct api__text *t, const struct pe_check *check, enum pe_reading r)
{
    int64_t starts[256];
    uint64_t at = 0;
    size_t n, all = 0;
    while ((n = pe_check_starts(check, r, &at, starts, sizeof starts / sizeof *starts)))
        for (size_t i = 0; i < n; i++)
            api__text_print(t, "%s%" PRId64, all++ ? "," : "", starts[i]);
}

static void put_readings(struct api__text *t, const struct pe_check *check)
{
    uint64_t count;
    int agrees;
    api__text_put(t, ",\"readings\":{");
    for (int r = 0; r < PE_READINGS; r++) {
        if (!pe_check_reading(check, (enum pe_reading)r, &count, &agrees))
            break;
        api__text_print(t, "%s\"%s\":{\"cu_seqlens\":[", r ? "," : "",
                        pe_reading_name((enum pe_reading)r));
        put_starts(t, check, (enum pe_reading)r);
        api__text_print(t, "],\"agrees\":%s}", agrees < 0 ? "null" : agrees ? "true" : "false");
    }
    api__text_put(t, "}");
}

static bool json_alone(struct api__call *call, const struct api__layout_ask *ask)
{
    static const struct api__offer json[] = {{"application/json", 0, false}};
    const struct api__param *format = api__find_param(&ask->params, "format");
    struct api_bytes word = {"json", 4};
    if (format && !api__read_word(call, format, &word))
        return false;
    bool other =
        (call->extension.at && !api__equal(call->extension, "json")) || !api__equal(word, "json");
    bool chosen = call->extension.at || format;
    if (other || (!chosen && api__negotiate(call->request, json, 1) < 0))
        return api__refuse(call, API__NOT_ACCEPTABLE, "a check is answered as .json alone");
    return true;
}

static bool small_enough(struct api__call *call, const struct pe_check *check)
{
    uint64_t count, values = 0, limit = call->request->limits->max_json_values;
    int agrees;
    for (int r = 0; r < PE_READINGS; r++)
        values += pe_check_reading(check, (enum pe_reading)r, &count, &agrees) ? count : 0;
    return values <= limit ||
           api__refuse(call, API__TOO_LARGE,
                       "JSON holds %" PRIu64
                       " values at most, and the readings here would be %" PRIu64,
                       limit, values);
}

bool api__layout_check(struct api__call *call, struct api__layout_ask *ask)
{
    struct pe_layout_fault fault;
    struct pe_check *check;
    struct api__text t;
    if (!json_alone(call, ask))
        return false;
    void **place = api__arena_own(call->arena, release);
    if (pe_check_create(&ask->q, &check, &fault) != PE_OK)
        return api__layout_fault(call, ask, &fault);
    *place = check;
    unsigned listed;
    uint64_t errors;
    pe_check_findings(check, false, &listed, &errors);
    if (!small_enough(call, check))
        return false;
    api__text_init(&t, call->arena, 1024);
    api__text_print(&t, "{\"kind\":\"check\",\"valid\":%s", errors ? "false" : "true");
    put_findings(&t, check, false);
    put_findings(&t, check, true);
    put_totals(&t, check);
    put_names(&t, check);
    put_readings(&t, check);
    api__text_put(&t, "}\n");
    return api__document(call, "application/json", NULL, api__text_done(&t));
}
