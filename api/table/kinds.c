/* SPDX-License-Identifier: MIT
 *
 * kinds.c: see kinds.h. Whatever lib learns stands here without an edit; only the shapes of
 * tensors, which depend on values, are told in tensors.def.
 */
#include "kinds.h"
#include "pages/document.h"
#include "table_spec.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

struct place {
    enum pe_kind kind;
    enum pe_resource resource;
};

static void put_string(struct api__text *t, const char *name, const char *value)
{
    api__text_print(t, ",\"%s\":", name);
    api__text_json(t, value, strlen(value));
}

static const char *type_name(enum pe_type type)
{
    static const char *const names[] = {"integer", "real", "boolean", "word", "integers", "reals"};
    return names[type];
}

static void put_words(struct api__text *t, struct place at, enum pe_param p)
{
    size_t count;
    const char *const *words = api__allowed_words(t->arena, at.kind, at.resource, p, &count);
    api__text_put(t, ",\"values\":[");
    for (size_t i = 0; i < count; i++)
        api__text_print(t, "%s\"%s\"", i ? "," : "", words[i]);
    api__text_put(t, "]");
}

static void put_default(struct api__text *t, const struct pe_use *use, enum pe_type type)
{
    if (!use->preset)
        return;
    if (!*use->preset)
        api__text_put(t, ",\"default\":null,\"derived\":true");
    else if (type == PE_TYPE_CHOICE)
        put_string(t, "default", use->preset);
    else
        api__text_print(t, ",\"default\":%s", use->preset);
}

static void put_param(struct api__text *t, struct place at, const struct pe_use *use)
{
    const struct pe_param_info *info = pe_param_info(use->param);
    char allowed[256];
    api__text_print(t, "{\"name\":\"%s\",\"type\":\"%s\",\"required\":%s", info->name,
                    type_name(info->type), use->required ? "true" : "false");
    if (use->unless != PE_PARAM_NONE)
        put_string(t, "unless", pe_param_info(use->unless)->name);
    put_default(t, use, info->type);
    if (info->type == PE_TYPE_CHOICE) {
        put_words(t, at, use->param);
    } else if (info->type != PE_TYPE_BOOL) {
        pe_param_allowed(at.kind, at.resource, use->param, allowed, sizeof allowed);
        put_string(t, "range", allowed);
    }
    put_string(t, "description", info->prose);
    api__text_put(t, "}");
}

/* Parameters under a rope_type; of another than the default one only those that the default lacks.
 */
static void put_params(struct api__text *t, struct place at, int rope_type)
{
    bool first = true;
    api__text_put(t, "\"parameters\":[");
    for (int p = 0; p < PE_PARAMS; p++) {
        const struct pe_use *use = pe_use(at.kind, at.resource, rope_type, (enum pe_param)p);
        if (!use || (rope_type != PE_ROPE_TYPE_DEFAULT &&
                     pe_use(at.kind, at.resource, PE_ROPE_TYPE_DEFAULT, (enum pe_param)p) == use))
            continue;
        api__text_put(t, first ? "" : ",");
        put_param(t, at, use);
        first = false;
    }
    api__text_put(t, "]");
}

static void put_rope_types(struct api__text *t, struct place at)
{
    if (!pe_use(at.kind, at.resource, PE_ROPE_TYPE_DEFAULT, PE_PARAM_ROPE_TYPE))
        return;
    const char *const *words = pe_param_info(PE_PARAM_ROPE_TYPE)->choices;
    const char *comma = "";
    api__text_put(t, ",\"rope_types\":{");
    for (int i = 0; words[i]; i++) {
        if (i == PE_ROPE_TYPE_DEFAULT ||
            !pe_choice_allowed(at.kind, at.resource, PE_PARAM_ROPE_TYPE, i))
            continue;
        api__text_print(t, "%s\"%s\":{", comma, words[i]);
        put_params(t, at, i);
        api__text_put(t, "}");
        comma = ",";
    }
    api__text_put(t, "}");
}

static void put_tensors(struct api__text *t, struct place at)
{
    static const struct {
        struct place at;
        const char *name, *shape, *when;
    } tensors[] = {
#define API_TENSOR(kind, resource, name, shape, when) \
    {{PE_KIND_##kind, PE_RESOURCE_##resource}, name, shape, when},
#include "tensors.def"
#undef API_TENSOR
    };
    const char *comma = "";
    api__text_put(t, ",\"tensors\":[");
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        if (tensors[i].at.kind != at.kind || tensors[i].at.resource != at.resource)
            continue;
        api__text_print(t, "%s{\"name\":\"%s\",\"shape\":\"%s\"", comma, tensors[i].name,
                        tensors[i].shape);
        if (*tensors[i].when)
            put_string(t, "when", tensors[i].when);
        api__text_put(t, "}");
        comma = ",";
    }
    api__text_put(t, "]");
}

static void put_place(struct api__text *t, struct place at)
{
    put_params(t, at, PE_ROPE_TYPE_DEFAULT);
    put_rope_types(t, at);
    put_tensors(t, at);
}

static void put_kind(struct api__text *t, enum pe_kind kind)
{
    const char *name = pe_kind_name(kind), *comma = "";
    api__text_print(t, "{\"name\":\"%s\",\"href\":\"/v1/tables/%s\"", name, name);
    put_string(t, "formula", pe_kind_formula(kind));
    api__text_put(t, ",");
    put_place(t, (struct place){kind, PE_RESOURCE_TABLE});
    api__text_put(t, ",\"beside\":{");
    for (int r = PE_RESOURCE_TABLE + 1; r < PE_RESOURCES; r++) {
        if (!pe_resource_exists(kind, (enum pe_resource)r))
            continue;
        api__text_print(t, "%s\"%s\":{", comma, pe_resource_name((enum pe_resource)r));
        put_place(t, (struct place){kind, (enum pe_resource)r});
        api__text_put(t, "}");
        comma = ",";
    }
    api__text_put(t, "}}");
}

static void put_options(struct api__text *t)
{
    static const struct {
        const char *name, *type, *values, *prose;
    } options[] = {
#define API_OPTION(id, name, type, values, prose) {name, type, values, prose},
#include "presentation.def"
#undef API_OPTION
    };
    api__text_put(t, "\"options\":[");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        api__text_print(t, "%s{\"name\":\"%s\",\"type\":\"%s\",\"required\":false", i ? "," : "",
                        options[i].name, options[i].type);
        if (*options[i].values)
            put_string(t, "range", options[i].values);
        put_string(t, "description", options[i].prose);
        api__text_put(t, "}");
    }
    api__text_put(t, "]");
}

bool api__kinds_page(struct api__call *call)
{
    struct api__text t;
    if (!api__no_params(call))
        return false;
    api__text_init(&t, call->arena, 48 * 1024);
    api__text_put(&t, "{\"kinds\":[");
    for (int k = 0; k < PE_KINDS; k++) {
        api__text_put(&t, k ? "," : "");
        put_kind(&t, (enum pe_kind)k);
    }
    api__text_put(&t, "],");
    put_options(&t);
    api__text_put(&t, "}\n");
    return api__document(call, "application/json", NULL, api__text_done(&t));
}
