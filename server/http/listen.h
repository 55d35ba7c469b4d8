/* SPDX-License-Identifier: MIT
 *
 * listen.h: listening sockets. Each worker has its own for every TCP address (SO_REUSEPORT: the
 * kernel spreads connections over them) and a share of the one for a unix socket.
 */
#ifndef SERVER_LISTEN_H
#define SERVER_LISTEN_H

#include "config/value.h"

#define LISTEN_BACKLOG 1024

/* Makes sure that nobody listens at the address, and sets the port where it is 0. False with errno
 * set. */
bool listen_claim(struct value_address *);

/* A socket that listens at a claimed address; -1 with errno set. For a unix socket the first call
 * makes the file, and `first` is that socket for the others. */
int listen_open(const struct value_address *, int first);

/* Removes the file of a unix socket. */
void listen_remove(const struct value_address *);

#endif
