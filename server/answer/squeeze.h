/* SPDX-License-Identifier: MIT
 *
 * squeeze.h: the content codings (gzip: RFC 1952; zstd: RFC 8878), piece by piece and in bounded
 * memory. A coded body has a strong tag, so its bytes may not depend on how it came: every piece
 * but the last is of one size.
 */
#ifndef SERVER_SQUEEZE_H
#define SERVER_SQUEEZE_H

#include "api.h"

#include <sys/types.h>

/* Of every piece but the last. */
#define SQUEEZE_PIECE (64 << 10)

/* No piece makes more than this: what is held back of earlier ones is at most a block of 128 KiB
 * (zstd; gzip: a window of 64 KiB), and what does not shrink grows by less than a hundredth. */
#define SQUEEZE_ROOM (4 * SQUEEZE_PIECE)

struct squeeze;

/* A coder other than for API_IDENTITY. `text`: the body is text, not integers. NULL without memory.
 */
struct squeeze *squeeze_open(enum api_coding, bool text);
void squeeze_close(struct squeeze **);

/* Codes the next piece into SQUEEZE_ROOM bytes at `out`; one shorter than SQUEEZE_PIECE (it may be
 * empty) is the last. Bytes written, or -1 without memory. */
ssize_t squeeze_piece(struct squeeze *, const char *piece, size_t size, char *out);

/* A whole body at once: the same bytes as by pieces. To be freed with free; NULL without memory. */
char *squeeze_whole(enum api_coding, bool text, struct api_bytes body, size_t *length);

#endif
