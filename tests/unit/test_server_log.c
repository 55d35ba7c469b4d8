/* SPDX-License-Identifier: MIT
 *
 * test_server_log.c: lines on stderr: JSON stays JSON and a line stays a line whatever a request
 * holds.
 */
#include "watch/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

static int saved = -1;
static FILE *file;

static int catch_stderr(void **state)
{
    (void)state;
    file = tmpfile();
    saved = dup(STDERR_FILENO);
    return file == NULL || saved < 0 || dup2(fileno(file), STDERR_FILENO) < 0;
}

static int let_stderr_go(void **state)
{
    (void)state;
    dup2(saved, STDERR_FILENO);
    close(saved);
    fclose(file);
    return 0;
}

/* What was written since the last call, to be freed. */
static char *written(size_t *size)
{
    off_t end = lseek(fileno(file), 0, SEEK_END);
    char *text = calloc(1, (size_t)end + 1);
    assert_non_null(text);
    *size = (size_t)pread(fileno(file), text, (size_t)end, 0);
    assert_int_equal(ftruncate(fileno(file), 0), 0);
    lseek(fileno(file), 0, SEEK_SET);
    return text;
}

static struct log_request request_of(const char *target, size_t size)
{
    return (struct log_request){.request_id = "id-1",
                                .method = "GET",
                                .target = {target, size},
                                .status = 200,
                                .bytes = INT64_MAX,
                                .duration_us = 7,
                                .client = "127.0.0.1"};
}

static json_t *line_of(const struct log_request *r)
{
    struct log_buffer b = {.at = NULL};
    size_t size;
    log_add(&b, r);
    log_buffer_free(&b);
    char *text = written(&size);
    assert_true(size > 0 && size < 32768);
    assert_ptr_equal(strchr(text, '\n'), text + size - 1);
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    if (!json_is_object(root))
        fail_msg("not an object: %s", text);
    free(text);
    return root;
}

static const char *member(json_t *root, const char *name)
{
    return json_string_value(json_object_get(root, name));
}

static void every_byte_is_escaped(void **state)
{
    char all[257];
    (void)state;
    log_open(true, LOG_INFO);
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    for (size_t from = 0; from < 20; from++) { /* at any place within eight */
        struct log_request r = request_of(all + from, 256 - from);
        json_t *root = line_of(&r);
        assert_non_null(member(root, "path"));
        json_decref(root);
    }
}

static void each_byte_at_each_place(void **state)
{
    (void)state;
    log_open(true, LOG_INFO);
    for (int c = 1; c < 128; c++)
        for (size_t at = 0; at < 17; at++) {
            char text[18] = "abcdefghijklmnopq";
            text[at] = (char)c;
            struct log_request r = request_of(text, 17);
            json_t *root = line_of(&r);
            assert_memory_equal(member(root, "path"), text, 18);
            json_decref(root);
        }
}

static void members_are_there(void **state)
{
    (void)state;
    log_open(true, LOG_INFO);
    struct log_request r = request_of("/v1?a=b", 7);
    r.trace_id = (struct api_bytes){"0af7651916cd43dd8448eb211c80319c", 32};
    r.cut = true;
    json_t *root = line_of(&r);
    assert_string_equal(member(root, "level"), "info");
    assert_string_equal(member(root, "msg"), "request");
    assert_string_equal(member(root, "request_id"), "id-1");
    assert_string_equal(member(root, "method"), "GET");
    assert_string_equal(member(root, "path"), "/v1?a=b");
    assert_string_equal(member(root, "trace_id"), "0af7651916cd43dd8448eb211c80319c");
    assert_string_equal(member(root, "client"), "127.0.0.1");
    assert_int_equal(json_integer_value(json_object_get(root, "status")), 200);
    assert_int_equal(json_integer_value(json_object_get(root, "duration_us")), 7);
    assert_true(json_is_true(json_object_get(root, "cut")));
    assert_int_equal(strlen(member(root, "time")), strlen("2026-11-30T17:00:00.000Z"));
    json_decref(root);
}

static void long_texts_are_cut(void **state)
{
    static char text[100000];
    (void)state;
    log_open(true, LOG_INFO);
    memset(text, '\x01', sizeof text);
    struct log_request r = request_of(text, sizeof text);
    json_decref(line_of(&r));
}

static void text_has_no_control_bytes(void **state)
{
    size_t size;
    char all[256];
    (void)state;
    log_open(false, LOG_INFO);
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    struct log_request r = request_of(all, 256);
    struct log_buffer b = {.at = NULL};
    log_add(&b, &r);
    log_buffer_free(&b);
    char *text = written(&size);
    for (size_t i = 0; i + 1 < size; i++)
        assert_true(text[i] >= 0x20 && text[i] < 0x7f);
    assert_int_equal(text[size - 1], '\n');
    free(text);
}

static void levels_are_held(void **state)
{
    size_t size;
    (void)state;
    log_open(true, LOG_WARN);
    struct log_request r = request_of("/", 1);
    struct log_buffer b = {.at = NULL};
    log_add(&b, &r);
    log_say(LOG_INFO, "not this", LOG_END);
    log_say(LOG_ERROR, "this", "key", "va\"lue\n", LOG_END);
    log_buffer_free(&b);
    char *text = written(&size);
    json_t *root = json_loadb(text, size, 0, NULL);
    assert_string_equal(member(root, "msg"), "this");
    assert_string_equal(member(root, "key"), "va\"lue\n");
    json_decref(root);
    free(text);
    log_set_level(LOG_INFO);
    assert_true(log_wants(LOG_INFO));
    assert_false(log_wants(LOG_DEBUG));
}

static void ready_is_always_said(void **state)
{
    static const char *const urls[] = {"http://127.0.0.1:1", "unix:/tmp/a b"};
    size_t size;
    (void)state;
    log_open(true, LOG_ERROR);
    log_ready(urls, 2);
    char *text = written(&size);
    json_t *root = json_loadb(text, size, 0, NULL);
    assert_string_equal(member(root, "msg"), "ready");
    assert_string_equal(json_string_value(json_array_get(json_object_get(root, "listen"), 1)),
                        urls[1]);
    json_decref(root);
    free(text);
    log_open(false, LOG_ERROR);
    log_ready(urls, 1);
    text = written(&size);
    assert_string_equal(text, "ready http://127.0.0.1:1\n");
    free(text);
}

static void buffers_overflow_into_writes(void **state)
{
    size_t size, lines = 0;
    (void)state;
    log_open(true, LOG_INFO);
    struct log_request r = request_of("/a/path/of/some/length?with=a&query=too", 39);
    struct log_buffer b = {.at = NULL};
    for (int i = 0; i < 5000; i++)
        log_add(&b, &r);
    log_buffer_free(&b);
    char *text = written(&size);
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    assert_int_equal(lines, 5000);
    free(text);
}

#define CAUGHT(test) cmocka_unit_test_setup_teardown(test, catch_stderr, let_stderr_go)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CAUGHT(every_byte_is_escaped),     CAUGHT(each_byte_at_each_place),
        CAUGHT(members_are_there),         CAUGHT(long_texts_are_cut),
        CAUGHT(text_has_no_control_bytes), CAUGHT(levels_are_held),
        CAUGHT(ready_is_always_said),      CAUGHT(buffers_overflow_into_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
