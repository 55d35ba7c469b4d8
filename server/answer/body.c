/* SPDX-License-Identifier: MIT
 *
 * body.c: see body.h.
 */
#include "body.h"

#include <stdlib.h>

struct body *body_create(struct order *order, struct payload *payload, char *text)
{
    struct body *b = calloc(1, sizeof *b);
    if (!b) {
        free(text);
        return NULL;
    }
    *b = (struct body){.order = order, .payload = payload, .text = text, .owners = 1};
    if (order)
        order_hold(order);
    if (payload)
        payload_hold(payload);
    return b;
}

void body_hold(struct body *b)
{
    b->owners++;
}

void body_drop(void *body)
{
    struct body *b = body;
    if (--b->owners)
        return;
    payload_drop(&b->payload);
    order_drop(&b->order);
    free(b->text);
    free(b);
}
