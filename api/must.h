/* SPDX-License-Identifier: MIT
 *
 * must.h: a condition that only a bug can break. Checked in release builds too: a daemon that is
 * wrong about its own state had better be restarted than go on.
 */
#ifndef API_MUST_H
#define API_MUST_H

#include <stdlib.h>

#define must(x) ((x) ? (void)0 : abort())

#endif
