/* SPDX-License-Identifier: MIT
 *
 * test_tables.c: what must hold for any table: rows do not depend on how they are asked for,
 * identities of the functions hold to the bit where they are exact, and a canonical text is the
 * table it came from.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include "dtype.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

#define PICK(...)           \
    ((const char *const[]){ \
        __VA_ARGS__}[below(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))])

static void far_rows(char *out, size_t size)
{
    static const int shifts[] = {0, 10, 20, 24, 32, 40, 52};
    uint64_t length = 1 + below(200), offset = (UINT64_C(1) << shifts[below(7)]) - 1;
    snprintf(out, size, "length=%d&offset=%lld", (int)length,
             (long long)(offset + length > PE_POSITION_END ? PE_POSITION_END - length : offset));
}

static void random_positions(char *out, size_t size)
{
    int at = snprintf(out, size, "positions=");
    int64_t p = (int64_t)below(1000) - 500;
    for (uint64_t n = 3 + below(60); n; n--) {
        at += snprintf(out + at, size - (size_t)at, "%lld%s", (long long)p, n > 1 ? "," : "");
        p += below(4) ? (int64_t)below(2) : (int64_t)below(1 << 30) - (1 << 29);
    }
}

/* A request of any kind. */
static void random_line(char *out, size_t size)
{
    char rows[2048];
    const char *dtype = PICK("f64", "f32", "f16", "bf16");
    int pairs = 1 + (int)below(below(4) ? 20 : 150);
    if (below(2))
        far_rows(rows, sizeof rows);
    else
        random_positions(rows, sizeof rows);
    switch (below(8)) {
    case 0:
        snprintf(out, size,
                 "sinusoidal?%s&width=%d&odd=%s&layout=%s&order=%s&dtype=%s&padding_idx=17", rows,
                 pairs, PICK("zero", "sine"), PICK("split", "interleaved"), PICK("sin", "cos"),
                 dtype);
        break;
    case 1:
    case 2:
        snprintf(out, size, "rope?%s&width=%d&dtype=%s&layout=%s", rows, 2 * pairs, dtype,
                 PICK("pairs", "split", "interleaved", "cos_sin", "complex", "matrix", "phase"));
        break;
    case 3:
        snprintf(out, size,
                 "mrope?%s&width=%d&mrope_section=%d,%d,%d&layout=%s&dtype=%s&arithmetic=%s",
                 strchr(rows, 'o') == rows + 1 ? "positions=1,2,3,3,3,4,9,8,8,8,1,2,3,4,5" : rows,
                 6 * pairs, pairs, pairs, pairs, PICK("pairs", "split", "interleaved"), dtype,
                 PICK("exact", "float32"));
        break;
    case 4:
        snprintf(out, size, "%s&height=%d&columns=%d&width=%d&dtype=%s",
                 PICK("grid?cls_token=true&order=wh", "grid?order=hw", "axial_rope?layout=split",
                      "axial_rope?layout=interleaved"),
                 1 + (int)below(20), 1 + (int)below(20), 4 * pairs, dtype);
        break;
    case 5:
        snprintf(out, size, "xpos?%s&width=%d&layout=%s&dtype=%s", rows, 2 * pairs,
                 PICK("pairs", "split", "interleaved"), dtype);
        break;
    case 6:
        snprintf(out, size, "alibi?width=%d&length=%d&queries=3&offset=%d&dtype=%s%s",
                 1 + pairs % 20, 1 + (int)below(80), (int)below(100), dtype,
                 PICK("", "&masked=true", "&symmetric=true"));
        break;
    default:
        snprintf(out, size, "%s&length=%d&queries=3&offset=%d",
                 PICK("t5?num_buckets=16&max_distance=50", "t5?bidirectional=false",
                      "deberta?position_buckets=16&max_relative_positions=64"),
                 1 + (int)below(300), (int)below(200));
    }
}

static void *fill(const struct pe_plan *plan, unsigned tensor, const struct pe_tensor *t,
                  uint64_t portion)
{
    char *at = malloc(t->bytes + 1);
    assert_non_null(at);
    memset(at, 0x5a, t->bytes + 1);
    for (uint64_t row = 0, n; row < t->rows; row += n) {
        void *out[PE_MAX_TENSORS] = {NULL};
        out[tensor] = at + row * (t->bytes / t->rows);
        n = t->rows - row < portion ? t->rows - row : portion;
        assert_int_equal(pe_fill(plan, row, n, out), PE_OK);
    }
    assert_int_equal(at[t->bytes], 0x5a);
    return at;
}

/* Any split of the rows, all tensors at once or one by one, and a plan of the canonical text, which
 * shares what it can with the first. */
static void check_splits(const char *line)
{
    struct kit_spec k, again;
    struct pe_fault fault;
    struct pe_plan *plan, *other;
    struct pe_tensor t[PE_MAX_TENSORS];
    char text[4096], back[4200];
    if (!kit_spec(&k, line, &fault))
        fail_msg("%s: %s", line, fault.text);
    assert_true(pe_spec_text(&k.spec, text, sizeof text) < sizeof text);
    snprintf(back, sizeof back, "%s?%s", pe_kind_name(k.spec.kind), text);
    if (!kit_spec(&again, back, &fault))
        fail_msg("%s: %s", back, fault.text);
    unsigned count = pe_spec_tensors(&k.spec, t);
    assert_int_equal(pe_plan_create(&k.spec, &plan), PE_OK);
    assert_int_equal(pe_plan_create_like(&again.spec, plan, &other), PE_OK);
    for (unsigned i = 0; i < count; i++) {
        void *whole = fill(plan, i, &t[i], t[i].rows);
        const uint64_t portions[] = {1, 2 + below(40), 2 + below(40)};
        for (int p = 0; p < 3; p++) {
            void *part = fill(p == 2 ? other : plan, i, &t[i], portions[p]);
            if (memcmp(whole, part, t[i].bytes) != 0)
                fail_msg("%s: %s in portions of %d", line, t[i].name, (int)portions[p]);
            free(part);
        }
        free(whole);
    }
    pe_plan_destroy(&plan);
    pe_plan_destroy(&other);
    kit_spec_clear(&k);
    kit_spec_clear(&again);
}

static void test_splits(void **state)
{
    char line[4096];
    (void)state;
    for (int i = 0; i < 200; i++) {
        random_line(line, sizeof line);
        check_splits(line);
    }
}

static void *table(const char *line, uint64_t *bytes)
{
    struct kit_spec k;
    struct pe_fault fault;
    struct pe_plan *plan;
    struct pe_tensor t[PE_MAX_TENSORS];
    if (!kit_spec(&k, line, &fault))
        fail_msg("%s: %s", line, fault.text);
    pe_spec_tensors(&k.spec, t);
    assert_int_equal(pe_plan_create(&k.spec, &plan), PE_OK);
    void *at = fill(plan, 0, &t[0], t[0].rows);
    *bytes = t[0].bytes;
    pe_plan_destroy(&plan);
    kit_spec_clear(&k);
    return at;
}

static void check_same(const char *one, const char *two)
{
    uint64_t bytes, others;
    void *a = table(one, &bytes), *b = table(two, &others);
    if (bytes != others || memcmp(a, b, bytes) != 0)
        fail_msg("%s is not %s", one, two);
    free(a);
    free(b);
}

/* Different words for the same numbers. */
static void test_same_numbers(void **state)
{
    (void)state;
    check_same("rope?offset=4&length=3&width=8", "rope?positions=4,5,6&width=8");
    check_same(
        "rope?offset=4&length=3&width=8&layout=cos_sin",
        "rope?positions=4,5,6;shape=3x1&head_dim=32&partial_rotary_factor=0.25&layout=cos_sin");
    check_same("mrope?width=16&mrope_section=2,3,3&positions=5,6,5,6,5,6",
               "rope?width=16&positions=5,6");
    check_same("mrope?width=16&mrope_section=4,2,2&mrope_interleaved=true&offset=9&length=40",
               "rope?width=16&offset=9&length=40");
    check_same("sinusoidal?width=64&length=100&layout=split&order=cos",
               "rope?width=64&length=100&layout=cos_sin");
    check_same("sinusoidal?width=64&length=100&order=cos",
               "rope?width=64&length=100&layout=complex");
    check_same("axial_rope?width=16&height=3&columns=2",
               "axial_rope?width=16&positions=0,0,1,1,2,2,0,1,0,1,0,1");
    check_same("rope?width=8&length=9&layout=cos_sin&inverse=true",
               "rope?width=8&positions=0,-1,-2,-3,-4,-5,-6,-7,-8&layout=cos_sin");
    check_same("rope?width=8&length=70&rope_type=linear&factor=4",
               "rope?width=8&length=70&rope_type=yarn&factor=4&original_max_position_embeddings=1"
               "&attention_factor=1&extrapolation_factor=0");
}

/* PE(p+k) = M_k PE(p), and the other way back, to the precision of the parts. */
static void test_shift(void **state)
{
    static const char *const forms[] = {"", "&layout=split", "&order=cos",
                                        "&ladder=closed&scale=2.5", "&layout=split&order=cos"};
    (void)state;
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        char line[200];
        uint64_t bytes;
        snprintf(line, sizeof line, "sinusoidal?width=12&positions=1234,1912&dtype=f64%s",
                 forms[f]);
        double *pe = table(line, &bytes);
        snprintf(line, sizeof line, "sinusoidal/shift?width=12&offset=678&dtype=f64%s", forms[f]);
        double *m = table(line, &bytes);
        snprintf(line, sizeof line, "sinusoidal/shift?width=12&offset=-678&dtype=f64%s", forms[f]);
        double *back = table(line, &bytes);
        assert_int_equal(bytes, 12 * 12 * sizeof(double));
        for (int i = 0; i < 12; i++) {
            double sum = 0;
            for (int j = 0; j < 12; j++) {
                sum += m[i * 12 + j] * pe[j];
                assert_true(m[i * 12 + j] == back[j * 12 + i]);
            }
            assert_true(fabs(sum - pe[12 + i]) < 1e-15);
        }
        free(pe);
        free(m);
        free(back);
    }
}

/* PE(p).PE(p+k) does not depend on p, and is what similarity says. */
static void test_similarity(void **state)
{
    uint64_t bytes;
    (void)state;
    double *pe = table("sinusoidal?width=32&length=100&offset=777&dtype=f64", &bytes);
    double *wide = table("sinusoidal/similarity?width=32&max_offset=99&dtype=f64", &bytes);
    float *narrow = table("sinusoidal/similarity?width=32&max_offset=99", &bytes);
    for (int k = 0; k < 100; k++) {
        double sum = 0;
        for (int c = 0; c < 32; c++)
            sum += pe[c] * pe[k * 32 + c];
        assert_true(fabs(sum - wide[k]) < 1e-14);
        assert_true(narrow[k] == (float)wide[k]);
    }
    assert_true(wide[0] == 16);
    free(pe);
    free(wide);
    free(narrow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_same_numbers),
        cmocka_unit_test(test_shift),
        cmocka_unit_test(test_similarity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
