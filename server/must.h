/* SPDX-License-Identifier: MIT
 *
 * must.h: what only a bug can break. Checked in release builds too: a daemon that is wrong about
 * its own state had better be restarted than go on. Never used on input.
 */
#ifndef SERVER_MUST_H
#define SERVER_MUST_H

#include <stdlib.h>

#define must(x) ((x) ? (void)0 : abort())

#endif
