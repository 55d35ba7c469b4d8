/* SPDX-License-Identifier: MIT
 *
 * layouts_rows.c: rows=KIND: the table rows for the ids of a layout. The ids take the place of
 * length, offset and positions; the rows are those of a table from the least id to the greatest, so
 * what depends on the length of a table sees what it would have seen there.
 */
#include "layouts.h"
#include "learned/learned.h"
#include "request/nearest.h"
#include "table/table_choice.h"

#include <inttypes.h>
#include <string.h>

/* Ids that are listed where some are below 0: eight MiB of them. */
#define MOST_BELOW_ZERO (1 << 20)

static const char *const kinds[] = {"sinusoidal", "rope", "xpos", "learned/NAME"};

static bool takes_place(enum pe_param id)
{
    return id == PE_PARAM_LENGTH || id == PE_PARAM_OFFSET || id == PE_PARAM_POSITIONS;
}

static bool refuse_kind(struct api__call *call, const struct api__param *p, struct api_bytes word)
{
    const char *near = api__nearest(word, kinds, 3);
    api__bad_value(call, API__BAD_VALUE, p,
                   "rows must be sinusoidal, rope, xpos or learned/NAME, not %s",
                   api__shown(call->arena, word));
    call->issue.allowed = kinds;
    call->issue.allowed_count = sizeof kinds / sizeof *kinds;
    call->issue.did_you_mean = near;
    return false;
}

static const char prefix[] = "learned/";

/* rows=learned/NAME: the store is asked once everything else can be meant. */
static bool read_stored(struct api__call *call, struct api__layout_ask *ask, struct api_bytes name)
{
    ask->rows = PE_KIND_SINUSOIDAL;
    ask->stored = api__arena_take(call->arena, sizeof *ask->stored);
    *ask->stored = (struct api_learned){.act = API_LEARNED_ROWS};
    return api__learned_name(call, name, ask->stored);
}

bool api__read_rows(struct api__call *call, struct api__layout_ask *ask)
{
    struct api_bytes word;
    ask->rows = -1;
    ask->rows_param = api__find_param(&ask->params, "rows");
    if (!ask->rows_param)
        return true;
    if (!api__read_word(call, ask->rows_param, &word))
        return false;
    if (word.len > strlen(prefix) && memcmp(word.at, prefix, strlen(prefix)) == 0)
        return read_stored(call, ask,
                           (struct api_bytes){word.at + strlen(prefix), word.len - strlen(prefix)});
    int kind = pe_kind_find(word.at, word.len);
    if (kind != PE_KIND_SINUSOIDAL && kind != PE_KIND_ROPE && kind != PE_KIND_XPOS)
        return refuse_kind(call, ask->rows_param, word);
    ask->rows = kind;
    return true;
}

bool api__rows_know(const struct api__layout_ask *ask, struct api_bytes name)
{
    int id = pe_param_find(name.at, name.len);
    if (id < 0 || ask->rows < 0 || takes_place((enum pe_param)id))
        return false;
    if (ask->stored)
        return id == PE_PARAM_DTYPE;
    for (int type = 0; type < PE_ROPE_TYPE_COUNT; type++)
        if (pe_use((enum pe_kind)ask->rows, PE_RESOURCE_TABLE, type, (enum pe_param)id))
            return true;
    return false;
}

/* The parameters of the request that are not the kind's. */
static struct api__names foreign(struct api__call *call, const struct api__layout_ask *ask)
{
    const char **names = api__arena_array(call->arena, ask->params.count + 1, sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < ask->params.count; i++) {
        struct api_bytes name = ask->params.items[i].name;
        if (!api__rows_know(ask, name))
            names[n++] = api__arena_copy(call->arena, name.at, name.len);
    }
    return (struct api__names){names, n};
}

/* A window of a table begins at 0 or above; below that, as pads may be, ids are a list of
 * positions. */
static bool list_ids(struct api__call *call, const struct api__layout_ask *ask, int64_t least,
                     int64_t most, struct pe_spec *spec)
{
    if (most - least >= MOST_BELOW_ZERO)
        return api__bad_value(call, API__OUT_OF_RANGE, ask->rows_param,
                              "the layout has ids from %" PRId64 " to %" PRId64
                              "; where some are below 0, rows= spans %d at most",
                              least, most, MOST_BELOW_ZERO);
    struct api__ints ints = {.count = (size_t)(most - least + 1), .rank = 1};
    ints.at = api__arena_array(call->arena, ints.count, sizeof *ints.at);
    ints.shape[0] = ints.count;
    for (size_t i = 0; i < ints.count; i++)
        ints.at[i] = least + (int64_t)i;
    api__set_positions(spec, &ints);
    return true;
}

static bool stored_spec(struct api__call *call, const struct api__layout_ask *ask, int64_t least,
                        int64_t most, struct pe_spec *spec)
{
    const struct api_learned_table *t = call->facts->tables;
    int64_t rows = (int64_t)t->file.rows, outside = least < 0 ? least : most;
    pe_spec_init(spec, (enum pe_kind)ask->rows, PE_RESOURCE_TABLE);
    if (!api__learned_dtype(call, api__find_param(&ask->params, "dtype"), spec))
        return false;
    if (least >= 0 && most < rows)
        return true;
    return api__bad_value(call, API__OUT_OF_RANGE, ask->rows_param,
                          "the layout has id %" PRId64 ", but %s has %" PRId64
                          " rows, 0 to %" PRId64,
                          outside, t->name, rows, rows - 1);
}

bool api__rows_spec(struct api__call *call, const struct api__layout_ask *ask, int64_t least,
                    int64_t most, struct pe_spec *spec)
{
    if (ask->stored)
        return stored_spec(call, ask, least, most, spec);
    pe_spec_init(spec, (enum pe_kind)ask->rows, PE_RESOURCE_TABLE);
    if (least < 0 && !list_ids(call, ask, least, most, spec))
        return false;
    if (least >= 0) {
        spec->offset = least;
        spec->length = most - least + 1;
        spec->given |= UINT64_C(1) << PE_PARAM_OFFSET | UINT64_C(1) << PE_PARAM_LENGTH;
    }
    return api__read_spec(call, &ask->params, foreign(call, ask), spec);
}
