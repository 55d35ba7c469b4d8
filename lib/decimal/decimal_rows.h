/* SPDX-License-Identifier: MIT
 *
 * decimal_rows.h: rows of decimals block by block: digits first and text after, so that where the
 * digits go, which differs from number to number, is all that is left to do for the text. Included
 * once for each instruction set, by its file, which has the target and DECIMAL_LANES set and brings
 * the text of a block.
 */
#ifndef PE_DECIMAL_ROWS_H
#define PE_DECIMAL_ROWS_H

#include "decimal_digits.h"

/* A row of binary64 if `wide`, else of binary32. */
struct row {
    const void *values;
    size_t count;
    bool wide;
};

/* Numbers from .. from + count - 1 of a block, each with a comma behind it. */
struct range {
    size_t from, count;
};

/* One by one, of any size. */
INLINE char *put_each(char *out, const struct block *b, struct range r, const bool wide)
{
    for (size_t i = r.from; i < r.from + r.count; i++) {
        const uint64_t low = wide ? b->b[i] : 0, high = b->a[i];
        const struct pe__digits d = {b->first[i], high | PE__ZEROS, low | PE__ZEROS,
                                     low ? 9 + pe__used(low) : 1 + pe__used(high),
                                     (int)b->exponent[i]};
        *out = '-';
        out = pe__put_digits(out + b->negative[i], d, wide);
        *out++ = ',';
    }
    return out;
}

INLINE size_t put_row(const struct row row, char *out,
                      char *(*put)(char *, const struct block *, struct range, bool))
{
    const size_t size = row.wide ? sizeof(double) : sizeof(float);
    struct block b;
    char *at = out;
    for (size_t i = 0; i < row.count; i += BLOCK) {
        const size_t n = row.count - i < BLOCK ? row.count - i : BLOCK;
        const char *from = (const char *)row.values + i * size;
        digits_of(&b, from, n, row.wide);
        at = put(at, &b, (struct range){0, n}, row.wide);
    }
    return row.count ? (size_t)(at - out) - 1 : 0;
}

#endif
