/* SPDX-License-Identifier: MIT
 *
 * store_files.h: the folder of learned tables on disk, and the steps that make a change last.
 * Nothing here knows what a table is.
 *
 *   STATE/lock          held by the daemon that uses the folder; the lock dies with it
 *   STATE/blobs/HEX     a file as it was uploaded, named by its SHA-256; never changed
 *   STATE/names/NAME    "sha256:HEX\n": what the name stands for
 *   STATE/drafts/...    what is being written; swept at start
 *
 * A file takes its place by rename, after its bytes have been synced, and the folder is synced
 * after that; so after a crash or a power cut every file is whole, and what was acknowledged is
 * there.
 */
#ifndef SERVER_STORE_FILES_H
#define SERVER_STORE_FILES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_DIGITS 64 /* of a digest in hexadecimal */
#define STORE_NAME 128  /* longest name */
#define STORE_DRAFT 32  /* room for the name of a draft */

/* Descriptors of the folders, open for as long as the store is. */
struct store_files {
    int lock, blobs, names, drafts;
    atomic_uint number; /* of the next draft */
};

/* Opens the folder, making it and its parents where they are not there, takes the lock, and sweeps
 * drafts. False with a sentence in `error`, and then nothing is held. */
bool store_files_open(struct store_files *, const char *path, char *error, size_t size);
void store_files_close(struct store_files *);

/* Whether a folder of that path is there and can be written, or could be made. Changes nothing. */
bool store_files_possible(const char *path, char *error, size_t size);

/* All functions below return 0, or -errno. They block, and may be called from any thread at once.
 */

/* A new draft, open for reading and writing: its descriptor. */
int store_files_draft(struct store_files *, char name[STORE_DRAFT]);
int store_files_drop(struct store_files *, const char *draft);

/* Writes all of the bytes, at the end of the file. */
int store_files_write(int fd, const void *bytes, size_t size);

/* Makes the bytes of a draft last. A failure is final: what the disk has then is not known. */
int store_files_sync(int fd);

/* A synced draft becomes the blob of that digest, in place of one that may be there. */
int store_files_publish(struct store_files *, const char *draft, const char *digest);
int store_files_drop_blob(struct store_files *, const char *digest);
int store_files_open_blob(struct store_files *, const char *digest);

/* The name stands for the digest from now on; or for nothing. *moved says, on failure too, whether
 * others see the change. */
int store_files_point(struct store_files *, const char *name, const char *digest, bool *moved);
int store_files_unpoint(struct store_files *, const char *name);

/* Calls `found` for every name whose file is whole, in no order, until it returns false (then
 * -ENOMEM). */
int store_files_each_name(struct store_files *,
                          bool (*found)(void *, const char *name, const char *digest),
                          void *closure);

/* Removes every blob that `wanted` does not want. */
int store_files_sweep(struct store_files *, bool (*wanted)(void *, const char *digest),
                      void *closure);

#endif
