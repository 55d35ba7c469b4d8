/* SPDX-License-Identifier: MIT
 *
 * fault.c: see fault.h. A sentence names the option, and an array's place behind it.
 */
#include "layout/fault.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum pe_error pe__fault(struct pe_layout_fault *fault, enum pe_error error, enum pe_option option,
                        const char *format, ...)
{
    if (fault) {
        va_list args;
        va_start(args, format);
        vsnprintf(fault->text, sizeof fault->text, format, args);
        va_end(args);
        fault->error = error;
        fault->option = option;
        fault->rank = 0;
        fault->rule = NULL;
    }
    return error;
}

enum pe_error pe__fault_at(struct pe_layout_fault *fault, enum pe_error error,
                           enum pe_option option, uint64_t index, const char *what)
{
    pe__fault(fault, error, option, "%s[%" PRIu64 "]: %s", pe_option_info(option)->name, index,
              what);
    if (fault) {
        fault->rank = 1;
        fault->index[0] = index;
    }
    return error;
}

enum pe_error pe__fault_in(struct pe_layout_fault *fault, enum pe_error error,
                           enum pe_option option, uint64_t row, uint64_t slot, const char *what)
{
    pe__fault(fault, error, option, "%s[%" PRIu64 ", %" PRIu64 "]: %s",
              pe_option_info(option)->name, row, slot, what);
    if (fault) {
        fault->rank = 2;
        fault->index[0] = row;
        fault->index[1] = slot;
    }
    return error;
}

enum pe_error pe__grid(const struct pe_array *a, enum pe_option option, uint64_t *rows,
                       uint64_t *width, struct pe_layout_fault *fault)
{
    if (a->rank == 0 || a->rank > 2)
        return pe__fault(fault, PE_RANGE, option, "%s must be a list, or a list of rows",
                         pe_option_info(option)->name);
    *rows = pe__rows(a);
    *width = *rows ? pe__row_end(a, 0) : 0;
    for (uint64_t r = 1; a->row_ends && r < *rows; r++)
        if (pe__row_end(a, r) - pe__row_first(a, r) != *width)
            return pe__fault_at(fault, PE_RANGE, option, r, "the row is not as long as the first");
    return PE_OK;
}

enum pe_error pe__fault_entry(struct pe_layout_fault *fault, enum pe_error error,
                              const struct pe_array *a, enum pe_option option, uint64_t i,
                              const char *what)
{
    if (a->rank < 2)
        return pe__fault_at(fault, error, option, i, what);
    uint64_t row = 0;
    while (row + 1 < pe__rows(a) && pe__row_end(a, row) <= i)
        row++;
    return pe__fault_in(fault, error, option, row, i - pe__row_first(a, row), what);
}

enum pe_error pe__within(const struct pe_array *a, enum pe_option option, int64_t lo, int64_t hi,
                         struct pe_layout_fault *fault)
{
    for (uint64_t i = 0; i < a->count; i++) {
        int64_t v = pe__at(a, i);
        if ((v < lo || v > hi) || (v < 0 && a->is_unsigned)) {
            char what[96];
            snprintf(what, sizeof what, "%" PRId64 " is not within %" PRId64 " .. %" PRId64, v, lo,
                     hi);
            if (v < 0 && a->is_unsigned)
                snprintf(what, sizeof what, "%" PRIu64 " is beyond 2^63", (uint64_t)v);
            return pe__fault_entry(fault, PE_RANGE, a, option, i, what);
        }
    }
    return PE_OK;
}

enum pe_error pe__sums(const struct pe_array *a, enum pe_option option, int64_t *sum,
                       struct pe_layout_fault *fault)
{
    int64_t total = 0;
    for (uint64_t i = 0; i < a->count; i++) {
        total += pe__at(a, i);
        if (total > PE_SLOT_END)
            return pe__fault_entry(fault, PE_RANGE, a, option, i,
                                   "the sum up to here is beyond 2^53");
    }
    if (sum)
        *sum = total;
    return PE_OK;
}

enum pe_error pe__entries(const struct pe_array *a, enum pe_option option, uint64_t n,
                          const char *each, struct pe_layout_fault *fault)
{
    if (a->rank == 0)
        return PE_OK;
    if (a->rank > 1)
        return pe__fault(fault, PE_RANGE, option, "%s must be one number or a flat list",
                         pe_option_info(option)->name);
    if (a->count != n)
        return pe__fault(fault, PE_RANGE, option,
                         "%s has %" PRIu64 " entries for %" PRIu64 " %s; one number stands for all",
                         pe_option_info(option)->name, a->count, n, each);
    return PE_OK;
}
