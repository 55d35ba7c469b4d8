/* SPDX-License-Identifier: MIT
 *
 * decoded.h: takes a content coding off, strictly: one gzip member or one zstd frame, whole, and
 * not a byte more.
 */
#ifndef KIT_DECODED_H
#define KIT_DECODED_H

#include <stdbool.h>
#include <stddef.h>

/* The content, malloc'd, NUL behind it. `coding` is gzip or zstd. NULL where the bytes are not
 * whole; with `cut` that is what is wanted, and what could be had of them comes. */
char *kit_decoded(const char *coding, const void *bytes, size_t size, bool cut, size_t *length);

#endif
