/* SPDX-License-Identifier: MIT
 *
 * store_index.h: the names of a store in memory, inside the store: sorted, behind a lock that is
 * held briefly. Who changes them holds `commit` as well, and so may look at them without the other.
 */
#ifndef SERVER_STORE_INDEX_H
#define SERVER_STORE_INDEX_H

#include "store.h"

struct store_entry {
    char *name;
    struct store_blob *blob;
};

struct store {
    struct store_files files;
    pthread_mutex_t commit; /* held over the steps of a change */
    pthread_mutex_t lock;   /* of the entries */
    struct store_entry *at;
    size_t count, room;
};

/* By whoever holds `commit`. */

/* The blob of a name, or NULL; any blob of a digest, or NULL. Neither is held. */
struct store_blob *store_index_get(struct store *, const char *name);
struct store_blob *store_index_twin(struct store *, const char *digest);

/* Room for one more name: false without memory. After it store_index_set of that name cannot fail.
 */
bool store_index_reserve(struct store *, const char *name, char **copy);

/* The name has this blob from now on (which the index holds as well), and so has every other name
 * of the same digest. Takes *copy where the name is new. */
void store_index_set(struct store *, const char *name, char **copy, struct store_blob *);
void store_index_erase(struct store *, const char *name);

#endif
