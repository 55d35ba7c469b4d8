/* SPDX-License-Identifier: MIT
 *
 * must.h: what only a bug can break. Checked in release builds too; never used on input.
 */
#ifndef PE_MUST_H
#define PE_MUST_H

#include <stdlib.h>

#define must(x) ((x) ? (void)0 : abort())

#endif
