/* SPDX-License-Identifier: MIT
 *
 * lane.h: the fast lane. A request whose head is, byte for byte, one that was asked before and
 * whose answer is ready is answered where its bytes arrive, before the library reads them: one
 * recv, one look-up, one sendmsg. Everything else goes the library's way.
 *
 * The library reads sockets by calling recv, and this file has the program's own definition of it,
 * which the dynamic linker prefers to the C library's (System V ABI, "Shared Object Dependencies").
 * It reads as recv does, and tells the library that nothing came where it has answered by itself.
 * Where a linker binds the library otherwise, all requests go the library's way.
 */
#ifndef SERVER_LANE_H
#define SERVER_LANE_H

#include "answer/memo.h"

/* The calling thread serves the connections of this worker from now on; NULL: none any more. */
void lane_open(struct worker *);

#endif
