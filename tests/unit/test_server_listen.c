/* SPDX-License-Identifier: MIT
 *
 * test_server_listen.c: ports that are free, taken, shared by our own loops; files of unix sockets.
 */
#include "http/listen.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct value_address address_of(const char *text)
{
    struct value_address a;
    char wrong[160];
    assert_true(value_address(text, &a, wrong));
    return a;
}

static void loops_share_a_port_and_others_do_not(void **state)
{
    struct value_address a = address_of("127.0.0.1:0");
    (void)state;
    assert_true(listen_claim(&a));
    assert_true(a.at.v4.sin_port != 0);
    int one = listen_open(&a, -1), two = listen_open(&a, one);
    assert_true(one >= 0 && two >= 0);
    struct value_address again = a;
    assert_false(listen_claim(&again));
    assert_int_equal(errno, EADDRINUSE);
    close(one);
    close(two);
    assert_true(listen_claim(&again));
}

static void addresses_of_others(void **state)
{
    struct value_address a = address_of("192.0.2.1:8080"); /* RFC 5737: nobody has it */
    (void)state;
    assert_false(listen_claim(&a));
    assert_int_equal(errno, EADDRNOTAVAIL);
}

static void files_of_sockets(void **state)
{
    char folder[] = "/tmp/posenc-listen-XXXXXX", text[128];
    struct stat s;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(text, sizeof text, "unix:%s/s", folder);
    struct value_address a = address_of(text);
    assert_true(listen_claim(&a));
    int one = listen_open(&a, -1), two = listen_open(&a, one);
    assert_true(one >= 0 && two >= 0 && one != two);
    assert_false(listen_claim(&a)); /* somebody answers */
    close(one);
    close(two);
    assert_int_equal(lstat(text + 5, &s), 0);
    assert_true(listen_claim(&a)); /* nobody does: left behind by one that was killed */
    assert_int_not_equal(lstat(text + 5, &s), 0);
    one = listen_open(&a, -1);
    assert_true(one >= 0);
    close(one);
    listen_remove(&a);
    assert_int_not_equal(lstat(text + 5, &s), 0);
    FILE *f = fopen(text + 5, "w");
    assert_non_null(f);
    fclose(f);
    assert_false(listen_claim(&a)); /* a file that is no socket is not ours to remove */
    assert_int_equal(lstat(text + 5, &s), 0);
    unlink(text + 5);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_share_a_port_and_others_do_not),
        cmocka_unit_test(addresses_of_others),
        cmocka_unit_test(files_of_sockets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
