/* SPDX-License-Identifier: MIT
 *
 * test_server_config.c: which source of an option wins, and how each refusal names it.
 */
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ARGUMENTS(...)    \
    (char *[])            \
    {                     \
        __VA_ARGS__, NULL \
    }

static int count(char **argv)
{
    int n = 0;
    while (argv[n])
        n++;
    return n;
}

static bool read_all(struct config *c, char **argv, struct config_error *e)
{
    bool help;
    memset(e, 0, sizeof *e);
    return config_read(c, count(argv), argv, &help, e);
}

static int clean(void **state)
{
    (void)state;
    for (enum config_option i = 0; i < CONFIG_OPTIONS; i++)
        unsetenv(config_row(i)->env);
    return 0;
}

static char *file_with(const char *text)
{
    static char path[] = "/tmp/posenc-config-XXXXXX";
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static void defaults_hold(void **state)
{
    struct config c;
    struct config_error e;
    (void)state;
    assert_true(read_all(&c, ARGUMENTS(NULL), &e));
    assert_int_equal(config_number(&c, CONFIG_CACHE_SIZE), UINT64_C(512) << 20);
    assert_int_equal(config_number(&c, CONFIG_IDLE_TIMEOUT), 60000);
    assert_true(config_number(&c, CONFIG_THREADS) >= 1);
    assert_int_equal(c.value[CONFIG_LISTEN].count, 1);
    assert_int_equal(c.value[CONFIG_HEALTH_LISTEN].count, 0);
    assert_int_equal(c.value[CONFIG_CACHE_SIZE].source, CONFIG_DEFAULT);
    struct api_limits limits = config_limits(&c);
    assert_int_equal(limits.max_json_values, 4194304);
    config_free(&c);
}

static void stronger_sources_win(void **state)
{
    struct config c;
    struct config_error e;
    char *path = file_with("{\"threads\":3,\"cache_size\":\"1MiB\",\"idle_timeout\":\"7s\","
                           "\"listen\":[\"127.0.0.1:1\"]}");
    (void)state;
    setenv("POSENC_CONFIG", path, 1);
    setenv("POSENC_CACHE_SIZE", "2MiB", 1);
    setenv("POSENC_THREADS", "4", 1);
    assert_true(read_all(&c, ARGUMENTS("--threads", "5"), &e));
    assert_int_equal(config_number(&c, CONFIG_THREADS), 5);
    assert_int_equal(c.value[CONFIG_THREADS].source, CONFIG_FLAG);
    assert_int_equal(config_number(&c, CONFIG_CACHE_SIZE), 2 << 20);
    assert_int_equal(c.value[CONFIG_CACHE_SIZE].source, CONFIG_ENVIRONMENT);
    assert_int_equal(config_number(&c, CONFIG_IDLE_TIMEOUT), 7000);
    assert_int_equal(c.value[CONFIG_IDLE_TIMEOUT].source, CONFIG_FILE);
    assert_string_equal(c.value[CONFIG_LISTEN].text, "127.0.0.1:1");
    config_free(&c);
    unlink(path);
}

static void lists_are_replaced_not_joined(void **state)
{
    struct config c;
    struct config_error e;
    (void)state;
    setenv("POSENC_LISTEN", "127.0.0.1:1,127.0.0.1:2,unix:/tmp/a", 1);
    assert_true(read_all(&c, ARGUMENTS(NULL), &e));
    assert_int_equal(c.value[CONFIG_LISTEN].count, 3);
    config_free(&c);
    assert_true(read_all(&c, ARGUMENTS("--listen", "127.0.0.1:3", "--listen=[::1]:4"), &e));
    assert_int_equal(c.value[CONFIG_LISTEN].count, 2);
    assert_string_equal(c.value[CONFIG_LISTEN].text, "127.0.0.1:3,[::1]:4");
    config_free(&c);
}

static void refuses(char **argv, enum config_exit code, const char *one, const char *other)
{
    struct config c;
    struct config_error e;
    assert_false(read_all(&c, argv, &e));
    assert_int_equal(e.exit, code);
    if (!strstr(e.text, one) || !strstr(e.text, other))
        fail_msg("\"%s\" lacks \"%s\" or \"%s\"", e.text, one, other);
    config_free(&c);
}

static void usage_is_64(void **state)
{
    (void)state;
    refuses(ARGUMENTS("--cache-sise", "1MiB"), EXIT_USAGE, "--cache-sise", "--cache-size");
    refuses(ARGUMENTS("--frobnicate"), EXIT_USAGE, "--frobnicate", "--help");
    refuses(ARGUMENTS("extra"), EXIT_USAGE, "extra", "one too many");
    refuses(ARGUMENTS("--cache-size"), EXIT_USAGE, "--cache-size", "needs a value");
    refuses(ARGUMENTS("--threads", "1", "--threads", "1"), EXIT_USAGE, "--threads", "twice");
    refuses(ARGUMENTS("--"), EXIT_USAGE, "--", "one too many");
}

static void configuration_is_78(void **state)
{
    (void)state;
    refuses(ARGUMENTS("--cache-size", "12parsecs"), EXIT_CONFIG, "cache-size", "12parsecs");
    refuses(ARGUMENTS("--threads=0"), EXIT_CONFIG, "threads", "at least 1");
    refuses(ARGUMENTS("--listen", "127.0.0.1:1,nonsense"), EXIT_CONFIG, "listen", "nonsense");
    refuses(ARGUMENTS("--listen", ""), EXIT_CONFIG, "listen", "127.0.0.1:8080");
    setenv("POSENC_LOG_LEVEL", "loud", 1);
    refuses(ARGUMENTS(NULL), EXIT_CONFIG, "POSENC_LOG_LEVEL", "error, warn, info, debug");
    unsetenv("POSENC_LOG_LEVEL");
    refuses(ARGUMENTS("--config", "/nonexistent/posenc.json"), EXIT_CONFIG,
            "/nonexistent/posenc.json", "read");
}

static void bad_files_are_refused(void **state)
{
    static const struct {
        const char *text, *one, *other;
    } files[] = {
        {"{\"cache_sise\":\"1MiB\"}", "cache_sise", "cache_size"},
        {"{\"cache_size\":\"big\"}", "big", "file"},
        {"{\"cache_size\":1.5}", "cache-size", "integer"},
        {"{\"threads\":1,\"threads\":2}", "line", "threads"},
        {"{\"config\":\"x\"}", "unknown key", "config"},
        {"[1]", "must be a JSON object", "config"},
        {"{", "line", "config"},
        {"", "config", "line"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = file_with(files[i].text);
        refuses(ARGUMENTS("--config", path), EXIT_CONFIG, files[i].one, files[i].other);
        unlink(path);
    }
}

static void help_reads_nothing_else(void **state)
{
    struct config c;
    struct config_error e;
    bool help = false;
    char *argv[] = {"--cache-size", "big", "--help"};
    (void)state;
    assert_true(config_read(&c, 3, argv, &help, &e));
    assert_true(help);
    config_free(&c);
}

static void the_level_is_read_again(void **state)
{
    struct config c;
    struct config_error e;
    uint64_t level;
    (void)state;
    assert_true(read_all(&c, ARGUMENTS(NULL), &e));
    setenv("POSENC_LOG_LEVEL", "debug", 1);
    assert_true(config_reread_level(&c, &level, &e));
    assert_int_equal(level, 3);
    setenv("POSENC_LOG_LEVEL", "loud", 1);
    assert_false(config_reread_level(&c, &level, &e));
    assert_non_null(strstr(e.text, "loud"));
    config_free(&c);
    unsetenv("POSENC_LOG_LEVEL");
    assert_true(read_all(&c, ARGUMENTS("--log-level", "warn"), &e));
    setenv("POSENC_LOG_LEVEL", "debug", 1);
    assert_true(config_reread_level(&c, &level, &e));
    assert_int_equal(level, 1);
    config_free(&c);
}

static void every_row_has_its_names(void **state)
{
    (void)state;
    for (enum config_option i = 0; i < CONFIG_OPTIONS; i++) {
        const struct config_row *r = config_row(i);
        char env[64], key[64];
        snprintf(env, sizeof env, "POSENC_%s", r->name);
        snprintf(key, sizeof key, "%s", r->name);
        for (char *p = env; *p; p++)
            *p = *p == '-' ? '_' : (char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
        for (char *p = key; *p; p++)
            *p = *p == '-' ? '_' : *p;
        assert_string_equal(r->env, env);
        assert_string_equal(r->key, i == CONFIG_CONFIG ? "" : key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_hold, clean),
        cmocka_unit_test_setup(stronger_sources_win, clean),
        cmocka_unit_test_setup(lists_are_replaced_not_joined, clean),
        cmocka_unit_test_setup(usage_is_64, clean),
        cmocka_unit_test_setup(configuration_is_78, clean),
        cmocka_unit_test_setup(bad_files_are_refused, clean),
        cmocka_unit_test_setup(help_reads_nothing_else, clean),
        cmocka_unit_test_setup(the_level_is_read_again, clean),
        cmocka_unit_test_setup(every_row_has_its_names, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
