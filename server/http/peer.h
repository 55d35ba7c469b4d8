/* SPDX-License-Identifier: MIT
 *
 * peer.h: what the kernel knows of the other end of a connection.
 */
#ifndef SERVER_PEER_H
#define SERVER_PEER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether bytes came within the last `ms` milliseconds; false where the kernel does not tell (unix
 * sockets). */
bool peer_heard(int fd, uint64_t ms);

/* Bytes that the peer's kernel has confirmed, or for a unix socket something that moves when it
 * reads. */
uint64_t peer_taken(int fd);

/* Bounds what the kernel takes of an answer at a time, where the peer is so near that it need not
 * take more to keep the way to it full: one large answer then holds the loop less long, and its
 * bytes are still in the processor's cache when they are taken. Of a new connection. */
void peer_pace(int fd);

/* Bytes received that nobody has read yet. */
int peer_unread(int fd);

/* The connection is reset, or closed in both directions. */
bool peer_gone(int fd);

#endif
