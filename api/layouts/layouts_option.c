/* SPDX-License-Identifier: MIT
 *
 * layouts_option.c: one parameter of a layout into the field of its option. Limits that the table
 * of options states are checked by lib; words and numbers are read here.
 */
#include "layouts.h"
#include "request/decode.h"
#include "request/json.h"
#include "request/list.h"
#include "request/nearest.h"

#include <string.h>

static size_t words_of(const char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    return n;
}

/* A number, or one of the words. */
static bool read_number_or_word(struct api__call *call, const struct api__param *p,
                                const struct pe_option_info *info, int64_t *out)
{
    bool number =
        p->value.len && (*p->value.at == '-' || (*p->value.at >= '0' && *p->value.at <= '9'));
    int word;
    if (number)
        return api__read_integer(call, p, info->lo, info->hi, out);
    if (!api__read_choice(call, p, info->words, words_of(info->words), &word)) {
        call->issue.detail = api__format_text(call->arena, "%s, or an integer", call->issue.detail);
        return false;
    }
    *out = PE_A_WORD + word;
    return true;
}

static bool read_pair(struct api__call *call, struct api__layout_ask *ask,
                      const struct api__param *p, struct pe_pair *out)
{
    struct pe_array a;
    if (!api__read_array(call, ask, p, &a))
        return false;
    const int64_t *v = a.at;
    if (a.rank != 1 || a.count != 2 || v[0] < 0 || v[1] < 0 || v[0] > PE_SLOT_END ||
        v[1] > PE_SLOT_END)
        return api__bad_value(call, API__BAD_VALUE, p, "%s is two slots a,b with 0 <= a < b",
                              api__shown(call->arena, p->name));
    *out = (struct pe_pair){v[0], v[1]};
    return true;
}

/* ---------------------------------------------------------------- tensors */

static bool put_output(struct api__call *call, struct api__layout_ask *ask,
                       const struct api__param *p, struct api_bytes name)
{
    uint64_t offered = pe_outs_offered(ask->q.endpoint);
    int id = pe_out_find(name.at, name.len);
    const char **names = api__arena_array(call->arena, PE_OUTS, sizeof *names);
    size_t count = 0;
    if (id >= 0 && offered >> id & 1) {
        if (ask->q.outputs >> id & 1)
            return api__bad_value(call, API__BAD_VALUE, p, "outputs names %s twice",
                                  pe_out_name((enum pe_out)id));
        ask->q.outputs |= UINT64_C(1) << id;
        return true;
    }
    for (int o = 0; o < PE_OUTS; o++)
        if (offered >> o & 1)
            names[count++] = pe_out_name((enum pe_out)o);
    const char *near = api__nearest(name, names, count);
    api__bad_value(call, API__BAD_VALUE, p, "%s is no tensor of %s%s%s%s",
                   api__shown(call->arena, name), pe_endpoint_name(ask->q.endpoint),
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    call->issue.allowed = names;
    call->issue.allowed_count = count;
    call->issue.did_you_mean = near;
    return false;
}

static bool read_outputs_json(struct api__call *call, struct api__layout_ask *ask,
                              const struct api__param *p)
{
    struct api__json j;
    struct api_bytes item, name;
    if (!api__json_array(&j, p->value))
        return api__bad_value(call, API__BAD_VALUE, p, "outputs is a list of names");
    while (api__json_element(&j, &item)) {
        if (!api__json_string(call->arena, item, &name))
            return api__bad_value(call, API__BAD_VALUE, p, "outputs is a list of names");
        if (!put_output(call, ask, p, name))
            return false;
    }
    return true;
}

static bool read_outputs(struct api__call *call, struct api__layout_ask *ask,
                         const struct api__param *p)
{
    struct api_bytes rest = p->value;
    if (p->json) {
        if (!read_outputs_json(call, ask, p))
            return false;
        rest.len = 0;
    }
    while (rest.len) {
        const char *comma = memchr(rest.at, ',', rest.len);
        size_t len = comma ? (size_t)(comma - rest.at) : rest.len;
        if (!put_output(call, ask, p, (struct api_bytes){rest.at, len}))
            return false;
        rest.at += len + (comma != NULL);
        rest.len -= len + (comma != NULL);
        if (comma && rest.len == 0)
            return api__bad_value(call, API__BAD_VALUE, p, "outputs ends in an empty name");
    }
    return ask->q.outputs ||
           api__bad_value(call, API__BAD_VALUE, p, "outputs must name at least one tensor");
}

/* ---------------------------------------------------------------- names of conventions */

/* Whose names an option takes: those of the endpoint; for `to` those of the arrangement. */
static enum pe_endpoint names_of(const struct api__layout_ask *ask, enum pe_option o)
{
    if (o == PE_OPTION_CONVENTION)
        return ask->q.endpoint;
    return o == PE_OPTION_TO && ask->q.arrange == PE_ARRANGE_PADDED ? PE_PADDED : PE_PACKED;
}

/* The endpoints that know the name: "; it is known to packed, plan". */
static const char *known_to(struct api__call *call, struct api_bytes word)
{
    struct api__text t;
    api__text_init(&t, call->arena, 64);
    for (int e = 0; e < PE_ENDPOINTS; e++)
        if (pe_convention_find((enum pe_endpoint)e, word.at, word.len) >= 0)
            api__text_print(&t, "%s%s", t.len ? ", " : "; it is known to ",
                            pe_endpoint_name((enum pe_endpoint)e));
    return api__text_done(&t).at;
}

bool api__read_convention(struct api__call *call, struct api__layout_ask *ask,
                          const struct api__param *p, enum pe_option o)
{
    struct api_bytes word;
    enum pe_endpoint endpoint = names_of(ask, o);
    const struct pe_convention *c;
    size_t count = 0, all = 0;
    if (!api__read_word(call, p, &word))
        return false;
    int row = pe_convention_find(endpoint, word.at, word.len);
    if (row < 0 && o == PE_OPTION_FROM)
        row = pe_convention_find(PE_PADDED, word.at, word.len);
    *(int *)((char *)&ask->q + pe_option_info(o)->offset) = row;
    if (row >= 0)
        return true;
    while (pe_convention((unsigned)all))
        all++;
    const char **names = api__arena_array(call->arena, all, sizeof *names);
    for (unsigned i = 0; (c = pe_convention(i)); i++)
        if (c->endpoint == endpoint || (o == PE_OPTION_FROM && c->endpoint == PE_PADDED))
            names[count++] = c->name;
    const char *near = api__nearest(word, names, count);
    api__bad_value(call, API__BAD_VALUE, p, "there is no convention %s of %s here%s%s%s%s",
                   api__shown(call->arena, word), pe_endpoint_name(endpoint), known_to(call, word),
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    call->issue.allowed = names;
    call->issue.allowed_count = count;
    call->issue.did_you_mean = near;
    return false;
}

/* ---------------------------------------------------------------- entry */

bool api__read_option(struct api__call *call, struct api__layout_ask *ask,
                      const struct api__param *p, enum pe_option o)
{
    const struct pe_option_info *info = pe_option_info(o);
    void *field = (char *)&ask->q + info->offset;
    switch (info->type) {
    case PE_IS_ARRAY:
        return api__read_array(call, ask, p, field);
    case PE_IS_SEGMENTS:
        return api__read_segments(call, ask, p, field);
    case PE_IS_REALS:
        return api__read_reals(call, p, field);
    case PE_IS_INT:
        return api__read_integer(call, p, info->lo, info->hi, field);
    case PE_IS_REAL:
        return api__read_real(call, p, -1.7976931348623157e308, 1.7976931348623157e308, field);
    case PE_IS_BOOL:
        return api__read_bool(call, p, field);
    case PE_IS_WORD:
        return api__read_choice(call, p, info->words, words_of(info->words), field);
    case PE_IS_NUMBER_OR_WORD:
        return read_number_or_word(call, p, info, field);
    case PE_IS_PAIR:
        return read_pair(call, ask, p, field);
    case PE_IS_TENSORS:
        return read_outputs(call, ask, p);
    default:
        return true;
    }
}
