/* SPDX-License-Identifier: MIT
 *
 * layouts_rows.c: rows=KIND: the table rows for the ids of a layout. The ids take the place of length, offset and
 * positions; the rows are those of a table from the least id to the greatest, so what depends on the length
 * of a table sees what it would have seen there.
 */
#include "layouts.h"
#include "learned.h"
#include "nearest.h"
#include "table_choice.h"

#include <string.h>

static const char *const kinds[] = {"sinusoidal", "rope", "xpos", "learned/NAME"};

static bool takes_place(enum pe_param id)
{
    return id == PE_PARAM_LENGTH || id == PE_PARAM_OFFSET || id == PE_PARAM_POSITIONS;
}

static bool refuse_kind(struct api__call *call, const struct api__param *p, struct api_bytes word)
{
    const char *near = api__nearest(word, kinds, 3);
    api__bad_value(call, API__BAD_VALUE, p, "rows must be sinusoidal, rope, xpos or learned/NAME, not %s",
                   api__shown(call->arena, word));
    call->issue.allowed = kinds;
    call->issue.allowed_count = sizeof kinds / sizeof *kinds;
    call->issue.did_you_mean = near;
    return false;
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

bool api__rows_spec(struct api__call *call, const struct api__layout_ask *ask, int64_t least, int64_t most,
                    struct pe_spec *spec)
{
    pe_spec_init(spec, (enum pe_kind)ask->rows, PE_RESOURCE_TABLE);
    spec->offset = least;
    spec->length = most - least + 1;
    spec->given |= UINT64_C(1) << PE_PARAM_OFFSET | UINT64_C(1) << PE_PARAM_LENGTH;
    return api__read_spec(call, &ask->params, foreign(call, ask), spec);
}
