/* SPDX-License-Identifier: MIT
 *
 * test_tokens.c: files of tokens, and what a header grants. Sums are those of sha256sum.
 */
#include "learned/tokens.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char sums[3][65];

static char path[] = "/tmp/posenc-tokens-XXXXXX";

static int make_sums(void **state)
{
    static const char *const tokens[] = {"writer-1", "reader-1", "all-1"};
    (void)state;
    close(mkstemp(path));
    for (int i = 0; i < 3; i++) {
        char command[64];
        snprintf(command, sizeof command, "printf %%s %s | sha256sum", tokens[i]);
        FILE *f = popen(command, "r");
        if (!f || fread(sums[i], 1, 64, f) != 64)
            return -1;
        pclose(f);
    }
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static bool try(const char *text, struct tokens **out, char error[300])
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    *error = 0;
    return tokens_read(path, out, error, 300);
}

static struct tokens *good(void)
{
    char text[512], error[300];
    struct tokens *t = NULL;
    snprintf(text, sizeof text,
             "# tokens\n\nwriter:%s:write\nreader:%s:read\r\nall:%s:read,write,admin\n", sums[0],
             sums[1], sums[2]);
    if (!try(text, &t, error))
        fail_msg("%s", error);
    return t;
}

static enum tokens_verdict check(const struct tokens *t, const char *const *values,
                                 enum api_scope scope)
{
    struct api_header headers[4] = {{"Host", {"x", 1}}};
    size_t n = 1;
    for (; values[n - 1]; n++)
        headers[n] = (struct api_header){"authorization", {values[n - 1], strlen(values[n - 1])}};
    struct api_request request = {.method = "PUT", .headers = headers, .header_count = n};
    return tokens_check(t, &request, scope);
}

static void headers(void **state)
{
    (void)state;
    static const struct {
        const char *values[3];
        enum api_scope scope;
        enum tokens_verdict verdict;
    } cases[] = {
        {{"Bearer writer-1"}, API_SCOPE_WRITE, TOKENS_GRANTED},
        {{"bearer writer-1"}, API_SCOPE_WRITE, TOKENS_GRANTED},
        {{"BEARER   writer-1 "}, API_SCOPE_WRITE, TOKENS_GRANTED},
        {{"Bearer writer-1"}, API_SCOPE_ADMIN, TOKENS_LACKING},
        {{"Bearer writer-1"}, API_SCOPE_READ, TOKENS_LACKING},
        {{"Bearer reader-1"}, API_SCOPE_WRITE, TOKENS_LACKING},
        {{"Bearer reader-1"}, API_SCOPE_READ, TOKENS_GRANTED},
        {{"Bearer all-1"}, API_SCOPE_WRITE, TOKENS_GRANTED},
        {{"Bearer all-1"}, API_SCOPE_ADMIN, TOKENS_GRANTED},
        {{"Bearer writer-"}, API_SCOPE_WRITE, TOKENS_UNKNOWN},
        {{"Bearer writer-11"}, API_SCOPE_WRITE, TOKENS_UNKNOWN},
        {{"Bearer WRITER-1"}, API_SCOPE_WRITE, TOKENS_UNKNOWN},
        {{"Bearer writer"}, API_SCOPE_WRITE, TOKENS_UNKNOWN},
        {{"Bearer writer-1 x"}, API_SCOPE_WRITE, TOKENS_NONE},
        {{"Bearer a, Bearer writer-1"}, API_SCOPE_WRITE, TOKENS_NONE},
        {{"Bearer "}, API_SCOPE_WRITE, TOKENS_NONE},
        {{"Bearer"}, API_SCOPE_WRITE, TOKENS_NONE},
        {{"writer-1"}, API_SCOPE_WRITE, TOKENS_NONE},
        {{"Basic writer-1"}, API_SCOPE_WRITE, TOKENS_NONE},
        {{"Bearer writer-1", "Bearer writer-1"}, API_SCOPE_WRITE, TOKENS_NONE},
        {{NULL}, API_SCOPE_WRITE, TOKENS_NONE},
    };
    struct tokens *t = good();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (check(t, cases[i].values, cases[i].scope) != cases[i].verdict)
            fail_msg("%s for %d", cases[i].values[0] ? cases[i].values[0] : "nothing",
                     (int)cases[i].scope);
    assert_int_equal(check(NULL, (const char *const[]){"Bearer writer-1", NULL}, API_SCOPE_WRITE),
                     TOKENS_UNKNOWN);
    tokens_close(&t);
    assert_null(t);
}

/* Every refusal names the line, and leaves what was there. */
static void bad_files(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "writer",
        "writer:%s",
        "writer:abcd:write",
        "writer:%s0:write",
        "writer:g%s:write",
        "writer:%s:wirte",
        "writer:%s:",
        ":%s:write",
        "a b:%s:write",
        "writer:%s:write:x",
        "writer:%s:write,write",
        "writer:%s:write,",
        "writer:%s:Write",
        " writer:%s:write",
        "writer:%s:write ",
        "x:%s:write\ny:%s:read\nx:%s:read",
        "0123456789012345678901234567890123456789012345678901234567890123456789:%s:write"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[600], filled[500], error[300];
        struct tokens *t = NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(filled, sizeof filled, lines[i], sums[0], sums[0], sums[0]);
#pragma GCC diagnostic pop
        snprintf(text, sizeof text, "# first\n\n%s\n", filled);
        if (try(text, &t, error))
            fail_msg("accepted: %s", lines[i]);
        const char *line = strchr(lines[i], '\n') ? "line 5: " : "line 3: ";
        if (!strstr(error, line))
            fail_msg("%s: %s", lines[i], error);
        assert_null(strstr(error, sums[0]));
        assert_null(t);
    }
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    struct tokens *t = NULL;
    char error[300];
    assert_false(tokens_read("/nonexistent/tokens", &t, error, sizeof error));
    assert_non_null(strstr(error, "No such file"));
    assert_false(tokens_read("/", &t, error, sizeof error));
    FILE *f = fopen(path, "w");
    fwrite("#\0\n", 1, 3, f);
    fclose(f);
    assert_false(tokens_read(path, &t, error, sizeof error));
    f = fopen(path, "w");
    for (int i = 0; i < 1 << 18; i++)
        fputs("# no\n", f);
    fclose(f);
    assert_false(tokens_read(path, &t, error, sizeof error));
    assert_non_null(strstr(error, "1MiB"));
    assert_true(try("", &t, error));
    assert_int_equal(check(t, (const char *const[]){"Bearer writer-1", NULL}, API_SCOPE_WRITE),
                     TOKENS_UNKNOWN);
    tokens_close(&t);
}

static void replaced_while_used(void **state)
{
    (void)state;
    struct api_header header = {"Authorization", {"Bearer writer-1", 15}};
    struct api_request request = {.method = "PUT", .headers = &header, .header_count = 1};
    struct tokens *t = good();
    char error[300];
    struct tokens_box *box = tokens_box_open(&t);
    assert_null(t);
    assert_int_equal(tokens_box_check(box, &request, API_SCOPE_WRITE), TOKENS_GRANTED);
    assert_true(try("# none\n", &t, error));
    tokens_box_put(box, &t);
    assert_null(t);
    assert_int_equal(tokens_box_check(box, &request, API_SCOPE_WRITE), TOKENS_UNKNOWN);
    tokens_box_close(&box);
    assert_null(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(replaced_while_used),
    };
    return cmocka_run_group_tests(tests, make_sums, remove_file);
}
