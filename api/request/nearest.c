/* SPDX-License-Identifier: MIT
 *
 * nearest.c: see nearest.h. Three rows of the usual table; texts are short, so cost is a few
 * thousand steps for a whole list of names, and only refusals pay it.
 */
#include "nearest.h"

#include <stdint.h>
#include <string.h>

#define LONGEST 64

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t api__slips(struct api_bytes a, struct api_bytes b, size_t limit)
{
    size_t rows[3][LONGEST + 1];
    if (a.len > LONGEST || b.len > LONGEST)
        return limit + 1;
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.len; j++)
        above[j] = before[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            bool same = lower(a.at[i - 1]) == lower(b.at[j - 1]);
            row[j] = least(above[j - 1] + !same, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a.at[i - 1]) == lower(b.at[j - 2]) &&
                lower(a.at[i - 2]) == lower(b.at[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[b.len] > limit ? limit + 1 : above[b.len];
}

const char *api__nearest(struct api_bytes text, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t fewest = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        struct api_bytes name = {names[i], strlen(names[i])};
        size_t limit = name.len < 6 ? 1 : name.len / 3;
        if (limit > 4)
            limit = 4;
        size_t slips = api__slips(text, name, limit);
        if (slips <= limit && slips < fewest) {
            fewest = slips;
            best = names[i];
        }
    }
    return best;
}
