/* SPDX-License-Identifier: MIT
 *
 * mail.h: letters from any thread to an event loop. A letter is delivered once, on the thread of
 * its box, unless it is taken back there first. Sends coalesce; the box is emptied each time it is
 * opened.
 */
#ifndef SERVER_MAIL_H
#define SERVER_MAIL_H

#include <pthread.h>
#include <stdbool.h>
#include <uv.h>

struct mail_letter {
    struct mail_letter *next, *prev; /* NULL: not under way */
    void (*arrive)(struct mail_letter *);
};

struct mail_box {
    uv_async_t async;
    pthread_mutex_t lock;
    struct mail_letter ring; /* the first is ring.next */
};

/* 0, or an error of libuv. */
int mail_open(struct mail_box *, uv_loop_t *);

/* Any thread. A letter that is under way already stays where it is. */
void mail_send(struct mail_box *, struct mail_letter *);

/* On the thread of the box: after it the letter does not arrive. */
void mail_take_back(struct mail_box *, struct mail_letter *);

/* Whether nothing is under way. */
bool mail_empty(struct mail_box *);

/* The box must be empty and unknown to others; its memory is free once the loop has run again. */
void mail_close(struct mail_box *);

#endif
