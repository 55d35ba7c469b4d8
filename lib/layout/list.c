/* SPDX-License-Identifier: MIT
 *
 * list.c: see list.h. Pointers are read and written as bytes, since their type is not known here.
 */
#include "layout/list.h"

#include <stdlib.h>
#include <string.h>

bool pe__list_resize(void *list, uint64_t room, size_t size)
{
    void *old, *grown;
    size_t bytes;
    memcpy(&old, list, sizeof old);
    if (__builtin_mul_overflow(room, size, &bytes) || !(grown = realloc(old, bytes ? bytes : 1)))
        return false;
    memcpy(list, &grown, sizeof grown);
    return true;
}

bool pe__list_more(void *list, uint64_t count, uint64_t *room, size_t size)
{
    if (count < *room)
        return true;
    uint64_t more = *room < 16 ? 16 : *room + *room / 2;
    if (!pe__list_resize(list, more, size))
        return false;
    *room = more;
    return true;
}
