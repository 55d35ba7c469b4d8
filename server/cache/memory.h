/* SPDX-License-Identifier: MIT
 *
 * memory.h: memory of tables. They come and go in all sizes, and malloc would be left with holes as
 * large as all that it holds: so whole pages are got from the kernel and given back. Large pieces
 * are kept for a moment: a table that was pushed out makes room for the next one, and fresh pages
 * would have to be cleared first, which takes longer than making the table. Thread-safe.
 */
#ifndef SERVER_MEMORY_H
#define SERVER_MEMORY_H

#include <stddef.h>

/* Room for `size` bytes, of any contents; *mapped is for memory_give. NULL without memory. */
unsigned char *memory_get(size_t size, size_t *mapped);
void memory_give(unsigned char *at, size_t mapped);

/* Returns what has been kept for some calls of this. */
void memory_age(void);

#endif
