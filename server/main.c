/* SPDX-License-Identifier: MIT
 *
 * main.c: the program: finds the command, runs it, and makes sure that what it printed was written.
 */
#include "config/commands.h"
#include "daemon.h"
#include "learned/learned_open.h"

#include <gmp.h>
#include <jansson.h>
#include <microhttpd.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <zlib.h>
#include <zstd.h>

static int complain(const struct config_error *e)
{
    fprintf(stderr, "posenc: %s\n", e->text);
    return e->exit;
}

static int serve(int argc, char **argv)
{
    struct config c;
    struct config_error e;
    bool help;
    int code = 0;
    if (!config_read(&c, argc, argv, &help, &e))
        code = complain(&e);
    else if (help)
        usage_serve(stdout);
    else
        code = daemon_run(&c);
    config_free(&c);
    return code;
}

static int check(int argc, char **argv)
{
    struct config c;
    struct config_error e;
    bool help;
    int code = 0;
    if (!config_read(&c, argc, argv, &help, &e))
        code = complain(&e);
    else if (help)
        usage_serve(stdout);
    else if (!learned_check(&c, &e))
        code = complain(&e);
    for (enum config_option i = 0; !code && !help && i < CONFIG_OPTIONS; i++)
        printf("%-24s %-24s %s\n", config_row(i)->name, *c.value[i].text ? c.value[i].text : "none",
               config_source_name(c.value[i].source));
    config_free(&c);
    return code;
}

int command_version(int argc, char **argv)
{
    if (argc > 1 || (argc == 1 && strcmp(argv[0], "--json"))) {
        fprintf(stderr, "posenc version: %.200s is not an option; there is --json\n",
                argv[argc - 1]);
        return EXIT_USAGE;
    }
    const char *form =
        argc ? "{\"version\":\"%s\",\"numerics_rev\":%d,\"instruction_set\":\"%s\",\"libraries\":{"
               "\"libmicrohttpd\":\"%s\",\"libuv\":\"%s\",\"jansson\":\"%s\",\"zlib\":\"%s\","
               "\"zstd\":\"%s\","
               "\"mpfr\":\"%s\",\"gmp\":\"%s\"}}\n"
             : "posenc %s, numerics revision %d, instruction set %s\n"
               "libmicrohttpd %s, libuv %s, jansson %s, zlib %s, zstd %s, mpfr %s, gmp %s\n";
    printf(form, PE_VERSION, PE_NUMERICS_REV, pe_instruction_set(), MHD_get_version(),
           uv_version_string(), jansson_version_str(), zlibVersion(), ZSTD_versionString(),
           mpfr_get_version(), gmp_version);
    return 0;
}

static int help(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    usage_program(stdout);
    return 0;
}

static int man(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    usage_man(stdout);
    return 0;
}

static int unknown(const char *name)
{
    const char *near = value_nearest(name, usage_commands);
    fprintf(stderr, "posenc: unknown command %.200s%s%s; the commands are", name,
            near ? ", did you mean " : "", near ? near : "");
    for (size_t i = 0; usage_commands[i]; i++)
        fprintf(stderr, "%s %s", i ? "," : "", usage_commands[i]);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } table[] = {{"serve", serve},
                 {"get", command_get},
                 {"check", check},
                 {"healthcheck", command_healthcheck},
                 {"version", command_version},
                 {"man", man},
                 {"help", help},
                 {"--help", help},
                 {"-h", help},
                 {"--version", command_version}};
    const char *name = argc > 1 ? argv[1] : "serve";
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].name))
            return table[i].run(argc > 2 ? argc - 2 : 0, argv + 2);
    return name[0] == '-' ? serve(argc - 1, argv + 1) : unknown(name);
}

int main(int argc, char **argv)
{
    int code = run(argc, argv);
    bool bad = ferror(stdout);
    if (fclose(stdout) || bad) {
        fprintf(stderr, "posenc: the output cannot be written\n");
        return code ? code : EXIT_INTERNAL;
    }
    return code;
}
