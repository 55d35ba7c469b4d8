/* SPDX-License-Identifier: MIT
 *
 * learned_file.h: the two kinds of file that an upload may be, inside this room; see
 * api_learned_read.
 */
#ifndef API_LEARNED_FILE_H
#define API_LEARNED_FILE_H

#include "api.h"
#include "arena.h"
#include "text.h"

/* Sets dtype, rows, width and data of *out; NULL, or a static text that says what is wrong. For
 * .safetensors it is certain that the array ends with the file, for .npy that is still to be looked
 * at; for both whether rows and width make it that long. */
const char *api__learned_safetensors(struct api__arena *, struct api_bytes head, uint64_t size,
                                     struct api_learned_file *out);

#endif
