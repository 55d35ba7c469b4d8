/* SPDX-License-Identifier: MIT
 *
 * walk.c: which position each row of a table stands for.
 *
 * Windows, lists and grids are told apart here alone; everybody else sees runs.
 */
#include "walk.h"

#include "spec/spec.h"

static bool is_grid(const struct pe_spec *s)
{
    return s->kind == PE_KIND_GRID || s->kind == PE_KIND_AXIAL_ROPE;
}

unsigned pe__axes(const struct pe_spec *s)
{
    if (is_grid(s))
        return 2;
    return s->kind == PE_KIND_MROPE && pe__given(s, PE_PARAM_POSITIONS) ? 3 : 1;
}

static struct pe__run walk_list(const int64_t *at, uint64_t rows)
{
    struct pe__run run = {at[0], 1, rows > 1 && at[1] == at[0] ? 0 : 1};
    while (run.rows < rows && at[run.rows] == at[run.rows - 1] + (int64_t)run.step)
        run.rows++;
    return run;
}

static struct pe__run walk_grid(const struct pe_spec *s, unsigned axis, uint64_t row, uint64_t rows)
{
    uint64_t columns = (uint64_t)s->columns, x = row % columns;
    uint64_t rest = columns - x;
    return (struct pe__run){(int64_t)(axis ? x : row / columns), rows < rest ? rows : rest, axis};
}

struct pe__run pe__walk(const struct pe_spec *s, unsigned axis, uint64_t row, uint64_t rows)
{
    if (pe__given(s, PE_PARAM_POSITIONS))
        return walk_list(s->positions.at + axis * (s->positions.count / pe__axes(s)) + row, rows);
    if (is_grid(s))
        return walk_grid(s, axis, row, rows);
    return (struct pe__run){s->offset + (int64_t)row, rows, 1};
}

void pe__walk_range(const struct pe_spec *s, int64_t *low, uint64_t *span)
{
    int64_t least = s->offset, top = s->offset + s->length - 1;
    if (pe__given(s, PE_PARAM_POSITIONS)) {
        least = top = s->positions.at[0];
        for (size_t i = 1; i < s->positions.count; i++) {
            int64_t p = s->positions.at[i];
            least = p < least ? p : least;
            top = p > top ? p : top;
        }
    } else if (is_grid(s)) {
        least = 0;
        top = (s->height > s->columns ? s->height : s->columns) - 1;
    }
    *low = least;
    *span = (uint64_t)(top - least) + 1;
}
