/* SPDX-License-Identifier: MIT
 *
 * test_33_cold.c: large binary tables that nobody asked for before: sent while they are made, from
 * where they stand, they are the bytes that `posenc get` writes, for quick and for slow clients.
 */
#include "kit/kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct kit_daemon daemon_;

static const struct {
    const char *kind, *format, *query, *options;
} tables[] = {
    {"sinusoidal", "bin", "length=20000&width=64", "--length 20000 --width 64"},
    {"sinusoidal", "npy", "length=9999&width=128&dtype=f64",
     "--length 9999 --width 128 --dtype f64"},
    {"rope", "safetensors", "length=9001&width=128", "--length 9001 --width 128"},
    {"rope", "npz", "length=5000&width=128", "--length 5000 --width 128"},
    {"rope", "npy", "length=7000&width=128&dtype=f16&tensor=sin",
     "--length 7000 --width 128 --dtype f16 --tensor sin"},
    {"xpos", "safetensors", "length=6000&width=64", "--length 6000 --width 64"},
    {"alibi", "bin", "length=700&queries=100&width=8&tensor=bias",
     "--length 700 --queries 100 --width 8 --tensor bias"},
};
#define TABLES (sizeof tables / sizeof *tables)

static char *wanted(size_t i, size_t *size)
{
    char command[512];
    size_t room = 16 << 20, n;
    char *bytes = malloc(room);
    snprintf(command, sizeof command, "\"$POSENC_BIN\" get %s %s --format %s", tables[i].kind,
             tables[i].options, tables[i].format);
    FILE *pipe = popen(command, "r");
    assert_true(bytes && pipe);
    for (*size = 0; (n = fread(bytes + *size, 1, room - *size, pipe)) > 0;)
        *size += n;
    assert_int_equal(pclose(pipe), 0);
    assert_true(*size > 256 << 10 && *size < room);
    return bytes;
}

static void ask(size_t i, bool narrow, int pause_ms, const char *cache)
{
    char request[512];
    struct kit_link l;
    struct kit_answer a;
    size_t size;
    char *right = wanted(i, &size);
    if (narrow)
        kit_open_narrow(&l, daemon_.port);
    else
        kit_open(&l, daemon_.port);
    snprintf(request, sizeof request, "GET /v1/tables/%s.%s?%s HTTP/1.1\r\nHost: x\r\n\r\n",
             tables[i].kind, tables[i].format, tables[i].query);
    kit_send(&l, request, strlen(request));
    usleep((useconds_t)pause_ms * 1000);
    assert_true(kit_read(&l, "GET", 60000, &a));
    assert_int_equal(a.status, 200);
    assert_string_equal(kit_header(&a, "Cache-Status"), cache);
    assert_int_equal(a.size, size);
    assert_memory_equal(a.body, right, size);
    kit_free(&a);
    kit_ask(&l, "GET", "/livez", NULL, &a); /* the connection lives on */
    assert_int_equal(a.status, 200);
    kit_free(&a);
    kit_close(&l);
    free(right);
}

static void all_of_them(bool narrow, int pause_ms)
{
    for (size_t i = 0; i < TABLES; i++) {
        ask(i, narrow, pause_ms, "posenc; fwd=miss; stored");
        ask(i, narrow, pause_ms, "posenc; hit");
    }
}

static int begin(void **state)
{
    (void)state;
    kit_start(&daemon_, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return kit_stop(&daemon_);
}

static void quick_clients(void **state)
{
    (void)state;
    all_of_them(false, 0);
}

static void narrow_clients(void **state)
{
    (void)state;
    all_of_them(true, 0);
}

/* The table is whole long before they read. */
static void late_clients(void **state)
{
    (void)state;
    all_of_them(true, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(quick_clients, begin, end),
        cmocka_unit_test_setup_teardown(narrow_clients, begin, end),
        cmocka_unit_test_setup_teardown(late_clients, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
