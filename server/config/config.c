/* SPDX-License-Identifier: MIT
 *
 * config.c: options from flags, environment, file and defaults. One pass for each source, the
 * strongest first; a value is set once. Every refusal names the option, the value, its source and
 * what is right.
 */
#include "config.h"
#include "must.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A config file is small; what is larger is another file. */
#define CONFIG_FILE_LIMIT (1 << 20)

static const struct config_row rows[] = {
#define OPTION(id, name, env, key, type, lo, hi, preset, metavar, prose) \
    {name, env, key, VALUE_##type, lo, hi, preset, metavar, prose},
#include "options.def"
#undef OPTION
};

const struct config_row *config_row(enum config_option option)
{
    return &rows[option];
}

const char *config_source_name(enum config_source source)
{
    static const char *const names[] = {"default", "file", "environment", "flag"};
    return names[source];
}

uint64_t config_number(const struct config *c, enum config_option option)
{
    return c->value[option].number;
}

struct api_limits config_limits(const struct config *c)
{
    return (struct api_limits){.max_json_values = config_number(c, CONFIG_MAX_JSON_VALUES),
                               .max_layout_entries = config_number(c, CONFIG_MAX_LAYOUT_ENTRIES),
                               .max_layout_values = config_number(c, CONFIG_MAX_LAYOUT_VALUES),
                               .max_body = config_number(c, CONFIG_MAX_BODY),
                               .cache_size = config_number(c, CONFIG_CACHE_SIZE),
                               .max_connections = config_number(c, CONFIG_MAX_CONNECTIONS),
                               .max_connections_per_ip =
                                   config_number(c, CONFIG_MAX_CONNECTIONS_PER_IP)};
}

void config_free(struct config *c)
{
    for (size_t i = 0; i < CONFIG_OPTIONS; i++) {
        free(c->value[i].text);
        free(c->value[i].at);
    }
    memset(c, 0, sizeof *c);
}

static bool fail(struct config_error *e, enum config_exit code, const char *text)
{
    e->exit = code;
    snprintf(e->text, sizeof e->text, "%s", text);
    return false;
}

/* "cache-size: \"big\" (environment, POSENC_CACHE_SIZE) is not a size: ..." */
static bool refuse(struct config_error *e, enum config_option option, enum config_source source,
                   const char *value, const char *wrong)
{
    const struct config_row *r = &rows[option];
    const char *from = source == CONFIG_FLAG ? "--" : source == CONFIG_FILE ? "key " : "";
    const char *name = source == CONFIG_FLAG          ? r->name
                       : source == CONFIG_ENVIRONMENT ? r->env
                       : source == CONFIG_FILE        ? r->key
                                                      : "";
    e->exit = EXIT_CONFIG;
    snprintf(e->text, sizeof e->text, "%s: \"%.200s\" (%s%s%s%s) is not valid: it must be %s",
             r->name, value, config_source_name(source), *name ? ", " : "", from, name, wrong);
    return false;
}

static bool set_addresses(struct config_value *v, enum config_option option,
                          enum config_source source, const char *text, struct config_error *e)
{
    char *copy = strdup(text), *rest = copy, *item, wrong[160];
    bool good = copy != NULL || fail(e, EXIT_INTERNAL, "no memory");
    v->at = calloc(CONFIG_MAX_ADDRESSES, sizeof *v->at);
    good = good && (v->at || fail(e, EXIT_INTERNAL, "no memory"));
    while (good && *text && (item = strsep(&rest, ","))) {
        if (v->count >= (size_t)rows[option].hi) {
            snprintf(wrong, sizeof wrong, "%d addresses at most", (int)rows[option].hi);
            good = refuse(e, option, source, text, wrong);
        } else if (!value_address(item, &v->at[v->count], wrong)) {
            good = refuse(e, option, source, item, wrong);
        } else {
            v->count++;
        }
    }
    free(copy);
    return good;
}

/* Sets an option that no stronger source has set. */
static bool set(struct config *c, enum config_option option, enum config_source source,
                const char *text, struct config_error *e)
{
    struct config_value *v = &c->value[option];
    const struct config_row *r = &rows[option];
    char wrong[160] = "";
    if (v->text)
        return true;
    v->source = source;
    v->text = strdup(text);
    if (!v->text)
        return fail(e, EXIT_INTERNAL, "no memory");
    if (r->type == VALUE_ADDRESSES)
        return set_addresses(v, option, source, text, e);
    if (!strcmp(text, "cores") && source == CONFIG_DEFAULT) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        v->number = n < 1 ? 1 : n > r->hi ? (uint64_t)r->hi : (uint64_t)n;
        return true;
    }
    return value_number(r->type, text, r->lo, r->hi, &v->number, wrong) ||
           refuse(e, option, source, text, wrong);
}

static int option_named(const char *name, size_t len, bool key)
{
    for (int i = 0; i < CONFIG_OPTIONS; i++) {
        const char *n = key ? rows[i].key : rows[i].name;
        if (*n && strlen(n) == len && !strncmp(n, name, len))
            return i;
    }
    return -1;
}

static const char *nearest_option(const char *name, bool key)
{
    const char *names[CONFIG_OPTIONS + 1];
    size_t n = 0;
    for (int i = 0; i < CONFIG_OPTIONS; i++)
        if (!key || *rows[i].key)
            names[n++] = key ? rows[i].key : rows[i].name;
    names[n] = NULL;
    return value_nearest(name, names);
}

static bool unknown_flag(struct config_error *e, const char *flag, const char *next)
{
    char name[64], value[128] = "";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(flag + 2, "="), flag + 2);
    const char *near = nearest_option(name, false);
    if (next && *next != '-' && !strchr(flag, '='))
        snprintf(value, sizeof value, " %.100s", next);
    e->exit = EXIT_USAGE;
    snprintf(e->text, sizeof e->text,
             "unknown option %.200s%s%s%s; `posenc serve --help` lists them", flag, value,
             near ? ", did you mean --" : "", near ? near : "");
    return false;
}

/* A list given by a repeated flag is joined, and set by the last. */
static bool add_to_list(char **list, const char *item)
{
    char *joined = NULL;
    if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? "," : "", item) < 0)
        return false;
    free(*list);
    *list = joined;
    return true;
}

static bool read_flag(struct config *c, char **lists, int argc, char **argv, int *at,
                      struct config_error *e)
{
    char *flag = argv[*at];
    if (strncmp(flag, "--", 2) || !flag[2]) {
        e->exit = EXIT_USAGE;
        snprintf(e->text, sizeof e->text, "argument %.200s is one too many; options begin with --",
                 flag);
        return false;
    }
    size_t len = strcspn(flag + 2, "=");
    int option = option_named(flag + 2, len, false);
    if (option < 0)
        return unknown_flag(e, flag, *at + 1 < argc ? argv[*at + 1] : NULL);
    const char *value = flag[2 + len] ? flag + 3 + len : NULL;
    if (!value && ++*at < argc)
        value = argv[*at];
    if (!value) {
        e->exit = EXIT_USAGE;
        snprintf(e->text, sizeof e->text, "--%s needs a value: --%s %s", rows[option].name,
                 rows[option].name, rows[option].metavar);
        return false;
    }
    if (rows[option].type == VALUE_ADDRESSES && rows[option].hi > 1)
        return add_to_list(&lists[option], value) || fail(e, EXIT_INTERNAL, "no memory");
    if (c->value[option].text) {
        e->exit = EXIT_USAGE;
        snprintf(e->text, sizeof e->text, "--%s is given twice", rows[option].name);
        return false;
    }
    return set(c, (enum config_option)option, CONFIG_FLAG, value, e);
}

static bool read_flags(struct config *c, int argc, char **argv, bool *help, struct config_error *e)
{
    char *lists[CONFIG_OPTIONS] = {NULL};
    bool good = true;
    *help = false;
    for (int i = 0; i < argc; i++)
        *help |= !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h");
    for (int i = 0; good && !*help && i < argc; i++)
        good = read_flag(c, lists, argc, argv, &i, e);
    for (int i = 0; i < CONFIG_OPTIONS; i++) {
        if (good && lists[i])
            good = set(c, (enum config_option)i, CONFIG_FLAG, lists[i], e);
        free(lists[i]);
    }
    return good;
}

static bool read_environment(struct config *c, struct config_error *e)
{
    for (int i = 0; i < CONFIG_OPTIONS; i++) {
        const char *text = getenv(rows[i].env);
        if (text && !set(c, (enum config_option)i, CONFIG_ENVIRONMENT, text, e))
            return false;
    }
    return true;
}

/* A value of the file as text: a string as it is, an integer in digits, a list joined by commas. */
static char *file_text(const json_t *value)
{
    char *text = NULL;
    if (json_is_string(value))
        return strdup(json_string_value(value));
    if (json_is_integer(value))
        return asprintf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(value)) < 0 ? NULL
                                                                                       : text;
    if (!json_is_array(value))
        return NULL;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        if (!json_is_string(item) || !add_to_list(&text, json_string_value(item))) {
            free(text);
            return NULL;
        }
    }
    return text ? text : strdup("");
}

static bool read_members(struct config *c, json_t *root, struct config_error *e)
{
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        int option = option_named(key, strlen(key), true);
        if (option < 0) {
            const char *near = nearest_option(key, true);
            e->exit = EXIT_CONFIG;
            snprintf(e->text, sizeof e->text, "unknown key \"%.100s\" in %.200s%s%s", key,
                     c->value[CONFIG_CONFIG].text, near ? ", did you mean " : "", near ? near : "");
            return false;
        }
        char *text = file_text(value);
        bool good = text ? set(c, (enum config_option)option, CONFIG_FILE, text, e)
                         : refuse(e, (enum config_option)option, CONFIG_FILE, "?",
                                  "a string, an integer or a list of strings");
        free(text);
        if (!good)
            return false;
    }
    return true;
}

static bool read_file(struct config *c, struct config_error *e)
{
    const char *path = c->value[CONFIG_CONFIG].text;
    if (!path || !*path)
        return true;
    FILE *f = fopen(path, "re");
    char *text = f ? malloc(CONFIG_FILE_LIMIT) : NULL;
    size_t n = text ? fread(text, 1, CONFIG_FILE_LIMIT, f) : 0;
    bool good = f && text && !ferror(f) && n < CONFIG_FILE_LIMIT;
    json_error_t where;
    json_t *root = good ? json_loadb(text, n, JSON_REJECT_DUPLICATES, &where) : NULL;
    e->exit = EXIT_CONFIG;
    if (!good)
        snprintf(e->text, sizeof e->text, "config: \"%.200s\" (%s) cannot be read: %s", path,
                 config_source_name(c->value[CONFIG_CONFIG].source),
                 f ? "it is larger than 1MiB" : strerror(errno));
    else if (!root)
        snprintf(e->text, sizeof e->text, "config: %.200s, line %d: %.100s", path, where.line,
                 where.text);
    else if (!json_is_object(root))
        snprintf(e->text, sizeof e->text, "config: %.200s must be a JSON object", path);
    good = json_is_object(root) && read_members(c, root, e);
    json_decref(root);
    free(text);
    if (f)
        fclose(f);
    return good;
}

bool config_read(struct config *c, int argc, char **argv, bool *help, struct config_error *e)
{
    memset(c, 0, sizeof *c);
    if (!read_flags(c, argc, argv, help, e))
        return false;
    if (*help)
        return true;
    if (!read_environment(c, e) || !read_file(c, e))
        return false;
    for (int i = 0; i < CONFIG_OPTIONS; i++)
        if (!set(c, (enum config_option)i, CONFIG_DEFAULT, rows[i].preset, e))
            return false;
    if (!c->value[CONFIG_LISTEN].count)
        return refuse(e, CONFIG_LISTEN, c->value[CONFIG_LISTEN].source, "",
                      "an address, such as 127.0.0.1:8080");
    return true;
}

bool config_reread_level(const struct config *c, uint64_t *level, struct config_error *e)
{
    struct config now;
    memset(&now, 0, sizeof now);
    for (int i = 0; i < CONFIG_OPTIONS; i++)
        if (c->value[i].source == CONFIG_FLAG &&
            !set(&now, (enum config_option)i, CONFIG_FLAG, c->value[i].text, e))
            goto not_read;
    if (!read_environment(&now, e) || !read_file(&now, e) ||
        !set(&now, CONFIG_LOG_LEVEL, CONFIG_DEFAULT, rows[CONFIG_LOG_LEVEL].preset, e))
        goto not_read;
    *level = now.value[CONFIG_LOG_LEVEL].number;
    config_free(&now);
    return true;
not_read:
    config_free(&now);
    return false;
}
