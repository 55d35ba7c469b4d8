/* SPDX-License-Identifier: MIT
 *
 * verify_decimal_f32.c: all 2^32 floats, by hand (some minutes on one core; not part of `make
 * check`). Of each positive finite one, alone, in a row, and with the sign set: the text reads back
 * (strtof), no decimal with a digit less does, and no decimal of that length that reads back is
 * nearer. The last two are decided in long double with 64 bits, and by strtof where that is too
 * close to call.
 *
 * usage: verify_decimal_f32 [FIRST LAST]     patterns in hexadecimal, 0 .. 7f7fffff by default
 */
#include "posenc_decimal.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 };

struct parsed {
    uint64_t digits;
    int count;
    int exponent;
};

static float from_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* digits * 10^exponent of a text, without zeros at either end. */
static struct parsed parse(const char *text)
{
    struct parsed p = {0, 0, 0};
    bool point = false;
    for (; *text && *text != 'e'; text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        p.exponent -= point;
        p.digits = p.digits * 10 + (uint64_t)(*text - '0');
    }
    if (*text == 'e')
        p.exponent += atoi(text + 1);
    for (; p.digits && p.digits % 10 == 0; p.digits /= 10)
        p.exponent++;
    for (uint64_t d = p.digits; d; d /= 10)
        p.count++;
    return p;
}

static bool reads(long double whole, int exponent, float v)
{
    char text[64];
    snprintf(text, sizeof text, "%.0Lfe%d", whole, exponent);
    return strtof(text, NULL) == v;
}

static const char *wrong(float v, const char *text, const long double *power)
{
    if (strtof(text, NULL) != v)
        return "does not read back";
    const struct parsed p = parse(text);
    if (v == 0)
        return strcmp(text, "0.0") ? "zero" : NULL;
    const long double scale = p.exponent < 0 ? power[-p.exponent] : 1 / power[p.exponent];
    const long double t = (long double)v * scale, nearest = rintl(t);
    if (fabsl(t - (long double)p.digits) > 0.5L - 1e-9L) {
        if (nearest != (long double)p.digits && reads(nearest, p.exponent, v))
            return "not the nearest";
        if (fabsl(t - (long double)p.digits) > 1.5L)
            return "far away";
    }
    if (p.count == 1)
        return NULL;
    const long double gap = ((long double)nextafterf(v, INFINITY) - (long double)v) * scale;
    const long double down = floorl(t / 10), below = t - 10 * down;
    if (below < gap * 0.501L && reads(down, p.exponent + 1, v))
        return "could be shorter (down)";
    if (10 - below < gap * 0.501L && reads(down + 1, p.exponent + 1, v))
        return "could be shorter (up)";
    return NULL;
}

static uint64_t check_block(uint32_t first, size_t count, const long double *power)
{
    static float values[BLOCK];
    static char row[BLOCK * (PE_DECIMAL_F32_MAX + 1) + PE_DECIMAL_ROOM];
    char alone[PE_DECIMAL_ROOM + 1];
    uint64_t bad = 0;
    for (size_t i = 0; i < count; i++)
        values[i] = from_bits(first + (uint32_t)i);
    row[pe_decimal_row_f32(values, count, row)] = ',';
    char *at = row;
    for (size_t i = 0; i < count; i++) {
        char *end = strchr(at, ',');
        *end = 0;
        const char *why = wrong(values[i], at, power);
        alone[pe_decimal_f32(values[i], alone)] = 0;
        if (strcmp(alone, at))
            why = "another text in a row";
        alone[pe_decimal_f32(-values[i], alone)] = 0;
        if (alone[0] != '-' || strcmp(alone + 1, at))
            why = "another text with a sign";
        if (why && bad++ < 10)
            printf("%08" PRIx32 " %a %s: %s\n", first + (uint32_t)i, (double)values[i], at, why);
        at = end + 1;
    }
    return bad;
}

int main(int argc, char **argv)
{
    const uint32_t first = argc > 2 ? (uint32_t)strtoul(argv[1], NULL, 16) : 0;
    const uint32_t last = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 16) : 0x7f7fffff;
    long double power[64] = {1};
    for (int i = 1; i < 64; i++)
        power[i] = power[i - 1] * 10;
    uint64_t bad = 0, done = 0;
    for (uint64_t at = first; at <= last; at += BLOCK) {
        const size_t count = last - at + 1 < BLOCK ? (size_t)(last - at + 1) : BLOCK;
        bad += check_block((uint32_t)at, count, power);
        done += count;
        if (done % (UINT64_C(1) << 27) == 0) {
            printf("%" PRIu64 " patterns, %" PRIu64 " wrong\n", done, bad);
            fflush(stdout);
        }
    }
    printf("%" PRIu64 " patterns and as many with the sign set: %" PRIu64 " wrong\n", done, bad);
    return bad != 0;
}
