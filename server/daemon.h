/* SPDX-License-Identifier: MIT
 *
 * daemon.h: `posenc serve`.
 */
#ifndef SERVER_DAEMON_H
#define SERVER_DAEMON_H

#include "config/config.h"

/* Serves until a signal ends it. The exit code; what went wrong stands in the log. The port of an
 * address that is 0 is filled in. */
int daemon_run(struct config *);

#endif
