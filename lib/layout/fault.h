/* SPDX-License-Identifier: MIT
 *
 * fault.h: saying what is wrong with a request, and reading its arrays.
 */
#ifndef PE_LAYOUT_FAULT_H
#define PE_LAYOUT_FAULT_H

#include "posenc_layout.h"

#include <string.h>

/* Fills the fault in (it may be NULL) and returns the error. pe__fault_at adds one index,
 * pe__fault_in two, or one where the array was sent as a flat list. */
__attribute__((format(printf, 4, 5))) enum pe_error
pe__fault(struct pe_layout_fault *, enum pe_error, enum pe_option, const char *format, ...);
enum pe_error pe__fault_at(struct pe_layout_fault *, enum pe_error, enum pe_option, uint64_t index,
                           const char *what);
enum pe_error pe__fault_in(struct pe_layout_fault *, enum pe_error, enum pe_option, uint64_t row,
                           uint64_t slot, const char *what);

/* Element i of an array. Values of 8 unsigned bytes beyond INT64_MAX have been refused. */
static inline int64_t pe__at(const struct pe_array *a, uint64_t i)
{
    const unsigned char *p = (const unsigned char *)a->at + i * a->size;
    switch (a->size | (a->is_unsigned ? 16 : 0)) {
    case 8:
    case 8 | 16: {
        int64_t v;
        memcpy(&v, p, 8);
        return v;
    }
    case 4: {
        int32_t v;
        memcpy(&v, p, 4);
        return v;
    }
    case 4 | 16: {
        uint32_t v;
        memcpy(&v, p, 4);
        return v;
    }
    case 2: {
        int16_t v;
        memcpy(&v, p, 2);
        return v;
    }
    case 2 | 16: {
        uint16_t v;
        memcpy(&v, p, 2);
        return v;
    }
    case 1:
        return (int8_t)*p;
    default:
        return *p;
    }
}

/* Rows of an array: a flat list is one. */
static inline uint64_t pe__rows(const struct pe_array *a)
{
    return a->rank < 2 ? 1 : a->shape[0];
}

static inline uint64_t pe__row_first(const struct pe_array *a, uint64_t row)
{
    return row == 0 ? 0 : a->row_ends ? a->row_ends[row - 1] : row * a->shape[1];
}

static inline uint64_t pe__row_end(const struct pe_array *a, uint64_t row)
{
    return a->rank < 2 ? a->count : a->row_ends ? a->row_ends[row] : (row + 1) * a->shape[1];
}

/* Entry i of a number or list; what an option that is not given stands for is 0. */
static inline int64_t pe__entry(const struct pe_array *a, uint64_t i)
{
    return a->rank == 0 ? (a->count ? pe__at(a, 0) : 0) : pe__at(a, i);
}

/* Reads an array as a grid [rows, width] of equally long rows; blames the first row that differs,
 * or the rank. A flat list is one row. */
enum pe_error pe__grid(const struct pe_array *, enum pe_option, uint64_t *rows, uint64_t *width,
                       struct pe_layout_fault *);

/* Every element within lo .. hi, else the first that is not is blamed. */
enum pe_error pe__within(const struct pe_array *, enum pe_option, int64_t lo, int64_t hi,
                         struct pe_layout_fault *);

/* The sum of an array of numbers from 0; blames the entry at which it passes 2^53. `sum` may be
 * NULL. */
enum pe_error pe__sums(const struct pe_array *, enum pe_option, int64_t *sum,
                       struct pe_layout_fault *);

/* Blames element i: by row and place where the array is a list of rows, else by number. */
enum pe_error pe__fault_entry(struct pe_layout_fault *, enum pe_error, const struct pe_array *,
                              enum pe_option, uint64_t i, const char *what);

/* A number, or a flat list of exactly n entries. */
enum pe_error pe__entries(const struct pe_array *, enum pe_option, uint64_t n, const char *each,
                          struct pe_layout_fault *);

/* v rounded up to a multiple of m; false beyond PE_SLOT_END. v is at least 0, m at least 1. */
static inline bool pe__round_up(int64_t v, int64_t m, int64_t *out)
{
    int64_t rest = v % m;
    if (v > PE_SLOT_END || (rest && (m > PE_SLOT_END || v - rest > PE_SLOT_END - m)))
        return false;
    *out = rest ? v - rest + m : v;
    return true;
}

#endif
