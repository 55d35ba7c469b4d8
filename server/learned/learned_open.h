/* SPDX-License-Identifier: MIT
 *
 * learned_open.h: what --state-dir and --auth-token-file name, opened for serving or looked at
 * beforehand.
 */
#ifndef SERVER_LEARNED_OPEN_H
#define SERVER_LEARNED_OPEN_H

#include "config/config.h"
#include "store.h"
#include "tokens.h"

/* *tokens and *store stay NULL where the option is not given. False: `error` names the option, its
 * value, where it came from, and what is wrong; what was opened by then is for the caller to close.
 */
bool learned_open(const struct config *, struct tokens_box **tokens, struct store **store,
                  struct config_error *error);

/* Whether that would go well, as far as it can be seen without changing anything on the disk. */
bool learned_check(const struct config *, struct config_error *error);

/* Reads the tokens again; on failure the old ones stay. */
bool learned_reread(const struct config *, struct tokens_box *, struct config_error *error);

#endif
