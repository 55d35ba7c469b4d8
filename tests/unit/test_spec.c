/* SPDX-License-Identifier: MIT
 *
 * test_spec.c: what is refused and who is blamed, what a checked spec says of itself, how large it
 * is.
 */
#include "kit/kit.h"
#include "kit/spec.h"

#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- refused */

static const struct refusal {
    const char *line;
    enum pe_error error;
    enum pe_param param;
} refusals[] = {
#define NO(line, error, param)             \
    {                                      \
        line, PE_##error, PE_PARAM_##param \
    }
    /* unknown here, before anything is missing */
    NO("sinusoidal?length=4&width=8&rope_type=default", UNUSED, ROPE_TYPE),
    NO("sinusoidal?length=4&width=8&inverse=true", UNUSED, INVERSE),
    NO("sinusoidal?factor=2", UNUSED, FACTOR),
    NO("rope?length=4&width=8&factor=2", UNUSED, FACTOR),
    NO("rope?length=4&width=8&ladder=open", UNUSED, LADDER),
    NO("rope?length=4&width=8&odd=zero", UNUSED, ODD),
    NO("rope?length=4&width=8&rope_type=linear&factor=2&beta_fast=32", UNUSED, BETA_FAST),
    NO("rope?width=8&rope_type=ntk&original_max_position_embeddings=9", UNUSED,
       ORIGINAL_MAX_POSITION_EMBEDDINGS),
    NO("rope?rope_type=llama3&mscale=1", UNUSED, MSCALE),
    NO("rope?rope_type=yarn&sequence_length=9", UNUSED, SEQUENCE_LENGTH),
    NO("rope?length=1&rope_type=proportional&width=8", UNUSED, WIDTH),
    NO("alibi?width=4&base=10000", UNUSED, BASE),
    NO("alibi?width=4&queries=2", UNUSED, QUERIES),
    NO("t5?length=4&width=8", UNUSED, WIDTH),
    NO("t5?length=4&dtype=f32", UNUSED, DTYPE),
    NO("grid?height=2&columns=2&width=8&rope_type=yarn", UNUSED, ROPE_TYPE),
    NO("sinusoidal/frequencies?width=8&length=4", UNUSED, LENGTH),
    NO("sinusoidal/shift?width=8&offset=1&compact=true&layout=split", UNUSED, LAYOUT),
    /* missing */
    NO("sinusoidal?width=8", MISSING, LENGTH),
    NO("sinusoidal?length=4", MISSING, WIDTH),
    NO("rope?length=4", MISSING, WIDTH),
    NO("rope?length=4&head_dim=8", MISSING, PARTIAL_ROTARY_FACTOR),
    NO("rope?length=4&partial_rotary_factor=0.5", MISSING, HEAD_DIM),
    NO("rope?length=4&width=8&rope_type=linear", MISSING, FACTOR),
    NO("rope?length=4&width=8&rope_type=dynamic&factor=2", MISSING, MAX_POSITION_EMBEDDINGS),
    NO("rope?length=4&width=8&rope_type=yarn&factor=4", MISSING, ORIGINAL_MAX_POSITION_EMBEDDINGS),
    NO("rope?length=4&width=8&rope_type=proportional&partial_rotary_factor=0.5", UNUSED, WIDTH),
    NO("rope?length=4&rope_type=proportional&partial_rotary_factor=0.5", MISSING, HEAD_DIM),
    NO("rope?length=4&width=4&rope_type=longrope&short_factor=1,1&"
       "long_factor=1,2"
       "&original_max_position_embeddings=64",
       MISSING, FACTOR),
    NO("rope/frequencies?width=4&rope_type=dynamic&factor=2&max_position_embeddings=16", MISSING,
       SEQUENCE_LENGTH),
    NO("mrope?length=4&width=16", MISSING, MROPE_SECTION),
    NO("grid?height=2&width=8", MISSING, COLUMNS),
    NO("axial_rope?columns=2&width=8", MISSING, HEIGHT),
    NO("sinusoidal/shift?width=8", MISSING, OFFSET),
    NO("deberta?length=4&position_buckets=32", MISSING, MAX_RELATIVE_POSITIONS),
    /* out of its own range */
    NO("sinusoidal?length=0&width=8", RANGE, LENGTH),
    NO("sinusoidal?length=9007199254740993&width=8", RANGE, LENGTH),
    NO("sinusoidal?length=4&width=0", RANGE, WIDTH),
    NO("sinusoidal?length=4&width=65537", RANGE, WIDTH),
    NO("sinusoidal?length=4&width=8&offset=-1", RANGE, OFFSET),
    NO("sinusoidal?length=4&width=8&offset=9007199254740992", RANGE, OFFSET),
    NO("sinusoidal?length=4&width=8&base=1", RANGE, BASE),
    NO("sinusoidal?length=4&width=8&base=nan", RANGE, BASE),
    NO("sinusoidal?length=4&width=8&base=inf", RANGE, BASE),
    NO("sinusoidal?length=4&width=8&scale=nan", RANGE, SCALE),
    NO("sinusoidal?length=4&width=8&layout=pairs", RANGE, LAYOUT),
    NO("sinusoidal?width=8&positions=9007199254740992", RANGE, POSITIONS),
    NO("rope?length=4&width=8&rope_type=linear&factor=0", RANGE, FACTOR),
    NO("rope?length=4&head_dim=8&partial_rotary_factor=0", RANGE, PARTIAL_ROTARY_FACTOR),
    NO("rope?length=4&head_dim=8&partial_rotary_factor=1.5", RANGE, PARTIAL_ROTARY_FACTOR),
    NO("rope?length=4&width=4&rope_type=longrope&"
       "short_factor=1,0&long_factor=1,2&factor=2"
       "&original_max_position_embeddings=64",
       RANGE, SHORT_FACTOR),
    NO("axial_rope?height=2&columns=2&head_dim=8&rope_type="
       "proportional&partial_rotary_factor=0.5",
       RANGE, ROPE_TYPE),
    NO("xpos?length=4&width=8&scale_base=0", RANGE, SCALE_BASE),
    /* out of range together, or contradictory */
    NO("sinusoidal?length=2&width=8&offset=9007199254740991", RANGE, OFFSET),
    NO("sinusoidal?width=8&positions=1&length=4", CONFLICT, LENGTH),
    NO("sinusoidal?width=8&positions=1&offset=0", CONFLICT, OFFSET),
    NO("axial_rope?width=8&positions=1,2&height=1", CONFLICT, HEIGHT),
    NO("sinusoidal?length=4&width=7", RANGE, WIDTH),
    NO("sinusoidal?length=4&width=7&odd=error", RANGE, WIDTH),
    NO("sinusoidal/similarity?max_offset=4&width=7", RANGE, WIDTH),
    NO("rope?length=4&width=5", RANGE, WIDTH),
    NO("rope?length=4&head_dim=192&partial_rotary_factor=0.333", RANGE, PARTIAL_ROTARY_FACTOR),
    NO("rope?length=4&head_dim=8&partial_rotary_factor=0.1", RANGE, PARTIAL_ROTARY_FACTOR),
    NO("rope?length=4&width=8&head_dim="
       "8&partial_rotary_factor=0.5",
       CONFLICT, HEAD_DIM),
    NO("rope?length=4&head_dim=7&rope_type=proportional&partial_rotary_factor=0.5", RANGE,
       HEAD_DIM),
    NO("rope?length=4&width=4&rope_type=ntk&factor=1e160", RANGE, FACTOR),
    NO("rope?length=4&width=8&rope_type=yarn&factor=4&original_max_position_"
       "embeddings=64"
       "&beta_fast=1&beta_slow=2",
       CONFLICT, BETA_FAST),
    NO("rope?length=4&width=8&rope_type=llama3&factor=8&"
       "low_freq_factor=4&high_freq_factor=1"
       "&original_max_position_embeddings=64",
       CONFLICT, HIGH_FREQ_FACTOR),
    NO("rope?length=4&width=8&rope_type=longrope&factor=2&original_max_"
       "position_embeddings=64"
       "&short_factor=1,1,1,1,1&long_factor=1,2,3,4",
       RANGE, SHORT_FACTOR),
    NO("rope?length=4&width=8&rope_type=longrope&"
       "factor=2&original_max_position_embeddings=64"
       "&short_factor=1,1,1,1&long_factor=1,2,3",
       RANGE, LONG_FACTOR),
    NO("rope?length=4&width=2&rope_type=longrope&factor=2&max_position_"
       "embeddings=64"
       "&original_max_position_embeddings=64&short_factor=1&long_factor=1",
       CONFLICT, FACTOR),
    NO("rope?length=4&width=2&rope_type=longrope&"
       "factor=2&original_max_position_embeddings=1"
       "&short_factor=1&long_factor=1",
       RANGE, ORIGINAL_MAX_POSITION_EMBEDDINGS),
    NO("rope?length=4&width=8&layout=phase&inverse=true", CONFLICT, INVERSE),
    NO("mrope?length=4&width=16&mrope_section=2,3,4", RANGE, MROPE_SECTION),
    NO("mrope?length=4&width=16&mrope_"
       "section=2,6",
       RANGE, MROPE_SECTION),
    NO("mrope?length=4&width=16&mrope_section=0,4,4&mrope_"
       "interleaved=true",
       CONFLICT, MROPE_SECTION),
    NO("mrope?width=4&mrope_section=1,"
       "1,0&positions=1,2;shape=2",
       RANGE, POSITIONS),
    NO("sinusoidal?width=4&positions=1,2,3;shape=2x2", RANGE, POSITIONS),
    NO("axial_rope?height=2&columns=2&width=6", RANGE, WIDTH),
    NO("grid?height=2&columns=2&width=6", RANGE, WIDTH),
    NO("alibi?width=4&length=2&queries=5", RANGE, QUERIES),
    NO("alibi?width=4&length=4&"
       "symmetric=true&masked=true",
       CONFLICT, SYMMETRIC),
    NO("alibi?width=4&length=4&queries=2&offset="
       "9007199254740991",
       RANGE, OFFSET),
    NO("t5?length=4&num_buckets=3", RANGE, NUM_BUCKETS),
    NO("t5?length=4&max_distance=8", RANGE, MAX_DISTANCE),
    NO("t5?length=4&queries=5", RANGE, QUERIES),
    NO("deberta?length=4&position_buckets=32&"
       "max_relative_positions=17",
       RANGE, MAX_RELATIVE_POSITIONS),
    NO("deberta?length=9007199254740992&"
       "queries=1&position_buckets=60000"
       "&max_relative_positions=30002",
       RANGE, MAX_RELATIVE_POSITIONS),
    /* too large to be addressed */
    NO("sinusoidal?length=9007199254740992&width=8192&dtype=f64", TOO_LARGE, NONE),
    NO("alibi?width=65536&length=4294967296&queries=4294967296", TOO_LARGE, NONE),
    NO("t5?queries=9007199254740992&length=9007199254740992&offset=0", TOO_LARGE, NONE),
    NO("grid?height=9007199254740992&columns=9007199254740992&width=8", TOO_LARGE, NONE),
    NO("axial_rope?height=9007199254740992&columns=1024&width=8", TOO_LARGE, NONE),
#undef NO
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *r = &refusals[i];
        struct kit_spec k;
        struct pe_fault fault;
        if (kit_spec(&k, r->line, &fault))
            fail_msg("%s is accepted", r->line);
        if (fault.error != r->error || fault.param != r->param)
            fail_msg("%s: error %d, parameter %d: %s", r->line, fault.error, fault.param,
                     fault.text);
        if (r->param != PE_PARAM_NONE && !strstr(fault.text, pe_param_info(r->param)->name))
            fail_msg("%s: the text does not name the parameter: %s", r->line, fault.text);
        assert_int_equal(pe_spec_check(&k.spec, NULL), r->error);
        kit_spec_clear(&k);
    }
}

static void test_no_such_resource(void **state)
{
    struct pe_spec s;
    struct pe_fault fault;
    (void)state;
    pe_spec_init(&s, PE_KIND_T5, PE_RESOURCE_FREQUENCIES);
    assert_int_equal(pe_spec_check(&s, &fault), PE_CONFLICT);
    assert_string_equal(fault.text, "t5 has no frequencies");
}

/* ---------------------------------------------------------------- canonical text */

static const char *const texts[][2] = {
    {"sinusoidal?length=3&width=4",
     "arithmetic=exact&base=10000&dtype=f32&ladder=open&layout=interleaved&length=3&offset=0"
     "&order=sin&scale=1&width=4"},
    {"sinusoidal?odd=zero&length=3&width=4&base=1e300&scale=-0.5&dtype=bfloat16&padding_idx=2",
     "arithmetic=exact&base=1e300&dtype=bf16&ladder=open&layout=interleaved&length=3&offset=0"
     "&order=sin&padding_idx=2&scale=-0.5&width=4"},
    {"sinusoidal?width=5&odd=sine&positions=7,0,1,2,3,9,10,-5,-4,-3&ladder=closed",
     "arithmetic=exact&base=10000&dtype=f32&ladder=closed&layout=interleaved&odd=sine&order=sin"
     "&positions=7,0-3,9,10,-5,-4,-3&scale=1&width=5"},
    {"rope?positions=1,2,3,4;shape=2x2&head_dim=32&partial_rotary_factor=0.25",
     "arithmetic=exact&base=10000&dtype=f32&inverse=false&layout=pairs&positions=1-4;shape=2x2"
     "&rope_type=default&width=8"},
    {"rope?length=1&head_dim=32&partial_rotary_factor=0.25&rope_type=proportional&layout=phase",
     "arithmetic=exact&base=10000&dtype=f32&factor=1&head_dim=32&layout=phase&length=1&offset=0"
     "&partial_rotary_factor=0.25&rope_type=proportional"},
    {"rope?offset=4&length=3&width=4&rope_type=dynamic&factor=2&max_position_embeddings=4",
     "arithmetic=exact&base=10000&dtype=f32&factor=2&inverse=false&layout=pairs&length=3"
     "&max_position_embeddings=4&offset=4&rope_type=dynamic&sequence_length=7&width=4"},
    {"rope?positions=6,4,-9&width=2&rope_type=longrope&short_factor=1.5&long_factor=2&factor=8"
     "&max_position_embeddings=512&original_max_position_embeddings=64",
     "arithmetic=exact&base=10000&dtype=f32&factor=8&inverse=false&layout=pairs&long_factor=2"
     "&original_max_position_embeddings=64&positions=6,4,-9&rope_type=longrope&sequence_length=7"
     "&short_factor=1.5&width=2"},
    {"rope?length=1&width=4&rope_type=yarn&factor=4&original_max_position_embeddings=64&mscale=2",
     "arithmetic=exact&base=10000&beta_fast=32&beta_slow=1&dtype=f32&extrapolation_factor=1&factor="
     "4"
     "&inverse=false&layout=pairs&length=1&offset=0&original_max_position_embeddings=64"
     "&rope_type=yarn&truncate=true&width=4"},
    {"rope?length=1&width=4&rope_type=yarn&factor=4&original_max_position_embeddings=64&mscale=2"
     "&mscale_all_dim=1.5",
     "arithmetic=exact&base=10000&beta_fast=32&beta_slow=1&dtype=f32&extrapolation_factor=1&factor="
     "4"
     "&inverse=false&layout=pairs&length=1&mscale=2&mscale_all_dim=1.5&offset=0"
     "&original_max_position_embeddings=64&rope_type=yarn&truncate=true&width=4"},
    {"alibi?width=4", "alibi_bias_max=8&dtype=f32&width=4"},
    {"alibi?width=4&length=5",
     "alibi_bias_max=8&dtype=f32&length=5&masked=false&offset=4&queries=1&symmetric=false&width=4"},
    {"t5?length=5&queries=2",
     "bidirectional=true&length=5&max_distance=128&num_buckets=32&offset=3&queries=2"},
    {"deberta?length=5&position_buckets=32&max_relative_positions=512",
     "length=5&max_relative_positions=512&offset=0&position_buckets=32&queries=5"},
    {"xpos?length=4&width=8&offset=3",
     "arithmetic=exact&base=10000&center=3&dtype=f32&inverse=false&layout=pairs&length=4&offset=3"
     "&rope_type=default&scale_base=512&width=8"},
    {"xpos?positions=-4&width=8",
     "arithmetic=exact&base=10000&center=-2&dtype=f32&inverse=false&layout=pairs&positions=-4"
     "&rope_type=default&scale_base=512&width=8"},
    {"grid?height=2&columns=3&width=8&order=wh",
     "base=10000&cls_token=false&columns=3&dtype=f32&height=2&order=wh&width=8"},
    {"sinusoidal/shift?width=8&offset=-3&compact=true",
     "base=10000&compact=true&dtype=f32&ladder=open&offset=-3&scale=1&width=8"},
    {"rope/frequencies?width=8&base=3.7", "base=3.7&rope_type=default&width=8"},
};

static void check_text(const char *line, const char *want)
{
    char text[1024], again[1024], back[1100];
    struct pe_fault fault;
    struct kit_spec k;
    if (!kit_spec(&k, line, &fault))
        fail_msg("%s: %s", line, fault.text);
    assert_int_equal(pe_spec_text(&k.spec, text, sizeof text), strlen(want));
    assert_string_equal(text, want);
    /* a checked spec stays as it is */
    assert_int_equal(pe_spec_check(&k.spec, NULL), PE_OK);
    pe_spec_text(&k.spec, text, sizeof text);
    assert_string_equal(text, want);
    kit_spec_clear(&k);
    /* and its text is a request for the same table */
    snprintf(back, sizeof back, "%.*s?%s", (int)strcspn(line, "?"), line, want);
    if (!kit_spec(&k, back, &fault))
        fail_msg("%s: %s", back, fault.text);
    pe_spec_text(&k.spec, again, sizeof again);
    assert_string_equal(again, want);
    kit_spec_clear(&k);
}

static void test_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_text(texts[i][0], texts[i][1]);
}

static void test_text_is_cut(void **state)
{
    struct kit_spec k;
    char text[11];
    (void)state;
    assert_true(kit_spec(&k, "alibi?width=4", NULL));
    assert_int_equal(pe_spec_text(&k.spec, text, sizeof text), 34);
    assert_string_equal(text, "alibi_bias");
    assert_int_equal(pe_spec_text(&k.spec, NULL, 0), 34);
    assert_int_equal(pe_spec_value(&k.spec, PE_PARAM_DTYPE, text, sizeof text), 3);
    assert_string_equal(text, "f32");
    kit_spec_clear(&k);
}

/* ---------------------------------------------------------------- tensors */

static const struct {
    const char *line;
    const char *tensors; /* name:dtype:shape:rows, in order */
} shapes[] = {
    {"sinusoidal?length=5&width=6", "weight:f32:5x6:5 "},
    {"sinusoidal?positions=1,2,3,4,5,6;shape=3x2&width=6", "weight:f32:3x2x6:6 "},
    {"rope?length=5&width=6&dtype=bf16", "cos:bf16:5x3:5 sin:bf16:5x3:5 "},
    {"rope?length=5&width=6&layout=split", "cos:f32:5x6:5 sin:f32:5x6:5 "},
    {"rope?length=5&width=6&layout=cos_sin", "table:f32:5x6:5 "},
    {"rope?length=5&width=6&layout=complex", "table:f32:5x3x2:5 "},
    {"rope?length=5&width=6&layout=matrix", "table:f32:5x3x2x2:5 "},
    {"rope?length=5&width=6&layout=phase", "table:f32:5x3:5 "},
    {"mrope?width=4&mrope_section=1,1,0&positions=1,2,3,4,5,6", "cos:f32:2x2:2 sin:f32:2x2:2 "},
    {"mrope?width=4&mrope_section=1,1,0&length=7", "cos:f32:7x2:7 sin:f32:7x2:7 "},
    {"axial_rope?width=8&height=2&columns=3", "cos:f32:6x4:6 sin:f32:6x4:6 "},
    {"axial_rope?width=8&positions=1,2,3,4,5,6", "cos:f32:3x4:3 sin:f32:3x4:3 "},
    {"xpos?length=5&width=6", "cos:f32:5x3:5 scale:f32:5x3:5 sin:f32:5x3:5 "},
    {"grid?height=2&columns=3&width=8&cls_token=true", "weight:f32:7x8:7 "},
    {"alibi?width=6", "slopes:f32:6:6 "},
    {"alibi?width=6&length=5&queries=2&dtype=f64", "bias:f64:6x2x5:60 slopes:f64:6:6 "},
    {"t5?length=5&queries=2", "bucket:i32:2x5:10 "},
    {"sinusoidal/frequencies?width=5&odd=sine",
     "attention_factor:f64::1 base:f64::1 inv_freq:f64:3:3 wavelength:f64:3:3 "},
    {"rope/frequencies?width=4&rope_type=yarn&factor=2&original_max_position_embeddings=64",
     "attention_factor:f64::1 base:f64::1 correction_range:f64:2:2 inv_freq:f64:2:2 "
     "wavelength:f64:2:2 "},
    {"sinusoidal/shift?width=6&offset=1", "matrix:f32:6x6:6 "},
    {"sinusoidal/shift?width=6&offset=1&compact=true", "matrix:f32:3x2:3 "},
    {"sinusoidal/similarity?width=6&max_offset=9", "similarity:f32:10:10 "},
};

static void describe(const struct pe_spec *s, char *out)
{
    struct pe_tensor t[PE_MAX_TENSORS];
    unsigned count = pe_spec_tensors(s, t);
    *out = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t elements = 1;
        out += sprintf(out, "%s:%s:", t[i].name, pe_dtype_name(t[i].dtype));
        for (unsigned a = 0; a < t[i].rank; a++) {
            out += sprintf(out, "%s%u", a ? "x" : "", (unsigned)t[i].shape[a]);
            elements *= t[i].shape[a];
        }
        out += sprintf(out, ":%u ", (unsigned)t[i].rows);
        assert_int_equal(t[i].rows * t[i].row_elements, elements);
        assert_int_equal(t[i].bytes, elements * pe_dtype_size(t[i].dtype));
    }
}

static void test_tensors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct kit_spec k;
        struct pe_fault fault;
        char text[512];
        if (!kit_spec(&k, shapes[i].line, &fault))
            fail_msg("%s: %s", shapes[i].line, fault.text);
        describe(&k.spec, text);
        assert_string_equal(text, shapes[i].tensors);
        kit_spec_clear(&k);
    }
}

/* 2^50 rows of 8 columns are a size like any other. */
static void test_long(void **state)
{
    struct kit_spec k;
    struct pe_tensor t[PE_MAX_TENSORS];
    (void)state;
    assert_true(kit_spec(&k, "sinusoidal?length=1125899906842624&width=8&dtype=f64", NULL));
    assert_int_equal(pe_spec_tensors(&k.spec, t), 1);
    assert_int_equal(t[0].bytes, UINT64_C(1) << 56);
    kit_spec_clear(&k);
}

static void test_widths(void **state)
{
    static const struct {
        const char *line;
        int width;
    } widths[] = {{"rope?length=1&head_dim=192&partial_rotary_factor=0.334", 64},
                  {"rope?length=1&head_dim=100&partial_rotary_factor=0.29", 28},
                  {"rope?length=1&head_dim=128&partial_rotary_factor=1", 128}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct kit_spec k;
        assert_true(kit_spec(&k, widths[i].line, NULL));
        assert_int_equal(k.spec.width, widths[i].width);
        kit_spec_clear(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_no_such_resource),
        cmocka_unit_test(test_text),    cmocka_unit_test(test_text_is_cut),
        cmocka_unit_test(test_tensors), cmocka_unit_test(test_long),
        cmocka_unit_test(test_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
