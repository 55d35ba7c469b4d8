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
#include <stdio.h>
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

/* ---------------------------------------------------------------- against direct powers */

static uint64_t seed = UINT64_C(0x853c49e6748fea9b);

static uint64_t below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

#define DIRECT 1600 /* bits of what numbers are held against */

/* x^(-num r / den) */
static void direct_power(mpfr_ptr out, mpfr_srcptr x, unsigned long r, int64_t num, int64_t den)
{
    mpfr_log(out, x, MPFR_RNDN);
    mpfr_mul_si(out, out, -(long)num, MPFR_RNDN);
    mpfr_mul_ui(out, out, r, MPFR_RNDN);
    mpfr_div_si(out, out, (long)den, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
}

/* The exponent of the relative error. */
static long relative_error(mpfr_srcptr came, mpfr_srcptr want)
{
    mpfr_t x;
    mpfr_init2(x, DIRECT);
    mpfr_div(x, came, want, MPFR_RNDN);
    mpfr_sub_ui(x, x, 1, MPFR_RNDN);
    long e = mpfr_zero_p(x) ? -(1L << 20) : mpfr_nan_p(x) ? DIRECT : (long)mpfr_get_exp(x);
    mpfr_clear(x);
    return e;
}

static double random_base(void)
{
    static const double edges[] = {1.0000000000000002, 1.5, 2, 256, 10000, 1.7976931348623157e308};
    return below(2)   ? 1 + (double)below(1 << 30) * ldexp(1, (int)below(60) - 40)
           : below(2) ? edges[below(6)]
                      : exp((double)below(700) + 0.1);
}

/* Roots and powers of any size, at any precision. */
static void test_inverse_powers(void **state)
{
    (void)state;
    mpfr_t x, out, want;
    mpfr_init2(want, DIRECT);
    for (int i = 0; i < 3000; i++) {
        mpfr_prec_t precision = 100 + (mpfr_prec_t)below(600);
        unsigned long num = 1 + below(2), den = num + below(i % 3 ? 200 : 65536);
        mpfr_init2(x, precision);
        mpfr_init2(out, precision);
        mpfr_set_d(x, random_base() + 1e-9, MPFR_RNDN);
        mpfr_add_d(x, x, 1e-30, MPFR_RNDN);
        if (below(8) == 0)
            mpfr_ui_div(x, 1, x, MPFR_RNDN);
        pe__inverse_power(out, x, num, den);
        direct_power(want, x, 1, (int64_t)num, (int64_t)den);
        long error = relative_error(out, want);
        if (error > -(long)precision + 1)
            fail_msg("%g^(-%lu/%lu): 2^%ld at %ld bits", mpfr_get_d(x, MPFR_RNDN), num, den, error,
                     (long)precision);
        mpfr_clears(x, out, (mpfr_ptr)0);
    }
    mpfr_clear(want);
}

/* Entries of a ladder, each against one power of its own; `scale` multiplies them. */
static void check_ladder(const char *line, double base, double scale, int64_t num, int64_t den)
{
    struct pe__frequencies f;
    struct kit_spec k;
    mpfr_t x, want;
    frequencies(&f, &k, line);
    mpfr_inits2(DIRECT, x, want, (mpfr_ptr)0);
    mpfr_set_d(x, base, MPFR_RNDN);
    for (size_t r = 0; r < f.pairs; r = r < 8 ? r + 1 : r + 1 + below(f.pairs / 8)) {
        direct_power(want, x, r, num, den);
        mpfr_mul_d(want, want, scale, MPFR_RNDN);
        long error = relative_error(f.w[r], want);
        if (error > -430 || error + mpfr_get_exp(want) > -430)
            fail_msg("%s: w[%zu] is wrong by 2^%ld", line, r, error);
    }
    mpfr_clears(x, want, (mpfr_ptr)0);
    done(&f, &k);
}

static void test_products(void **state)
{
    char line[200];
    (void)state;
    check_ladder("rope/frequencies?width=65536&base=1.7e308", 1.7e308, 1, 2, 65536);
    check_ladder("rope/frequencies?width=65536&base=1.0000000000000002", 1.0000000000000002, 1, 2,
                 65536);
    for (int i = 0; i < 300; i++) {
        double base = random_base();
        int64_t width = 2 + (int64_t)below(i % 10 ? 300 : 5000), odd = width | 1;
        double factor = ldexp(1, (int)below(20) - 5);
        snprintf(line, sizeof line,
                 "rope/frequencies?width=%d&base=%.17g&rope_type=linear&factor=%.17g",
                 (int)(2 * width), base, factor);
        check_ladder(line, base, 1 / factor, 2, 2 * width);
        snprintf(line, sizeof line, "sinusoidal/frequencies?width=%d&base=%.17g&odd=sine", (int)odd,
                 base);
        check_ladder(line, base, 1, 2, odd);
        snprintf(line, sizeof line, "sinusoidal/frequencies?width=%d&base=%.17g&odd=zero", (int)odd,
                 base);
        check_ladder(line, base, 1, 2, odd - 1);
        snprintf(line, sizeof line, "sinusoidal/frequencies?width=%d&base=%.17g&ladder=closed",
                 (int)(2 * width), base);
        check_ladder(line, base, 1, 1, width > 2 ? width - 1 : 1);
        double scale = ldexp(1 + (double)below(1 << 20), (int)below(600) - 100);
        snprintf(line, sizeof line, "sinusoidal?length=1&width=%d&base=%.17g&scale=-%.17g",
                 (int)(2 * width), base, scale);
        check_ladder(line, base, scale, 2, 2 * width);
    }
}

/* base * growth^(width / (width - 2)) */
static void test_raised_bases(void **state)
{
    (void)state;
    mpfr_t base, growth, want;
    mpfr_inits2(DIRECT, base, growth, want, (mpfr_ptr)0);
    for (int i = 0; i < 300; i++) {
        struct pe__frequencies f;
        struct kit_spec k;
        char line[200];
        int64_t width = 4 + 2 * (int64_t)below(i % 10 ? 200 : 30000);
        double factor = 0.01 + (double)below(100000) / 1000, length = 1 + (double)below(100000);
        bool dynamic = i % 2;
        int at = snprintf(line, sizeof line,
                          "rope/frequencies?width=%d&base=%d.25&rope_type=%s&factor=%.17g",
                          (int)width, 10000 + i, dynamic ? "dynamic" : "ntk", factor);
        if (dynamic)
            snprintf(line + at, sizeof line - (size_t)at,
                     "&max_position_embeddings=3000&sequence_length=%.0f", length);
        frequencies(&f, &k, line);
        mpfr_set_d(growth, factor, MPFR_RNDN);
        if (dynamic) {
            mpfr_mul_d(growth, growth, length > 3000 ? length - 3000 : 0, MPFR_RNDN);
            mpfr_div_ui(growth, growth, 3000, MPFR_RNDN);
            mpfr_add_ui(growth, growth, 1, MPFR_RNDN);
        }
        direct_power(want, growth, 1, -width, width - 2);
        mpfr_mul_d(want, want, 10000 + i + 0.25, MPFR_RNDN);
        assert_true(relative_error(f.base, want) < -430);
        direct_power(base, want, f.pairs - 1, 2, width);
        assert_true(relative_error(f.w[f.pairs - 1], base) < -420);
        done(&f, &k);
    }
    mpfr_clears(base, growth, want, (mpfr_ptr)0);
}

/* The edges of yarn, rounded from doubles where these suffice, are those of the formula; and so are
 * all frequencies. */
static void check_yarn(const struct pe__frequencies *f, const struct pe_spec *s)
{
    mpfr_t edge[2], x, ramp, want;
    mpfr_inits2(DIRECT, edge[0], edge[1], x, ramp, want, (mpfr_ptr)0);
    for (int e = 0; e < 2; e++) {
        mpfr_const_pi(x, MPFR_RNDN);
        mpfr_mul_ui(x, x, 2, MPFR_RNDN);
        mpfr_mul_d(x, x, e ? s->beta_slow : s->beta_fast, MPFR_RNDN);
        mpfr_si_div(x, s->original_max_position_embeddings, x, MPFR_RNDN);
        mpfr_log(edge[e], x, MPFR_RNDN);
        mpfr_set_d(x, s->base, MPFR_RNDN);
        mpfr_log(x, x, MPFR_RNDN);
        mpfr_div(edge[e], edge[e], x, MPFR_RNDN);
        mpfr_mul_si(edge[e], edge[e], s->width, MPFR_RNDN);
        mpfr_div_ui(edge[e], edge[e], 2, MPFR_RNDN);
    }
    mpfr_floor(edge[0], edge[0]);
    mpfr_ceil(edge[1], edge[1]);
    if (mpfr_sgn(edge[0]) < 0)
        mpfr_set_ui(edge[0], 0, MPFR_RNDN);
    if (mpfr_cmp_si(edge[1], s->width - 1) > 0)
        mpfr_set_si(edge[1], s->width - 1, MPFR_RNDN);
    assert_true(mpfr_equal_p(edge[0], f->low));
    assert_true(mpfr_equal_p(edge[1], f->high));
    mpfr_sub(edge[1], edge[1], edge[0], MPFR_RNDN);
    for (size_t r = 0; r < f->pairs && !mpfr_zero_p(edge[1]); r++) {
        mpfr_ui_sub(ramp, r, edge[0], MPFR_RNDN);
        mpfr_div(ramp, ramp, edge[1], MPFR_RNDN);
        if (mpfr_sgn(ramp) < 0)
            mpfr_set_ui(ramp, 0, MPFR_RNDN);
        if (mpfr_cmp_ui(ramp, 1) > 0)
            mpfr_set_ui(ramp, 1, MPFR_RNDN);
        mpfr_set_d(x, s->base, MPFR_RNDN);
        direct_power(want, x, r, 2, s->width);
        mpfr_div_d(x, want, s->factor, MPFR_RNDN);
        mpfr_mul(x, x, ramp, MPFR_RNDN);
        mpfr_ui_sub(ramp, 1, ramp, MPFR_RNDN);
        mpfr_mul(want, want, ramp, MPFR_RNDN);
        mpfr_add(want, want, x, MPFR_RNDN);
        assert_true(relative_error(f->w[r], want) < -420);
    }
    mpfr_clears(edge[0], edge[1], x, ramp, want, (mpfr_ptr)0);
}

static void test_yarn_edges(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct pe__frequencies f;
        struct kit_spec k;
        char line[300];
        double slow = ldexp(1 + (double)below(1000), -(int)below(20));
        snprintf(line, sizeof line,
                 "rope/frequencies?width=%d&base=%.17g&rope_type=yarn&factor=%d.5"
                 "&original_max_position_embeddings=%d&beta_slow=%.17g&beta_fast=%.17g",
                 2 + 2 * (int)below(100), random_base(), 1 + (int)below(50),
                 1 + (int)below(1 << 20), slow, slow * (1 + (double)below(40)));
        frequencies(&f, &k, line);
        check_yarn(&f, &k.spec);
        done(&f, &k);
    }
}

/* What lies within 2^-300 of a number of 128 bits, on either side, becomes it; nothing else does.
 */
static void test_settle(void **state)
{
    mpfr_t near, x, y;
    (void)state;
    mpfr_init2(near, 128);
    mpfr_inits2(448, x, y, (mpfr_ptr)0);
    for (int i = 0; i < 4000; i++) {
        long gap = 120 + (long)below(330);
        mpfr_set_ui(near, 1 + below(1 << 30), MPFR_RNDN);
        if (i % 2) /* all 128 bits */
            mpfr_div_ui(near, near, 3 + below(1000), MPFR_RNDN);
        mpfr_div_2ui(near, near, below(400), MPFR_RNDN);
        mpfr_set_ui_2exp(x, 1, mpfr_get_exp(near) - gap, MPFR_RNDN);
        if (below(2))
            mpfr_neg(x, x, MPFR_RNDN);
        mpfr_add(x, near, x, MPFR_RNDN);
        mpfr_set(y, x, MPFR_RNDN);
        pe__settle(x);
        if (gap > 302)
            assert_true(mpfr_equal_p(x, near));
        else if (gap < 300)
            assert_true(mpfr_equal_p(x, y));
    }
    mpfr_clears(near, x, y, (mpfr_ptr)0);
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
        cmocka_unit_test(test_yarn),           cmocka_unit_test(test_yarn_clamp),
        cmocka_unit_test(test_llama3),         cmocka_unit_test(test_yarn_equal_edges),
        cmocka_unit_test(test_longrope),       cmocka_unit_test(test_bases),
        cmocka_unit_test(test_ladders),        cmocka_unit_test(test_products),
        cmocka_unit_test(test_inverse_powers), cmocka_unit_test(test_raised_bases),
        cmocka_unit_test(test_yarn_edges),     cmocka_unit_test(test_settle),
        cmocka_unit_test(test_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
