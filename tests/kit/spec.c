/* SPDX-License-Identifier: MIT
 *
 * spec.c: specs from one line of text. Trusts the line: it was written by the author of a test.
 */
#include "kit/spec.h"
#include "must.h"

#include <string.h>

static size_t items(const char *v)
{
    size_t n = 1;
    for (; *v; v++)
        n += *v == ',';
    return n;
}

static void *new_list(struct kit_spec *k, size_t count)
{
    must(k->list_count < 4);
    void *list = malloc(count * 8);
    must(list);
    return k->lists[k->list_count++] = list;
}

static void read_ints(struct kit_spec *k, struct pe_ints *out, char *v)
{
    size_t count = items(v);
    int64_t *at = new_list(k, count);
    for (size_t i = 0; i < count; i++, v++)
        at[i] = strtoll(v, &v, 10);
    *out = (struct pe_ints){at, count};
}

/* "4,0-2,9" and "1,2,3,4;shape=2x2" as in pe_spec_text. */
static void read_positions(struct kit_spec *k, char *v)
{
    char *list = strsep(&v, ";");
    size_t count = 0, room = 16;
    int64_t *at = malloc(room * sizeof *at);
    must(at);
    while (*list) {
        int64_t first = strtoll(list, &list, 10), last = first;
        if (*list == '-')
            last = strtoll(list + 1, &list, 10);
        for (; first <= last; first++) {
            if (count == room)
                at = realloc(at, (room *= 2) * sizeof *at);
            must(at);
            at[count++] = first;
        }
        list += *list == ',';
    }
    must(k->list_count < 4);
    k->lists[k->list_count++] = at;
    k->spec.positions = (struct pe_ints){at, count};
    k->spec.rank = v ? 0 : 1;
    k->spec.shape[0] = count;
    for (v = v ? v + strlen("shape=") : NULL; v && *v; v += *v == 'x')
        k->spec.shape[k->spec.rank++] = strtoull(v, &v, 10);
}

static void read_reals(struct kit_spec *k, struct pe_reals *out, char *v)
{
    size_t count = items(v);
    double *at = new_list(k, count);
    for (size_t i = 0; i < count; i++, v++)
        at[i] = strtod(v, &v);
    *out = (struct pe_reals){at, count};
}

static void read_field(struct kit_spec *k, enum pe_param p, char *v)
{
    const struct pe_param_info *info = pe_param_info(p);
    void *at = (char *)&k->spec + info->offset;
    k->spec.given |= UINT64_C(1) << p;
    switch (info->type) {
    case PE_TYPE_INT:
        *(int64_t *)at = strtoll(v, NULL, 10);
        break;
    case PE_TYPE_REAL:
        *(double *)at = strtod(v, NULL);
        break;
    case PE_TYPE_BOOL:
        *(bool *)at = *v == 't';
        break;
    case PE_TYPE_CHOICE:
        *(int *)at = pe_choice_find(p, v, strlen(v));
        must(*(int *)at >= 0);
        break;
    case PE_TYPE_INTS:
        if (p == PE_PARAM_POSITIONS)
            read_positions(k, v);
        else
            read_ints(k, at, v);
        break;
    case PE_TYPE_REALS:
        read_reals(k, at, v);
        break;
    }
}

bool kit_spec(struct kit_spec *k, const char *line, struct pe_fault *fault)
{
    char *text = strdup(line), *rest = text, *part;
    int64_t axes = 0;
    must(text);
    memset(k, 0, sizeof *k);
    part = strsep(&rest, "?");
    char *name_of_kind = strsep(&part, "/");
    int kind = pe_kind_find(name_of_kind, strlen(name_of_kind));
    int resource = part ? pe_resource_find(part, strlen(part)) : PE_RESOURCE_TABLE;
    must(kind >= 0 && resource >= 0);
    pe_spec_init(&k->spec, (enum pe_kind)kind, (enum pe_resource)resource);
    while ((part = strsep(&rest, "&"))) {
        char *name = strsep(&part, "=");
        int p = pe_param_find(name, strlen(name));
        must(p >= 0 && part);
        read_field(k, (enum pe_param)p, part);
    }
    /* positions of several axes are given axis by axis */
    if (kind == PE_KIND_MROPE || kind == PE_KIND_AXIAL_ROPE)
        axes = kind == PE_KIND_MROPE ? 3 : 2;
    if (axes && k->spec.rank == 1 && k->spec.positions.count) {
        k->spec.rank = 2;
        k->spec.shape[0] = (uint64_t)axes;
        k->spec.shape[1] = k->spec.positions.count / (uint64_t)axes;
    }
    free(text);
    return pe_spec_check(&k->spec, fault) == PE_OK;
}

void kit_spec_clear(struct kit_spec *k)
{
    while (k->list_count)
        free(k->lists[--k->list_count]);
}
