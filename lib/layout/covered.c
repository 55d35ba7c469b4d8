/* SPDX-License-Identifier: MIT
 *
 * covered.c: see covered.h. Covered slots are counted in front of every segment, so the n-th one,
 * and the n-th of the others, are found by bisection.
 */
#include "layout/covered.h"
#include "must.h"

/* Slots counted in front of a row or a segment: the covered ones, or all others. */
static int64_t before_row(const struct pe__form *f, int64_t row, bool covered)
{
    int64_t c = f->row[row].cover_before;
    return covered ? c : row * f->width - c;
}

static int64_t before_segment(const struct pe__form *f, uint32_t i, bool covered)
{
    const struct pe__segment *s = &f->segment[i];
    return covered ? s->cover : s->slot - s->cover;
}

static int64_t row_of(const struct pe__form *f, int64_t n, bool covered)
{
    int64_t lo = 0, hi = f->rows;
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        if (before_row(f, mid, covered) <= n)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* The last segment of the row with at most n such slots in front, NONE where there is none. */
static uint32_t segment_of(const struct pe__form *f, int64_t row, int64_t n, bool covered)
{
    uint32_t first = f->row[row].segment, lo = first, hi = f->row[row + 1].segment;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (before_segment(f, mid, covered) <= n)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > first ? lo - 1 : PE__NONE;
}

/* A run of neighbouring slots that begins with the n-th covered one. */
static int64_t covered_run(const struct pe__form *f, int64_t n, int64_t *flat)
{
    int64_t row = row_of(f, n, true);
    uint32_t i = segment_of(f, row, n, true);
    if (i != PE__NONE && n < f->segment[i].cover + f->segment[i].length) {
        *flat = f->segment[i].slot + (n - f->segment[i].cover);
        return f->segment[i].length - (n - f->segment[i].cover);
    }
    int64_t left = f->row[row + 1].cover_before - n;
    *flat = (row + 1) * f->width - left;
    return left;
}

static int64_t other_run(const struct pe__form *f, int64_t n, int64_t *flat)
{
    int64_t row = row_of(f, n, false);
    uint32_t i = segment_of(f, row, n, false), end = f->row[row + 1].segment;
    int64_t stop = row * f->width + f->row[row].cover;
    if (i == PE__NONE)
        *flat = row * f->width + n - before_row(f, row, false);
    else
        *flat = f->segment[i].slot + f->segment[i].length + n - before_segment(f, i, false);
    uint32_t next = i == PE__NONE ? f->row[row].segment : i + 1;
    return (next < end ? pe__min(stop, f->segment[next].slot) : stop) - *flat;
}

/* Per row the lengths of its sequences that are not 0, then 0. */
static void put_lengths(const struct pe__form *f, int64_t first, int64_t count,
                        struct pe__sink *out)
{
    while (count > 0) {
        int64_t row = first / f->width, at = first % f->width;
        int64_t n = pe__min(count, f->width - at), left = n;
        uint32_t s = f->row[row].sequence, end = f->row[row + 1].sequence;
        for (int64_t seen = 0; s < end && left && at < (int64_t)(end - f->row[row].sequence); s++) {
            int64_t length = pe__cu(f, s + 1) - pe__cu(f, s);
            if (length && seen++ >= at) {
                pe__put(out, length);
                left--;
            }
        }
        pe__put_run(out, 0, 0, left);
        first += n;
        count -= n;
    }
}

void pe__listed(const struct pe__form *f, enum pe_out id, int64_t first, int64_t count,
                struct pe__sink *out)
{
    if (id == PE_OUT_ATTENTION_MASK_IN_LENGTH) {
        put_lengths(f, first, count, out);
        return;
    }
    must(id == PE_OUT_INDICES || id == PE_OUT_PADDING_OFFSET || id == PE_OUT_TOKEN_OFFSET);
    while (count > 0) {
        int64_t flat, n;
        if (first < f->covered)
            n = covered_run(f, first, &flat);
        else
            n = other_run(f, first - f->covered, &flat);
        n = pe__min(n, count);
        if (id == PE_OUT_PADDING_OFFSET)
            pe__put_run(out, flat - first, 0, n);
        else
            pe__put_run(out, flat, 1, n);
        first += n;
        count -= n;
    }
}

int64_t pe__last_covered(const struct pe__form *f)
{
    int64_t flat;
    if (f->covered == 0)
        return -1;
    covered_run(f, f->covered - 1, &flat);
    return flat;
}
