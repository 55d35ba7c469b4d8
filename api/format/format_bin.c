/* SPDX-License-Identifier: MIT
 *
 * format_bin.c: the payload as it is: little-endian, C order, no header. Shape and dtype stand in
 * the headers of the answer.
 */
#include "format.h"

const struct api_format api__format_bin = {
    .name = "bin",
    .content_type = "application/octet-stream",
    .media = {"application/octet-stream"},
    .single = true,
};
