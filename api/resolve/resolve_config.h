/* SPDX-License-Identifier: MIT
 *
 * resolve_config.h: a model's config as a flat list of facts: each key that bears on positions,
 * where it stands, what it means, and what it says, as the bytes of its JSON value. Spellings and
 * places come from resolve_dialects.def, meanings from resolve_meanings.def; keys of other concerns
 * are left out. Nothing is judged here: see resolve_fact.h.
 */
#ifndef API_RESOLVE_CONFIG_H
#define API_RESOLVE_CONFIG_H

#include "request/call.h"
#include "resolve_keys.h"
#include "resolve_note.h"

/* `path` is dotted and shown to clients. A key that is not known has the meaning UNKNOWN, and
 * `near` where it looks like a known one. `told` is set once the key was used or reported. */
struct api__fact {
    const char *path;
    struct api_bytes value;
    enum api__meaning meaning;
    enum api__place place;
    unsigned row;      /* in resolve_dialects.def */
    const char *scope; /* layer type, or NULL */
    const char *near;
    enum api__meaning near_meaning;
    bool told;
};

/* One layer type's entry in a block. `none`: the entry is null, so these layers do not rotate. */
struct api__scope {
    const char *name;
    const char *path;
    bool none;
    bool told;
};

struct api__config {
    struct api__call *call;
    enum api__dialect dialect;
    const char *family;      /* model_type, architecture or class; "" where there is none */
    const char *outer;       /* the model_type around a text_config, or "" */
    struct api__fact *facts; /* sorted by path */
    size_t count, room;
    struct api__scope *scopes;
    size_t scope_count, scope_room;
    size_t keys; /* in all objects that were read */
    struct api__notes notes;
    bool refused; /* call->issue says why; set once */
};

/* Reads the body of call->request. All memory is the arena's. False with an issue where it is not
 * one JSON object, or a name stands twice in any of its objects. */
bool api__config_read(struct api__call *, struct api__config *);

#endif
