/* SPDX-License-Identifier: MIT
 *
 * mail.c: see mail.h. A letter is taken out under the lock before it arrives, so an arrival may
 * send or take back any letter, itself included.
 */
#include "mail.h"
#include "must.h"

static void take_out(struct mail_letter *letter)
{
    letter->prev->next = letter->next;
    letter->next->prev = letter->prev;
    letter->next = letter->prev = NULL;
}

static void open_box(uv_async_t *async)
{
    struct mail_box *box = async->data;
    for (;;) {
        pthread_mutex_lock(&box->lock);
        struct mail_letter *letter = box->ring.next;
        bool empty = letter == &box->ring;
        if (!empty)
            take_out(letter);
        pthread_mutex_unlock(&box->lock);
        if (empty)
            return;
        letter->arrive(letter);
    }
}

int mail_open(struct mail_box *box, uv_loop_t *loop)
{
    box->ring.next = box->ring.prev = &box->ring;
    int error = uv_async_init(loop, &box->async, open_box);
    if (error)
        return error;
    box->async.data = box;
    must(pthread_mutex_init(&box->lock, NULL) == 0);
    return 0;
}

void mail_send(struct mail_box *box, struct mail_letter *letter)
{
    pthread_mutex_lock(&box->lock);
    if (!letter->next) {
        letter->prev = box->ring.prev;
        letter->next = &box->ring;
        letter->prev->next = letter->next->prev = letter;
    }
    pthread_mutex_unlock(&box->lock);
    uv_async_send(&box->async);
}

void mail_take_back(struct mail_box *box, struct mail_letter *letter)
{
    pthread_mutex_lock(&box->lock);
    if (letter->next)
        take_out(letter);
    pthread_mutex_unlock(&box->lock);
}

bool mail_empty(struct mail_box *box)
{
    pthread_mutex_lock(&box->lock);
    bool empty = box->ring.next == &box->ring;
    pthread_mutex_unlock(&box->lock);
    return empty;
}

void mail_close(struct mail_box *box)
{
    must(box->ring.next == &box->ring);
    pthread_mutex_destroy(&box->lock);
    uv_close((uv_handle_t *)&box->async, NULL);
}
