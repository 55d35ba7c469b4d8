/* SPDX-License-Identifier: MIT
 *
 * test_server_admit.c: limits of connections, together and for each address.
 */
#include "http/admit.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct sockaddr_in v4(uint32_t n)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(n)};
}

static enum admit_verdict enter(struct admit *a, uint32_t n, struct admit_address *out)
{
    struct sockaddr_in address = v4(n);
    return admit_enter(a, (struct sockaddr *)&address, out);
}

static void together(void **state)
{
    struct admit *a = admit_open(3, 0);
    struct admit_address at[5];
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(enter(a, 1, &at[i]), ADMIT_WELCOME);
    assert_int_equal(enter(a, 2, &at[3]), ADMIT_TOO_MANY);
    assert_int_equal(enter(a, 2, &at[4]), ADMIT_TOO_MANY);
    admit_leave(a, &at[3]);
    assert_int_equal(admit_again(a, &at[4]), ADMIT_TOO_MANY);
    admit_leave(a, &at[0]);
    assert_int_equal(admit_again(a, &at[4]), ADMIT_WELCOME);
    admit_leave(a, &at[4]);
    assert_int_equal(enter(a, 2, &at[0]), ADMIT_WELCOME);
    for (int i = 0; i < 3; i++)
        admit_leave(a, &at[i]);
    admit_close(&a);
    assert_null(a);
}

static void of_one_address(void **state)
{
    struct admit *a = admit_open(1000000, 2);
    struct admit_address at[3], other;
    (void)state;
    assert_int_equal(enter(a, 7, &at[0]), ADMIT_WELCOME);
    assert_int_equal(enter(a, 7, &at[1]), ADMIT_WELCOME);
    assert_int_equal(enter(a, 7, &at[2]), ADMIT_TOO_MANY_OF_ONE);
    assert_int_equal(enter(a, 8, &other), ADMIT_WELCOME);
    assert_int_equal(admit_again(a, &at[2]), ADMIT_TOO_MANY_OF_ONE);
    admit_leave(a, &at[0]);
    assert_int_equal(admit_again(a, &at[2]), ADMIT_WELCOME);
    admit_leave(a, &at[2]);
    assert_int_equal(enter(a, 7, &at[0]), ADMIT_WELCOME);
    admit_close(&a);
}

static void families_are_told_apart(void **state)
{
    struct admit *a = admit_open(100, 1);
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    struct sockaddr local = {.sa_family = AF_UNIX};
    struct admit_address at;
    (void)state;
    assert_int_equal(enter(a, INADDR_LOOPBACK, &at), ADMIT_WELCOME);
    assert_int_equal(admit_enter(a, (struct sockaddr *)&six, &at), ADMIT_WELCOME);
    assert_int_equal(admit_enter(a, (struct sockaddr *)&six, &at), ADMIT_TOO_MANY_OF_ONE);
    assert_int_equal(admit_enter(a, &local, &at), ADMIT_WELCOME);
    assert_int_equal(admit_enter(a, NULL, &at), ADMIT_TOO_MANY_OF_ONE);
    admit_close(&a);
}

static void many_addresses(void **state)
{
    struct admit *a = admit_open(1000000, 3);
    static struct admit_address at[20000];
    (void)state;
    for (uint32_t i = 0; i < 20000; i++)
        assert_int_equal(enter(a, i / 4 * 4096, &at[i]),
                         i % 4 == 3 ? ADMIT_TOO_MANY_OF_ONE : ADMIT_WELCOME);
    for (uint32_t i = 0; i < 20000; i++)
        admit_leave(a, &at[i]);
    assert_int_equal(enter(a, 0, &at[0]), ADMIT_WELCOME);
    admit_leave(a, &at[0]);
    admit_leave(a, &at[0]); /* not counted: harmless */
    admit_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(together),
        cmocka_unit_test(of_one_address),
        cmocka_unit_test(families_are_told_apart),
        cmocka_unit_test(many_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
