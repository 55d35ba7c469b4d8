/* SPDX-License-Identifier: MIT
 *
 * test_frequency.c: the frequencies of every rope_type, against values known to 17 digits and
 * against the formulas evaluated in another way.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include "frequency/frequency.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static void frequencies(struct pe__frequencies *f, struct kit_spec *k, const char *line)
{
    struct pe_fault fault;
    if (!kit_spec(k, line, &fault))
        fail_msg("%s: %s", line, fault.text);
    assert_int_equal(pe__frequencies_init(f, &k->spec), PE_OK);
}

static void done(struct pe__frequencies *f, struct kit_spec *k)
{
    pe__frequencies_clear(f);
    kit_spec_clear(k);
}

static double w(const struct pe__frequencies *f, size_t r)
{
    return mpfr_get_d(f->w[r], MPFR_RNDN);
}

static void check(const char *line, double amplitude, size_t count, const double *want)
{
    struct pe__frequencies f;
    struct kit_spec k;
    frequencies(&f, &k, line);
    for (size_t r = 0; r < count; r++)
        if (fabs(w(&f, r) - want[r]) > 2e-16 * want[r])
            fail_msg("%s: w[%zu] is %.17g, not %.17g", line, r, w(&f, r), want[r]);
    assert_true(fabs(mpfr_get_d(f.amplitude, MPFR_RNDN) - amplitude) < 2e-16 * amplitude);
    done(&f, &k);
}

#define YARN "rope/frequencies?width=8&rope_type=yarn&original_max_position_embeddings=4096"
#define CHECK(line, amplitude, ...)                               \
    do {                                                          \
        const double want[] = {__VA_ARGS__};                      \
        check(line, amplitude, sizeof want / sizeof *want, want); \
    } while (0)

static void test_yarn(void **state)
{
    (void)state;
    CHECK(YARN "&factor=16&mscale=1&mscale_all_dim=1", 1, 1);
    CHECK(YARN "&factor=4&attention_factor=1", 1, 1);
    CHECK(YARN "&factor=4&attention_factor=1&mscale=2&mscale_all_dim=1", 1, 1);
    CHECK(YARN "&factor=32", 1.3465735902799727, 1);
    CHECK(YARN "&factor=32&mscale=3", 1.3465735902799727, 1);
    CHECK(YARN "&factor=1", 1, 1);
    CHECK(YARN "&factor=40&mscale=0.707&mscale_all_dim=1", 0.9210423553163399, 1);
    /* the edges, 1.309 and 2.814, are rounded outwards to 1 and 3 */
    CHECK(YARN "&factor=4", 1.138629436111989, 1, 0.1, 0.00625, 0.00025);
    CHECK(YARN "&factor=4&truncate=false", 1.138629436111989, 1, 0.1, 0.006556971521129435,
          0.00025);
}

/* The upper edge is clamped at width - 1, not at width/2 - 1. */
static void test_yarn_clamp(void **state)
{
    struct pe__frequencies f;
    struct kit_spec k;
    (void)state;
    frequencies(&f, &k,
                "rope/frequencies?width=64&rope_type=yarn&factor=8"
                "&original_max_position_embeddings=131072");
    assert_true(fabs(w(&f, 31) / 5.257151799874643e-05 - 1) < 1e-15);
    assert_true(mpfr_get_d(f.high, MPFR_RNDN) > 31);
    done(&f, &k);
}

/* Equal edges: a step of a thousandth of a pair. */
static void test_yarn_equal_edges(void **state)
{
    struct pe__frequencies f;
    struct kit_spec k;
    double low;
    (void)state;
    frequencies(&f, &k, YARN "&factor=4&beta_fast=1&beta_slow=1&truncate=false");
    low = mpfr_get_d(f.low, MPFR_RNDN);
    assert_true(mpfr_equal_p(f.low, f.high));
    for (size_t r = 0; r < 4; r++)
        assert_true(fabs(w(&f, r) - pow(0.1, (double)r) / ((double)r > low ? 4 : 1)) < 1e-16);
    done(&f, &k);
}

#define LLAMA                                                                            \
    "rope/frequencies?base=500000&rope_type=llama3&low_freq_factor=1&high_freq_factor=4" \
    "&original_max_position_embeddings=8192"

static void test_llama3(void **state)
{
    struct pe__frequencies f;
    struct kit_spec k;
    (void)state;
    CHECK(LLAMA "&width=16&factor=8", 1, 1, 0.19392274474868576, 0.03760603093086393,
          0.007292664737217109, 0.0005248461609929547, 3.428102195952591e-05, 6.647869871181235e-06,
          1.2891731721515574e-06);
    frequencies(&f, &k, LLAMA "&width=64&factor=32");
    assert_true(fabs(w(&f, 14) / 0.003211445994752591 - 1) < 1e-15);
    assert_true(fabs(w(&f, 15) / 0.0012905479282092638 - 1) < 1e-15);
    assert_true(fabs(w(&f, 17) / 9.708287802627673e-05 - 1) < 1e-15);
    assert_true(fabs(w(&f, 31) / 9.41830672543491e-08 - 1) < 1e-15);
    done(&f, &k);
}

#define LONGROPE                                                                           \
    "rope/frequencies?width=8&rope_type=longrope&short_factor=1,1,1,1&long_factor=1,2,4,8" \
    "&original_max_position_embeddings=4096&max_position_embeddings=131072&sequence_length="

/* The trained length itself is short; one more is long. */
static void test_longrope(void **state)
{
    (void)state;
    CHECK(LONGROPE "4096", 1.1902380714238083, 1, 0.1, 0.01, 0.001);
    CHECK(LONGROPE "4097", 1.1902380714238083, 1, 0.05, 0.0025, 0.000125);
    CHECK(LONGROPE "1&attention_factor=0.5", 0.5, 1, 0.1, 0.01, 0.001);
}

#define DYNAMIC                                                                                  \
    "rope/frequencies?width=4&base=10000&rope_type=dynamic&factor=2&max_position_embeddings=100" \
    "&sequence_length="

static void test_bases(void **state)
{
    (void)state;
    CHECK(DYNAMIC "100", 1, 1, 0.01);
    CHECK(DYNAMIC "3", 1, 1, 0.01);
    /* growth 2 * 250 / 100 - 1 = 4: base 160000 */
    CHECK(DYNAMIC "250", 1, 1, 0.0025);
    CHECK("rope/frequencies?width=4&base=10000&rope_type=ntk&factor=4", 1, 1, 0.0025);
    CHECK("rope/frequencies?width=4&rope_type=linear&factor=8", 1, 0.125, 0.00125);
    CHECK("rope/frequencies?head_dim=8&rope_type=proportional&partial_rotary_factor=0.5", 1, 1, 0.1,
          0, 0);
    CHECK("rope/frequencies?head_dim=8&rope_type=proportional&partial_rotary_factor=0.7&factor=2",
          1, 0.5, 0.05, 0, 0);
}

static void test_ladders(void **state)
{
    (void)state;
    CHECK("sinusoidal/frequencies?width=8", 1, 1, 0.1, 0.01, 0.001);
    CHECK("sinusoidal/frequencies?width=8&ladder=closed&base=1000", 1, 1, 0.1, 0.01, 0.001);
    CHECK("sinusoidal/frequencies?width=2&ladder=closed", 1, 1);
    CHECK("sinusoidal/frequencies?width=4&ladder=closed", 1, 1, 0.0001);
    CHECK("sinusoidal/frequencies?width=5&odd=zero", 1, 1, 0.01);
    CHECK("sinusoidal/frequencies?width=5&odd=sine", 1, 1, 0.025118864315095801,
          6.3095734448019325e-4);
    CHECK("grid/frequencies?width=16", 1, 1, 0.1, 0.01, 0.001);
    CHECK("axial_rope/frequencies?width=16", 1, 1, 0.1, 0.01, 0.001);
    CHECK("rope/frequencies?head_dim=16&partial_rotary_factor=0.5", 1, 1, 0.1, 0.01, 0.001);
}

/* A far entry of a wide ladder, against one power of its own. */
static void test_products(void **state)
{
    struct pe__frequencies f;
    struct kit_spec k;
    mpfr_t x;
    (void)state;
    frequencies(&f, &k, "rope/frequencies?width=65536&base=1.7e308");
    mpfr_init2(x, 600);
    for (size_t r = 1; r < f.pairs; r = r * 3 + 1) {
        mpfr_set_d(x, 1.7e308, MPFR_RNDN);
        mpfr_log(x, x, MPFR_RNDN);
        mpfr_mul_si(x, x, -2 * (long)r, MPFR_RNDN);
        mpfr_div_ui(x, x, 65536, MPFR_RNDN);
        mpfr_exp(x, x, MPFR_RNDN);
        mpfr_div(x, f.w[r], x, MPFR_RNDN);
        mpfr_sub_ui(x, x, 1, MPFR_RNDN);
        assert_true(mpfr_zero_p(x) || mpfr_get_exp(x) < -420);
    }
    mpfr_clear(x);
    done(&f, &k);
}

/* Powers of two come out as such, and a great scale is known far behind the point. */
static void test_precision(void **state)
{
    struct pe__frequencies f;
    struct kit_spec k;
    (void)state;
    frequencies(&f, &k, "rope/frequencies?width=8&base=256");
    for (size_t r = 0; r < 4; r++)
        assert_int_equal(mpfr_cmp_d(f.w[r], ldexp(1, -2 * (int)r)), 0);
    done(&f, &k);
    frequencies(&f, &k, "sinusoidal?length=1&width=4&scale=-1e300");
    assert_true(f.precision >= 448 + 997);
    assert_true(mpfr_sgn(f.w[1]) > 0);
    assert_int_equal(mpfr_cmp_d(f.w[0], 1e300), 0);
    done(&f, &k);
    frequencies(&f, &k, "sinusoidal/frequencies?width=4");
    assert_int_equal(mpfr_cmp_ui(f.w[0], 1), 0);
    done(&f, &k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yarn),      cmocka_unit_test(test_yarn_clamp),
        cmocka_unit_test(test_llama3),    cmocka_unit_test(test_yarn_equal_edges),
        cmocka_unit_test(test_longrope),  cmocka_unit_test(test_bases),
        cmocka_unit_test(test_ladders),   cmocka_unit_test(test_products),
        cmocka_unit_test(test_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
