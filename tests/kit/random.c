/* SPDX-License-Identifier: MIT
 *
 * random.c: lines that stand for random tables of every kind.
 *
 * A few hundred rows at most, positions of any size, every layout, rope_type and dtype. Most lines
 * are specs that pe_spec_check accepts; the rest contradict themselves in some way.
 */
#include "kit/random.h"
#include "must.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- chance */

static _Thread_local uint64_t chance_state;

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t chance(void)
{
    uint64_t z = chance_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint64_t kit_below(uint64_t n)
{
    return chance() % n;
}

static double real(double lo, double hi)
{
    return lo + (hi - lo) * (double)(chance() >> 11) * 0x1p-53;
}

/* A number of any size up to 2^bits. */
static uint64_t sized(unsigned bits)
{
    return chance() >> (64 - 1 - kit_below(bits));
}

__attribute__((format(printf, 2, 3))) static void put(struct kit_line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    l->len += (size_t)vsnprintf(l->text + l->len, sizeof l->text - l->len, format, args);
    va_end(args);
    must(l->len < sizeof l->text);
}

static const char *pick(const char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    return words[kit_below(n)];
}

#define PICK(...) pick((const char *const[]){__VA_ARGS__, NULL})

/* ---------------------------------------------------------------- random tables */

static void put_rows(struct kit_line *l)
{
    unsigned bits = (unsigned)kit_below(53) + 1;
    if (kit_below(4)) {
        uint64_t offset = sized(53);
        put(l, "&offset=%llu&length=%llu",
            (unsigned long long)(offset < (1ull << 52) ? offset : offset / 2),
            1 + (unsigned long long)kit_below(200));
        return;
    }
    put(l, "&positions=");
    for (uint64_t i = 0, n = 1 + kit_below(20); i < n; i++)
        put(l, "%s%s%llu", i ? "," : "", kit_below(2) ? "-" : "", (unsigned long long)sized(bits));
}

static void put_common(struct kit_line *l)
{
    switch (kit_below(4)) {
    case 0:
        put(l, "&base=10000");
        break;
    case 1:
        put(l, "&base=%llu", (unsigned long long)kit_below(10000000) + 2);
        break;
    default:
        put(l, "&base=%.17g", exp(real(log(1.01), log(1e8))));
    }
    put(l, "&dtype=%s", PICK("f32", "f32", "f64", "f16", "bf16"));
}

static unsigned put_width(struct kit_line *l, unsigned multiple, const char *name)
{
    unsigned width = multiple * (unsigned)(1 + kit_below(kit_below(2) ? 8 : 64));
    put(l, "&%s=%u", name, width);
    return width;
}

static void put_list(struct kit_line *l, const char *name, unsigned count, double hi)
{
    put(l, "&%s=", name);
    for (unsigned i = 0; i < count; i++)
        put(l, "%s%.9g", i ? "," : "", real(1, hi));
}

/* Parameters of a rope_type; `pairs` are those of one ladder. */
static void put_scaling(struct kit_line *l, unsigned pairs)
{
    const char *type = PICK("default", "linear", "dynamic", "ntk", "yarn", "longrope", "llama3");
    if (pairs < 2 && (strcmp(type, "ntk") == 0 || strcmp(type, "dynamic") == 0))
        type = "linear";
    put(l, "&rope_type=%s", type);
    if (strcmp(type, "default") != 0)
        put(l, "&factor=%.17g", real(1, 50));
    if (strcmp(type, "dynamic") == 0)
        put(l, "&max_position_embeddings=%d&sequence_length=%llu", 1024 << kit_below(4),
            1 + (unsigned long long)sized(30));
    if (strcmp(type, "yarn") == 0 || strcmp(type, "longrope") == 0 || strcmp(type, "llama3") == 0)
        put(l, "&original_max_position_embeddings=%d", 1024 << kit_below(6));
    if (strcmp(type, "yarn") == 0 && kit_below(2))
        put(l, "&truncate=%s&beta_fast=%.3g", PICK("true", "false"), real(16, 64));
    if (strcmp(type, "yarn") == 0 && kit_below(2))
        put(l, "&mscale=%.5g&mscale_all_dim=%.5g", real(0.5, 2), real(0.5, 2));
    if (strcmp(type, "longrope") == 0) {
        put(l, "&sequence_length=%llu", 1 + (unsigned long long)sized(20));
        put_list(l, "short_factor", pairs, 3);
        put_list(l, "long_factor", pairs, 60);
    }
    if (strcmp(type, "llama3") == 0)
        put(l, "&low_freq_factor=%.6g&high_freq_factor=%.6g", real(0.5, 2), real(2, 8));
}

static void sinusoidal_line(struct kit_line *l)
{
    unsigned width = 2 * (1 + (unsigned)kit_below(70)) + !kit_below(4);
    put(l, "sinusoidal?width=%u", width);
    if (width % 2)
        put(l, "&odd=%s", PICK("zero", "sine"));
    put(l, "&layout=%s&ladder=%s&order=%s", PICK("interleaved", "split"), PICK("open", "closed"),
        PICK("sin", "cos"));
    if (!kit_below(3))
        put(l, "&scale=%.17g", real(-1000, 1000));
    if (!kit_below(3))
        put(l, "&padding_idx=%d", (int)kit_below(100));
    put_common(l);
    put_rows(l);
}

static void rope_line(struct kit_line *l)
{
    put(l, "rope?inverse=false");
    if (kit_below(6)) {
        unsigned width = put_width(l, 2, "width");
        put_scaling(l, width / 2);
    } else {
        put_width(l, 2, "head_dim");
        put(l, "&rope_type=proportional&partial_rotary_factor=%.3g&factor=%.17g", real(0.1, 1),
            real(1, 9));
    }
    put(l, "&layout=%s",
        PICK("pairs", "split", "interleaved", "cos_sin", "complex", "matrix", "phase"));
    put_common(l);
    put_rows(l);
}

static void mrope_line(struct kit_line *l)
{
    unsigned t = 1 + (unsigned)kit_below(20), h = (unsigned)kit_below(t + 1),
             w = (unsigned)kit_below(t + 1);
    bool woven = kit_below(2) && h <= t && w <= t && (h == w || h == w + 1);
    put(l, "mrope?width=%u&mrope_section=%u,%u,%u", 2 * (t + h + w), t, h, w);
    if (woven)
        put(l, "&mrope_interleaved=true");
    put_scaling(l, t + h + w);
    put(l, "&layout=%s&inverse=%s", PICK("pairs", "split", "interleaved"), PICK("true", "false"));
    put_common(l);
    put(l, "&positions=");
    uint64_t n = 3 * (1 + kit_below(12));
    for (uint64_t i = 0; i < n; i++)
        put(l, "%s%llu", i ? "," : "", (unsigned long long)sized(40));
}

static void axial_line(struct kit_line *l)
{
    put(l, "axial_rope?inverse=%s", PICK("true", "false"));
    unsigned width = put_width(l, 4, "width");
    put_scaling(l, width / 4);
    put(l, "&layout=%s", PICK("pairs", "split", "interleaved"));
    put_common(l);
    put(l, "&height=%llu&columns=%llu", 1 + (unsigned long long)kit_below(20),
        1 + (unsigned long long)kit_below(20));
}

static void xpos_line(struct kit_line *l)
{
    put(l, "xpos?scale_base=%.6g", real(100, 1000));
    put_width(l, 2, "width");
    put(l, "&layout=%s", PICK("pairs", "split", "interleaved"));
    put_common(l);
    put(l, "&offset=%llu&length=%llu", (unsigned long long)sized(16),
        1 + (unsigned long long)kit_below(100));
}

static void grid_line(struct kit_line *l)
{
    put(l, "grid?order=%s&cls_token=%s", PICK("hw", "wh"), PICK("true", "false"));
    put_width(l, 4, "width");
    put_common(l);
    put(l, "&height=%llu&columns=%llu", 1 + (unsigned long long)kit_below(20),
        1 + (unsigned long long)kit_below(20));
}

static void alibi_line(struct kit_line *l)
{
    unsigned length = 1 + (unsigned)kit_below(64), queries = 1 + (unsigned)kit_below(length);
    put(l, "alibi?width=%llu&length=%u&queries=%u", 1 + (unsigned long long)kit_below(40), length,
        queries);
    put(l, "&dtype=%s&symmetric=%s", PICK("f32", "f64", "f16", "bf16"), PICK("true", "false"));
    if (kit_below(2))
        put(l, "&alibi_bias_max=%.17g", real(0.5, 20));
    if (kit_below(2))
        put(l, "&offset=%llu", (unsigned long long)sized(50));
}

static void t5_line(struct kit_line *l)
{
    put(l, "t5?length=%llu&queries=3&num_buckets=%llu&max_distance=%llu&bidirectional=%s",
        3 + (unsigned long long)kit_below(300), 4 * (1 + (unsigned long long)kit_below(16)),
        64 + (unsigned long long)kit_below(1000), PICK("true", "false"));
}

static void deberta_line(struct kit_line *l)
{
    unsigned long long buckets = 2 * (2 + (unsigned long long)kit_below(40));
    put(l, "deberta?length=%llu&queries=3&position_buckets=%llu&max_relative_positions=%llu",
        3 + (unsigned long long)kit_below(300), buckets,
        buckets + (unsigned long long)kit_below(1000));
}

/* ---------------------------------------------------------------- all of them */

void kit_seed(uint64_t seed)
{
    chance_state = seed;
}

void kit_random_line(size_t round, struct kit_line *l)
{
    static void (*const lines[])(struct kit_line *) = {
        sinusoidal_line, rope_line,  mrope_line, axial_line, xpos_line,
        grid_line,       alibi_line, rope_line,  t5_line,    deberta_line};
    l->len = 0;
    lines[round % (sizeof lines / sizeof *lines)](l);
}
