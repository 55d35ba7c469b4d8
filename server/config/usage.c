/* SPDX-License-Identifier: MIT
 *
 * usage.c: help and manual page, both from commands.def and options.def.
 */
#include "commands.h"
#include "config.h"

#include <string.h>

struct command {
    const char *name, *arguments, *prose;
};

static const struct command commands[] = {
#define COMMAND(name, arguments, prose) {name, arguments, prose},
#include "commands.def"
#undef COMMAND
};

const char *const usage_commands[] = {
#define COMMAND(name, arguments, prose) name,
#include "commands.def"
#undef COMMAND
    NULL};

#define COMMANDS (sizeof commands / sizeof *commands)

void usage_program(FILE *f)
{
    fprintf(f, "posenc %s: position tables for transformers, correctly rounded, over HTTP\n\n",
            PE_VERSION);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(f, "  posenc %s %s\n      %s\n", commands[i].name, commands[i].arguments,
                commands[i].prose);
    fprintf(f, "\n`posenc serve --help` lists the options of serve.\n");
}

void usage_serve(FILE *f)
{
    fprintf(f, "posenc serve [OPTION...]: serves until SIGTERM\n\n");
    for (enum config_option i = 0; i < CONFIG_OPTIONS; i++) {
        const struct config_row *r = config_row(i);
        fprintf(f, "  --%s %s\n      %s\n      environment %s%s%s; default %s\n", r->name,
                r->metavar, r->prose, r->env, *r->key ? ", key " : "", r->key,
                *r->preset ? r->preset : "none");
    }
    fprintf(f, "\nSizes take KiB, MiB, GiB; times take ms, s, m. A flag beats the environment, "
               "that beats the file of\n"
               "--config, that beats the default. In the environment several addresses are "
               "separated by commas.\n"
               "Exit codes: 0 ok, 64 usage, 69 cannot listen, 70 internal, 78 configuration.\n");
}

/* A leading dot or quote would be a request, a dash a hyphen. */
static void roff(FILE *f, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", f);
    for (; *text; text++) {
        if (*text == '-')
            fputs("\\-", f);
        else if (*text == '\\')
            fputs("\\e", f);
        else
            fputc(*text, f);
    }
}

static void roff_line(FILE *f, const char *before, const char *text, const char *after)
{
    fputs(before, f);
    roff(f, text);
    fputs(after, f);
}

static void man_options(FILE *f)
{
    fputs(".SH OPTIONS OF SERVE\n", f);
    for (enum config_option i = 0; i < CONFIG_OPTIONS; i++) {
        const struct config_row *r = config_row(i);
        roff_line(f, ".TP\n\\fB\\-\\-", r->name, "\\fR ");
        roff_line(f, "\\fI", r->metavar, "\\fR\n");
        roff_line(f, "", r->prose, ".\n");
        roff_line(f, "Environment \\fB", r->env, "\\fR");
        if (*r->key)
            roff_line(f, ", key \\fB", r->key, "\\fR");
        roff_line(f, "; default ", *r->preset ? r->preset : "none", ".\n");
    }
}

void usage_man(FILE *f)
{
    fprintf(f, ".TH POSENC 1 \"\" \"posenc %s\" \"User Commands\"\n.SH NAME\n", PE_VERSION);
    fputs(
        "posenc \\- position tables for transformers, correctly rounded, over HTTP\n.SH SYNOPSIS\n",
        f);
    for (size_t i = 0; i < COMMANDS; i++) {
        roff_line(f, "\\fBposenc ", commands[i].name, "\\fR ");
        roff_line(f, "", commands[i].arguments, i + 1 < COMMANDS ? "\n.br\n" : "\n");
    }
    fputs(".SH COMMANDS\n", f);
    for (size_t i = 0; i < COMMANDS; i++) {
        roff_line(f, ".TP\n\\fB", commands[i].name, "\\fR\n");
        roff_line(f, "", commands[i].prose, ".\n");
    }
    man_options(f);
    fputs("A flag beats the environment, that beats the file of \\fB\\-\\-config\\fR (a JSON "
          "object), that beats the\n"
          "default. Sizes take KiB, MiB, GiB; times take ms, s, m.\n"
          ".SH SIGNALS\n.TP\n\\fBSIGTERM\\fR, \\fBSIGINT\\fR\n"
          "/readyz is 503 at once; after \\-\\-drain\\-delay no connections are accepted and "
          "answers under way have\n"
          "\\-\\-drain\\-timeout to finish. A second one ends at once.\n"
          ".TP\n\\fBSIGHUP\\fR\nReads the log level from the environment and the file again.\n"
          ".SH EXIT STATUS\n0 ok, 64 usage, 69 cannot listen, 70 internal, 78 configuration.\n",
          f);
}
