/* SPDX-License-Identifier: MIT
 *
 * learned_open.c: see learned_open.h.
 */
#include "learned_open.h"

#include <stdio.h>

static const char *path_of(const struct config *c, enum config_option option)
{
    const char *text = c->value[option].text;
    return text && *text ? text : NULL;
}

static bool refuse(const struct config *c, enum config_option option, const char *wrong,
                   struct config_error *e)
{
    const struct config_row *r = config_row(option);
    enum config_source source = c->value[option].source;
    const char *name = source == CONFIG_FLAG          ? r->name
                       : source == CONFIG_ENVIRONMENT ? r->env
                                                      : r->key;
    e->exit = EXIT_CONFIG;
    snprintf(e->text, sizeof e->text, "%s: \"%.400s\" (%s, %s%s) cannot be used: %.300s", r->name,
             c->value[option].text, config_source_name(source), source == CONFIG_FLAG ? "--" : "",
             name, wrong);
    return false;
}

static bool no_memory(struct config_error *e)
{
    e->exit = EXIT_INTERNAL;
    snprintf(e->text, sizeof e->text, "there is no memory");
    return false;
}

static bool read_tokens(const struct config *c, struct tokens **tokens, struct config_error *e)
{
    char wrong[300];
    *tokens = NULL;
    return tokens_read(path_of(c, CONFIG_AUTH_TOKEN_FILE), tokens, wrong, sizeof wrong) ||
           refuse(c, CONFIG_AUTH_TOKEN_FILE, wrong, e);
}

bool learned_open(const struct config *c, struct tokens_box **box, struct store **store,
                  struct config_error *e)
{
    struct tokens *tokens;
    char wrong[300];
    if (path_of(c, CONFIG_AUTH_TOKEN_FILE)) {
        if (!read_tokens(c, &tokens, e))
            return false;
        *box = tokens_box_open(&tokens);
        tokens_close(&tokens);
        if (!*box)
            return no_memory(e);
    }
    const char *folder = path_of(c, CONFIG_STATE_DIR);
    return !folder || store_open(folder, store, wrong, sizeof wrong) ||
           refuse(c, CONFIG_STATE_DIR, wrong, e);
}

bool learned_check(const struct config *c, struct config_error *e)
{
    struct tokens *tokens = NULL;
    char wrong[300];
    bool good = !path_of(c, CONFIG_AUTH_TOKEN_FILE) || read_tokens(c, &tokens, e);
    tokens_close(&tokens);
    const char *folder = path_of(c, CONFIG_STATE_DIR);
    return good && (!folder || store_files_possible(folder, wrong, sizeof wrong) ||
                    refuse(c, CONFIG_STATE_DIR, wrong, e));
}

bool learned_reread(const struct config *c, struct tokens_box *box, struct config_error *e)
{
    struct tokens *tokens;
    if (!read_tokens(c, &tokens, e))
        return false;
    tokens_box_put(box, &tokens);
    return true;
}
