/* SPDX-License-Identifier: MIT
 *
 * test_writer.c: bodies do not depend on the portions in which rows come, nor on who writes them,
 * for every written format, dtype and many shapes, and never leave the room that was asked for
 * (tables.h guards it).
 */
#include "tables.h"

static uint64_t state = 88172645463325252;

static uint64_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

enum { LARGEST = 4096 };
static uint64_t noise[3][LARGEST];

static void fill(void)
{
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < LARGEST; i++)
            noise[t][i] = random_bits();
    for (int i = 0; i < LARGEST; i += 5)
        noise[0][i] = UINT64_C(0xffefffffff7fffff); /* the longest of f64, large negative f32 */
}

/* Bytes of bool tensors are 0 or 1. */
static void make_bool(void *data, size_t n)
{
    unsigned char *at = data;
    for (size_t i = 0; i < n; i++)
        at[i] &= 1;
}

static void portions_do_not_show(void **unused)
{
    (void)unused;
    static const char *const formats[] = {"json", "csv", "txt", "npz"};
    for (int round = 0; round < 1500; round++) {
        struct pe_tensor t[3];
        const unsigned count = 1 + (unsigned)(random_bits() % 3);
        fill();
        for (unsigned i = 0; i < count; i++) {
            static const char *const names[] = {"cos", "scale", "sin"};
            uint64_t shape[5];
            const unsigned rank = (unsigned)(random_bits() % 6);
            for (unsigned a = 0; a < rank; a++)
                shape[a] = random_bits() % 5 + (a + 1 == rank ? random_bits() % 9 : 0);
            if (rank && round % 4)
                for (unsigned a = 0; a < rank; a++)
                    shape[a] += shape[a] == 0;
            t[i] = tensor_of(names[i], (enum pe_dtype)(random_bits() % PE_DTYPES), rank, shape,
                             random_bits() % 2);
            if (t[i].dtype == PE_DTYPE_BOOL)
                make_bool(noise[i], t[i].bytes);
        }
        const void *const data[] = {noise[0], noise[1], noise[2]};
        struct api_table table = table_of(formats[round % 4], t, count);
        table.tensor = round % 3 ? -1 : (int)(random_bits() % count);
        struct body whole = written(&table, data, UINT64_MAX, false);
        for (uint64_t portion = 0; portion < 16; portion++) {
            const bool apart = portion >= 8 && api_writer_splits(&table);
            struct body again = written(&table, data, 1 + portion % 8, apart);
            assert_int_equal(again.len, whole.len);
            assert_memory_equal(again.at, whole.at, whole.len);
            free(again.at);
        }
        free(whole.at);
    }
}

static void sizes_that_cannot_be_counted(void **unused)
{
    (void)unused;
    const struct pe_tensor t =
        tensor_of("weight", PE_DTYPE_F32, 2, (uint64_t[]){UINT64_C(1) << 50, 64}, false);
    static const char *const formats[] = {"json", "csv", "txt", "npz"};
    for (int i = 0; i < 4; i++) {
        const struct api_table table = table_of(formats[i], &t, 1);
        assert_true(api_writer_room(&table, 0, UINT64_MAX / 2) == SIZE_MAX);
        assert_true(api_writer_room(&table, 0, UINT64_C(1) << 58) == SIZE_MAX);
        assert_true(api_writer_room(&table, 0, 1000) < 1000 * 64 * 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portions_do_not_show),
        cmocka_unit_test(sizes_that_cannot_be_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
