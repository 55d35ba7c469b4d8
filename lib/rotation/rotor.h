/* SPDX-License-Identifier: MIT
 *
 * rotor.h: cosines and sines of p * w_r, every value the real number rounded once, to nearest even,
 * straight to the element type. A row depends on the frequencies and its position only: any split
 * of the rows, any instruction set, any hint gives the same bytes.
 */
#ifndef PE_ROTATION_ROTOR_H
#define PE_ROTATION_ROTOR_H

#include "posenc.h"

#include <mpfr.h>

struct pe__kernel;
struct pe__rotor;

/* What a rotor is made of. All is borrowed for the call that makes it.
 *
 * The value of each frequency is taken as exact. It has to be the one that is meant with an error
 * below 2^-320 relative and, for w > 1, below 2^-373 absolute.
 *
 * `span` and `first` are hints alone: positions that will be asked for often lie in first .. first
 * + span - 1 (span 0: nothing is known). Tables grow with the logarithm of the span. A call for
 * other positions costs up to a microsecond for each pair more. */
struct pe__rotor_spec {
    const mpfr_t *w; /* [pairs], radians per position: finite, any sign or zero, below 2^2200 */
    size_t pairs;    /* 0 is allowed: rows of nothing */
    mpfr_srcptr amplitude; /* multiplies both functions; finite, above 0 */
    enum pe_dtype dtype;   /* F64, F32, F16, BF16 or BF16_AS_F32 */
    bool inverse;          /* the rows of -p instead: sines negated, zeros +0 */
    uint64_t span;
    int64_t first;
};

/* Borrows the spec for the call only. No MPFR or GMP memory is allocated. About 1.5 microseconds
 * for each pair. Errors: INVALID (a dtype, frequency or amplitude outside what the spec allows),
 * NO_MEMORY. */
enum pe_error pe__rotor_create(const struct pe__rotor_spec *, struct pe__rotor **);

/* The same with a kernel that the caller has chosen (see kernel.h). */
enum pe_error pe__rotor_create_on(const struct pe__rotor_spec *, const struct pe__kernel *,
                                  struct pe__rotor **);

/* Nulls the pointer; a null pointer is fine. */
void pe__rotor_destroy(struct pe__rotor **);

/* Memory held, in bytes. */
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
