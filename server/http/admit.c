/* SPDX-License-Identifier: MIT
 *
 * admit.c: a counter, and where addresses are limited a hash table of counts under one lock.
 */
#include "admit.h"
#include "must.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#define BUCKETS 4096

struct count {
    struct count *next;
    struct admit_address address;
    uint64_t n;
};

struct admit {
    _Atomic uint64_t all;
    uint64_t most, per_address;
    pthread_mutex_t lock;
    uint64_t secret[2];
    struct count *bucket[BUCKETS];
};

struct admit *admit_open(uint64_t most, uint64_t per_address)
{
    struct admit *a = calloc(1, sizeof *a);
    if (!a || getrandom(a->secret, sizeof a->secret, 0) != sizeof a->secret) {
        free(a);
        return NULL;
    }
    a->most = most;
    a->per_address = per_address;
    must(pthread_mutex_init(&a->lock, NULL) == 0);
    return a;
}

void admit_close(struct admit **address)
{
    struct admit *a = *address;
    *address = NULL;
    if (!a)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (a->bucket[i]) {
            struct count *c = a->bucket[i];
            a->bucket[i] = c->next;
            free(c);
        }
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static struct admit_address key_of(const struct sockaddr *address)
{
    struct admit_address key = {{0, 0}};
    if (address && address->sa_family == AF_INET)
        memcpy(&key.half[1], &((const struct sockaddr_in *)address)->sin_addr, 4);
    else if (address && address->sa_family == AF_INET6)
        memcpy(key.half, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    return key;
}

/* The place of the count of an address, or where it would be. */
static struct count **find(struct admit *a, const struct admit_address *key)
{
    uint64_t h =
        (key->half[0] ^ a->secret[0]) * (a->secret[1] | 1) + key->half[1] * (a->secret[0] | 1);
    struct count **at = &a->bucket[(h >> 40) % BUCKETS];
    while (*at && memcmp(&(*at)->address, key, sizeof *key))
        at = &(*at)->next;
    return at;
}

static uint64_t count_address(struct admit *a, const struct admit_address *key)
{
    uint64_t n = 0;
    pthread_mutex_lock(&a->lock);
    struct count **at = find(a, key);
    if (!*at && (*at = calloc(1, sizeof **at)))
        (*at)->address = *key;
    if (*at)
        n = ++(*at)->n;
    pthread_mutex_unlock(&a->lock);
    return n;
}

enum admit_verdict admit_enter(struct admit *a, const struct sockaddr *address,
                               struct admit_address *out)
{
    uint64_t all = atomic_fetch_add(&a->all, 1) + 1;
    *out = key_of(address);
    if (a->per_address && count_address(a, out) > a->per_address)
        return ADMIT_TOO_MANY_OF_ONE;
    return all > a->most ? ADMIT_TOO_MANY : ADMIT_WELCOME;
}

enum admit_verdict admit_again(struct admit *a, const struct admit_address *address)
{
    uint64_t n = 0;
    if (a->per_address) {
        pthread_mutex_lock(&a->lock);
        struct count **at = find(a, address);
        n = *at ? (*at)->n : 0;
        pthread_mutex_unlock(&a->lock);
    }
    if (n > a->per_address)
        return ADMIT_TOO_MANY_OF_ONE;
    return atomic_load(&a->all) > a->most ? ADMIT_TOO_MANY : ADMIT_WELCOME;
}

void admit_leave(struct admit *a, const struct admit_address *address)
{
    atomic_fetch_sub(&a->all, 1);
    if (!a->per_address)
        return;
    pthread_mutex_lock(&a->lock);
    struct count **at = find(a, address), *c = *at;
    if (c && --c->n == 0) {
        *at = c->next;
        free(c);
    }
    pthread_mutex_unlock(&a->lock);
}
