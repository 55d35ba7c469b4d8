/* SPDX-License-Identifier: MIT
 *
 * npy_head.h: the header of an .npy file that a client sent (numpy's NEP 1): magic, version,
 * length, and the text of a Python dict with exactly the three keys that the format has. Read by a
 * grammar of its own, never evaluated; files that numpy itself would not write so are refused
 * rather than guessed at.
 */
#ifndef API_NPY_HEAD_H
#define API_NPY_HEAD_H

#include "api.h"

/* A descr of '<f4' has order '<', type 'f', size 4. C order always. */
struct api__npy_head {
    char order;
    char type;
    unsigned size;
    unsigned rank;
    uint64_t shape[PE_MAX_RANK];
    size_t data; /* where the items begin */
};

/* From the first bytes of a file, or all of it. NULL, or a static text that says what is wrong and
 * goes on behind "the file cannot be used: ". Whether the file is as long as its shape says is for
 * the caller. */
const char *api__npy_read_head(struct api_bytes, struct api__npy_head *);

#endif
