/* SPDX-License-Identifier: MIT
 *
 * spec.h: what the files about specs share: blame, widths, and facts that follow from a checked
 * spec.
 */
#ifndef PE_SPEC_H
#define PE_SPEC_H

#include "posenc.h"

static inline bool pe__given(const struct pe_spec *s, enum pe_param p)
{
    return s->given >> p & 1;
}

static inline const struct pe_use *pe__use(const struct pe_spec *s, enum pe_param p)
{
    return pe_use(s->kind, s->resource, s->rope_type, p);
}

/* The kinds that take a rope_type. */
static inline bool pe__is_rope(enum pe_kind k)
{
    return k == PE_KIND_ROPE || k == PE_KIND_AXIAL_ROPE || k == PE_KIND_MROPE || k == PE_KIND_XPOS;
}

/* Fills the fault in and returns its error. `allowed` is what pe_param_allowed says. */
enum pe_error pe__blame(const struct pe_spec *, struct pe_fault *, enum pe_error, enum pe_param,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The rules of a kind, of its rope_type and of its rows, on a spec whose parameters are known, in
 * their own ranges and complete; derives what is derived. Same errors as pe_spec_check. */
enum pe_error pe__spec_rules(struct pe_spec *, struct pe_fault *);
enum pe_error pe__scaling_rules(struct pe_spec *, struct pe_fault *);
enum pe_error pe__relative_rules(struct pe_spec *, struct pe_fault *);

/* head_dim and partial_rotary_factor instead of width: looks at these three only. */
enum pe_error pe__width_rules(struct pe_spec *, struct pe_fault *);

/* The channels of one frequency ladder: width, half of it where two axes share the width. */
static inline int64_t pe__ladder_width(const struct pe_spec *s)
{
    bool shared = s->kind == PE_KIND_AXIAL_ROPE || s->kind == PE_KIND_GRID;
    return shared ? s->width / 2 : s->width;
}

/* Whether a checked spec of a table or of what stands beside it is made from a ladder of
 * frequencies that plans may share (frequencies themselves are not), and whether two of them are
 * made from the same: with equal frequencies and amplitude, in the same arithmetic. */
bool pe__spec_has_ladder(const struct pe_spec *);
bool pe__spec_same_ladder(const struct pe_spec *, const struct pe_spec *);

/* The arithmetic; exact where it cannot be chosen. */
enum pe_choice_ARITHMETIC pe__spec_arithmetic(const struct pe_spec *);

/* How many frequencies there are, and the exponents -r num / den of the base in them: 2r/width; of
 * an odd sinusoidal width with odd=zero 2r/(width-1); closed: r/(width/2-1). */
size_t pe__ladder_pairs(const struct pe_spec *);
void pe__ladder_exponents(const struct pe_spec *, int64_t *num, int64_t *den);

/* One more than the greatest position of a table. */
int64_t pe__spec_end(const struct pe_spec *);

/* The axis (0 t, 1 h, 2 w) of a pair of mrope. */
unsigned pe__mrope_axis(const struct pe_spec *, uint64_t pair);

/* As pe_spec_tensors; false where a size does not fit, and then the sizes mean nothing. */
bool pe__spec_shapes(const struct pe_spec *, struct pe_tensor out[PE_MAX_TENSORS], unsigned *count);

#endif
