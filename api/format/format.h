/* SPDX-License-Identifier: MIT
 *
 * format.h: what a format is. Adding one is a file with a const struct and a line in formats.def.
 *
 * A binary format is a prefix in front of a window of the payload; a written one is made of the
 * rows by an api_writer. Formats look at a table's tensors, kind, parameters, members, metadata and
 * bf16, never at its spec, so layouts have them all. Nothing here decides whether a format may
 * carry a table: that its tensors can be stacked, that bf16 has a carrier, that JSON gets no
 * infinity is settled before.
 */
#ifndef API_FORMAT_H
#define API_FORMAT_H

#include "api.h"
#include "arena.h"

#define API__MAX_MEDIA 4

/* Parts of a written body. Each function appends at `out` and returns the new end. */
struct api__writing {
    /* Bounds of what open writes, of all that the others but rows write together, and of `elements`
     * consecutive elements of a tensor (SIZE_MAX where that overflows). */
    size_t (*open_size)(const struct api_table *);
    size_t (*frame_size)(const struct api_table *);
    size_t (*rows_size)(const struct pe_tensor *, uint64_t elements);

    char *(*open)(struct api_writer *, char *out);
    char *(*begin)(struct api_writer *, char *out); /* of writer->tensor */
    char *(*rows)(struct api_writer *, const void *data, uint64_t elements, char *out);
    char *(*end)(struct api_writer *, char *out);
    char *(*tail)(struct api_writer *, char *out);
    bool chained; /* a sum runs through the rows: none can be written before those in front */
};

struct api_format {
    const char *name;                  /* the extension too */
    const char *content_type;          /* with parameters, as it is sent */
    const char *media[API__MAX_MEDIA]; /* bare: its own type, then aliases that Accept may name;
                                          NULL ends */
    bool single;                       /* carries one array: tensor= picks it, or all are stacked */
    bool compresses;                   /* worth a content coding whatever the dtype */
    void (*prefix)(struct api_table *, struct api__arena *); /* sets prefix; NULL: there is none */
    const struct api__writing *writing;                      /* NULL: binary */
    uint64_t (*written_length)(const struct api_table *);    /* NULL: API_UNKNOWN */
};

#define API_FORMAT(id) extern const struct api_format api__format_##id;
#include "formats.def"
#undef API_FORMAT

/* All formats in the order of formats.def, ended by NULL. */
extern const struct api_format *const api__formats[];

/* By name, `len` bytes; NULL where there is none. */
const struct api_format *api__format_find(const char *name, size_t len);

/* Fills prefix, payload_first, payload_length, length, first and count (the whole) of a table whose
 * format, tensors, tensor_count, tensor and stacked are set, and what its format looks at. Sums may
 * not overflow: all tensors together have less than 2^63 bytes. */
void api__format_lay_out(struct api_table *, struct api__arena *);

/* The header of an .npy file, magic included: byte for byte that of numpy.save, version 1.0.
 * `copies` > 0 is a leading axis in front of the tensor's (a stack). Writes at most API__NPY_MAX
 * bytes; returns how many: a multiple of 64. */
#define API__NPY_MAX 512
size_t api__npy_header(char out[API__NPY_MAX], const struct pe_tensor *, uint64_t copies,
                       enum api_bf16);

#endif
