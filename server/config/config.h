/* SPDX-License-Identifier: MIT
 *
 * config.h: the options of `posenc serve` and where their values came from. A flag beats the
 * environment, that beats the file of --config, that beats the default, and each replaces what it
 * beats, lists too.
 */
#ifndef SERVER_CONFIG_H
#define SERVER_CONFIG_H

#include "api.h"
#include "value.h"

enum config_option {
#define OPTION(id, name, env, key, type, lo, hi, preset, metavar, prose) CONFIG_##id,
#include "options.def"
#undef OPTION
    CONFIG_OPTIONS
};

/* Exit codes of the program: those of sysexits.h. */
enum config_exit { EXIT_USAGE = 64, EXIT_BIND = 69, EXIT_INTERNAL = 70, EXIT_CONFIG = 78 };

enum config_source { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_ENVIRONMENT, CONFIG_FLAG };

struct config_row {
    const char *name, *env, *key;
    enum value_type type;
    int64_t lo, hi;
    const char *preset, *metavar, *prose;
};

#define CONFIG_MAX_ADDRESSES 32

struct config_value {
    enum config_source source;
    char *text;      /* as given; lists joined by ',' */
    uint64_t number; /* of counts, sizes (bytes), durations (ms) and words */
    struct value_address *at;
    size_t count; /* of addresses */
};

struct config {
    struct config_value value[CONFIG_OPTIONS];
};

struct config_error {
    enum config_exit exit;
    char text[1024];
};

/* Static. */
const struct config_row *config_row(enum config_option);
const char *config_source_name(enum config_source);

/* Reads flags (argv after the command), the environment, the file, the defaults. False on the first
 * thing that is wrong: `error` then holds the exit code and a line that names option, value, source
 * and the nearest valid. `help` is set where --help stands among the flags, and then nothing else
 * is read. The config is released by config_free in either case. */
bool config_read(struct config *, int argc, char **argv, bool *help, struct config_error *error);
void config_free(struct config *);

uint64_t config_number(const struct config *, enum config_option);
struct api_limits config_limits(const struct config *);

/* The file and the environment once more: the log level that they say now, for SIGHUP. False where
 * they cannot be read, with a line in `error`. Flags of the start go on beating both. */
bool config_reread_level(const struct config *, uint64_t *level, struct config_error *error);

#endif
