/* SPDX-License-Identifier: MIT
 *
 * table_name.h: the names of a table: the key of its payload, its canonical URL, the name of its
 * file, and its parameters as JSON. All are functions of a checked spec and of how it is sent.
 */
#ifndef API_TABLE_NAME_H
#define API_TABLE_NAME_H

#include "request/call.h"
#include "http/condition.h"

/* Lists of positions up to this length are spelled out in the canonical text; of longer ones the
 * key holds the binary digest instead, and they have no canonical URL. */
#define API__SPELLED_POSITIONS 65536

/* Lists up to this length stand in the parameters of a JSON or safetensors answer; of longer ones
 * their shape and digest do. */
#define API__LISTED_POSITIONS 4096

/* Longest canonical URL that is worth a header. */
#define API__LONGEST_URL 4096

/* What is sent of a table, as far as its names go. `tensor` and `bf16` are NULL where there is
 * none. */
struct api__sent {
    const char *format;
    const char *tensor;
    const char *bf16;
    const char
        *path; /* what stands for the kind in a URL and in the name of a file; NULL: its name */
    const char *stem;
};

/* The canonical text of a spec in the arena, and the key of its payload: SHA-256 of kind, resource,
 * numerics revision and text. */
struct api_bytes api__table_text(struct api__arena *, const struct pe_spec *);
struct api__digest api__table_key(const struct pe_spec *, struct api_bytes text);

/* Appends the positions of a spec as they stand in such a text: spelled out, or by their digest. */
void api__put_positions(struct api__text *, const struct pe_spec *);

/* Path and query, sorted by name, with rev; NULL where no URL says it (positions of rank other than
 * 1, or too many). */
const char *api__table_url(struct api__arena *, const struct pe_spec *, struct api_bytes text,
                           const struct api__sent *);

/* `rope_n2048_d128_b10000_f32.npy` */
const char *api__table_file(struct api__arena *, const struct pe_spec *, struct api_bytes text,
                            const struct api__sent *);

/* The parameters that bear on the table as a JSON object, sorted by name. */
const char *api__table_parameters(struct api__arena *, const struct pe_spec *,
                                  struct api_bytes text);

/* The same as names and texts, for the metadata of a file; long lists by digest. */
const struct api_pair *api__table_metadata(struct api__arena *, const struct pe_spec *,
                                           struct api_bytes text, unsigned *count);

#endif
