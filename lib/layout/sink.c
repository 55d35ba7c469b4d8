/* SPDX-License-Identifier: MIT
 *
 * sink.c: see sink.h. Elements are stored little-endian, as they lie in memory.
 */
#include "layout/sink.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are stored as they lie in memory");

void pe__put_run(struct pe__sink *s, int64_t v, int64_t step, int64_t count)
{
    if (s->wide) {
        for (int64_t i = 0; i < count; i++) {
            int64_t x = v + step * i;
            memcpy(s->at + 8 * i, &x, 8);
        }
        s->at += 8 * count;
    } else {
        for (int64_t i = 0; i < count; i++) {
            int32_t x = (int32_t)(v + step * i);
            memcpy(s->at + 4 * i, &x, 4);
        }
        s->at += 4 * count;
    }
}
