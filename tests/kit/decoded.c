/* SPDX-License-Identifier: MIT
 *
 * decoded.c: see decoded.h.
 */
#include "kit/decoded.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

struct room {
    char *at;
    size_t have, size;
};

static void grow(struct room *r)
{
    if (r->size - r->have > 65536)
        return;
    r->size = 2 * r->size + 131072;
    r->at = realloc(r->at, r->size);
    if (!r->at)
        abort();
}

/* Both: whether the data is whole and ends where it should. */
static bool gunzip(struct room *r, const void *bytes, size_t size)
{
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)bytes, .avail_in = (uInt)size};
    int status = inflateInit2(&z, 15 + 16);
    while (status == Z_OK) {
        grow(r);
        z.next_out = (Bytef *)r->at + r->have;
        z.avail_out = (uInt)(r->size - r->have - 1);
        status = inflate(&z, Z_NO_FLUSH);
        r->have = (size_t)((char *)z.next_out - r->at);
    }
    inflateEnd(&z);
    return status == Z_STREAM_END && !z.avail_in;
}

static bool unzstd(struct room *r, const void *bytes, size_t size)
{
    ZSTD_DCtx *d = ZSTD_createDCtx();
    ZSTD_inBuffer in = {bytes, size, 0};
    size_t left = 1, before;
    do {
        grow(r);
        ZSTD_outBuffer out = {r->at, r->size - 1, r->have};
        before = r->have + in.pos;
        left = ZSTD_decompressStream(d, &out, &in);
        r->have = out.pos;
    } while (left && !ZSTD_isError(left) && r->have + in.pos > before);
    ZSTD_freeDCtx(d);
    return !left && in.pos == size;
}

char *kit_decoded(const char *coding, const void *bytes, size_t size, bool cut, size_t *length)
{
    struct room r = {NULL, 0, 0};
    grow(&r);
    bool whole = strcmp(coding, "gzip") == 0 ? gunzip(&r, bytes, size) : unzstd(&r, bytes, size);
    *length = r.have;
    r.at[r.have] = 0;
    if (whole != cut)
        return r.at;
    free(r.at);
    return NULL;
}
