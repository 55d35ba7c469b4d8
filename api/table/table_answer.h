/* SPDX-License-Identifier: MIT
 *
 * table_answer.h: the answer that sends a table, whatever it is a table of: its tag, conditions, a
 * range, headers.
 */
#ifndef API_TABLE_ANSWER_H
#define API_TABLE_ANSWER_H

#include "table_choice.h"
#include "table_name.h"

#define API__IMMUTABLE "public, max-age=31536000, immutable"

/* What a table is known by. `text` is canonical (api__table_text). */
struct api__labels {
    struct api_bytes text;
    struct api__sent sent;
    const char *tag;
    const char *url; /* Content-Location; NULL where there is none */
    const char *cache_control;
    bool codable;    /* so the answer varies with Accept-Encoding */
    bool acceptable; /* false: Accept-Encoding forbids every form of it */
};

/* Sets sent (but for path and stem), tag, codable and acceptable; and coding and the key of the
 * payload of the table. `key` names the values, rounded to the dtype that was asked for. */
void api__label(struct api__call *, const struct api__choice *, struct api_table *,
                struct api__digest key, struct api__labels *);

/* Answers with a table that api__select has accepted, and whose kind, parameters and metadata are
 * set: 200, 206, 304, or as an issue 406, 412, 416. */
bool api__send_table(struct api__call *, const struct api__choice *, struct api_table *,
                     const struct api__labels *);

#endif
