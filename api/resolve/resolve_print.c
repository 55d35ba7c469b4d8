/* SPDX-License-Identifier: MIT
 *
 * resolve_print.c: see resolve_print.h. Parameters are spelled as in the canonical text of the
 * spec. Links ask for safetensors, which carries every table, of any length.
 */
#include "resolve_print.h"

#include <string.h>

struct shown {
    const char *name, *value;
    size_t name_len, value_len;
    enum pe_param param;
};

/* The next parameter that stands in the canonical text and was chosen: what follows from the
 * others, and defaults, would only make links long. False at the end. */
static bool next_shown(const struct pe_spec *spec, const char **at, struct shown *out)
{
    for (const char *p = *at; *p;) {
        size_t name = strcspn(p, "="), pair = strcspn(p, "&");
        int param = pe_param_find(p, name);
        *out = (struct shown){p, p + name + 1, name, pair - name - 1, (enum pe_param)param};
        *at = p += pair + (p[pair] == '&');
        if (param >= 0 && api__given(spec, (enum pe_param)param))
            return true;
    }
    return false;
}

static const char *canonical(struct api__arena *arena, const struct pe_spec *spec)
{
    size_t len = pe_spec_text(spec, NULL, 0);
    char *text = api__arena_take(arena, len + 1);
    pe_spec_text(spec, text, len + 1);
    return text;
}

const char *api__group_href(struct api__arena *arena, const struct api__group *group)
{
    struct api__text out;
    struct shown shown;
    if (group->kind != API__GROUP_TABLE)
        return NULL;
    api__text_init(&out, arena, 128);
    api__text_print(&out, "/v1/tables/%s.safetensors", pe_kind_name(group->spec.kind));
    const char *at = canonical(arena, &group->spec), *separator = "?";
    for (; next_shown(&group->spec, &at, &shown); separator = "&") {
        api__text_put(&out, separator);
        api__text_add(&out, shown.name, shown.name_len);
        api__text_put(&out, "=");
        api__text_query(&out, shown.value, shown.value_len);
    }
    return api__text_done(&out).at;
}

/* How many rows, and which: no part of what the model is. */
static bool is_readers_choice(enum pe_param param)
{
    return param == PE_PARAM_LENGTH || param == PE_PARAM_QUERIES;
}

static void print_value(struct api__text *out, enum pe_type type, const char *value, size_t len)
{
    bool list = type == PE_TYPE_INTS || type == PE_TYPE_REALS;
    if (type == PE_TYPE_CHOICE) {
        api__text_json(out, value, len);
        return;
    }
    api__text_put(out, list ? "[" : "");
    api__text_add(out, value, len);
    api__text_put(out, list ? "]" : "");
}

static void print_parameters(struct api__text *out, const struct api__group *group)
{
    if (group->kind == API__GROUP_LEARNED)
        api__text_print(out, "\"rows\":%lld,\"width\":%lld,\"start\":%lld", (long long)group->rows,
                        (long long)group->width, (long long)group->start);
    if (group->kind != API__GROUP_TABLE)
        return;
    const char *at = canonical(out->arena, &group->spec), *separator = "";
    struct shown shown;
    while (next_shown(&group->spec, &at, &shown)) {
        if (is_readers_choice(shown.param))
            continue;
        api__text_put(out, separator);
        api__text_json(out, shown.name, shown.name_len);
        api__text_put(out, ":");
        print_value(out, pe_param_info(shown.param)->type, shown.value, shown.value_len);
        separator = ",";
    }
}

static void print_notes(struct api__text *out, const struct api__notes *notes,
                        const char *separator)
{
    for (const struct api__note *n = notes->first; n; n = n->next, separator = ",") {
        api__text_print(out, "%s{\"key\":", separator);
        if (n->key)
            api__text_json(out, n->key, strlen(n->key));
        else
            api__text_put(out, "null");
        api__text_print(out, ",\"status\":\"%s\",\"detail\":", n->status);
        api__text_json(out, n->text, strlen(n->text));
        api__text_put(out, "}");
    }
}

static void print_layers(struct api__text *out, const struct api__group *group, int64_t total)
{
    const char *separator = "";
    if (group->layers > 0)
        total = group->layers;
    if (!group->mask) {
        api__text_put(out, "\"all\"");
        return;
    }
    api__text_put(out, "[");
    for (int64_t i = 0; i < total; i++) {
        if (!group->mask[i])
            continue;
        api__text_print(out, "%s%lld", separator, (long long)i);
        separator = ",";
    }
    api__text_put(out, "]");
}

static const char *kind_name(const struct api__group *group)
{
    static const char *const names[] = {[API__GROUP_NONE] = "none",
                                        [API__GROUP_LEARNED] = "learned",
                                        [API__GROUP_UNSUPPORTED] = "unsupported"};
    return group->kind == API__GROUP_TABLE ? pe_kind_name(group->spec.kind) : names[group->kind];
}

static void print_group(struct api__text *out, const struct api__group *group, int64_t total)
{
    const char *href = api__group_href(out->arena, group);
    api__text_put(out, "{\"name\":");
    api__text_json(out, group->name, strlen(group->name));
    api__text_put(out, ",\"layers\":");
    print_layers(out, group, total);
    api__text_print(out, ",\"kind\":\"%s\",\"parameters\":{", kind_name(group));
    print_parameters(out, group);
    api__text_put(out, "},\"href\":");
    if (href)
        api__text_json(out, href, strlen(href));
    else
        api__text_put(out, "null");
    api__text_put(out, ",\"warnings\":[");
    print_notes(out, &group->notes, "");
    api__text_put(out, "]}");
}

struct api_bytes api__print_groups(const struct api__config *config,
                                   const struct api__groups *groups)
{
    struct api__text out;
    api__text_init(&out, config->call->arena, 1024);
    api__text_put(&out, "{\"groups\":[");
    for (size_t i = 0; i < groups->count; i++) {
        api__text_put(&out, i ? "," : "");
        print_group(&out, &groups->at[i], groups->total);
    }
    api__text_put(&out, "],\"warnings\":[");
    print_notes(&out, &config->notes, "");
    api__text_put(&out, "]}\n");
    return api__text_done(&out);
}

const char *api__print_warnings(const struct api__config *config, const struct api__groups *groups)
{
    struct api__text out;
    api__text_init(&out, config->call->arena, 256);
    print_notes(&out, &config->notes, "");
    for (size_t i = 0; i < groups->count; i++)
        print_notes(&out, &groups->at[i].notes, out.len ? "," : "");
    if (!out.len)
        return NULL;
    return api__format_text(config->call->arena, "\"warnings\":[%s]", api__text_done(&out).at);
}
