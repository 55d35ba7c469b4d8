/* SPDX-License-Identifier: MIT
 *
 * resolve_members.h: JSON objects of a body as lists of members, sorted by name.
 */
#ifndef API_RESOLVE_MEMBERS_H
#define API_RESOLVE_MEMBERS_H

#include "request/call.h"

struct api__member {
    struct api_bytes name, value; /* decoded; a checked slice of the body */
};

struct api__members {
    struct api__member *at;
    size_t count;
};

/* The members of an object; `whole`: nothing may stand behind it. Issue malformed-body where it is
 * none, or a name stands twice. */
bool api__read_members(struct api__call *, struct api_bytes object, bool whole,
                       struct api__members *);

/* Whether no name stands twice in any object inside of a checked value. Recursion is as deep as the
 * value, which the reader limits. */
bool api__check_inside(struct api__call *, struct api_bytes value);

/* NULL where there is none. */
const struct api__member *api__find_member(const struct api__members *, const char *name);

/* The first byte of a value tells its type: { [ " t f n, else a number. */
char api__kind_of(struct api_bytes value);

#endif
