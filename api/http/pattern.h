/* SPDX-License-Identifier: MIT
 *
 * pattern.h: whether a path fits a pattern. Paths are matched byte by byte: nothing is decoded or
 * normalised, so no two spellings lead to one place.
 */
#ifndef API_PATTERN_H
#define API_PATTERN_H

#include "request/call.h"

/* In a pattern {x} stands for one part of the path that is not empty, and [.ext] at the end for an
 * extension that may be absent. Sets captures and extension of the call. */
bool api__fits(const char *pattern, struct api__call *);

#endif
