/* SPDX-License-Identifier: MIT
 *
 * coding.h: content codings of tables (RFC 9110, 8.4 and 12.5.3): for text and for integers, which
 * shrink; never for floats in binary, which hardly do. A table that is not coded does not vary with
 * Accept-Encoding.
 */
#ifndef API_CODING_H
#define API_CODING_H

#include "request/call.h"

/* Whether a table may go out coded: its format is text, or all tensors that are sent are of
 * integers or booleans. Looks at format, tensors and tensor. */
bool api__codable(const struct api_table *);

/* What Accept-Encoding asks for: the coding with the highest weight; of equals zstd before gzip
 * before none. Without the header, or with nothing readable in it, none. False where it forbids all
 * three. Other codings and elements that cannot be read say nothing. */
bool api__coding(const struct api_request *, enum api_coding *);

/* As Content-Encoding names it; NULL for none. */
const char *api__coding_name(enum api_coding);

#endif
