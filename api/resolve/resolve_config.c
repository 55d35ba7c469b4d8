/* SPDX-License-Identifier: MIT
 *
 * resolve_config.c: see resolve_config.h. The order of facts does not depend on the order of keys.
 */
#include "resolve_config.h"
#include "request/json.h"
#include "resolve_members.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* No config has as many keys about its layers; each is compared with every spelling. */
#define MOST_KEYS 2048

static bool read_part(struct api__config *config, struct api_bytes object, bool whole,
                      struct api__members *out)
{
    if (!api__read_members(config->call, object, whole, out))
        return false;
    config->keys += out->count;
    return config->keys <= MOST_KEYS ||
           api__refuse(config->call, API__TOO_LARGE,
                       "a config may have %d keys at most in the objects that are read", MOST_KEYS);
}

static const char *text_of(struct api__config *config, const struct api__members *members,
                           const char *name)
{
    const struct api__member *m = api__find_member(members, name);
    struct api_bytes text;
    if (!m || !api__json_string(config->call->arena, m->value, &text))
        return "";
    return api__arena_copy(config->call->arena, text.at, text.len);
}

/* ---------------------------------------------------------------- facts */

static void add_fact(struct api__config *config, struct api__fact fact)
{
    if (config->count == config->room) {
        config->room = config->room ? 2 * config->room : 32;
        struct api__fact *more = api__arena_array(config->call->arena, config->room, sizeof fact);
        if (config->count)
            memcpy(more, config->facts, config->count * sizeof fact);
        config->facts = more;
    }
    config->facts[config->count++] = fact;
}

/* Where a group of members stands. */
struct site {
    const char *prefix; /* "text_config." */
    enum api__place place;
    const char *scope;
};

/* One key: a fact where it is known, where it is near to a known one, where it sounds like
 * positions, or where it stands in a block, which holds nothing else. `name` is the key as the
 * tables spell it. */
static void read_key(struct api__config *config, struct site site, const struct api__member *m,
                     struct api_bytes name)
{
    struct api__arena *arena = config->call->arena;
    unsigned places = api__side(site.place);
    const struct api__key *key = api__find_key(config->dialect, places, name);
    struct api__fact fact = {.value = m->value, .place = site.place, .scope = site.scope};
    if (api__kind_of(m->value) == 'n' || (key && key->meaning == API__MEANS_NOTHING))
        return;
    fact.path = api__format_text(arena, "%s%s", site.prefix, api__shown(arena, m->name));
    if (key) {
        fact.meaning = key->meaning;
        fact.row = api__row_of(key);
    } else {
        const struct api__key *near = api__near_key(config->dialect, places, name);
        if (!near && places == API__OUTSIDE && !api__sounds_positional(name))
            return;
        fact.meaning = API__MEANS_UNKNOWN;
        fact.near = near ? near->spelling : NULL;
        fact.near_meaning = near ? near->meaning : API__MEANS_UNKNOWN;
    }
    add_fact(config, fact);
}

static void add_scope(struct api__config *config, struct api__scope scope)
{
    if (config->scope_count == config->scope_room) {
        config->scope_room = config->scope_room ? 2 * config->scope_room : 8;
        struct api__scope *more =
            api__arena_array(config->call->arena, config->scope_room, sizeof scope);
        if (config->scope_count)
            memcpy(more, config->scopes, config->scope_count * sizeof scope);
        config->scopes = more;
    }
    config->scopes[config->scope_count++] = scope;
}

/* rope_parameters or rope_scaling: settings, or one object of settings for each layer type. */
static bool read_block(struct api__config *config, struct site site,
                       const struct api__member *block)
{
    struct api__arena *arena = config->call->arena;
    const char *prefix =
        api__format_text(arena, "%s%s.", site.prefix, api__shown(arena, block->name));
    enum api__place place = site.place == API__AT_ROOT ? API__IN_ROOT_BLOCK : API__IN_BLOCK;
    struct api__members members, entry;
    bool nested = false;
    if (!read_part(config, block->value, false, &members))
        return false;
    for (size_t i = 0; i < members.count; i++)
        nested |= api__kind_of(members.at[i].value) == '{';
    for (size_t i = 0; i < members.count; i++) {
        const struct api__member *m = &members.at[i];
        bool none = nested && api__kind_of(m->value) == 'n' &&
                    !api__find_key(config->dialect, API__INSIDE, m->name);
        if (api__kind_of(m->value) != '{' && !none) {
            read_key(config, (struct site){prefix, place, NULL}, m, m->name);
            continue;
        }
        const char *name = api__shown(arena, m->name);
        const char *path = api__format_text(arena, "%s%s", prefix, name);
        add_scope(config, (struct api__scope){.name = name, .path = path, .none = none});
        if (none)
            continue;
        if (!read_part(config, m->value, false, &entry))
            return false;
        struct site inside = {api__format_text(arena, "%s.", path), API__IN_ENTRY, name};
        for (size_t k = 0; k < entry.count; k++)
            read_key(config, inside, &entry.at[k], entry.at[k].name);
    }
    return true;
}

/* ---------------------------------------------------------------- dialects */

static bool ends_with(struct api_bytes name, const char *end)
{
    size_t len = strlen(end);
    return name.len > len && memcmp(name.at + name.len - len, end, len) == 0;
}

static bool starts_with(struct api_bytes name, const char *start, size_t len)
{
    return name.len >= len && memcmp(name.at, start, len) == 0;
}

static const char *const text_parts[] = {"text_config", "language_config", "llm_config"};

/* Objects of a config that are about something else than its layers. */
static bool is_other_part(const struct api__member *m)
{
    static const char *const silent[] = {"quantization_config", "generation_config",
                                         "compression_config"};
    for (size_t i = 0; i < COUNT(silent); i++)
        if (api__equal(m->name, silent[i]))
            return false;
    for (size_t i = 0; i < COUNT(text_parts); i++)
        if (api__equal(m->name, text_parts[i]))
            return false;
    return api__kind_of(m->value) == '{' && ends_with(m->name, "_config");
}

static bool read_hf(struct api__config *config, struct site site,
                    const struct api__members *members)
{
    struct api__arena *arena = config->call->arena;
    struct api__members inner;
    for (size_t i = 0; i < members->count; i++) {
        const struct api__member *m = &members->at[i];
        const struct api__key *key = api__find_key(config->dialect, API__OUTSIDE, m->name);
        if (key && key->meaning == API__MEANS_BLOCK && api__kind_of(m->value) == '{') {
            if (!read_block(config, site, m))
                return false;
        } else if (api__equal(m->name, "attn_config") && api__kind_of(m->value) == '{') {
            if (!read_part(config, m->value, false, &inner))
                return false;
            struct site inside = {api__format_text(arena, "%sattn_config.", site.prefix),
                                  site.place, NULL};
            for (size_t k = 0; k < inner.count; k++)
                read_key(config, inside, &inner.at[k], inner.at[k].name);
        } else if (!key && is_other_part(m)) {
            api__note(arena, &config->notes,
                      api__format_text(arena, "%s%s", site.prefix, api__shown(arena, m->name)),
                      "ignored",
                      "%s describes another part of the model; send it by itself to resolve it",
                      api__shown(arena, m->name));
        } else {
            read_key(config, site, m, m->name);
        }
    }
    return true;
}

static void read_gguf(struct api__config *config, const struct api__members *members)
{
    size_t prefix = strlen(config->family) + 1;
    struct site site = {"", API__AT_TOP, NULL};
    for (size_t i = 0; i < members->count; i++) {
        const struct api__member *m = &members->at[i];
        const char *dot = memchr(m->name.at, '.', m->name.len);
        if (!dot || starts_with(m->name, "general.", 8) || starts_with(m->name, "tokenizer.", 10))
            continue;
        size_t head = (size_t)(dot + 1 - m->name.at);
        struct api_bytes name = {dot + 1, m->name.len - head};
        if (head == prefix && starts_with(m->name, config->family, prefix - 1)) {
            read_key(config, site, m, name);
            continue;
        }
        const struct api__key *key = api__find_key(API__GGUF, API__OUTSIDE, name);
        if (!key || key->meaning == API__MEANS_NOTHING || api__kind_of(m->value) == 'n')
            continue;
        struct api__fact fact = {.path = api__shown(config->call->arena, m->name),
                                 .value = m->value,
                                 .meaning = API__MEANS_UNKNOWN,
                                 .place = API__AT_TOP};
        fact.near = api__format_text(config->call->arena, "%s.%s", config->family, key->spelling);
        fact.near_meaning = key->meaning;
        add_fact(config, fact);
    }
}

/* Flags as they stand on a command line, or with underscores. */
static void read_megatron(struct api__config *config, const struct api__members *members)
{
    struct site site = {"", API__AT_TOP, NULL};
    for (size_t i = 0; i < members->count; i++) {
        struct api_bytes name = members->at[i].name;
        if (starts_with(name, "--", 2))
            name = (struct api_bytes){name.at + 2, name.len - 2};
        char *plain = api__arena_copy(config->call->arena, name.at, name.len);
        for (size_t k = 0; k < name.len; k++)
            if (plain[k] == '-')
                plain[k] = '_';
        read_key(config, site, &members->at[i], (struct api_bytes){plain, name.len});
    }
}

static enum api__dialect dialect_of(const struct api__members *members)
{
    static const char *const flags[] = {"position_embedding_type", "rotary_base", "rotary_percent",
                                        "use_rope_scaling", "rotary_seq_len_interpolation_factor"};
    if (api__find_member(members, "general.architecture"))
        return API__GGUF;
    if (api__find_member(members, "model_type"))
        return API__HF;
    if (api__find_member(members, "_class_name"))
        return API__DIFFUSERS;
    for (size_t i = 0; i < members->count; i++)
        if (starts_with(members->at[i].name, "--", 2))
            return API__MEGATRON;
    for (size_t i = 0; i < COUNT(flags); i++)
        if (api__find_member(members, flags[i]))
            return API__MEGATRON;
    return API__HF;
}

static bool read_nested(struct api__config *config, const struct api__members *root)
{
    struct api__members text;
    const struct api__member *part = NULL;
    for (size_t i = 0; i < COUNT(text_parts) && !part; i++)
        part = api__find_member(root, text_parts[i]);
    config->outer = config->family = text_of(config, root, "model_type");
    if (!part || api__kind_of(part->value) != '{')
        return read_hf(config, (struct site){"", API__AT_TOP, NULL}, root);
    if (!read_part(config, part->value, false, &text))
        return false;
    if (*text_of(config, &text, "model_type"))
        config->family = text_of(config, &text, "model_type");
    const char *prefix =
        api__format_text(config->call->arena, "%.*s.", (int)part->name.len, part->name.at);
    return read_hf(config, (struct site){prefix, API__AT_TOP, NULL}, &text) &&
           read_hf(config, (struct site){"", API__AT_ROOT, NULL}, root);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct api__fact *)a)->path, ((const struct api__fact *)b)->path);
}

bool api__config_read(struct api__call *call, struct api__config *config)
{
    struct api__members root;
    *config = (struct api__config){.call = call, .dialect = API__HF, .family = "", .outer = ""};
    if (!read_part(config, call->request->body, true, &root))
        return false;
    for (size_t i = 0; i < root.count; i++)
        if (!api__check_inside(call, root.at[i].value))
            return false;
    config->dialect = dialect_of(&root);
    if (config->dialect == API__HF && !read_nested(config, &root))
        return false;
    if (config->dialect == API__GGUF) {
        config->family = text_of(config, &root, "general.architecture");
        read_gguf(config, &root);
    } else if (config->dialect == API__MEGATRON) {
        read_megatron(config, &root);
    } else if (config->dialect == API__DIFFUSERS) {
        config->family = text_of(config, &root, "_class_name");
        for (size_t i = 0; i < root.count; i++)
            read_key(config, (struct site){"", API__AT_TOP, NULL}, &root.at[i], root.at[i].name);
    }
    if (config->count)
        qsort(config->facts, config->count, sizeof *config->facts, by_path);
    return true;
}
