/* SPDX-License-Identifier: MIT
 *
 * get.c: `posenc get`: the request that a client would send, answered here and written to a file.
 * The bytes are those that the daemon serves, because the same rooms make them.
 */
#include "config/commands.h"
#include "config/config.h"
#include "answer/stream.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define PIECE (256 << 10)

struct get {
    FILE *target; /* of `text` */
    char *text;
    size_t length;
    const char *kind, *output;
    bool format;
};

static int usage(const char *what, const char *name)
{
    fprintf(stderr, "posenc get: %s%s%s\n", name, *name ? ": " : "", what);
    return EXIT_USAGE;
}

/* Percent-encodes what is not unreserved (RFC 3986, 2.3); a slash and a dot may stand in a kind. */
static void put_encoded(FILE *f, const char *text, const char *plain)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    strchr("-_.~", c) || strchr(plain, c);
        fprintf(f, safe ? "%c" : "%%%02X", c);
    }
}

/* --rope-type is rope_type. */
static void put_name(FILE *f, const char *name, size_t len)
{
    char copy[128];
    snprintf(copy, sizeof copy, "%.*s", (int)len, name);
    for (char *p = copy; *p; p++)
        *p = *p == '-' ? '_' : *p;
    put_encoded(f, copy, "");
}

static int read_option(struct get *g, int argc, char **argv, int *at, bool *first)
{
    char *flag = argv[*at];
    bool is_output = !strcmp(flag, "-o") || !strcmp(flag, "--output");
    if (!is_output && (strncmp(flag, "--", 2) || !flag[2]))
        return usage("is one argument too many; parameters are written --name value", flag);
    size_t len = is_output ? strlen(flag) : 2 + strcspn(flag + 2, "=");
    const char *value = flag[len] ? flag + len + 1 : ++*at < argc ? argv[*at] : NULL;
    if (!value)
        return usage("needs a value", flag);
    if (is_output) {
        g->output = value;
        return 0;
    }
    g->format |= !strncmp(flag, "--format", len) && len == 8;
    fputc(*first ? '?' : '&', g->target);
    *first = false;
    put_name(g->target, flag + 2, len - 2);
    fputc('=', g->target);
    put_encoded(g->target, value, ",");
    return 0;
}

/* The extension of the output names the format, unless --format or the kind does. */
static const char *extension(const struct get *g)
{
    const char *name = g->output ? strrchr(g->output, '/') : NULL;
    name = name ? name + 1 : g->output;
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && dot > name && !g->format && !strchr(g->kind, '.') ? dot : "";
}

static int read_arguments(struct get *g, int argc, char **argv)
{
    bool first = true;
    if (argc < 1 || argv[0][0] == '-')
        return usage("a kind comes first, such as rope or sinusoidal", "");
    g->kind = argv[0];
    struct get query = {.kind = g->kind};
    query.target = open_memstream(&query.text, &query.length);
    int code = query.target ? 0 : EXIT_INTERNAL;
    for (int i = 1; !code && i < argc; i++)
        code = read_option(&query, argc, argv, &i, &first);
    if (query.target && fclose(query.target))
        code = EXIT_INTERNAL;
    if (!code && (g->target = open_memstream(&g->text, &g->length))) {
        g->output = query.output;
        fputs("/v1/tables/", g->target);
        put_encoded(g->target, g->kind, "/");
        put_encoded(g->target, extension(&query), "");
        fputs(query.text, g->target);
        code = fclose(g->target) ? EXIT_INTERNAL : 0;
    }
    free(query.text);
    return code;
}

/* A problem document in words. */
static int tell(const struct api_plan *plan)
{
    json_t *root = json_loadb(plan->text.at ? plan->text.at : "", plan->text.len, 0, NULL);
    const char *detail = json_string_value(json_object_get(root, "detail"));
    const char *near = json_string_value(json_object_get(root, "did_you_mean"));
    fprintf(stderr, "posenc get: %s", detail ? detail : "this cannot be had");
    if (near && !(detail && strstr(detail, near)))
        fprintf(stderr, "; did you mean %s?", near);
    fputc('\n', stderr);
    json_decref(root);
    return plan->status >= 500 ? EXIT_INTERNAL : EXIT_USAGE;
}

static int write_table(FILE *f, struct order *order)
{
    struct plans *plans = plans_open(PIECE);
    struct shared_plan *plan = plans ? plans_get(plans, order) : NULL;
    struct stream *stream = plan ? stream_open(order, NULL, plan) : NULL;
    char *piece = stream ? malloc(PIECE) : NULL;
    ssize_t n = piece ? 1 : STREAM_BROKEN;
    while (n > 0 && !ferror(f)) {
        n = stream_read(stream, piece, PIECE);
        if (n > 0)
            fwrite(piece, 1, (size_t)n, f);
    }
    free(piece);
    if (!stream)
        plans_drop(&plan);
    stream_close(&stream);
    plans_close(&plans);
    return n == STREAM_END ? 0 : EXIT_INTERNAL;
}

static int write_out(const struct get *g, struct order *order)
{
    FILE *f = g->output ? fopen(g->output, "wbe") : stdout;
    if (!f) {
        fprintf(stderr, "posenc get: %s: %s\n", g->output, strerror(errno));
        return EXIT_INTERNAL;
    }
    const struct api_plan *plan = order->plan;
    int code = 0;
    if (plan->source == API_TABLE)
        code = write_table(f, order);
    else
        fwrite(plan->text.at ? plan->text.at : "", 1, plan->text.len, f);
    bool bad = ferror(f);
    if ((f == stdout ? fflush(f) : fclose(f)) || bad)
        code = EXIT_INTERNAL;
    if (code) {
        fprintf(stderr, "posenc get: %s cannot be written whole\n",
                g->output ? g->output : "the output");
        if (g->output)
            unlink(g->output);
    }
    return code;
}

int command_get(int argc, char **argv)
{
    struct get g = {.target = NULL};
    int code = read_arguments(&g, argc, argv);
    struct config defaults;
    struct config_error e;
    bool help = false;
    if (!code && !config_read(&defaults, 0, NULL, &help, &e)) {
        fprintf(stderr, "posenc get: %s\n", e.text);
        code = e.exit;
    }
    if (!code) {
        struct api_limits limits = config_limits(&defaults);
        struct api_request request = {
            .method = "GET", .target = {g.text, g.length}, .request_id = "get", .limits = &limits};
        struct api_plan *plan = api_plan(&request);
        struct order *order = order_take(&plan);
        code = !order                       ? EXIT_INTERNAL
               : order->plan->status >= 400 ? tell(order->plan)
                                            : write_out(&g, order);
        order_drop(&order);
        config_free(&defaults);
    }
    free(g.text);
    return code;
}
