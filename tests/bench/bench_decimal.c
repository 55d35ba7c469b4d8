/* SPDX-License-Identifier: MIT
 *
 * bench_decimal.c: nanoseconds a number, best of several runs over an 8192 x 128 sinusoidal table:
 * decimals one by one, in rows, whole bodies of the text formats, and the C library's "%.17g" and
 * "%.9g" beside them (which write more digits than are needed).
 */
#include "posenc_decimal.h"
#include "format/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LENGTH = 8192, WIDTH = 128, COUNT = LENGTH * WIDTH, RUNS = 5, BAND = 128 };

static double f64[COUNT];
static float f32[COUNT];
static uint16_t bf16[COUNT];
static char out[COUNT * 32];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(const char *what, size_t (*run)(void))
{
    double best = INFINITY;
    size_t bytes = 0;
    for (int i = 0; i < RUNS; i++) {
        const double start = now();
        bytes = run();
        best = fmin(best, now() - start);
    }
    printf("%-24s %7.1f ns/number %7.2f bytes/number %7.0f MB/s\n", what, best / COUNT * 1e9,
           (double)bytes / COUNT, (double)bytes / best / 1e6);
}

static size_t printf_f64(void)
{
    size_t n = 0;
    for (int i = 0; i < COUNT; i++)
        n += (size_t)snprintf(out, 32, "%.17g", f64[i]);
    return n;
}

static size_t printf_f32(void)
{
    size_t n = 0;
    for (int i = 0; i < COUNT; i++)
        n += (size_t)snprintf(out, 32, "%.9g", (double)f32[i]);
    return n;
}

static size_t single_f64(void)
{
    size_t n = 0;
    for (int i = 0; i < COUNT; i++)
        n += pe_decimal_f64(f64[i], out + n);
    return n;
}

static size_t single_f32(void)
{
    size_t n = 0;
    for (int i = 0; i < COUNT; i++)
        n += pe_decimal_f32(f32[i], out + n);
    return n;
}

static size_t rows_f64(void)
{
    size_t n = 0;
    for (int r = 0; r < LENGTH; r++)
        n += pe_decimal_row_f64(f64 + r * WIDTH, WIDTH, out + n);
    return n;
}

static size_t rows_f32(void)
{
    size_t n = 0;
    for (int r = 0; r < LENGTH; r++)
        n += pe_decimal_row_f32(f32 + r * WIDTH, WIDTH, out + n);
    return n;
}

static size_t body(const char *format, enum pe_dtype dtype, const void *data)
{
    struct pe_tensor t = {.name = "weight",
                          .dtype = dtype,
                          .rank = 2,
                          .shape = {LENGTH, WIDTH},
                          .rows = LENGTH,
                          .row_elements = WIDTH,
                          .bytes = COUNT * pe_dtype_size(dtype)};
    const struct api_table table = {.format = api__format_find(format, strlen(format)),
                                    .tensors = &t,
                                    .tensor_count = 1,
                                    .tensor = -1,
                                    .kind = "sinusoidal",
                                    .parameters = "{}"};
    struct api_writer writer;
    char *at = malloc(api_writer_room(&table, 0, BAND) + api_writer_head_size(&table));
    size_t n = at ? api_writer_open(&writer, &table, at) : 0;
    for (int r = 0; at && r < LENGTH; r += BAND)
        n += api_writer_rows(
            &writer, 0, (const char *)data + (size_t)r * WIDTH * pe_dtype_size(dtype), BAND, at);
    n += at ? api_writer_tail(&writer, at) : 0;
    free(at);
    return n;
}

static size_t json_f64(void)
{
    return body("json", PE_DTYPE_F64, f64);
}

static size_t json_f32(void)
{
    return body("json", PE_DTYPE_F32, f32);
}

static size_t json_bf16(void)
{
    return body("json", PE_DTYPE_BF16, bf16);
}

static size_t json_ids(void)
{
    return body("json", PE_DTYPE_I64, f64);
}

static size_t csv_f32(void)
{
    return body("csv", PE_DTYPE_F32, f32);
}

static size_t txt_f32(void)
{
    return body("txt", PE_DTYPE_F32, f32);
}

static size_t npz_f32(void)
{
    return body("npz", PE_DTYPE_F32, f32);
}

int main(void)
{
    for (int r = 0; r < LENGTH; r++)
        for (int j = 0; j < WIDTH; j++) {
            const double phase = r * pow(10000, -2.0 * (j / 2) / WIDTH);
            const int i = r * WIDTH + j;
            f64[i] = j % 2 ? cos(phase) : sin(phase);
            f32[i] = (float)f64[i];
            uint32_t bits;
            memcpy(&bits, &f32[i], sizeof bits);
            bf16[i] = (uint16_t)(bits >> 16);
        }
    report("printf f64", printf_f64);
    report("printf f32", printf_f32);
    report("decimal f64", single_f64);
    report("decimal f32", single_f32);
    report("decimal row f64", rows_f64);
    report("decimal row f32", rows_f32);
    report("json f64", json_f64);
    report("json f32", json_f32);
    report("json bf16", json_bf16);
    report("csv f32", csv_f32);
    report("txt f32", txt_f32);
    report("npz f32", npz_f32);
    int64_t *ids = (int64_t *)(void *)f64;
    for (int64_t i = 0; i < COUNT; i++)
        ids[i] = i % LENGTH;
    report("json i64", json_ids);
    return 0;
}
