/* SPDX-License-Identifier: MIT
 *
 * producer.h: who makes the rows of a plan. One producer for each family of tables.
 */
#ifndef PE_PRODUCER_H
#define PE_PRODUCER_H

#include "posenc.h"

/* The spec given to create outlives the state and may be borrowed by it. The state is immutable
 * once made. `fill` writes rows first .. first+rows-1 of every tensor t with out[t] not NULL, all
 * of which have so many; it is pure. Errors of create: NO_MEMORY. destroy nulls the pointer and
 * accepts NULL. */
struct pe__producer {
    enum pe_error (*create)(const struct pe_spec *, void **state);
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
