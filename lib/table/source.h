/* SPDX-License-Identifier: MIT
 *
 * source.h: what each clock reads at position p, behind one interface for every arithmetic.
 *
 * A source gives cos and sin (times the amplitude, rounded to the dtype) or phases of some pairs of
 * a ladder at consecutive positions. Who arranges them into rows does not know how they were
 * computed.
 */
#ifndef PE_SOURCE_H
#define PE_SOURCE_H

#include "posenc.h"
#include "rotation/rotor.h"

/* Pairs first, first + step, first + 2 step... of the ladder. The rest is hints, borrowed for the
 * call that makes a band: positions low .. low + span - 1 or, where count > 0, those of the list
 * are the ones that preparation pays for (others are right as well); `like` is another band of the
 * same ladder, or NULL, that has what this one needs. */
struct pe__band {
    size_t first;
    size_t step;
    size_t pairs;
    int64_t low;
    uint64_t span;
    const int64_t *list;
    size_t count;
    const void *like;
};

/* An arithmetic. All functions are pure but for the two creators; objects are immutable once made
 * and are destroyed by functions that null the pointer. */
struct pe__arithmetic {
    /* The ladder of a checked spec of a table or a shift or a similarity: `scale` is in it, its
     * sign is not. It depends on nothing that pe__spec_same_ladder leaves out. Outlives its bands.
     * Errors: NO_MEMORY. */
    enum pe_error (*ladder_create)(const struct pe_spec *, void **ladder);
    void (*ladder_destroy)(void **ladder);
    size_t (*ladder_bytes)(const void *ladder);

    /* Rounds to spec->dtype; inverse negates the sines. Errors: NO_MEMORY. What bands share counts
     * in full in the bytes of each. */
    enum pe_error (*band_create)(const void *ladder, const struct pe_spec *,
                                 const struct pe__band *, void **band);
    void (*band_destroy)(void **band);
    size_t (*band_bytes)(const void *band);

    /* Row i, position first + i: pair k of the band at out + i * stride + k * element size. Either
     * of cos and sin may be NULL. No allocation. */
    void (*rows)(const void *band, int64_t first, size_t rows, void *cos, void *sin, size_t stride);

    /* The same with cosines and sines as neighbours; NULL where an arithmetic has no faster way
     * than to make planes and to weave them. */
    void (*woven)(const void *band, int64_t first, size_t rows, const struct pe__woven *);
    void (*phases)(const void *band, int64_t first, size_t rows, void *out, size_t stride);
};

extern const struct pe__arithmetic pe__exact_arithmetic;
extern const struct pe__arithmetic pe__staged_arithmetic;

#endif
