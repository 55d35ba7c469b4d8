/* SPDX-License-Identifier: MIT
 *
 * squeeze.c: see squeeze.h. Levels are chosen for bodies that are made at 1 GB/s: the coder is what
 * a client waits for. Measured on one core, in MB/s and as part of the plain size:
 *
 *                 floats as CSV     ids as CSV       ids as int64
 *   gzip 1        89    .462        392   .045       297   .091
 *   gzip 2        74    .459        416   .044       593   .013
 *   gzip 4        43    .436        283   .015       288   .011
 *   gzip 6        12    .417                         179   .011
 *   zstd 1       223    .413       2669   .016       351   .129
 *   zstd 3       119    .423       1950   .016       932   .042
 */
#include "squeeze.h"
#include "must.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define GZIP_LEVEL 2
#define ZSTD_LEVEL_TEXT 1
#define ZSTD_LEVEL_INTEGERS 3

/* 128 KiB: tables repeat themselves from row to row or not at all, and a wider window costs 2 MiB a
 * client. */
#define ZSTD_WINDOW 17

#define GZIP_WINDOW (15 + 16) /* the widest, in a gzip wrapper */
#define GZIP_MEMORY 8         /* zlib's own default: 256 KiB with the window */

struct squeeze {
    enum api_coding coding;
    z_stream gzip;
    ZSTD_CCtx *zstd;
};

static bool open_gzip(struct squeeze *s)
{
    return deflateInit2(&s->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                        Z_DEFAULT_STRATEGY) == Z_OK;
}

static bool open_zstd(struct squeeze *s, bool text)
{
    int level = text ? ZSTD_LEVEL_TEXT : ZSTD_LEVEL_INTEGERS;
    s->zstd = ZSTD_createCCtx();
    return s->zstd &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, level)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_windowLog, ZSTD_WINDOW));
}

struct squeeze *squeeze_open(enum api_coding coding, bool text)
{
    must(coding == API_GZIP || coding == API_ZSTD);
    struct squeeze *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->coding = coding;
    if (!(coding == API_GZIP ? open_gzip(s) : open_zstd(s, text)))
        squeeze_close(&s);
    return s;
}

void squeeze_close(struct squeeze **address)
{
    struct squeeze *s = *address;
    *address = NULL;
    if (!s)
        return;
    if (s->coding == API_GZIP)
        deflateEnd(&s->gzip);
    ZSTD_freeCCtx(s->zstd);
    free(s);
}

static ssize_t gzip_piece(struct squeeze *s, const char *piece, size_t size, char *out)
{
    bool last = size < SQUEEZE_PIECE;
    z_stream *z = &s->gzip;
    z->next_in = (z_const Bytef *)(uintptr_t)piece;
    z->avail_in = (uInt)size;
    z->next_out = (Bytef *)out;
    z->avail_out = SQUEEZE_ROOM;
    int status = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
    must(status == (last ? Z_STREAM_END : Z_OK) && !z->avail_in && z->avail_out);
    return SQUEEZE_ROOM - (ssize_t)z->avail_out;
}

static ssize_t zstd_piece(struct squeeze *s, const char *piece, size_t size, char *out)
{
    bool last = size < SQUEEZE_PIECE;
    ZSTD_inBuffer in = {piece, size, 0};
    ZSTD_outBuffer made = {out, SQUEEZE_ROOM, 0};
    size_t left = ZSTD_compressStream2(s->zstd, &made, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) /* its room is taken at the first call */
        return -1;
    must(in.pos == size && made.pos < SQUEEZE_ROOM && (!last || !left));
    return (ssize_t)made.pos;
}

ssize_t squeeze_piece(struct squeeze *s, const char *piece, size_t size, char *out)
{
    must(size <= SQUEEZE_PIECE);
    return s->coding == API_GZIP ? gzip_piece(s, piece, size, out)
                                 : zstd_piece(s, piece, size, out);
}

char *squeeze_whole(enum api_coding coding, bool text, struct api_bytes body, size_t *length)
{
    size_t room, at = 0, size;
    struct squeeze *s = squeeze_open(coding, text);
    /* Each call wants room beyond what all before it made. */
    bool fits = !__builtin_add_overflow(body.len, body.len / 64 + 2 * SQUEEZE_ROOM, &room);
    char *out = s && fits ? malloc(room) : NULL;
    *length = 0;
    do {
        size = body.len - at < SQUEEZE_PIECE ? body.len - at : SQUEEZE_PIECE;
        ssize_t n = out ? squeeze_piece(s, body.at + at, size, out + *length) : -1;
        if (n < 0)
            break;
        *length += (size_t)n;
        at += size;
        if (size < SQUEEZE_PIECE) {
            squeeze_close(&s);
            return out;
        }
    } while (true);
    squeeze_close(&s);
    free(out);
    return NULL;
}
