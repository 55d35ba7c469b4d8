/* SPDX-License-Identifier: MIT
 *
 * check.h: what the files of `check` share: the arrays as they were sent, the documents in them,
 * and the findings so far.
 */
#ifndef PE_LAYOUT_CHECK_H
#define PE_LAYOUT_CHECK_H

#include "layout/convert.h"
#include "layout/fault.h"

enum pe__rule {
#define PE_RULE(id, name) PE__##id,
#include "layout/rules.def"
#undef PE_RULE
    PE__RULES
};

struct pe__findings {
    struct pe_finding *at;
    unsigned listed, room;
    uint64_t total;
};

struct pe_check {
    struct pe_layout_request q;
    struct pe__findings errors, warnings;
    bool no_memory;
    /* grids of rows x width, NULL where not sent; ids has `axes` of them in front (0: none) */
    const struct pe_array *ids, *mask, *labels, *types;
    int64_t rows, width;
    unsigned axes;
    bool any_grid;
    const struct pe_array *cu, *lengths;
    bool cu_falls; /* its offsets are not even in order */
    /* documents; `known` where something says where they begin; `by_rows`: a mask alone does */
    bool known, by_rows;
    struct pe__batch batch;
    struct pe__form declared; /* of `segments` */
    struct pe__plan no_plan;
    bool numbers_clean;    /* nothing was wrong with the mask: it can be read again */
    uint32_t known_faults; /* bits */
    unsigned *conventions;
    unsigned convention_count;
    uint64_t opens[PE_READINGS];
    int agrees[PE_READINGS];
    int64_t least_id;
};

/* What is said of an array: `at` is the flat slot or the entry of a list, -1 where it is the whole;
 * NULL where nothing was found, or nothing can be expected. */
struct pe__said {
    enum pe_option tensor;
    int64_t at;
    const int64_t *found, *expected;
    bool warning;
};

/* Adds an error or a warning. The index gets the rank of the array that was sent. */
void pe__report(struct pe_check *, enum pe__rule, const struct pe__said *);

/* Whether a flat slot holds a token, as far as the arrays say. */
bool pe__check_token(const struct pe_check *, int64_t flat);

/* Reads shapes; false where they differ, which is then the only finding. Errors: MISSING, RANGE. */
enum pe_error pe__check_read(struct pe_check *, struct pe_layout_fault *, bool *comparable);

/* Finds the documents. Errors: RANGE (past_lengths), NO_MEMORY. */
enum pe_error pe__check_documents(struct pe_check *, struct pe_layout_fault *);

/* Each looks at its arrays and reports. */
void pe__check_lists(struct pe_check *);
void pe__check_mask(struct pe_check *);
void pe__check_walk(struct pe_check *);
void pe__check_pads(struct pe_check *);
void pe__check_axes(struct pe_check *);
void pe__check_marks(struct pe_check *);
void pe__check_names(struct pe_check *);
void pe__check_readings(struct pe_check *);

static inline int64_t pe__id(const struct pe_check *c, int64_t flat)
{
    return pe__at(c->ids, (uint64_t)flat);
}

#endif
