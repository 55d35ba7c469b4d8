/* SPDX-License-Identifier: MIT
 *
 * test_learned_file.c: uploads as bytes: what is read, and what is refused, through both grammars
 * (npy_head.c, safetensors_in.c). Refusals are rows of a table: a header, the bytes behind it, and
 * a word of the reason.
 */
#include "api.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char file[1 << 18];

/* An .npy file around a header text, padded as numpy pads. */
static size_t npy(const char *header, size_t data, int version)
{
    size_t n = strlen(header), start = version == 1 ? 10 : 12,
           padded = (start + n + 1 + 63) / 64 * 64 - start;
    memset(file, 0, sizeof file);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (char)version;
    for (size_t i = 8; i < start; i++)
        file[i] = (char)(padded >> 8 * (i - 8) & 0xff);
    memset(file + start, ' ', padded - 1);
    memcpy(file + start, header, n);
    file[start + padded - 1] = '\n';
    return start + padded + data;
}

static size_t safetensors(const char *header, size_t data)
{
    size_t n = strlen(header);
    memset(file, 0, sizeof file);
    for (size_t i = 0; i < 8; i++)
        file[i] = (char)((uint64_t)n >> 8 * i & 0xff);
    memcpy(file + 8, header, n);
    return 8 + n + data;
}

static const char *take(enum api_learned_form form, size_t size, struct api_learned_file *out)
{
    size_t head = size < API_LEARNED_HEAD ? size : API_LEARNED_HEAD;
    char *copy = malloc(head ? head : 1); /* so that a reader that goes too far is caught */
    memcpy(copy, file, head);
    const char *fault = api_learned_read(form, (struct api_bytes){copy, head}, size, out);
    free(copy);
    return fault;
}

static void refused(const char *what, const char *fault, const char *reason)
{
    if (!fault)
        fail_msg("accepted: %s", what);
    if (!strstr(fault, reason))
        fail_msg("%s: \"%s\" does not say \"%s\"", what, fault, reason);
}

#define DICT(descr, order, shape) \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static void npy_that_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        int version;
        size_t data;
        enum pe_dtype dtype;
    } cases[] = {
        {DICT("'<f4'", "False", "(4, 3)"), 1, 48, PE_DTYPE_F32},
        {DICT("'<f8'", "False", "(4, 3)"), 1, 96, PE_DTYPE_F64},
        {DICT("'<f2'", "False", "(4, 3)"), 2, 24, PE_DTYPE_F16},
        {DICT("'<f4'", "False", "(4,3,)"), 3, 48, PE_DTYPE_F32},
        {"{\"shape\":(4,3),\"descr\":\"<f4\",\"fortran_order\":False}", 1, 48, PE_DTYPE_F32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int any = 0; any < 2; any++) {
            struct api_learned_file f;
            size_t size = npy(cases[i].header, cases[i].data, cases[i].version);
            const char *fault = take(any ? API_LEARNED_ANY : API_LEARNED_NPY, size, &f);
            if (fault)
                fail_msg("%s: %s", cases[i].header, fault);
            assert_int_equal(f.dtype, cases[i].dtype);
            assert_int_equal(f.rows, 4);
            assert_int_equal(f.width, 3);
            assert_int_equal(f.data, size - cases[i].data);
        }
}

static void npy_that_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        const char *reason;
    } cases[] = {
        {DICT("'>f4'", "False", "(4, 3)"), 48, "little-endian"},
        {DICT("'=f4'", "False", "(4, 3)"), 48, "little-endian"},
        {DICT("'f4'", "False", "(4, 3)"), 48, "simple type"},
        {DICT("'|O'", "False", "(4, 3)"), 48, "simple type"},
        {DICT("'<i4'", "False", "(4, 3)"), 48, "not f2"},
        {DICT("'|V2'", "False", "(4, 3)"), 24, "not f2"},
        {DICT("'<f16'", "False", "(4, 3)"), 192, "not f2"},
        {DICT("'<f4 '", "False", "(4, 3)"), 48, "simple type"},
        {DICT("'<f4\"", "False", "(4, 3)"), 48, "simple type"},
        {DICT("[('a', '<f4')]", "False", "(4, 3)"), 48, "simple type"},
        {DICT("'<f4'", "True", "(4, 3)"), 48, "C order"},
        {DICT("'<f4'", "0", "(4, 3)"), 48, "C order"},
        {DICT("'<f4'", "False", "(12,)"), 48, "two axes"},
        {DICT("'<f4'", "False", "()"), 4, "two axes"},
        {DICT("'<f4'", "False", "(2, 2, 3)"), 48, "two axes"},
        {DICT("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)"), 4, "8 axes"},
        {DICT("'<f4'", "False", "(12)"), 48, "tuple"},
        {DICT("'<f4'", "False", "[4, 3]"), 48, "tuple"},
        {DICT("'<f4'", "False", "(4 3)"), 48, "tuple"},
        {DICT("'<f4'", "False", "(4,, 3)"), 48, "tuple"},
        {DICT("'<f4'", "False", "(-4, 3)"), 48, "tuple"},
        {DICT("'<f4'", "False", "(04, 3)"), 48, "tuple"},
        {DICT("'<f4'", "False", "(4L, 3)"), 48, "tuple"},
        {DICT("'<f4'", "False", "(4.0, 3)"), 48, "tuple"},
        {DICT("'<f4'", "False", "(2+2, 3)"), 48, "tuple"},
        {DICT("'<f4'", "False", "(9223372036854775808, 2)"), 48, "tuple"},
        {DICT("'<f4'", "False", "(0, 3)"), 0, "no values"},
        {DICT("'<f4'", "False", "(4, 0)"), 0, "no values"},
        {DICT("'<f4'", "False", "(1, 65537)"), 65537 * 4 % 65536, "65536 columns"},
        {DICT("'<f4'", "False", "(4611686018427387908, 3)"), 48, "length"},
        {DICT("'<f4'", "False", "(4, 3)"), 47, "length"},
        {DICT("'<f4'", "False", "(4, 3)"), 49, "length"},
        {DICT("'<f4'", "False", "(4, 3)"), 0, "length"},
        {"{'descr': '<f4', 'fortran_order': False}", 48, "lacks a key"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4, 3)}", 48,
         "or one twice"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), 'x': 1}", 48, "another key"},
        {"{'descr' '<f4', 'fortran_order': False, 'shape': (4, 3)}", 48, "cannot be read"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (4, 3)}", 48, "cannot be read"},
        {DICT("'<f4'", "False", "(4, 3)") " # x", 48, "cannot be read"},
        {"['<f4', False, (4, 3)]", 48, "not a dict"},
        {"", 48, "not a dict"},
    };
    struct api_learned_file f;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i].header, take(API_LEARNED_NPY, npy(cases[i].header, cases[i].data, 1), &f),
                cases[i].reason);
}

/* Every beginning of a file is refused, and none is read beyond its end. */
static void cut_off_anywhere(void **state)
{
    (void)state;
    struct api_learned_file f;
    size_t size = npy(DICT("'<f4'", "False", "(4, 3)"), 48, 1);
    for (size_t n = 0; n < size; n++)
        assert_non_null(take(API_LEARNED_NPY, n, &f));
    assert_null(take(API_LEARNED_NPY, size, &f));
    size = safetensors("{\"w\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[0,12]}}", 12);
    for (size_t n = 0; n < size; n++)
        assert_non_null(take(API_LEARNED_SAFETENSORS, n, &f));
    assert_null(take(API_LEARNED_SAFETENSORS, size, &f));
}

/* Each byte of a header replaced by each of some others: refused, or read as the same table. */
static void damaged_headers(void **state)
{
    (void)state;
    static const char junk[] = "\0\xff\n '\"(){}[],:x0123456789-";
    struct api_learned_file f;
    size_t size = npy(DICT("'<f4'", "False", "(4, 3)"), 48, 1);
    for (size_t at = 0; at < size - 48; at++)
        for (size_t j = 0; j < sizeof junk - 1; j++) {
            char kept = file[at];
            file[at] = junk[j];
            if (!take(API_LEARNED_NPY, size, &f))
                assert_true(f.rows * f.width * pe_dtype_size(f.dtype) == size - f.data);
            file[at] = kept;
        }
}

static void header_limit(void **state)
{
    (void)state;
    static char header[100000];
    struct api_learned_file f;
    const char *dict = DICT("'<f4'", "False", "(4, 3)");
    memset(header, ' ', sizeof header - 1);
    memcpy(header, dict, strlen(dict));
    refused("a header of 100 kB", take(API_LEARNED_NPY, npy(header, 48, 2), &f), "too long");
    header[60000] = 0;
    assert_null(take(API_LEARNED_NPY, npy(header, 48, 1), &f));
    assert_int_equal(f.rows, 4);
}

#define TENSOR(dtype, shape, offsets) \
    "\"w\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define GOOD TENSOR("\"F32\"", "[4,3]", "[0,48]")

static void safetensors_that_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        enum pe_dtype dtype;
    } cases[] = {
        {"{" GOOD "}", 48, PE_DTYPE_F32},
        {"{" GOOD "}      ", 48, PE_DTYPE_F32},
        {"{" TENSOR("\"F64\"", "[4,3]", "[0,96]") "}", 96, PE_DTYPE_F64},
        {"{" TENSOR("\"F16\"", "[ 4 , 3 ]", "[0,24]") "}", 24, PE_DTYPE_F16},
        {"{" TENSOR("\"BF16\"", "[4,3]", "[0,24]") "}", 24, PE_DTYPE_BF16},
        {"{\"__metadata__\":{\"format\":\"pt\",\"a\":\"\\u00e9\"}," GOOD "}", 48, PE_DTYPE_F32},
        {"{" GOOD ",\"__metadata__\":{}}", 48, PE_DTYPE_F32},
        {"{\"\":{\"data_offsets\":[0,48],\"dtype\":\"F\\u00332\",\"shape\":[4,3]}}", 48,
         PE_DTYPE_F32},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct api_learned_file f;
        size_t size = safetensors(cases[i].header, cases[i].data);
        const char *fault = take(API_LEARNED_ANY, size, &f);
        if (fault)
            fail_msg("%s: %s", cases[i].header, fault);
        assert_int_equal(f.dtype, cases[i].dtype);
        assert_int_equal(f.rows, 4);
        assert_int_equal(f.width, 3);
        assert_int_equal(f.data, size - cases[i].data);
    }
}

static void safetensors_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t data;
        const char *reason;
    } cases[] = {
        {"{}", 0, "no tensor"},
        {"{\"__metadata__\":{}}", 0, "no tensor"},
        {" {" GOOD "}", 48, "not the JSON"},
        {"[" GOOD "]", 48, "not the JSON"},
        {"{" GOOD ",}", 48, "not the JSON"},
        {"{" GOOD "}x", 48, "not the JSON"},
        {"{" GOOD "}\n", 48, "not the JSON"},
        {"{" GOOD "}{}", 48, "not the JSON"},
        {"{" GOOD "," GOOD "}", 48, "more than one"},
        {"{\"a\":null}", 48, "not the JSON"},
        {"{\"a\\u0000\":{}}", 48, "not the JSON"},
        {"{\"a\\ud800\":{}}", 48, "not the JSON"},
        {"{\"a\":{}}", 48, "lacks a member"},
        {"{" TENSOR("\"f32\"", "[4,3]", "[0,48]") "}", 48, "dtype"},
        {"{" TENSOR("\"I32\"", "[4,3]", "[0,48]") "}", 48, "dtype"},
        {"{" TENSOR("32", "[4,3]", "[0,48]") "}", 48, "not the JSON"},
        {"{" TENSOR("\"F32\"", "[12]", "[0,48]") "}", 48, "two axes"},
        {"{" TENSOR("\"F32\"", "[2,2,3]", "[0,48]") "}", 48, "two axes"},
        {"{" TENSOR("\"F32\"", "[4.0,3]", "[0,48]") "}", 48, "two axes"},
        {"{" TENSOR("\"F32\"", "[4e0,3]", "[0,48]") "}", 48, "two axes"},
        {"{" TENSOR("\"F32\"", "[-4,3]", "[0,48]") "}", 48, "two axes"},
        {"{" TENSOR("\"F32\"", "[\"4\",3]", "[0,48]") "}", 48, "two axes"},
        {"{" TENSOR("\"F32\"", "[[4],3]", "[0,48]") "}", 48, "two axes"},
        {"{" TENSOR("\"F32\"", "[0,3]", "[0,0]") "}", 0, "no values"},
        {"{" TENSOR("\"F32\"", "[5,3]", "[0,48]") "}", 48, "length"},
        {"{" TENSOR("\"F32\"", "[4611686018427387908,3]", "[0,48]") "}", 48, "length"},
        {"{" TENSOR("\"F32\"", "[4,3]", "[48,0]") "}", 48, "cover"},
        {"{" TENSOR("\"F32\"", "[4,3]", "[8,56]") "}", 56, "cover"},
        {"{" TENSOR("\"F32\"", "[4,3]", "[0,48]") "}", 49, "cover"},
        {"{" TENSOR("\"F32\"", "[4,3]", "[0,48]") "}", 47, "cover"},
        {"{" TENSOR("\"F32\"", "[4,3]", "[0,18446744073709551664]") "}", 48, "two sizes"},
        {"{" TENSOR("\"F32\"", "[4,3]", "[48]") "}", 48, "two sizes"},
        {"{\"w\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[4,3],\"data_offsets\":[0,48]}}",
         48, "one twice"},
        {"{\"w\":{\"dtype\":\"F32\",\"shape\":[4,3],\"data_offsets\":[0,48],\"x\":1}}", 48,
         "another member"},
        {"{\"__metadata__\":{\"a\":1}," GOOD "}", 48, "not texts"},
        {"{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}," GOOD "}", 48, "name twice"},
        {"{\"__metadata__\":[]," GOOD "}", 48, "not an object"},
        {"{\"__metadata__\":{},\"__metadata__\":{}," GOOD "}", 48, "metadata twice"},
    };
    struct api_learned_file f;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i].header,
                take(API_LEARNED_SAFETENSORS, safetensors(cases[i].header, cases[i].data), &f),
                cases[i].reason);
}

static void lengths_that_wrap(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {
        0, 1, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 63, UINT64_C(1) << 32, 200000000, 128};
    struct api_learned_file f;
    size_t size = safetensors("{" GOOD "}", 48);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        for (size_t i = 0; i < 8; i++)
            file[i] = (char)(lengths[l] >> 8 * i & 0xff);
        assert_non_null(take(API_LEARNED_SAFETENSORS, size, &f));
    }
}

static void values(void **state)
{
    (void)state;
    static const struct {
        enum pe_dtype dtype;
        uint64_t infinity, nan, greatest;
    } types[] = {{PE_DTYPE_F64, UINT64_C(0x7ff) << 52, (UINT64_C(0x7ff) << 52) + 1,
                  (UINT64_C(0x7ff) << 52) - 1},
                 {PE_DTYPE_F32, 0x7f800000, 0x7f800001, 0x7f7fffff},
                 {PE_DTYPE_F16, 0x7c00, 0xfe01, 0x7bff},
                 {PE_DTYPE_BF16, 0x7f80, 0xffc1, 0x7f7f}};
    unsigned char data[8 * 9 + 1];
    for (size_t t = 0; t < 4; t++) {
        size_t size = pe_dtype_size(types[t].dtype);
        for (size_t at = 0; at < 9; at++) {
            double largest = 0, greatest;
            memset(data, 0, sizeof data);
            assert_true(api_learned_scan(types[t].dtype, data + 1, 9, &largest));
            assert_true(largest == 0);
            memcpy(data + 1 + at * size, &types[t].greatest, size);
            data[at * size + size] |= 0x80;
            assert_true(api_learned_scan(types[t].dtype, data + 1, 9, &largest));
            pe_convert(types[t].dtype, &types[t].greatest, PE_DTYPE_F64, &greatest, 1);
            assert_true(largest == greatest);
            memcpy(data + 1 + at * size, &types[t].infinity, size);
            assert_false(api_learned_scan(types[t].dtype, data + 1, 9, &largest));
            memcpy(data + 1 + at * size, &types[t].nan, size);
            assert_false(api_learned_scan(types[t].dtype, data + 1, 9, &largest));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_that_is_read),
        cmocka_unit_test(npy_that_is_refused),
        cmocka_unit_test(cut_off_anywhere),
        cmocka_unit_test(damaged_headers),
        cmocka_unit_test(header_limit),
        cmocka_unit_test(safetensors_that_are_read),
        cmocka_unit_test(safetensors_that_are_refused),
        cmocka_unit_test(lengths_that_wrap),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
