/* SPDX-License-Identifier: MIT
 *
 * producer.h: who makes the rows of a plan. One producer for each family of tables.
 */
#ifndef PE_PRODUCER_H
#define PE_PRODUCER_H

#include "posenc.h"

struct pe__arithmetic;

/* What a state is made from. The spec and the ladder outlive the state and may be borrowed by it;
 * `like` is borrowed for the call. */
struct pe__making {
    const struct pe_spec *spec;
    const struct pe__arithmetic *how; /* of the ladder; NULL for specs without one */
    const void *ladder;
    const void *like; /* the state of another plan of the same producer and ladder, or NULL */
};

/* States are immutable once made, but for counts of the owners of what they share. `fill` writes
 * rows first .. first+rows-1 of every tensor t with out[t] not NULL, all of which have so many; it
 * is pure. `bytes` counts what is shared in full, but not the ladder. Errors of create: NO_MEMORY.
 * destroy nulls the pointer and accepts NULL. */
struct pe__producer {
    enum pe_error (*create)(const struct pe__making *, void **state);
    void (*destroy)(void **state);
    size_t (*bytes)(const void *state);
    void (*fill)(const void *state, uint64_t first, uint64_t rows, void *const out[]);
};

extern const struct pe__producer pe__trig_producer;       /* sines and cosines of positions */
extern const struct pe__producer pe__alibi_producer;      /* slopes and biases */
extern const struct pe__producer pe__bucket_producer;     /* t5, deberta */
extern const struct pe__producer pe__frequency_producer;  /* the frequencies themselves */
extern const struct pe__producer pe__shift_producer;      /* M_k */
extern const struct pe__producer pe__similarity_producer; /* PE(p).PE(p+k) */

#endif
