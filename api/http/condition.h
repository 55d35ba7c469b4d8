/* SPDX-License-Identifier: MIT
 *
 * condition.h: preconditions, ranges and entity tags of RFC 9110, sections 8.8.3, 13 and 14, on a
 * representation whose strong tag is known and whose date is not (it never changes, it has none).
 */
#ifndef API_CONDITION_H
#define API_CONDITION_H

#include "request/call.h"

#define API__TAG_SIZE 35 /* two quotes, 32 digits, NUL */

/* Whether a list of entity tags (one header line) is "*" or names `tag`. Comparison is weak or
 * strong (RFC 9110, 8.8.3.2). What cannot be read ends the list. */
bool api__tag_listed(struct api_bytes line, const char *tag, bool weak);

enum api__verdict { API__PROCEED, API__NOT_MODIFIED, API__FAILED };

/* If-Match, then If-None-Match, of a GET or HEAD whose answer would be 200 (RFC 9110, 13.2.2). */
enum api__verdict api__conditions(const struct api_request *, const char *tag);

enum api__part { API__WHOLE, API__PART, API__OUTSIDE };

/* Which bytes of a body of `length` bytes a GET is to be answered with: Range under If-Range.
 * Several ranges, another unit and what cannot be read mean the whole. *first and *count are set
 * for a part. */
enum api__part api__range(const struct api_request *, const char *tag, uint64_t length,
                          uint64_t *first, uint64_t *count);

/* Whether the request has a header that makes its answer more than a function of the target. */
bool api__is_conditional(const struct api_request *);

/* A strong tag made of the SHA-256 of parts; and the whole digest. */
struct api__digest {
    unsigned char bytes[32];
};
struct api__digest api__sha256(const struct api_bytes *parts, size_t count);
void api__tag(struct api__digest, char out[API__TAG_SIZE]);

#endif
