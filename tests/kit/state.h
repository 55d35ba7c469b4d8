/* SPDX-License-Identifier: MIT
 *
 * state.h: what tests of stored tables stand on: folders of their own, files of tokens, tables as
 * .npy.
 */
#ifndef KIT_STATE_H
#define KIT_STATE_H

#include "kit/kit.h"

#define KIT_WRITER "writer-3f9a" /* the token of scope write */
#define KIT_READER "reader-77b0" /* of scope read */
#define KIT_BEARER "Authorization: Bearer " KIT_WRITER "\r\n"

struct kit_state {
    char root[64], folder[80], tokens[80];
    const char *options[16]; /* --state-dir, --auth-token-file and what was added, ended by NULL */
};

/* A folder under /tmp with the two tokens above; removed with all that is in it. */
void kit_state_make(struct kit_state *, const char *const *more);
void kit_state_remove(struct kit_state *);

/* Writes the file of tokens: of each pair a token and its scopes, ended by NULL; they are called
 * t0, t1... */
void kit_state_tokens(struct kit_state *, const char *const *pairs);

/* Files below a folder of the state, hidden ones apart. */
unsigned kit_state_files(const struct kit_state *, const char *folder);

/* An .npy of rows x width f32 that depend on the seed; its data begin at byte 128. At most 128 + 4
 * * rows * width bytes. Returns its size. */
size_t kit_npy(char *out, unsigned rows, unsigned width, unsigned seed);

/* PUT of a body on a link of its own; `head` holds further lines, each ended by \r\n. */
void kit_put(struct kit_daemon *, const char *target, const char *head, const void *body,
             size_t size, struct kit_answer *);

/* Any request without a body on a link of its own. */
void kit_once(struct kit_daemon *, const char *method, const char *target, const char *head,
              struct kit_answer *);

#endif
