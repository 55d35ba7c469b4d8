/* SPDX-License-Identifier: MIT
 *
 * rotor.h: cosines and sines of p * w_r, every value the real number rounded once, to nearest even,
 * straight to the element type. A row depends on the frequencies and its position only: any split
 * of the rows, any instruction set, any hint gives the same bytes.
 */
#ifndef PE_ROTATION_ROTOR_H
#define PE_ROTATION_ROTOR_H

#include "posenc.h"

struct pe__clocks;
struct pe__kernel;
struct pe__rotor;

/* What a rotor is made of: pairs first_pair, first_pair + step .. of some clocks, which outlive it.
 * All else is borrowed for the call that makes it.
 *
 * `span` and `first` are hints alone: positions that will be asked for often lie in first .. first
 * + span - 1 (span 0: nothing is known). So is `list`: they are these `count` ones, if count > 0.
 * Tables grow with the logarithm of the span. A call for other positions costs some 50 nanoseconds
 * for each pair more. `like` is another rotor, or NULL: tables of the same pairs of the same clocks
 * are shared with it. */
struct pe__rotor_spec {
    const struct pe__clocks *clocks;
    size_t first_pair, step, pairs; /* 0 pairs are allowed: rows of nothing */
    enum pe_dtype dtype;            /* F64, F32, F16, BF16 or BF16_AS_F32 */
    bool inverse;                   /* the rows of -p instead: sines negated, zeros +0 */
    uint64_t span;
    int64_t first;
    const int64_t *list;
    size_t count;
    const struct pe__rotor *like;
};

/* No MPFR or GMP memory is allocated. About 0.2 microseconds for each pair. Errors: INVALID (a
 * dtype outside what the spec allows, pairs that the clocks do not have), NO_MEMORY. */
enum pe_error pe__rotor_create(const struct pe__rotor_spec *, struct pe__rotor **);

/* The same with a kernel that the caller has chosen (see kernel.h). */
enum pe_error pe__rotor_create_on(const struct pe__rotor_spec *, const struct pe__kernel *,
                                  struct pe__rotor **);

/* Nulls the pointer; a null pointer is fine. */
void pe__rotor_destroy(struct pe__rotor **);

/* Memory held, in bytes, but for the clocks; tables that other rotors own as well count in full. */
size_t pe__rotor_bytes(const struct pe__rotor *);

/* Row i, position first + i, is `pairs` values A cos(p w_r) at cos + i * stride_bytes and A sin(p
 * w_r) at sin + i * stride_bytes, at any alignment; other bytes are left alone. Either plane may be
 * NULL, and is then not computed. Positions lie in -2^53 .. 2^53. A zero sine is +0; one that
 * underflows keeps its sign. What exceeds the dtype is infinite (IEEE 754-2019, 4.3.1). Reentrant,
 * no allocation, some 30 KiB of stack. */
void pe__rotor_rows(const struct pe__rotor *, int64_t first, size_t rows, void *cos, void *sin,
                    size_t stride_bytes);

/* The same rows with both hands in them: cos and sin of a pair are neighbours, pair r of row i at
 * `at` + i * stride_bytes + 2 r * element size. */
struct pe__woven {
    void *at;
    size_t stride_bytes;
    bool cos_first;
};
void pe__rotor_woven(const struct pe__rotor *, int64_t first, size_t rows,
                     const struct pe__woven *);

/* Row i is `pairs` phases p w_r in radians at out + i * stride_bytes. Neither the amplitude nor
 * `inverse` applies. Otherwise as above. */
void pe__rotor_phases(const struct pe__rotor *, int64_t first, size_t rows, void *out,
                      size_t stride_bytes);

/* The instruction set of the kernels in use: "portable", "avx2", "avx512". */
const char *pe__isa_name(void);

#endif
