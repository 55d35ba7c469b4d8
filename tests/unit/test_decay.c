/* SPDX-License-Identifier: MIT
 *
 * test_decay.c: the scale of xpos against powers in MPFR, near the center and so far from it that
 * nothing is left, or everything overflows.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include "dtype.h"
#include "frequency/frequency.h"

#include <stdio.h>
#include <stdlib.h>

/* ((2r + 0.4 width) / (1.4 width))^((position - center) / scale_base) */
static void want_scale(const struct pe_spec *s, size_t pair, int64_t position, void *out)
{
    mpfr_t x, n;
    mpfr_inits2(600, x, n, (mpfr_ptr)0);
    mpfr_set_ui(x, 10 * pair + 2 * (unsigned long)s->width, MPFR_RNDN);
    mpfr_div_ui(x, x, 7 * (unsigned long)s->width, MPFR_RNDN);
    mpfr_log(x, x, MPFR_RNDN);
    mpfr_set_si(n, position, MPFR_RNDN);
    mpfr_sub_si(n, n, s->center, MPFR_RNDN);
    mpfr_mul(x, x, n, MPFR_RNDN);
    mpfr_div_d(x, x, s->scale_base, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    pe__settle(x); /* powers of rational numbers may be ties */
    pe__store_mpfr(x, (enum pe_dtype)s->dtype, out);
    mpfr_clears(x, n, (mpfr_ptr)0);
}

static void check(const char *line)
{
    struct kit_spec k;
    struct pe_fault fault;
    struct pe_plan *plan;
    struct pe_tensor t[PE_MAX_TENSORS];
    if (!kit_spec(&k, line, &fault))
        fail_msg("%s: %s", line, fault.text);
    pe_spec_tensors(&k.spec, t);
    assert_string_equal(t[1].name, "scale");
    assert_int_equal(pe_plan_create(&k.spec, &plan), PE_OK);
    size_t pairs = t[1].row_elements, size = pe_dtype_size(t[1].dtype);
    char *scale = malloc(t[1].bytes), want[8];
    assert_non_null(scale);
    assert_int_equal(pe_fill(plan, 0, t[1].rows, (void *[]){NULL, scale, NULL}), PE_OK);
    for (uint64_t row = 0; row < t[1].rows; row++) {
        bool listed = k.spec.positions.count > 0;
        int64_t position = listed ? k.spec.positions.at[row] : k.spec.offset + (int64_t)row;
        for (size_t r = 0; r < pairs; r++) {
            want_scale(&k.spec, r, position, want);
            if (memcmp(scale + (row * pairs + r) * size, want, size) != 0)
                fail_msg("%s: position %lld, pair %zu", line, (long long)position, r);
        }
    }
    free(scale);
    pe_plan_destroy(&plan);
    kit_spec_clear(&k);
}

static void test_scale(void **state)
{
    static const char *const lines[] = {
        "length=700&width=20",
        "length=100&offset=100000&width=64&center=99000&scale_base=300.5",
        "length=40&width=2&center=9007199254740991",
        "length=600&width=40&scale_base=1",
        "length=70&offset=75000&width=6&center=0", /* where f32 becomes subnormal */
        "positions=0,1,-1,512,-512,9007199254740991,-9007199254740992&width=34&center=-5",
        "positions=5,5,6,6,7&width=18&center=5",
        "positions=0,1,2&width=6&center=1&scale_base=5e-324",
        "positions=0,1,2&width=6&center=1&scale_base=1e308",
        "positions=76800,-76800&width=20&center=0", /* pair 3 is 2^-150 and 2^150: ties of f32 */
    };
    static const char *const dtypes[] = {"f64", "f32", "f16", "bf16"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t d = 0; d < 4; d++) {
            char line[200];
            snprintf(line, sizeof line, "xpos?dtype=%s&%s", dtypes[d], lines[i]);
            check(line);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
