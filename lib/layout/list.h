/* SPDX-License-Identifier: MIT
 *
 * list.h: lists that grow as items come.
 */
#ifndef PE_LAYOUT_LIST_H
#define PE_LAYOUT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `list` is the address of a pointer to items of `size` bytes. Both keep the list as it was where
 * there is no memory. The first gives it room for exactly `room` items; the second for one more
 * than `count`, half as much again where it must grow, and keeps *room. */
bool pe__list_resize(void *list, uint64_t room, size_t size);
bool pe__list_more(void *list, uint64_t count, uint64_t *room, size_t size);

#endif
