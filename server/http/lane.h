/* SPDX-License-Identifier: MIT
 *
 * lane.h: the fast lane. A request whose head is, byte for byte, one that was asked before and
 * whose answer is ready is answered where its bytes arrive, before the library reads them: one
 * recv, one look-up, one sendmsg. Everything else goes the library's way.
 *
 * The library reads and writes sockets by calling recv and send, and this file has the program's
 * own definitions of them, which the dynamic linker prefers to the C library's (System V ABI,
 * "Shared Object Dependencies"). recv tells the library that nothing came where the lane has
 * answered; send puts bytes that the library was lent (conn->loan) in the place of a block that
 * nobody filled. Where a linker binds the library otherwise, all requests go the library's way, and
 * nothing is lent: the head of an answer has to come by here first.
 */
#ifndef SERVER_LANE_H
#define SERVER_LANE_H

#include "answer/memo.h"

#include <sys/socket.h>

/* The calling thread serves the connections of this worker from now on; NULL: none any more. */
void lane_open(struct worker *);

ssize_t recv(int fd, void *at, size_t size, int flags);
ssize_t send(int fd, const void *at, size_t size, int flags);

#endif
