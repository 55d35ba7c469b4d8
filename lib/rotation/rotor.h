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

/* w: `pairs` frequencies in radians per position, finite, of either sign or zero, below 2^2200. The
 * value of each MPFR number is taken as exact; it has to be the frequency that is meant with an
 * error below 2^-320 relative and, for w > 1, below 2^-373 absolute. amplitude: multiplies both
 * functions; positive. dtype: F64, F32, F16, BF16 or BF16_AS_F32. inverse: the rows of -p instead:
 * sines negated, zeros +0. span, first: hints alone. All positions that will be asked for often lie
 * in first .. first + span - 1 (span 0: nothing is known). Tables grow with the logarithm of the
 * span. Other positions cost about a microsecond for each pair and call more. */
struct pe__rotor_spec {
    const mpfr_t *w;
    size_t pairs;
    mpfr_srcptr amplitude;
    enum pe_dtype dtype;
    bool inverse;
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

/* Row i is `pairs` phases p w_r in radians at out + i * stride_bytes. Neither the amplitude nor
 * `inverse` applies. Otherwise as above. */
void pe__rotor_phases(const struct pe__rotor *, int64_t first, size_t rows, void *out,
                      size_t stride_bytes);

/* The instruction set of the kernels in use: "portable", "avx2", "avx512". */
const char *pe__isa_name(void);

#endif
